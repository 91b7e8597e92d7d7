import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import read_decisions
from diffjoint.cli import main
from diffjoint.errors import InputError
from diffjoint.simulate import household_survey
from tests.conftest import TINY, new_imputer

SETTINGS = [part for name, value in TINY.items() for part in ("--set", f"{name}={value}")]


def reviewed(**columns):
    return pd.DataFrame({"row": [0], "column": ["a"], "decision": ["lost"]} | columns)


@pytest.fixture
def table():
    return pd.DataFrame({"a": [None, 1.5, None], "b": ["x", None, None]}, index=[7, 8, 9])


def test_rows_are_positions_whatever_the_index_says(table):
    known = read_decisions(
        reviewed(row=[0, 2, 1], column=["a", "a", "b"], decision=["lost", "meaningful", "lost"]),
        table,
    )
    assert list(known) == ["known_meaningful", "known_lost"]
    assert known["known_lost"].to_numpy().tolist() == [[True, False], [False, True], [False, False]]
    assert known["known_meaningful"].loc[9, "a"]
    assert known["known_lost"].index.equals(table.index)


@pytest.mark.parametrize("nothing", ["", "  ", None, np.nan])
def test_cells_without_a_decision_say_nothing(table, nothing):
    known = read_decisions(reviewed(decision=[nothing]), table)
    assert not known["known_lost"].any(axis=None)
    assert not known["known_meaningful"].any(axis=None)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"column": ["aa"]},
            "decisions names 'aa', which is not a column of the table .* mean 'a'",
        ),
        ({"row": [3]}, "names row 3 in its entry 1; X has rows 0 to 2"),
        ({"row": [-1]}, "names row -1"),
        ({"row": ["first"]}, "names row 'first'"),
        ({"row": [1.5]}, "names row 1.5"),
        ({"row": [1]}, "row 1 of column 'a', which is not missing: it holds 1.5"),
        ({"decision": ["keep"]}, "must say 'meaningful' or 'lost' .* entry 1 says 'keep'"),
    ],
)
def test_what_cannot_be_meant_is_named(table, columns, words):
    with pytest.raises(InputError, match=words):
        read_decisions(reviewed(**columns), table)


def test_one_cell_cannot_be_both(table):
    twice = reviewed(row=[0, 0], column=["a", "a"], decision=["lost", "meaningful"])
    with pytest.raises(InputError, match="decides twice, and differently, on row 0 of column 'a'"):
        read_decisions(twice, table)


def test_a_list_without_decisions_is_told_what_it_lacks(table, tmp_path):
    path = tmp_path / "review.csv"
    reviewed().drop(columns="decision").to_csv(path, index=False)
    with pytest.raises(InputError, match="review.csv must have the columns row, column, decision"):
        read_decisions(path, table)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_files_that_a_spreadsheet_has_saved_are_read(tmp_path, separator, encoding):
    table = pd.DataFrame({'a "b", c': [None, 1.5], "007": [1.5, None]})
    listed = reviewed(row=[0, 1], column=['a "b", c', "007"], decision=["Lost ", "lost"])
    listed.to_csv(tmp_path / "d.csv", index=False, sep=separator, encoding=encoding)
    assert read_decisions(tmp_path / "d.csv", table)["known_lost"].to_numpy().sum() == 2


def test_tables_of_other_kinds_are_taken_as_well(table):
    arrays = read_decisions(pl.DataFrame(reviewed(column=["x0"])), np.array([[np.nan], [1.0]]))
    assert arrays["known_lost"].tolist() == [[True], [False]]
    frames = read_decisions(reviewed(), pl.DataFrame({"a": [None, 1.5]}))
    assert frames["known_lost"]["a"].to_list() == [True, False]


@pytest.fixture(scope="module")
def couples():
    return household_survey(250).observed_table[["age", "married", "spouse_age"]]


@pytest.mark.slow
def test_the_review_frame_with_decisions_is_obeyed(couples):
    imputer = new_imputer(["spouse_age"], **TINY, random_state=0, review_band=(0.0, 1.0))
    listed = imputer.fit(couples).review(couples).head(6)
    listed["decision"] = np.where(listed["call"] == "lost", "meaningful", "lost")
    meaningful = imputer.impute(couples, **read_decisions(listed, couples)).meaningful
    called = meaningful["spouse_age"].iloc[listed["row"]]
    assert called.tolist() == (listed["decision"] == "meaningful").tolist()


@pytest.mark.slow
def test_the_command_line_takes_the_list_it_wrote(couples, tmp_path, capsys):
    source, listed, out = (tmp_path / f"{name}.csv" for name in ("survey", "review", "out"))
    couples.to_csv(source, index=False)
    model, options = tmp_path / "model", ["-m", "spouse_age", *SETTINGS]

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in (*arguments, "-q")])
        return end.value.code

    first = ("impute", source, out, *options, "--review", listed, "--model-out", model)
    assert run(*first) == 0
    review = pd.read_csv(listed)
    assert len(review) > 0
    completed = []
    for undecided in ([], ["--decisions", listed]):
        assert run("transform", model, source, out, *undecided) == 0
        completed.append(out.read_bytes())
    assert completed[0] == completed[1], "nothing was decided yet"
    review["decision"] = np.where(review["call"] == "lost", "meaningful", "lost")
    review.to_csv(listed, index=False)
    for command in (("impute", source, out, *options), ("transform", model, source, out)):
        assert run(*command, "--decisions", listed) == 0
        empty = pd.read_csv(out)["spouse_age"].isna()
        assert empty[review["row"]].tolist() == (review["decision"] == "meaningful").tolist()
    review.assign(row=400).to_csv(listed, index=False)
    for command in (("impute", source, out), ("fit", source, model)):
        assert run(*command, *options, "--decisions", listed) == 2
        assert "names row '400'" in capsys.readouterr().err
