"""Every dtype comes back as it came, cell by cell."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diffjoint.errors import InputError
from diffjoint.table import code_table, fill_column, infer_schema, open_table

N = 12
GAPS = [1, 5, 6]


def with_gaps(values):
    return [None if i in GAPS else value for i, value in enumerate(values)]


WHOLE = with_gaps(range(N))
REAL = with_gaps([i + 0.5 for i in range(N)])
TEXT = with_gaps(["a", "b", "c"] * 4)
TRUTH = with_gaps([True, False] * 6)
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(N)]
STAMPS = [dt.datetime(2024, 1, 1, 12) + dt.timedelta(hours=i) for i in range(N)]

PANDAS = {
    "float64": pd.Series(REAL, dtype="float64"),
    "float32": pd.Series(REAL, dtype="float32"),
    "Float32": pd.Series(REAL, dtype="Float32"),
    "Float64": pd.Series(REAL, dtype="Float64"),
    "whole floats": pd.Series(WHOLE, dtype="float64"),
    "Int64": pd.Series(WHOLE, dtype="Int64"),
    "UInt8": pd.Series(WHOLE, dtype="UInt8"),
    "boolean": pd.Series(TRUTH, dtype="boolean"),
    "str": pd.Series(TEXT, dtype="str"),
    "string": pd.Series(TEXT, dtype="string"),
    "object text": pd.Series(TEXT, dtype="object"),
    "object bools": pd.Series(TRUTH, dtype="object"),
    "object numbers": pd.Series(REAL, dtype="object"),
    "category": pd.Series(pd.Categorical(TEXT, categories=["c", "b", "a", "unused"])),
    "ordered": pd.Series(pd.Categorical(TEXT, categories=["c", "b", "a"], ordered=True)),
    "category of numbers": pd.Series(pd.Categorical(with_gaps([10, 20, 30] * 4))),
    "datetime": pd.Series(with_gaps(STAMPS), dtype="datetime64[ns]"),
    "datetime seconds": pd.Series(with_gaps(STAMPS), dtype="datetime64[s]"),
    "datetime zone": pd.Series(with_gaps(STAMPS), dtype="datetime64[us]").dt.tz_localize(
        "Asia/Tokyo"
    ),
    "arrow integer": pd.Series(WHOLE, dtype="int16[pyarrow]"),
    "arrow text": pd.Series(TEXT, dtype="string[pyarrow]"),
    "arrow date": pd.Series(with_gaps(DAYS), dtype="date32[pyarrow]"),
}
POLARS = {
    "Float32": pl.Series(REAL, dtype=pl.Float32),
    "Int8": pl.Series(WHOLE, dtype=pl.Int8),
    "Boolean": pl.Series(TRUTH, dtype=pl.Boolean),
    "String": pl.Series(TEXT, dtype=pl.String),
    "Categorical": pl.Series(TEXT, dtype=pl.Categorical),
    "Enum": pl.Series(TEXT, dtype=pl.Enum(["c", "b", "a", "unused"])),
    "Date": pl.Series(with_gaps(DAYS), dtype=pl.Date),
    "Datetime": pl.Series(with_gaps(STAMPS), dtype=pl.Datetime("ms")),
    "Datetime zone": pl.Series(with_gaps(STAMPS), dtype=pl.Datetime("us", "UTC")),
}
ARROW = {
    "int16": pa.array(WHOLE, pa.int16()),
    "float": pa.array(REAL, pa.float32()),
    "large_string": pa.array(TEXT, pa.large_string()),
    "dictionary": pa.DictionaryArray.from_arrays(
        pa.array(with_gaps([2, 1, 0] * 4), pa.int8()), pa.array(["c", "b", "a", "unused"])
    ),
    "date32": pa.array(with_gaps(DAYS), pa.date32()),
    "timestamp": pa.array(with_gaps(STAMPS), pa.timestamp("ms", tz="UTC")),
}


def filled(native):
    """Fill every gap with the first observed cell's code."""
    table = open_table(native)
    schema = infer_schema(table)
    codes = code_table(table, schema, "error")
    gaps = np.flatnonzero(table.missing(0))
    assert gaps.tolist() == GAPS
    assert np.isnan(codes[gaps, 0]).all()
    column = fill_column(table.column(0), schema.columns[0], gaps, codes[[0] * len(gaps), 0])
    return table.replace_columns({0: column})


