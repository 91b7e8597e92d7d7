import json
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import inspect
from diffjoint.cli import main
from diffjoint.inspection.disguised import find_disguised
from diffjoint.inspection.inspect import find_blocks
from diffjoint.simulate import household_survey
from diffjoint.table import open_table
from tests.conftest import FEW_CELLS

RNG = np.random.default_rng(0)
AGES = RNG.integers(18, 90, 300)
DAYS = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 2000, 300), "D")


def suspected(values, **kwargs):
    table = open_table(pd.DataFrame({"x": pd.Series(values, **kwargs)}))
    return {found.value: found.n_cells for found in find_disguised(table)}


def with_code(values, code, n):
    return [*values, *[code] * n]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (with_code(AGES, -99, 5), {"-99": 5}),
        (with_code(AGES, -9, 2), {"-9": 2}),
        (with_code(AGES, 999, 3), {"999": 3}),
        (with_code(AGES, 9999, 1), {"9999": 1}),
        (with_code(np.minimum(AGES, 95), 99, 60), {"99": 60}),
        (with_code([1, 2, 3, 4] * 30, 9, 8), {"9": 8}),
        (with_code(RNG.normal(0, 1, 300), -999.0, 4), {"-999": 4}),
        (with_code(with_code(AGES, -7, 3), -8, 4), {"-8": 4, "-7": 3}),
    ],
)
def test_codes_that_stand_apart_are_suspected(values, expected):
    assert suspected(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        RNG.integers(0, 2000, 500),  # 99 and 999 are values among others
        RNG.normal(0, 100, 400).round(),  # -9 and -99 are values among others
        np.arange(0, 100),
        [1, 2, 3, 4, 5, 6, 7, 8, 9] * 20,
        with_code([0, 1, 2, 3, 4, 5, 6] * 40, 9, 1),  # nine children, once
        [-9, -9, -9],
        [],
    ],
)
def test_values_among_others_are_not_suspected(values):
    assert suspected(values, dtype=float) == {}


def test_words_for_nothing_are_suspected_as_they_are_spelt():
    cells = ["Ulm", "Bonn", "N/A", "Unknown", "?", " ", "none", "Ulm", None, "Nantes", "unknown"]
    expected = {"N/A", "Unknown", "?", " ", "none", "unknown"}
    assert set(suspected(cells)) == expected
    assert set(suspected(cells, dtype="category")) == expected


def test_a_stray_word_among_numbers_is_suspected():
    cells = [str(age) for age in AGES] + ["n.r."] * 4
    assert suspected(cells) == {"n.r.": 4}
    assert suspected(["a1", "b2", "n.r."] * 20) == {}


@pytest.mark.parametrize(("form", "is_number"), [("{}", True), ("{}_000", False), ("00{}", False)])
def test_a_column_of_numbers_is_one_of_text_that_reads_as_numbers_elsewhere_too(form, is_number):
    found = suspected([form.format(i) for i in range(1, 200)] + ["car"])
    assert found == ({"car": 1} if is_number else {})


@pytest.mark.parametrize("day", ["1900-01-01", "1970-01-01", "9999-12-31"])
def test_days_that_stand_for_none_are_suspected(day):
    stamps = pd.concat([pd.Series(DAYS.astype("M8[us]")), pd.Series([day] * 3).astype("M8[us]")])
    assert suspected(stamps.to_list(), dtype="M8[us]") == {day: 3}


def test_a_day_within_the_range_is_suspected_only_as_a_spike():
    days = pd.date_range("1960-01-02", "1985-01-01", freq="7D").to_list()
    spike = pd.Timestamp("1970-01-01")
    assert suspected([*days, spike]) == {}
    assert suspected([*days, *[spike] * 12]) == {"1970-01-01": 12}


def test_columns_empty_in_the_same_rows_are_a_block():
    a, b = RNG.random(500) < 0.4, RNG.random(500) < 0.4
    nearly = a ^ (RNG.random(500) < 0.02)
    missing = np.column_stack([a, b, a, nearly, b, RNG.random(500) < 0.9, RNG.random(500) < 0.9])
    blocks = find_blocks(missing, list("abcdefg"))
    assert [block.columns for block in blocks] == [("a", "c", "d"), ("b", "e")]
    assert blocks[1].n_rows == blocks[1].n_any == b.sum()


