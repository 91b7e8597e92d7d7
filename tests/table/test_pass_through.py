import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diffjoint import find_mm_columns, load
from diffjoint.errors import DataWarning
from diffjoint.table import infer_schema, open_table, pass_through_doubts
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES, TINY, new_imputer

N = 60
RNG = np.random.default_rng(0)
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(N)]


def table(**columns):
    held = pd.DataFrame({"a": RNG.normal(size=N), "town": RNG.choice(["Ulm", "Bonn"], N)})
    held = held.mask(RNG.random(held.shape) < 0.2)
    return held.assign(**columns)


def imputer(**params):
    return new_imputer(**{**TINY, "mm_columns": [], "random_state": 0, **params})


def doubts(frame, kinds=None):
    opened = open_table(frame)
    return pass_through_doubts(opened, infer_schema(opened, kinds), kinds)


@pytest.mark.parametrize("n_empty", [2, 12])
def test_what_to_type_names_every_column_without_a_value(n_empty):
    frame = table(**{f"void{i}": None for i in range(n_empty)})
    schema = infer_schema(open_table(frame))
    (doubt,) = pass_through_doubts(open_table(frame), schema)
    assert "as they are. Drop them" in doubt
    assert doubt.count(": 'pass-through'") == min(n_empty, 10)
    assert ("and so on" in doubt) == ("and 2 more" in doubt) == (n_empty > 10)


@pytest.mark.parametrize(
    "empty",
    [
        np.nan,
        pd.Series([None] * N, dtype=object),
        pd.Series([pd.NaT] * N, dtype="M8[ns]"),
        pd.Series([None] * N, dtype="Int64"),
        pd.Series([None] * N, dtype=pd.CategoricalDtype(["x", "y"])),
    ],
    ids=["float", "object", "datetime", "Int64", "category"],
)
def test_a_column_without_a_value_is_carried_along_with_a_word(empty):
    frame = table(void=empty)
    with pytest.warns(DataWarning, match="No cell of 'void' holds a value") as warned:
        fitted = imputer().fit(frame)
    assert len(warned) == 1
    completed = fitted.transform(frame)
    pd.testing.assert_series_equal(completed["void"], frame["void"])
    assert completed["a"].notna().all()


@pytest.mark.filterwarnings("ignore:No cell of")
@pytest.mark.parametrize(
    "kind", [pl.from_pandas, pa.Table.from_pandas, lambda t: t[["a", "void"]].to_numpy()]
)
def test_any_container_may_have_one(kind):
    frame = kind(table(void=None))
    completed = open_table(imputer().fit_transform(frame))
    assert completed.missing(completed.n_columns - 1).all()
    assert not completed.missing(0).any()


@pytest.mark.filterwarnings("ignore:No cell of")
@NO_OTHER_LOSSES
@FEW_CELLS
def test_all_that_can_be_asked_holds_with_such_a_column(tmp_path):
    frame = table(void=np.nan)
    fitted = imputer(mm_columns=["town"]).fit(frame)
    result = fitted.impute(frame)
    assert result.n_left == N
    assert result.n_kept + result.n_imputed == frame[["a", "town"]].isna().to_numpy().sum()
    assert fitted.report(frame, result, self_check=True).summary.n_left == N
    assert "void" not in fitted.self_check(frame).values["column"].tolist()
    assert all(drawn["void"].isna().all() for drawn in fitted.sample(frame, 2))
    assert [found["column"] for found in find_mm_columns(frame)] == ["a", "town"]
    fitted.save(tmp_path / "model")
    new = table(void=1.5)
    completed = load(tmp_path / "model").transform(new)
    assert (completed["void"] == 1.5).all()
    assert completed["a"].notna().all()


def test_a_column_that_codes_leave_without_a_value_is_carried_along_too():
    frame = table(void=np.where(np.arange(N) % 2, -9.0, np.nan))
    with pytest.warns(DataWarning, match="No cell of 'void' holds a value"):
        fitted = imputer(reason_codes={-9: "lost"}).fit(frame)
    pd.testing.assert_series_equal(fitted.transform(frame)["void"], frame["void"])


def test_dates_as_objects_and_periods_are_named_with_what_to_do():
    months = pd.Series(pd.period_range("2020-01", periods=N, freq="M"))
    born = pd.Series([None, *DAYS[1:]], dtype=object)
    frame = table(month=months.mask(months.index < 3), born=born)
    with pytest.warns(DataWarning, match="carried along and not filled") as warned:
        imputer().fit(frame)
    words = [str(one.message) for one in warned]
    assert len(words) == 2
    assert "X['month'] = X['month'].dt.to_timestamp()" in words[0]
    assert "X['born'] = pd.to_datetime(X['born'])" in words[1]
    converted = frame.assign(
        month=frame["month"].dt.to_timestamp(), born=pd.to_datetime(frame["born"])
    )
    assert doubts(converted) == ()
    assert imputer().fit_transform(converted)[["month", "born"]].notna().all(axis=None)


def test_ids_and_free_text_whose_missing_cells_stay_are_said_together():
    names = [f"P{i}" if i % 4 else None for i in range(N)]
    words = [f"a word or two, {i}" if i % 3 else None for i in range(N)]
    large = pd.Series([2**63 + i if i % 5 else None for i in range(N)], dtype="UInt64")
    (said,) = doubts(table(person=names, remark=words, large=large))
    assert said.startswith("'person', 'remark', 'large' hold ids or free text, so that their")
    assert "{'person': 'categorical'}" in said
    assert doubts(table(person=names), {"person": "pass-through"}) == ()


def test_what_was_asked_for_and_what_is_usual_gets_no_word():
    kinds = dict.fromkeys(["void", "born"], "pass-through")
    assert doubts(table(void=None, born=pd.Series(DAYS, dtype=object)), kinds) == ()
    names = [f"P{i}" for i in range(N)]
    stamps = pd.Series(DAYS).astype("M8[us]")
    assert doubts(table(person=names, number=np.arange(N), day=stamps)) == ()
    assert doubts(pl.from_pandas(table(born=pa.array(DAYS).to_pandas()))) == ()


def test_many_columns_without_a_value_are_not_all_listed():
    (warned,) = doubts(table(**{f"v{i}": None for i in range(13)}))
    assert "'v9' and 3 more" in warned
