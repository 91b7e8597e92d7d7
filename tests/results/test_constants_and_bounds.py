"""Constants for meaningful cells, and limits for filled ones."""

import copy
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import SelectiveImputer, load
from diffjoint.errors import InputError
from tests.conftest import TINY, new_imputer


def smokers(n=240):
    """Pack years are meaningful for who does not smoke: the rule says so."""
    rng = np.random.default_rng(0)
    smokes = rng.random(n) < 0.5
    table = pd.DataFrame(
        {
            "age": pd.array(rng.integers(18, 90, n), dtype="Int64"),
            "smokes": np.where(smokes, "yes", "no"),
            "pack_years": pd.array(np.where(smokes, rng.integers(1, 60, n), 0), dtype="Int64"),
            "brand": pd.Categorical(np.where(smokes, rng.choice(["red", "blue"], n), "red")),
            "quit_on": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "weight": rng.normal(70, 12, n),
        }
    )
    table.loc[~smokes, ["pack_years", "brand", "quit_on"]] = None
    for name in ("age", "pack_years", "weight", "brand"):
        table.loc[rng.choice(n, 20, replace=False), name] = None
    return table


RULES = dict.fromkeys(["pack_years", "brand", "quit_on"], 'smokes == "yes"')


def imputer(**params):
    settings = {"rules": RULES, "imputer": SimpleImputer(), "random_state": 0}
    return new_imputer(**{**settings, **params})


@pytest.fixture(scope="module")
def fitted():
    return imputer().fit(smokers())


@pytest.mark.slow
def test_meaningful_cells_get_their_constant_and_stay_meaningful(fitted):
    table, fills = smokers(), {"pack_years": 0, "brand": "none", "quit_on": "1900-01-01"}
    result = fitted.set_params(mm_fill=fills).impute(table)
    no = table["smokes"] == "no"
    assert (result.table.loc[no, "pack_years"] == 0).all()
    assert (result.table.loc[no, "brand"] == "none").all()
    assert (result.table.loc[no, "quit_on"] == pd.Timestamp("1900-01-01")).all()
    assert (result.table.loc[~no, "pack_years"] > 0).all()
    assert result.meaningful.loc[no, list(fills)].all(axis=None)
    assert result.n_kept == 3 * no.sum()
    assert result.table["pack_years"].dtype == "Int64"
    assert result.table["quit_on"].dtype == table["quit_on"].dtype


def test_a_column_without_a_constant_stays_na(fitted):
    table = smokers()
    out = fitted.set_params(mm_fill={"pack_years": 0}).transform(table)
    assert out.loc[table["smokes"] == "no", "brand"].isna().all()


def test_polars_gets_the_same_constants(fitted):
    table = pl.from_pandas(smokers())
    out = fitted.set_params(mm_fill={"pack_years": 0, "brand": "none"}).transform(table)
    no = out.filter(pl.col("smokes") == "no")
    assert no["pack_years"].unique().to_list() == [0]
    assert no["brand"].cast(pl.String).unique().to_list() == ["none"]


def test_an_indicator_goes_with_the_constant(fitted):
    table = smokers()
    copied = copy.copy(fitted).set_params(mm_fill={"pack_years": 0}, mm_output="indicator")
    out = copied.transform(table)
    no = table["smokes"] == "no"
    assert (out.loc[no, "pack_years"] == 0).all()
    np.testing.assert_array_equal(out["pack_years_meaningful"], no)
    assert out["brand"].notna().all()


@pytest.mark.parametrize(
    ("fills", "words"),
    [
        ({"pack_years": 0.5}, "whole number"),
        ({"pack_years": "none"}, "finite number"),
        ({"pack_years": True}, "finite number"),
        ({"brand": 0}, "must be a text"),
        ({"quit_on": 0}, "a date such as"),
        ({"age": 0}, "not among mm_columns"),
        ({"pack_year": 0}, "Did you mean 'pack_years'"),
        ([0], "must map columns"),
    ],
)
def test_a_constant_that_is_not_valid_is_refused_before_the_work(fills, words):
    with pytest.raises(InputError, match=words):
        imputer(mm_fill=fills).fit(smokers())


def test_a_constant_must_fit_into_the_dtype():
    table = smokers().astype({"pack_years": "UInt8"})
    with pytest.raises(InputError, match="UInt8"):
        imputer(mm_fill={"pack_years": -1}).fit(table)


# Bounds


class Beyond(SimpleImputer):
    """Fills every cell with something far off."""

    def transform(self, X):
        return np.where(np.isnan(X), 1e3, X)


