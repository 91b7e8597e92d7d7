import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import inspect
from diffjoint.cli import main
from diffjoint.inspection.spelling import find_text_dates, find_variants
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.table import infer_schema, open_table

RNG = np.random.default_rng(0)
DAYS = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 2000, 300), "D")


def variants(frame):
    table = open_table(frame)
    return find_variants(table, infer_schema(table))


def dates(values, kinds=None, **kwargs):
    table = open_table(pd.DataFrame({"x": pd.Series(values, **kwargs)}))
    return find_text_dates(table, infer_schema(table, kinds), kinds)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda t: t.astype("category")])
def test_levels_that_differ_in_capitals_or_spaces_are_named_together(kind):
    sex = ["Female"] * 9 + ["female"] * 4 + [" FEMALE"] * 2 + ["male"] * 8 + [None]
    (found,) = variants(kind(pd.DataFrame({"sex": sex, "town": ["Ulm", "Bonn"] * 12})))
    assert found.column == "sex"
    assert found.spellings == ("Female", "female", " FEMALE")
    assert found.n_cells == (9, 4, 2)
    assert "write 'Female' in all of their cells" in found.advice


def test_spaces_within_and_letters_of_other_tongues_are_looked_through():
    town = ["New York", "new  york", "STRASSE", "Straße", "Köln", "köln"] * 10
    assert {found.spellings for found in variants(pd.DataFrame({"town": town}))} == {
        ("New York", "new  york"),
        ("STRASSE", "Straße"),
        ("Köln", "köln"),
    }


def test_spaces_around_a_word_are_never_recommended():
    (found,) = variants(pd.DataFrame({"sex": ["F"] * 5 + [" f"] * 20 + ["m"] * 9}))
    assert found.spellings == ("F", " f")
    assert "write 'F' in all" in found.advice


def test_dates_that_are_written_well_need_only_be_converted():
    (found,) = dates(DAYS.strftime("%Y-%m-%d"), dtype=object)
    assert found.advice == "Convert them: pd.to_datetime(X['x'], format='%Y-%m-%d')."


def test_words_that_may_stand_for_nothing_are_named_once():
    town = ["Ulm", "ulm", "Unknown", "unknown", "N/A", "n/a"] * 10
    found = inspect(pd.DataFrame({"town": town}))
    assert {one.value for one in found.disguised} == {"Unknown", "unknown", "N/A", "n/a"}
    assert [one.spellings for one in found.variants] == [("Ulm", "ulm")]


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("%d/%m/%Y", "dd/mm/yyyy"),
        ("%m/%d/%Y", "mm/dd/yyyy"),
        ("%d.%m.%Y", "dd.mm.yyyy"),
        ("%d-%m-%Y", "dd-mm-yyyy"),
        ("%Y/%m/%d", "yyyy/mm/dd"),
    ],
)
@pytest.mark.parametrize("n_days", [300, 8], ids=["carried along", "categories"])
def test_dates_in_text_are_found_with_their_form_and_what_to_do(written, form, n_days):
    days = pd.Series(np.resize(DAYS[:n_days], 300))
    text = days.dt.strftime(written).mask(days.index < 20)
    (found,) = dates(text)
    assert (found.form, found.n_cells, found.share) == (form, 280, 1.0)
    call = found.advice.split("convert them: ")[1].removesuffix(".")
    converted = eval(call, {"pd": pd, "X": {"x": text}})
    pd.testing.assert_series_equal(converted, days.mask(days.index < 20), check_dtype=False)


def test_where_day_and_month_cannot_be_told_apart_the_reader_is_asked():
    assert dates(["01/02/2024", "3/4/2024"])[0].form == "dd/mm/yyyy or mm/dd/yyyy"
    assert "whether day or month comes first" in dates(["01/02/2024", "3/4/2024"])[0].advice
    assert dates(["01.02.2024", "3.4.2024"])[0].form == "dd.mm.yyyy"
    mixed = [*DAYS.strftime("%d/%m/%Y"), *DAYS.strftime("%m/%d/%Y")]
    assert dates(mixed)[0].form == "dd/mm/yyyy and mm/dd/yyyy"


def test_a_few_other_words_do_not_hide_dates():
    text = [*DAYS.strftime("%d.%m.%Y"), "unknown", "early 2015"]
    (found,) = dates(text, dtype="category")
    assert (found.n_cells, found.form) == (300, "dd.mm.yyyy")


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        ["Ulm", "Bonn"] * 50,
        ["10.0.0.1", "10.0.0.2"] * 20,
        ["1.2.3", "1.10.4"] * 20,
        ["12/34/5678", "99/99/2024"] * 20,
        ["01/02", "03/04"] * 20,
        ["31/31/2024", "45/13/2024"] * 20,
        [*["13/01/2024", "01/13/2024"] * 5, *["45/45/2024"] * 20],
        ["0176-12-345", "555-12-1234"] * 20,
        ["01/02/2024", *["home"] * 40],
        [*["01/02/2024"] * 250, *["home"] * 250],
        [[1], [2], None],
        [1.5, "01/02/2024", None],
        [None, None],
        [],
    ],
    ids=str,
)
def test_other_columns_are_not_taken_for_dates(values):
    assert dates(values) == []


def test_a_kind_that_was_given_is_not_questioned():
    text = DAYS.strftime("%d/%m/%Y")
    assert dates(text, {"x": "pass-through"}) == []
    assert len(dates(text)) == 1


@pytest.mark.parametrize("world", [household_survey(300), bayesian_network(300, seed=0)])
def test_ordinary_tables_raise_no_alarm(world):
    table = open_table(world.observed_table)
    schema = infer_schema(table)
    assert find_variants(table, schema) == []
    assert find_text_dates(table, schema) == []


def test_the_command_says_so_on_the_screen_and_in_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "people.csv"
    sex = np.resize(["Female", "female", "male"], 300)
    pd.DataFrame({"sex": sex, "born": DAYS.strftime("%d/%m/%Y")}).to_csv(path, index=False)
    with pytest.raises(SystemExit):
        main(["inspect", str(path)])
    shown = capsys.readouterr().out
    assert 'sex     "Female" (100), "female" (100)' in shown
    assert "If they mean the same, write the first in all of their cells" in shown
    assert "dd/mm/yyyy" in shown
    assert "Write them like 2024-03-31 in all cells" in shown
    with pytest.raises(SystemExit):
        main(["inspect", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["variants"][0]["spellings"] == ["Female", "female"]
    assert told["text_dates"][0]["form"] == "dd/mm/yyyy"
    assert told["text_dates"][0]["advice"].startswith("Write them like 2024-03-31")
    fixed = pd.DataFrame({"sex": np.char.lower(sex.astype(str)), "born": DAYS})
    fixed.to_csv(path, index=False)
    with pytest.raises(SystemExit):
        main(["inspect", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["variants"], told["text_dates"]) == ([], [])
