"""A survey export with -7, -8 and -9 in all of its columns, and interviews that were broken off."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer, inspect
from diffjoint.fitting.auto_columns import EXPLAINED
from diffjoint.inspection.disguised import find_disguised
from diffjoint.inspection.view import next_commands
from diffjoint.io.files import TableFile
from diffjoint.settings import NA_VALUES
from diffjoint.table import open_table
from tests.first_contact.command_line import run

CODES = {-8: "meaningful", -7: "lost", -9: "lost"}
WARNS = pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")


def survey(n=700):
    """Who does not work has no hours; some break off, and the rest of their row is empty."""
    rng = np.random.default_rng(0)
    works = rng.choice([1, 2], n)
    table = pd.DataFrame(
        {
            "age": rng.integers(16, 90, n).astype(float),
            "works": works.astype(float),
            "hours": np.where(works == 1, rng.normal(37, 8, n).round(), -8),
            "sick": np.where(works == 1, rng.poisson(5, n), -8),
            "visits": rng.poisson(3, n).astype(float),
            "pay": rng.lognormal(7, 0.4, n).round(),
        }
    )
    for name, code in {"hours": -9, "sick": -7, "visits": -7, "pay": -9}.items():
        table.loc[(rng.random(n) < 0.07) & (table[name] != -8), name] = code
    for row in np.flatnonzero(rng.random(n) < 0.06):
        table.iloc[row, int(rng.integers(1, 6)) :] = np.nan
    return table


def test_a_code_among_words_is_suspected_too():
    towns = pd.DataFrame({"town": ["Ulm", "-9", "Bonn", "-9", "-7"], "n": [1, -9, 3, 9, 5]})
    found = find_disguised(open_table(towns))
    assert [(one.column, one.value, one.n_cells) for one in found] == [
        ("town", "-9", 2),
        ("town", "-7", 1),
    ]


def test_of_many_codes_each_is_named_once_if_it_is_suspected_wherever_it_stands():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(1, 50, (60, 12)), columns=[f"q{i}" for i in range(12)])
    table.iloc[:4], table.iloc[4:9] = -8, -9
    table["frost"] = rng.integers(-8, 3, 60)
    table.loc[20:29, "frost"] = -8
    ((_, command), *_) = next_commands(inspect(table), TableFile(None), "t.parquet", [], NA_VALUES)
    assert command.count("--code") == 13
    assert command.endswith("--code -9=missing") or "--code -9=missing " in command
    assert "--code 'q0: -8=missing'" in command


@pytest.mark.slow
@WARNS
def test_impute_says_that_it_takes_codes_as_they_are(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    survey(120).to_csv(path, index=False)
    assert run("impute", path, tmp_path / "out.csv", "-m", "", "--set", "n_boosters=1") == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "may stand for missing cells: '-9' in hours, '-8' in hours" in said
    assert "survey.csv lists them, with the options that read them as missing." in said


def test_cells_that_codes_explain_do_not_have_a_column_found():
    table = survey()
    found = {column.name: column for column in inspect(table, reason_codes=CODES).columns}
    assert [name for name, one in found.items() if one.is_candidate] == ["hours", "sick"]
    complete = survey().dropna().assign(pay=lambda t: t["pay"].where(t.index % 9 > 0, -9))
    assert inspect(complete, reason_codes=CODES).columns[-1].reason == EXPLAINED


@pytest.mark.slow
@WARNS
def test_columns_with_codes_are_named_as_searched_and_gates_agree_with_what_is_behind_them():
    table = survey()
    imputer = SelectiveImputer(reason_codes=CODES, n_boosters=1, random_state=0)
    completed = imputer.fit_transform(table)
    assert "be meaningful: hours, sick.\n  hours, sick: their codes say so." in imputer.found_
    for behind in ("hours", "sick"):
        assert (completed[behind].notna() == (completed["works"] == 1)).all()
    drawn = imputer.sample(table, 1)[0]
    assert (drawn["hours"].notna() == (drawn["works"] == 1)).mean() > 0.995
