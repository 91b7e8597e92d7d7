import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint.errors import InputError
from diffjoint.table import Kind, Schema, infer_schema, open_table

RNG = np.random.default_rng(0)
CASES = {
    "continuous": pd.Series(RNG.normal(size=60)),
    "integer": pd.Series(RNG.integers(0, 1000, 60)),
    "whole floats": pd.Series([*RNG.integers(0, 1000, 59).astype(float), np.nan]),
    "few numbers": pd.Series([1, 2, 3] * 20),
    "few reals": pd.Series([0.5, 1.5] * 30),
    "bool": pd.Series([True, False] * 30),
    "text": pd.Series(["a", "b"] * 30),
    "category": pd.Series(["a", "b"] * 30, dtype="category"),
    "constant": pd.Series([4.25] * 60),
    "datetime": pd.Series(pd.date_range("2024", periods=60, freq="h")),
    "free text": pd.Series([f"remark {i}" for i in range(60)]),
    "row_id": pd.Series(RNG.permutation(60) * 3),
    "counter": pd.Series(range(60)),
    "durations": pd.Series(pd.to_timedelta(range(60), unit="h")),
    "dates as objects": pd.Series([dt.date(2024, 1, 1)] * 60, dtype=object),
    "mixed": pd.Series(["a", 1] * 30, dtype=object),
}
EXPECTED = {
    "continuous": "continuous",
    "integer": "integer",
    "whole floats": "integer",
    "few numbers": "categorical",
    "few reals": "categorical",
    "bool": "categorical",
    "text": "categorical",
    "category": "categorical",
    "constant": "categorical",
    "datetime": "datetime",
    "free text": "pass-through",
    "row_id": "pass-through",
    "counter": "pass-through",
    "durations": "pass-through",
    "dates as objects": "pass-through",
    "mixed": "categorical",
}


@pytest.mark.parametrize("name", CASES)
def test_the_kind_of_a_column_is_inferred(name):
    schema = infer_schema(open_table(pd.DataFrame({name: CASES[name]})))
    assert schema.columns[0].kind == EXPECTED[name]


def test_a_short_column_of_successive_numbers_is_no_id():
    schema = infer_schema(open_table(pd.DataFrame({"a": [0, 1], "b": [5, 6]})))
    assert [column.kind for column in schema.columns] == ["integer", "integer"]


def test_polars_dtypes_have_kinds_too():
    frame = pl.DataFrame(
        {
            "day": pl.Series([dt.date(2024, 1, i + 1) for i in range(6)]),
            "grade": pl.Series(["a", "b"] * 3, dtype=pl.Enum(["b", "a"])),
            "parts": pl.Series([[1], [2]] * 3),
        }
    )
    kinds = [column.kind for column in infer_schema(open_table(frame)).columns]
    assert kinds == ["datetime", "categorical", "pass-through"]


def test_a_kind_can_be_overridden():
    frame = pd.DataFrame({"a": [1, 2, 3] * 20, "b": RNG.integers(0, 99, 60)})
    schema = infer_schema(open_table(frame), {"a": "integer", "b": "continuous"})
    assert [column.kind for column in schema.columns] == [Kind.INTEGER, Kind.CONTINUOUS]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (
            {"z": "integer"},
            r"column_kinds names 'z', which is not a column of the table \(a, b, c\)",
        ),
        ({"a": "float"}, "must be one of 'continuous', 'integer', 'categorical'.*got 'float'"),
        ({"a": "integer"}, "says that 'a' is an integer column; it holds 0.5. Use 'continuous'"),
        ({"b": "continuous"}, "says that 'b' is continuous; its dtype is String"),
        ({"a": "datetime"}, "says that 'a' is datetime; its dtype is Float64"),
        ({"c": "continuous"}, "says that 'c' is continuous; its dtype is Datetime"),
    ],
)
def test_an_override_that_does_not_fit_says_why(kinds, words):
    frame = pd.DataFrame(
        {"a": [0.5, 1.0], "b": ["x", "y"], "c": pd.to_datetime(["2024-01-01", "2024-01-02"])}
    )
    with pytest.raises(InputError, match=words):
        infer_schema(open_table(frame), kinds)


@pytest.mark.parametrize(
    "empty", [pd.Series([None, None], dtype="float64"), pd.Series([None, None])]
)
def test_an_all_missing_column_is_carried_along_unless_a_kind_is_asked_for(empty):
    table = open_table(pd.DataFrame({"a": empty, "b": [1, 2]}))
    for kind in ("continuous", "categorical"):
        with pytest.raises(InputError, match="'a'.*all of its cells are missing.*Drop the column"):
            infer_schema(table, {"a": kind})
    assert infer_schema(table).columns[0].kind == "pass-through"


def test_infinity_is_refused():
    with pytest.raises(InputError, match="'a' must hold finite numbers; it has infinity"):
        infer_schema(open_table(pd.DataFrame({"a": [0.5, np.inf]})))


@pytest.mark.parametrize(
    ("stamps", "step"),
    [
        (["2024-01-01", "2024-03-05"], 86_400_000_000),
        (["2024-01-01 05:00", "2024-03-05 07:00"], 3_600_000_000),
        (["2024-01-01 05:00:07", "2024-03-05 07:01:00"], 1_000_000),
        (["2024-01-01 05:00:07.5", "2024-03-05 07:01:00"], 0),
    ],
)
def test_dates_keep_to_their_grid(stamps, step):
    frame = pd.DataFrame({"a": pd.to_datetime(stamps, format="mixed")})
    assert infer_schema(open_table(frame)).columns[0].step == step


def test_a_schema_survives_json():
    import json

    frame = pd.DataFrame({name: CASES[name] for name in CASES if name != "whole floats"})
    schema = infer_schema(open_table(frame))
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


def test_a_schema_prints_as_a_table():
    frame = pd.DataFrame({"a": [0.5, 2.5], "id": ["x", "y"]})
    text = str(infer_schema(open_table(frame), {"id": "pass-through"}))
    assert text.splitlines()[1:] == [
        "a       continuous    0.5 to 2.5",
        "id      pass-through  carried along, not modelled",
    ]