@pytest.mark.parametrize("name", PANDAS)
def test_a_pandas_column_keeps_its_dtype_and_every_cell(name):
    before = pd.DataFrame({name: PANDAS[name]}).set_axis(np.arange(N)[::-1] * 3, axis=0)
    after = filled(before)
    pd.testing.assert_index_equal(after.index, before.index)
    assert after.dtypes.equals(before.dtypes)
    there = before[name].notna().to_numpy()
    pd.testing.assert_series_equal(after[name][there], before[name][there], check_exact=True)
    assert after[name].notna().all()
    assert (after[name][~there] == before[name].iloc[0]).all()


@pytest.mark.parametrize("name", POLARS)
def test_a_polars_column_keeps_its_dtype_and_every_cell(name):
    before = pl.DataFrame({name: POLARS[name]})
    after = filled(before)
    assert after.schema == before.schema
    assert after[name].null_count() == 0
    assert after[name].to_list()[1] == before[name].to_list()[0]
    there = ~before[name].is_null()
    assert after.filter(there).equals(before.filter(there))


@pytest.mark.parametrize("name", ARROW)
def test_an_arrow_column_keeps_its_type_and_every_cell(name):
    before = pa.table({name: ARROW[name]})
    after = filled(before)
    assert after.schema == before.schema
    assert after[name].null_count == 0
    cells = before[name].to_pylist()
    expected = [cells[0] if i in GAPS else cell for i, cell in enumerate(cells)]
    assert after[name].to_pylist() == expected
    if name == "dictionary":
        assert after[name].combine_chunks().dictionary.to_pylist() == ["c", "b", "a", "unused"]


def test_nan_counts_as_missing_in_polars_and_in_nullable_pandas():
    frame = pl.DataFrame({"a": [1.5, float("nan"), None, 2.5]})
    assert open_table(frame).missing(0).tolist() == [False, True, True, False]
    nullable = pd.DataFrame({"a": pd.array([1.5, None, 2.5], dtype="Float64")})
    nullable["a"] = nullable["a"] * np.array([1.0, 1.0, np.nan])
    assert open_table(nullable).missing(0).tolist() == [False, True, True]


def test_integer_column_labels_come_back():
    frame = pd.DataFrame({7: [1.5, None, 2.0], 3: ["a", "b", None]})
    table = open_table(frame)
    assert (table.position(3), table.position("3"), table.position(4)) == (1, 1, None)
    assert list(table.replace_columns({}).columns) == [7, 3]
    assert list(table.wrap(np.zeros((3, 2))).columns) == [7, 3]


def test_an_array_comes_back_as_an_array():
    array = np.array([[1.0, np.nan], [2.0, 3.0]], dtype=np.float32)
    table = open_table(array)
    assert table.names == ["x0", "x1"]
    assert table.position(1) == 1
    np.testing.assert_array_equal(table.replace_columns({}), array)
    assert table.replace_columns({}).dtype == np.float32


def test_a_level_that_the_dtype_lacks_is_added_at_its_end():
    seen = pd.DataFrame({"a": pd.Categorical(["x", "y"] * 3)})
    schema = infer_schema(open_table(seen))
    new = pd.DataFrame({"a": pd.Categorical(["y", None], categories=["y"])})
    series = fill_column(
        open_table(new).column(0), schema.columns[0], np.array([1]), np.array([0.0])
    )
    assert list(nw.to_native(series).cat.categories) == ["y", "x"]
    enum = pl.DataFrame({"a": pl.Series(["y", None], dtype=pl.Enum(["y"]))})
    series = fill_column(
        open_table(enum).column(0), schema.columns[0], np.array([1]), np.array([0.0])
    )
    assert series.to_list() == ["y", "x"]


def test_repeated_column_names_are_refused():
    with pytest.raises(InputError, match="'a' occurs more than once. Rename the columns"):
        open_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_lazy_frame_is_asked_to_be_collected():
    with pytest.raises(InputError, match=r"Pass X\.collect\(\)"):
        open_table(pl.LazyFrame({"a": [1]}))


def test_labels_that_count_as_the_same_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=pd.Index([1, True], dtype=object))
    with pytest.raises(InputError, match="1 and True count as the same. Rename the columns"):
        open_table(frame)


def test_a_name_with_half_a_character_is_refused():
    frame = pd.DataFrame([[1, 2]], columns=pd.Index(["a", "\ud800"], dtype=object))
    with pytest.raises(InputError, match="holds half of one .a lone surrogate.. Rename the column"):
        open_table(frame)