def test_bounds_hold_in_place_of_the_observed_range():
    table = smokers()
    bounds = {"age": (0, 120), "weight": (None, 300.5), "quit_on": (None, date(2030, 1, 1))}
    out = SelectiveImputer([], imputer=Beyond(), bounds=bounds).fit_transform(table)
    filled = {name: out.loc[table[name].isna(), name] for name in table}
    assert (filled["age"] == 120).all()
    assert (filled["weight"] == 300.5).all()
    assert (filled["quit_on"] == pd.Timestamp("2030-01-01")).all()
    assert (filled["pack_years"] == table["pack_years"].max()).all()


@pytest.mark.slow
def test_bounds_hold_for_draws_and_survive_a_file(tmp_path):
    table = smokers()[["age", "weight"]]
    table["age"] = table["age"].astype("Float64") + 0.5
    bounds = {"weight": (table["weight"].min(), table["weight"].max()), "age": (18.5, None)}
    fitted = new_imputer([], bounds=bounds, **TINY, random_state=0).fit(table)
    drawn = pd.concat(fitted.sample(table, 20))
    assert drawn["weight"].between(*bounds["weight"]).all()
    assert (drawn["age"] >= 18.5).all()
    assert (drawn["age"] == 18.5).any()
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.bounds == bounds
    pd.testing.assert_frame_equal(again.sample(table, 1)[0], fitted.sample(table, 1)[0])


@pytest.mark.slow
def test_constants_and_dates_survive_a_file(tmp_path):
    table = smokers(120)[["smokes", "quit_on", "weight"]]
    params = {
        "rules": {"quit_on": RULES["quit_on"]},
        "mm_fill": {"quit_on": date(1900, 1, 1)},
        "bounds": {"quit_on": (date(2019, 1, 1), None)},
    }
    fitted = imputer(imputer=None, **params, **TINY).fit(table)
    fitted.save(tmp_path / "model")
    pd.testing.assert_frame_equal(
        load(tmp_path / "model").transform(table), fitted.transform(table)
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"age": (30, 120)}, r"\d+ cells lie below and 0 above; .* Widen the bounds"),
        ({"age": (120, 0)}, "leaves no value"),
        ({"age": 120}, "must be a pair"),
        ({"age": ("0", 1)}, "finite number"),
        ({"age": (0, float("inf"))}, "finite number"),
        ({"brand": (0, 1)}, "categorical"),
        ({"quit_on": (0, None)}, "a date such as"),
        ({"ages": (0, 1)}, "Did you mean 'age'"),
    ],
)
def test_bounds_that_cannot_hold_are_refused_before_the_work(bounds, words):
    with pytest.raises(InputError, match=words):
        imputer(bounds=bounds).fit(smokers())


def test_an_integer_keeps_to_whole_numbers_within_bounds():
    table = smokers()
    limited = SelectiveImputer([], imputer=Beyond(), bounds={"age": (None, 100.7)})
    out = limited.fit_transform(table)
    assert (out.loc[table["age"].isna(), "age"] == 100).all()


# What meaningful cells mean, column by column


def test_labels_by_column_are_levels_and_others_keep_the_usual_one():
    table = smokers().assign(filter=lambda t: t["brand"].astype(object))
    rules = RULES | {"filter": 'smokes == "yes"'}
    model = imputer(rules=rules, mm_output="category", mm_label={"brand": "no brand"}).fit(table)
    out, kept = model.transform(table), table["smokes"] == "no"
    assert set(out.loc[kept, "brand"]) == {"no brand"}
    assert set(out.loc[kept, "filter"]) == {"not applicable"}


def test_a_label_says_in_the_report_what_a_gap_means():
    table = smokers()
    model = imputer(rules={"brand": RULES["brand"]}, mm_label={"quit_on": "never recorded"})
    model.set_params(mm_columns=["brand", "quit_on"], loss_rate=0.1).fit(table)
    told = {column.name: column.kept for column in model.report(n_draws=0).summary.columns}
    assert told["quit_on"].meaning == "never recorded"
    assert told["brand"].meaning == ""
    assert "never recorded" in model.report(n_draws=0).html


def test_labels_survive_a_file(tmp_path):
    table = smokers()
    label = {"mm_output": "category", "mm_label": {"brand": "no brand"}}
    model = imputer(**label, imputer=None, n_boosters=1).fit(table)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params()["mm_label"] == {"brand": "no brand"}
    pd.testing.assert_frame_equal(again.transform(table), model.transform(table))


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ({"nowhere": "x"}, "nowhere"),
        ({"weight": "x"}, "'weight', which is not among"),
        ({"brand": 7}, "must be text, or texts by column"),
        ({"brand": "red"}, "'brand' already has as a level"),
    ],
)
def test_labels_are_checked_before_anything_is_learnt(label, said):
    with pytest.raises(InputError, match=said):
        imputer(mm_output="category", mm_label=label).fit(smokers())
