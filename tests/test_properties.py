"""Claims about any table: made up by hypothesis, with every kind of column and any gaps."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diffjoint.table import infer_schema, open_table
from tests.conftest import new_imputer

pytestmark = pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")

QUICK = {
    "n_steps": 2,
    "width": 4,
    "max_epochs": 1,
    "random_state": 0,
}
CELLS = {
    "real": (st.floats(-1e9, 1e9, allow_subnormal=False), "float64"),
    "small real": (st.floats(-1e3, 1e3, width=32), "Float32"),
    "whole": (st.integers(-(2**40), 2**40), "Int64"),
    "few": (st.integers(0, 2), "Int8"),
    "truth": (st.booleans(), "boolean"),
    "text": (st.sampled_from(["a", "b", "ü", "NA", "<x>", ""]), "str"),
    "object": (st.sampled_from(["a", "b", "c"]), "object"),
    "category": (st.sampled_from(["lo", "hi"]), pd.CategoricalDtype(["hi", "lo", "never"], True)),
    "stamp": (
        st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01")),
        "datetime64[us]",
    ),
}


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 25))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    columns = {}
    for i, kind in enumerate(kinds):
        cells, dtype = CELLS[kind]
        values = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
        gaps = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
        gaps[draw(st.integers(0, n_rows - 1))] = False
        with_gaps = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
        columns[f"{kind} {i}"] = pd.Series(with_gaps, dtype=dtype)
    frame = pd.DataFrame(columns)
    frame = frame.assign(**{name: frame[name] + 0.0 for name in frame if "real" in name})
    frame.index = pd.Index(draw(st.permutations(range(n_rows))))
    return frame


def searchable(frame, choose):
    return [name for name in frame if frame[name].isna().any() and choose(name)]


def quiet(function):
    check = settings(
        max_examples=int(os.environ.get("EXAMPLES", "60")),
        deadline=None,
        derandomize="CI" in os.environ,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return check(function)


@pytest.mark.slow
@quiet
@given(tables())
def test_nothing_is_changed_but_lost_cells_and_none_of_those_is_left(frame):
    columns = searchable(frame, lambda name: True)
    imputer = new_imputer(columns, **QUICK).fit(frame)
    out, kept = imputer.transform(frame), imputer.predict_mm(frame)
    pd.testing.assert_index_equal(out.index, frame.index)
    pd.testing.assert_index_equal(out.columns, frame.columns)
    assert out.dtypes.equals(frame.dtypes)
    there = frame.notna()
    for name in frame:
        pd.testing.assert_series_equal(
            out[name][there[name]], frame[name][there[name]], check_exact=True
        )
    np.testing.assert_array_equal(out.isna(), kept)
    assert not (kept & there).any(axis=None)


def to_fill(frame):
    """Kinds of all columns, so that none is kept for holding one value or hardly any."""
    schema = infer_schema(open_table(frame), named=range(frame.shape[1]))
    return {column.name: str(column.kind) for column in schema.columns}


@pytest.mark.slow
@quiet
@given(tables())
def test_imputed_cells_are_values_the_column_could_hold(frame):
    out = new_imputer([], column_kinds=to_fill(frame), **QUICK).fit_transform(frame)
    assert out.notna().all(axis=None)
    for name in frame:
        seen = frame[name].dropna()
        if name.startswith(("text", "object", "category", "truth")):
            assert set(out[name]) <= set(seen)
        elif name.startswith(("whole", "few", "stamp")):
            assert out[name].min() >= seen.min()
            assert out[name].max() <= seen.max()


@pytest.mark.slow
@quiet
@given(tables())
def test_polars_tables_keep_their_schema(frame):
    table = pl.from_pandas(frame.reset_index(drop=True))
    out = new_imputer([], column_kinds=to_fill(table), **QUICK).fit_transform(table)
    assert out.schema == table.schema
    assert sum(out.null_count().row(0)) == 0


@pytest.mark.slow
@quiet
@given(tables(), st.randoms(use_true_random=False))
def test_row_order_never_matters(frame, random):
    columns = searchable(frame, lambda name: True)
    order = list(range(len(frame)))
    random.shuffle(order)
    straight = new_imputer(columns, **QUICK).fit_transform(frame)
    turned = new_imputer(columns, **QUICK).fit_transform(frame.iloc[order])
    pd.testing.assert_frame_equal(_sorted(turned), _sorted(straight))


def _sorted(frame):
    """Rows in an order of their own: equal rows may swap their answers."""
    words = ["|".join(map(str, row)) for row in frame.to_numpy(dtype=object)]
    return frame.iloc[np.argsort(words, kind="stable")].reset_index(drop=True)