@pytest.mark.slow
def test_candidates_come_with_their_evidence():
    found = inspect(household_survey(400).observed_table)
    assert found.mm_columns == ["spouse_age", "weekly_hours", "commute"]
    column = found.columns[3]
    assert (column.name, column.kind, column.is_candidate) == ("spouse_age", "integer", True)
    assert column.auc > 0.8
    assert column.p_value < 0.05
    assert found.n_rows_judged == 400
    assert list(found.to_frame()["n_missing"]) == [c.n_missing for c in found.columns]


@pytest.mark.slow
def test_large_tables_are_judged_on_some_rows():
    survey = household_survey(800).observed_table
    found = inspect(survey, most_rows=300)
    assert found.n_rows_judged == 300
    assert found.n_missing == int(survey.isna().to_numpy().sum())
    assert found.mm_columns == ["spouse_age", "weekly_hours", "commute"]


def test_gaps_that_the_rows_judged_do_not_show_are_not_denied():
    table = pd.DataFrame({"a": RNG.normal(size=400), "b": RNG.normal(size=400)})
    table.loc[7, "a"] = None
    found = inspect(table, most_rows=100)
    assert found.columns[0].reason.startswith("fewer than 20 missing")
    assert found.columns[1].reason == "no missing cell"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda t: t.to_numpy(dtype=object)])
def test_any_table_can_be_looked_at(kind):
    table = household_survey(60).observed_table
    assert inspect(kind(table)).n_missing == int(table.isna().to_numpy().sum())


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": [1.5, 2.5]}), "no cell is missing"),
        (pd.DataFrame({"a": [None, None]}), "no column can be modelled"),
    ],
)
def test_where_nothing_can_be_judged_it_says_why(table, words):
    assert inspect(table).not_judged == words


@pytest.fixture
def survey_file(tmp_path):
    kept = ["person_id", "age", "employed", "weekly_hours", "commute", "income"]
    table = household_survey(300).observed_table[kept].astype(object)
    table.loc[[3, 5, 8], "income"] = -99
    table.loc[[1, 2], "commute"] = "unknown"
    table["<b>none</b>"] = None
    path = tmp_path / "my survey.csv"
    table.to_csv(path, index=False)
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


