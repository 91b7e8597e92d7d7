"""Tables as people really have them: each was once a crash or a changed cell."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from diffjoint import load
from diffjoint.errors import DataWarning, InputError, TrainingError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES, TINY, new_imputer

RNG = np.random.default_rng(0)
N = 40


def imputer(mm_columns=(), **params):
    return new_imputer(list(mm_columns), **{**TINY, "random_state": 0, **params})


def with_gaps(values):
    return [None if i % 5 == 1 else value for i, value in enumerate(values)]


def check(before, after):
    """Same dtypes, labels and observed cells; nothing missing."""
    pd.testing.assert_index_equal(after.columns, before.columns)
    pd.testing.assert_index_equal(after.index, before.index)
    assert after.dtypes.equals(before.dtypes)
    assert after.notna().all(axis=None)
    for i in range(before.shape[1]):
        there = before.iloc[:, i].notna().to_numpy()
        pd.testing.assert_series_equal(
            after.iloc[there, i], before.iloc[there, i], check_exact=True
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "float32[pyarrow]"])
def test_decimals_of_every_float(dtype):
    frame = pd.DataFrame(
        {"a": pd.Series(with_gaps(RNG.normal(size=N)), dtype="float64").astype(dtype)}
    )
    check(frame, imputer().fit_transform(frame))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "object", "<U9"])
def test_arrays_of_every_dtype(dtype):
    if dtype == "<U9":
        array = RNG.choice(["north", "south"], (N, 2)).astype(dtype)
    else:
        array = RNG.normal(size=(N, 2)).astype(dtype)
        array[::4, 0] = np.nan
    out = imputer().fit_transform(array)
    assert out.dtype == array.dtype
    there = ~pd.isna(array)
    np.testing.assert_array_equal(out[there], array[there])
    assert not pd.isna(out).any()


def test_an_array_of_dates_is_asked_to_be_a_frame():
    dates = np.array([["2024-01-01"], ["2024-01-02"]], dtype="datetime64[ns]")
    with pytest.raises(InputError, match="got datetime64.*Pass a DataFrame"):
        imputer().fit(dates)


@pytest.mark.parametrize(
    "zone", ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Etc/GMT+5", "UTC"]
)
@pytest.mark.parametrize("freq", ["D", "h"])
def test_times_in_every_zone_stay_on_their_grid(zone, freq):
    stamps = pd.date_range("2024-03-01", periods=N, freq=freq).tz_localize(
        zone, nonexistent="shift_forward", ambiguous=True
    )
    frame = pd.DataFrame({"t": pd.Series(stamps).where(np.arange(N) % 5 != 1)})
    out = imputer().fit_transform(frame)
    check(frame, out)
    local = out["t"].dt.tz_localize(None)
    assert (local == local.dt.floor(freq)).all()


def test_polars_times_in_zones_stay_on_their_grid():
    stamps = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i) for i in range(N)]
    series = pl.Series("t", stamps).dt.replace_time_zone("America/New_York")
    frame = pl.DataFrame({"t": series}).with_columns(
        pl.when(pl.int_range(pl.len()) % 5 != 1).then(pl.col("t")).alias("t")
    )
    out = imputer().fit_transform(frame)
    assert out.schema == frame.schema
    assert set(out["t"].dt.hour().to_list()) == {0}


def test_a_category_of_whole_numbers_is_a_category():
    frame = pd.DataFrame(
        {"k": pd.Categorical(with_gaps([i % 20 for i in range(N)]), categories=range(25))}
    )
    out = imputer().fit_transform(frame)
    check(frame, out)
    assert set(out["k"]) <= set(frame["k"].dropna())


@pytest.mark.parametrize("container", ["pandas", "polars", "arrow"])
def test_numbers_too_long_for_a_float_are_carried_along(container):
    ids = [900_000_000_000_000_000 + i for i in range(N)]
    columns = {"id": ids, "x": with_gaps(RNG.normal(size=N).tolist())}
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[container](columns)
    out = imputer().fit_transform(table)
    assert list(out["id"].to_pylist() if container == "arrow" else out["id"]) == ids


def test_huge_and_tiny_floats():
    frame = pd.DataFrame(
        {
            "huge": with_gaps(RNG.normal(size=N) * 1e20),
            "tiny": with_gaps(RNG.normal(size=N) * 1e-200),
        }
    )
    out = imputer().fit_transform(frame)
    check(frame, out)
    assert out["tiny"].abs().max() < 1e-198


def test_numbers_whose_spread_overflows_are_refused():
    frame = pd.DataFrame({"a": with_gaps([1e308 * (-1) ** i for i in range(N)]), "b": range(N)})
    with pytest.raises(InputError, match="'a' must have a finite spread"):
        imputer(column_kinds={"a": "continuous"}).fit(frame)


def test_a_constant_is_filled_with_itself():
    frame = pd.DataFrame({"a": [1e-9, 1e-9, None, None], "b": [0.5, None, 0.25, 1.5]})
    assert imputer(checkboxes="fill").fit_transform(frame)["a"].tolist() == [1e-9] * 4
    as_number = imputer(column_kinds={"a": "continuous"}).fit_transform(frame)
    assert as_number["a"].tolist() == [1e-9] * 4


def test_whole_numbers_as_continuous_stay_whole():
    frame = pd.DataFrame({"a": pd.Series(with_gaps(range(0, 3 * N, 3)), dtype="Int64")})
    check(frame, imputer(column_kinds={"a": "continuous"}).fit_transform(frame))


@pytest.mark.parametrize("column", [["1", "2", None], [True, False, None]])
def test_text_and_truth_values_are_no_numbers(column):
    frame = pd.DataFrame({"a": column * 5, "b": np.arange(15) * 0.5})
    with pytest.raises(InputError, match="says that 'a' is integer; its dtype is"):
        imputer(column_kinds={"a": "integer"}).fit(frame)


@FEW_CELLS
@NO_OTHER_LOSSES
def test_column_labels_of_every_sort_come_back():
    columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["x", "y"])
    frame = pd.DataFrame(RNG.normal(size=(N, 2)), columns=columns).mask(RNG.random((N, 2)) < 0.2)
    fitted = imputer([("a", 2)]).fit(frame)
    out = fitted.transform(frame)
    pd.testing.assert_index_equal(out.columns, columns)
    pd.testing.assert_index_equal(fitted.predict_mm(frame).columns, columns)
    named = frame.set_axis(pd.Index(["p", "q"], name="things"), axis=1)
    assert imputer(["p"]).fit_transform(named).columns.name == "things"


def test_repeated_index_labels_are_no_problem():
    frame = pd.DataFrame({"a": with_gaps(RNG.normal(size=N))}, index=[0, 1] * (N // 2))
    check(frame, imputer().fit_transform(frame))


@pytest.mark.parametrize("container", ["pandas object", "pandas float", "polars", "arrow"])
def test_a_column_that_is_empty_this_time_is_filled_all_the_same(container):
    fit_on = pd.DataFrame(
        {
            "number": RNG.normal(size=N),
            "word": RNG.choice(["x", "y"], N),
            "flag": RNG.random(N) < 0.5,
            "day": pd.date_range("2024-01-01", periods=N),
        }
    )
    nothing = {name: [None] * 3 for name in fit_on}
    table = {
        "pandas object": lambda: pd.DataFrame(nothing, dtype=object),
        "pandas float": lambda: pd.DataFrame(nothing, dtype=float),
        "polars": lambda: pl.DataFrame(nothing),
        "arrow": lambda: pa.table({name: pa.nulls(3) for name in fit_on}),
    }[container]()
    out = imputer().fit(fit_on).transform(table)
    for name in fit_on:
        cells = out[name].to_pylist() if container == "arrow" else list(out[name])
        assert not any(pd.isna(cell) for cell in cells)


def test_truth_values_that_have_become_numbers():
    fitted = imputer().fit(pd.DataFrame({"a": [True, False] * 10, "b": np.arange(20) * 0.5}))
    out = fitted.transform(pd.DataFrame({"a": [1.0, np.nan, 0.0], "b": [0.5, 1.5, 2.5]}))
    assert out["a"].dtype == "float64"
    assert out["a"].notna().all()


def test_decimals_and_lists_are_carried_along():
    frame = pd.DataFrame(
        {
            "price": [decimal.Decimal("1.5"), None] * 10,
            "tags": [["a"], None] * 10,
            "x": with_gaps(range(0, 40, 2)),
        }
    )
    with pytest.warns(DataWarning, match="'(price|tags)' is of dtype object.*carried along"):
        out = imputer().fit_transform(frame)
    pd.testing.assert_frame_equal(out[["price", "tags"]], frame[["price", "tags"]])


READABLE = {
    "float16": lambda: pd.Series(with_gaps(RNG.normal(size=N)), dtype="float64").astype("float16"),
    "big-endian whole": lambda: pd.Series(np.arange(N, dtype=">i4")),
    "big-endian": lambda: pd.Series(np.array(with_gaps(RNG.normal(size=N)), dtype=">f8")),
    "Arrow float16": lambda: pd.array(
        [None if x is None else np.float16(x) for x in with_gaps(range(N))],
        dtype=pd.ArrowDtype(pa.float16()),
    ),
    "Arabic digits": lambda: pd.Series(with_gaps(["١٢", "٣"] * (N // 2)), dtype=object),
}


@pytest.mark.parametrize("name", READABLE)
def test_rare_dtypes_are_filled(name):
    frame = pd.DataFrame({"a": READABLE[name](), "b": RNG.normal(size=N)})
    out = imputer().fit_transform(frame)
    there = frame["a"].notna()
    pd.testing.assert_series_equal(out["a"][there], frame["a"][there], check_exact=True)
    assert out["a"].notna().all()


def test_big_endian_arrays_go_back_as_they_came():
    array = RNG.normal(size=(N, 2)).astype(">f8")
    array[::4, 0] = np.nan
    assert imputer().fit_transform(array).dtype == np.dtype(">f8")


@pytest.mark.parametrize("dtype", [pl.Int128, pl.Float32])
def test_wide_numbers_of_polars_are_filled(dtype):
    table = pl.DataFrame({"a": pl.Series(with_gaps(range(0, 3 * N, 3)), dtype=dtype)})
    out = imputer().fit_transform(table)
    assert out.schema == table.schema
    assert out["a"].null_count() == 0


UNREADABLE = {
    "sparse": lambda: pd.arrays.SparseArray(np.array(with_gaps(range(N)), dtype=float)),
    "intervals": lambda: pd.cut(pd.Series(with_gaps(range(N)), dtype=float), 4),
    "Arrow decimal": lambda: pd.array(
        with_gaps([decimal.Decimal(i) for i in range(N)]), dtype=pd.ArrowDtype(pa.decimal128(9, 2))
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_filled_is_carried_along_and_said(name):
    frame = pd.DataFrame({"a": UNREADABLE[name](), "b": with_gaps(RNG.normal(size=N))})
    with pytest.warns(DataWarning, match="'a' is of dtype .*its missing cells stay"):
        out = imputer().fit_transform(frame)
    pd.testing.assert_series_equal(out["a"], frame["a"])
    imputer(column_kinds={"a": "pass-through"}).fit(frame)


def test_half_characters_are_named():
    cells = with_gaps(["a\ud800", "b"] * (N // 2))
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": RNG.normal(size=N)})
    with pytest.raises(InputError, match="half of a character"):
        imputer().fit_transform(frame)


def test_text_views_of_arrow():
    column = pa.array(with_gaps(["x", "y"] * (N // 2)), pa.string_view())
    out = imputer().fit_transform(pa.table({"a": column}))
    assert out.schema.field("a").type == pa.string_view()
    assert out["a"].null_count == 0


# Fitting and saving


@FEW_CELLS
def test_a_failed_fit_leaves_no_fitted_imputer(survey):
    fitted = imputer(["age"]).fit(survey)
    fitted.set_params(mm_columns=["nothing"])
    with pytest.raises(InputError):
        fitted.fit(survey)
    with pytest.raises(NotFittedError):
        fitted.transform(survey)


@FEW_CELLS
@pytest.mark.parametrize("rate", [1e30, 1e6])
def test_divergence_in_the_only_epoch_is_noticed(survey, rate):
    fitted = imputer(["age"], max_epochs=1, batch_size=4096, learning_rate=rate).fit(survey)
    with pytest.raises(TrainingError, match="learning_rate"):
        fitted.sample(survey, draws="diffusion")


@FEW_CELLS
def test_parameters_of_numpy_and_torch_can_be_saved(survey, tmp_path):
    import torch

    fitted = imputer(
        ["age"], n_steps=np.int64(4), learning_rate=np.float32(0.01), device=torch.device("cpu")
    )
    fitted.set_params(random_state=np.int64(4), diffusion__checkpoint=tmp_path / "c")
    with pytest.warns(UserWarning, match="checkpoint=.*set, but sampler='amortised' does not use"):
        fitted.fit(survey)
    fitted.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert (loaded.diffusion.n_steps, loaded.random_state) == (4, 4)


def test_labels_that_json_cannot_carry_are_named(tmp_path):
    frame = pd.DataFrame(
        {pd.Timestamp("2024-01-01"): with_gaps(RNG.normal(size=N)), "b": RNG.normal(size=N)}
    )
    frame.columns = pd.Index(frame.columns, dtype=object)
    fitted = imputer([pd.Timestamp("2024-01-01")])
    with pytest.raises((InputError, TypeError), match="can be saved|feature names|Feature names"):
        fitted.fit(frame).save(tmp_path / "m")


@FEW_CELLS
@NO_OTHER_LOSSES
def test_tuple_labels_survive_saving(tmp_path):
    columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    frame = pd.DataFrame(RNG.normal(size=(N, 2)), columns=columns).mask(RNG.random((N, 2)) < 0.2)
    fitted = imputer([("a", 2)], column_kinds={("a", 1): "continuous"}).fit(frame)
    fitted.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.mm_columns == [("a", 2)]
    pd.testing.assert_frame_equal(loaded.fit(frame).transform(frame), fitted.transform(frame))


def test_an_imputer_without_joint_keeps_its_mm_columns(survey, tmp_path):
    imputer(["age"], joint=False).fit(survey).save(tmp_path / "m")
    assert load(tmp_path / "m").mm_columns == ["age"]


@FEW_CELLS
def test_a_label_that_clashes_after_fit_is_refused(survey):
    fitted = imputer(["town"], mm_output="category").fit(survey)
    fitted.set_params(mm_label="Ulm")
    with pytest.raises(InputError, match="already has as a level"):
        fitted.transform(survey)
