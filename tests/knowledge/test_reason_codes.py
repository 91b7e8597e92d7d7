"""Codes that say why a cell is missing, and tables of labels."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diffjoint.errors import InputError
from diffjoint.knowledge.labels import Labels, open_labels
from diffjoint.knowledge.reason_codes import read_reasons
from diffjoint.table import infer_schema, open_table

RAW = pd.DataFrame(
    {
        "income": ["1200", "refused", None, "900", "inapplicable"],
        "hours": [40, -7, 35, -1, 20],
        "town": ["Ulm", "Bonn", "refused", "Ulm", "Bonn"],
    }
)
CODES = {"refused": "lost", "income": {"inapplicable": "meaningful"}, "hours": {-7: "lost", -1: "meaningful"}}  # fmt: skip


def read(X, codes, **kinds):
    table = open_table(X)
    without = read_reasons(table, codes)[0]
    schema = infer_schema(without, kinds, named=range(table.n_columns))
    return read_reasons(table, codes, schema)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_codes_become_missing_cells_of_known_kind(container):
    table, labels = read(container(RAW), CODES)
    columns = table.frame.to_dict(as_series=False)
    assert [None if pd.isna(v) else v for v in columns["income"]] == [1200, None, None, 900, None]
    assert [None if pd.isna(v) else v for v in columns["hours"]] == [40, None, 35, None, 20]
    assert [None if pd.isna(v) else v for v in columns["town"]] == ["Ulm", "Bonn", None, "Ulm", "Bonn"]  # fmt: skip
    assert np.argwhere(labels.meaningful).tolist() == [[3, 1], [4, 0]]
    assert np.argwhere(labels.lost).tolist() == [[1, 0], [1, 1], [2, 2]]


def test_numbers_beside_codes_become_numbers():
    table, _ = read(RAW.assign(rent=["1.5", "refused", "2", "0.25", None]), CODES)
    dtypes = {name: str(dtype) for name, dtype in table.frame.to_native().dtypes.items()}
    assert (dtypes["income"], dtypes["hours"], dtypes["rent"]) == ("Int64", "Int64", "float64")
    polars = read(pl.from_pandas(RAW), CODES)[0].frame.to_native()
    assert polars.schema["income"] == polars.schema["hours"] == pl.Int64


@pytest.mark.parametrize("dtype", ["int16", "uint8", "Int32", "float32", "int64[pyarrow]"])
def test_whole_numbers_stay_whole(dtype):
    X = pd.DataFrame({"a": pd.Series([1, 2, 99, 4]).astype(dtype)})
    table, labels = read(X, {99: "lost"})
    after = table.frame.to_native()["a"]
    assert str(after.dtype).lower() == dtype.lower()
    assert after.isna().tolist() == labels.lost[:, 0].tolist() == [False, False, True, False]


def test_text_without_a_code_is_not_touched():
    """Codes of all columns must not turn a column of digits into numbers."""
    X = pd.DataFrame({"zip": ["89073", "53111"] * 10, "a": [1.5, None] * 10})
    table, _ = read(X, {"refused": "lost"})
    pd.testing.assert_frame_equal(table.frame.to_native(), X)


def test_codes_with_leading_zeros_are_text():
    X = pd.DataFrame({"code": ["007", "008", "refused", "007"]})
    table, _ = read(X, {"refused": "lost"})
    assert table.frame.to_native()["code"].dropna().tolist() == ["007", "008", "007"]


def test_columns_carried_along_keep_their_codes():
    X = RAW.assign(note=["refused", "a", "b", "c", "d"])
    table, labels = read(X, CODES, note="pass-through")
    assert table.frame.to_native()["note"].tolist() == X["note"].tolist()
    assert not labels.lost[:, 3].any()


def test_dates_have_codes_too():
    X = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "9999-12-31", "2020-02-01"])})
    table, labels = read(X, {"day": {"9999-12-31": "meaningful"}})
    assert labels.meaningful[:, 0].tolist() == table.missing(0).tolist() == [False, True, False]


def test_a_columns_own_code_goes_before_that_of_all():
    _, labels = read(RAW, {"refused": "lost", "town": {"refused": "meaningful"}})
    assert labels.meaningful[2, 2]
    assert labels.lost[1, 0]


def test_a_category_with_a_code_stays_a_category():
    X = pd.DataFrame({"town": pd.Categorical(["Ulm", "refused", "Bonn", "Ulm"])})
    table, _ = read(X, {"refused": "lost"})
    assert table.frame.to_native()["town"].dtype == X["town"].dtype
    assert infer_schema(table).columns[0].levels == ("Bonn", "Ulm")


def test_a_new_table_is_read_as_the_first_was():
    """Only codes, no code at all, one row: the column holds numbers as in fit."""
    table = open_table(RAW)
    schema = infer_schema(read_reasons(table, CODES)[0], named=range(3))
    for rows in ([1], [0], [2], [1, 4]):
        part = open_table(RAW.iloc[rows])
        assert read_reasons(part, CODES, schema)[0].frame.to_native()["income"].dtype == "Int64"


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ({"incom": {"refused": "lost"}}, "reason_codes names 'incom', .*Did you mean 'income'"),
        ({"income": "lost"}, "reason_codes says of the column 'income' that it is 'lost'; say so of its codes"),
        ({"income": {"refused": "gone"}}, r"reason_codes\['income'\] must say 'meaningful', 'lost' or 'missing' of each code; of 'refused'"),
        ({"income": {None: "lost"}}, "must have text or numbers for codes; got None"),
        ({"income": {float("nan"): "lost"}}, "must have text or numbers for codes; got nan"),
        (["refused"], "reason_codes must map columns to codes"),
    ],
)  # fmt: skip
def test_wrong_codes_are_refused(codes, words):
    with pytest.raises(InputError, match=words):
        read(RAW, codes)


def test_codes_of_an_unmodelled_column_are_refused():
    with pytest.raises(InputError, match="reason_codes names 'town', which is passed through"):
        read(RAW, {"town": {"refused": "lost"}}, town="pass-through")


@pytest.mark.parametrize("note", ["categorical", "pass-through"])
def test_a_code_may_say_only_that_a_cell_is_missing(note):
    X = RAW.assign(note=["?", "a", "b", "c", "d"])
    table, labels = read(X, {"income": {"refused": "missing"}, "note": {"?": "missing"}}, note=note)
    assert table.missing(0).sum() == 1 + X["income"].isna().sum()
    assert table.missing(3)[0] == (note == "categorical")
    assert not (labels.meaningful | labels.lost).any()


def test_an_array_of_integers_can_keep_such_a_cell_missing():
    array = np.array([[1, -9], [2, 3]])
    table, _ = read_reasons(open_table(array), {-9: "missing"})
    assert table.array_dtype == np.float64


# Tables of labels

GAPS = pd.DataFrame({"a": [1.5, None, None], "b": [None, "x", "y"]}, index=[5, 3, 9])
NOTHING = Labels(np.zeros((3, 2), dtype=bool), np.zeros((3, 2), dtype=bool))


def labels(meaningful=None, lost=None, table=GAPS):
    return open_labels(open_table(table), NOTHING, meaningful, lost)


def test_labels_come_as_arrays_tables_or_some_columns():
    cells = np.array([[False, True], [True, False], [False, False]])
    whole = pd.DataFrame(cells, index=GAPS.index, columns=["a", "b"])
    for given in (cells, whole, pl.from_pandas(whole), whole.astype(object), whole[["b", "a"]]):
        np.testing.assert_array_equal(labels(given).meaningful, cells)
    np.testing.assert_array_equal(labels(lost=whole[["b"]]).lost[:, 1], cells[:, 1])
    assert not labels(lost=whole[["b"]]).lost[:, 0].any()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((2, 2), bool), r"known_lost must have X's shape \(3, 2\); got \(2, 2\)"),
        (np.zeros((3, 2)), "known_lost must hold truth values, .*got float64"),
        (pd.DataFrame({"a": [0, 1, 0]}, index=GAPS.index), "its column 'a' is Int64"),
        (pd.DataFrame({"a": [None, True, False]}, index=GAPS.index), "without missing ones"),
        (pd.DataFrame({"c": [False] * 3}, index=GAPS.index), "known_lost names 'c', which is not"),
        (pd.DataFrame({"a": [False] * 2}), r"must have X's rows \(3\); it has 2"),
        (pd.DataFrame({"a": [False] * 3}), "must have X's index, in its order"),
        (np.ones((3, 2), bool), "may be True at missing cells only; row 0 of column 'a'"),
    ],
)  # fmt: skip
def test_wrong_labels_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        labels(lost=given)


def test_a_cell_is_not_both():
    cell = np.array([[False, True], [False, False], [False, False]])
    with pytest.raises(InputError, match="row 0 of column 'b' .*is said to be both"):
        labels(cell, cell)
    with pytest.raises(InputError, match="is said to be both .*its reason code"):
        open_labels(open_table(GAPS), Labels(cell, NOTHING.lost), None, cell)
