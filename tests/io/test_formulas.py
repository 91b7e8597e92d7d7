"""Lists that people open in a spreadsheet run nothing there, and come back as they were."""

from importlib.resources import files

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffjoint import read_decisions
from diffjoint.cli import main
from diffjoint.io.formulas import _FORMULA, guard, guarded, unguard
from tests.cli.test_cli import SETTINGS

FORMULAS = [
    "=1+1",
    "+cmd",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\u00a0@x",
    "\uff1d1",
    "\uff0bx",
    '=HYPERLINK("http://x")',
    "'=1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_guarded_and_come_back(text):
    assert guard(text) == f"'{text}"
    assert unguard(guard(text)) == text


@pytest.mark.parametrize(
    "cell", [-5, -5.5, None, True, "", "-5", "+3.25", "-1e5", "yes", "'quoted'"]
)
def test_numbers_and_plain_text_stay(cell):
    assert guard(cell) is cell
    assert unguard(cell) is cell


@given(st.text(alphabet="'=+-@\t\r\n \uff1da1", max_size=6))
def test_a_guard_is_taken_off_again(text):
    if guard(text) != text:
        assert unguard(guard(text)) == text


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_numbers_of_a_table_stay_numbers(make):
    table = make({"n": [-5, 3], "text": ["=1", None], "other": ["a", "-5"]})
    safe = guarded(table)
    assert safe["n"].dtype == table["n"].dtype
    assert safe["text"].to_list()[0] == "'=1"
    assert list(safe["other"]) == ["a", "-5"]


@pytest.fixture
def survey(tmp_path):
    """A table whose names and values would run in a spreadsheet; few of a kind, so all doubtful."""
    rows = "".join(
        f"{i % 7},{i * 0.5 - 9},{['=1+1', '@b', '-c'][i % 3] if i % 4 else ''}\n" for i in range(90)
    )
    path = tmp_path / "in.csv"
    path.write_text("n,x,=word\n" + rows)
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code == 0


@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_a_list_to_review_is_guarded_and_read_back(survey, tmp_path):
    out, listed, plain = (tmp_path / f"{name}.csv" for name in ("out", "review", "plain"))
    options = ["-m", "=word", "--loss-rate", "0.13", *SETTINGS, "-q"]
    run("impute", survey, out, *options, "--review", listed)
    run("impute", survey, tmp_path / "again.csv", *options, "--review", plain, "--no-guard")
    safe, bare = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (listed, plain))
    assert len(safe) > 0
    assert (safe["column"] == "'=word").all()
    assert (bare["column"] == "=word").all()
    assert set(safe["imputed"]) <= {"", "'=1+1", "'@b", "'-c"}
    assert not set(pd.read_csv(out, dtype=str)["=word"].dropna()) - {"=1+1", "@b", "-c"}
    safe.assign(decision="lost").to_csv(listed, index=False)
    known = read_decisions(listed, pd.read_csv(survey))
    assert known["known_lost"]["=word"].sum() == len(safe)
    run("impute", survey, out, *options, "--decisions", listed)
    assert pd.read_csv(out)["=word"].notna().to_numpy()[safe["row"].astype(int)].all()


def test_a_column_whose_name_has_an_apostrophe_of_its_own_is_found():
    X = pd.DataFrame({"'=a": [None, "x"], "b": [1, 2]})
    reviewed = pd.DataFrame({"row": [0], "column": ["'=a"], "decision": ["lost"]})
    assert read_decisions(reviewed, X)["known_lost"]["'=a"].tolist() == [True, False]


def test_the_report_exports_decisions_by_the_same_rule():
    script = files("diffjoint.report").joinpath("templates/page.js").read_text("utf-8")
    assert f"/^{_FORMULA.pattern}/.test(text)" in script