@pytest.mark.slow
def test_the_command_says_what_it_found_and_what_to_run_next(survey_file, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run("inspect", survey_file) == 0
    shown = capsys.readouterr().out
    for words in (
        "300 rows, 7 columns",
        "Values that may stand for a missing cell",
        "negative, where all other values are not",
        "Columns that are missing in the same rows",
        "Candidates: weekly_hours, commute.",
        "nothing: every cell is missing",
        "--code 'commute: unknown=missing' --code 'income: -99=missing'",
        "--report",
    ):
        assert words in shown


@pytest.mark.slow
def test_the_commands_it_names_do_what_they_say(survey_file, capsys):
    assert run("inspect", survey_file, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["mm_columns"] == ["weekly_hours", "commute"]
    assert {(one["column"], one["value"]) for one in told["disguised"]} == {
        ("income", "-99"),
        ("commute", "unknown"),
    }
    again, complete = (shlex.split(step["command"]) for step in told["next"])
    assert run(*again[1:], "--json") == 0
    cleaned = json.loads(capsys.readouterr().out)
    assert cleaned["disguised"] == []
    assert cleaned["n_missing"] == told["n_missing"] + 5
    assert complete[:2] == ["diffjoint", "impute"]
    assert run(*complete[1:], "--set", "max_epochs=1", "--set", "width=8", "-q") == 0
    assert survey_file.with_name("my survey_completed.csv").exists()
    page = survey_file.with_name("my survey_report.html").read_text(encoding="utf-8")
    assert "<bdi>my survey.csv</bdi>" in page
    assert "<b>none</b>" not in page


def test_names_from_a_file_do_not_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "in.csv"
    path.write_text("a,\x1b[31mred[/bold]\n1.5,\n2.5,x\n", encoding="utf-8")
    assert run("inspect", path) == 0
    shown = capsys.readouterr().out
    assert "\x1b[31m" not in shown
    assert "[31mred[/bold]" in shown


def test_a_table_without_gaps_needs_no_next_step(tmp_path, capsys):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1.5,x\n2.5,y\n", encoding="utf-8")
    assert run("inspect", path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["next"] == []


def test_codes_in_typed_files_are_named_as_codes(tmp_path, capsys):
    path = tmp_path / "lab.parquet"
    pd.DataFrame({"age": with_code(AGES, -99, 4), "b": with_code(AGES, None, 4)}).to_parquet(path)
    assert run("inspect", path, "--json") == 0
    again = json.loads(capsys.readouterr().out)["next"][0]
    assert again["command"].endswith("lab.parquet --code 'age: -99=missing'")


@pytest.mark.slow
def test_a_suspected_code_is_read_as_missing_in_its_own_column_alone(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    change = RNG.normal(0, 9, 304).round().astype(int)
    change[:4] = -9
    town = [*["Ulm", "Bonn"] * 149, "refused", "refused", "?", "?", " ", " "]
    ages = with_code(AGES, -9, 4)
    pd.DataFrame({"age": ages, "change": change, "town": town}).to_csv(path, index=False)
    assert run("inspect", path, "--json") == 0
    again = shlex.split(json.loads(capsys.readouterr().out)["next"][0]["command"])
    codes = [again[i + 1] for i, part in enumerate(again) if part == "--code"]
    assert codes == ["age: -9=missing", "town: ?=missing", "town: refused=lost"]
    assert again[again.index("--na-values") + 1].endswith(", ")
    assert run(*again[1:], "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["disguised"] == []
    assert [column["n_missing"] for column in told["columns"]] == [4, 0, 6]
    complete = shlex.split(told["next"][0]["command"])
    assert run(*complete[1:-2], "--set", "n_boosters=1", "-q") == 0
    completed = pd.read_csv(complete[3], keep_default_na=False)
    assert (completed["change"] == change).all()
    assert completed["age"].min() >= 18
    assert set(completed["town"]) == {"Ulm", "Bonn"}


def test_a_code_of_many_digits_is_named_in_full():
    assert suspected(with_code(AGES, 9999999, 3)) == {"9999999": 3}


def with_infinity():
    """A table of which ``a:b`` holds infinity in both directions."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a:b": rng.normal(size=200), "town": rng.choice(["Ulm", "Bonn"], 200)})
    table = table.mask(rng.random(table.shape) < 0.1)
    table.loc[[3, 7, 9], "a:b"] = np.inf
    table.loc[5, "a:b"] = -np.inf
    return table


@pytest.mark.parametrize(
    "of", [lambda table: table, pl.from_pandas, lambda table: table.to_numpy()]
)
def test_infinite_numbers_are_a_finding_and_not_the_end(of):
    table = with_infinity()
    table = table if of(table) is table else of(table.drop(columns="town"))
    found = inspect(table)
    assert [(one.value, one.n_cells, one.first_row) for one in found.infinite] == [
        ("inf", 3, 3),
        ("-inf", 1, 5),
    ]
    assert found.columns[0].kind == "continuous"
    assert found.columns[0].n_missing == 4 + with_infinity()["a:b"].isna().sum()
    assert inspect(pd.DataFrame({"a": [1.5, 2.5, None]})).infinite == ()


def test_infinity_among_objects_is_a_finding_too():
    table = with_infinity()
    objects = table.assign(**{"a:b": table["a:b"].astype(object).where(table["a:b"].notna(), None)})
    assert inspect(objects).infinite == inspect(table).infinite
    assert inspect(objects).columns[0] == inspect(table).columns[0]
    mixed = pd.DataFrame({"a": [1.5, float("inf"), "x", None] * 5, "b": [True, 2.5, None, 1] * 5})
    assert inspect(mixed).infinite == ()


@pytest.mark.parametrize("n", [1, 80])
def test_infinity_as_text_is_named_however_often_it_occurs(n):
    numbers = [f"{x:.2f}" for x in RNG.normal(size=200)]
    assert suspected([*numbers, *["-Inf"] * n]) == {"-Inf": n}
    assert suspected(["north", "inf", "south"] * 10) == {}


@FEW_CELLS
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_command_after_infinite_numbers_completes_the_table(ending, tmp_path, capsys):
    path = tmp_path / f"table.{ending}"
    table = with_infinity()
    if ending == "csv":
        table.to_csv(path, index=False)
        path.write_text(path.read_text().replace("inf", "1e999"))
    else:
        table.to_parquet(path)
    assert run("inspect", path) == 0
    told = capsys.readouterr().out
    assert "Infinite numbers, which impute refuses" in told
    command = shlex.split(told.splitlines()[-1])[1:]
    assert run(*command[:3]) == 2
    refused = " ".join(capsys.readouterr().err.split())
    assert "it has infinity in 4 cells" in refused
    assert "--code '`a:b`: inf=lost'" in refused
    assert run(*command, "--set", "max_epochs=1", "-q") == 0
    completed = pd.read_csv(command[2]) if ending == "csv" else pd.read_parquet(command[2])
    assert np.isfinite(completed["a:b"]).all()
