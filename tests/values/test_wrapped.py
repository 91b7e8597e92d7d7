"""Our mask, another imputer's values; and meaningful cells put back after any tool."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import clone
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from diffjoint import Diffusion, SelectiveImputer, keep_na
from diffjoint.errors import DataWarning, InputError
from diffjoint.simulate import household_survey
from tests.conftest import FEW_CELLS, TINY, new_imputer

SEARCHED = ["spouse_age"]


@pytest.fixture(scope="module")
def table():
    return household_survey(400, seed=1).observed_table.drop(columns=["weekly_hours", "commute"])


@pytest.fixture(scope="module")
def around_mean(table):
    imputer = SelectiveImputer(SEARCHED, imputer=SimpleImputer(), random_state=0)
    return imputer.fit(table)


@pytest.mark.slow
def test_the_mask_is_ours_whoever_gives_the_values(table, around_mean):
    own = new_imputer(SEARCHED, **TINY, random_state=0).fit(table)
    pd.testing.assert_frame_equal(around_mean.predict_mm(table), own.predict_mm(table))


def test_the_values_are_the_other_imputers(table, around_mean):
    """But for gates, which agree with what is observed behind them."""
    out, kept = around_mean.transform(table), around_mean.predict_mm(table)
    assert [rule.as_rule for rule in around_mean.rules_] == ['married == "yes"']
    behind = {"married": [around_mean.rules_[0].column]}
    for name in table:
        filled = table[name].isna() & ~kept[name]
        if name in behind:
            is_open = table[behind[name]].notna().any(axis=1)
            assert (out.loc[filled & is_open, name] == "yes").all()
            filled &= table[[name, *behind[name]]].isna().all(axis=1)
            filled &= out[behind[name]].notna().all(axis=1) == (table[name].mode()[0] == "yes")
        if pd.api.types.is_numeric_dtype(table[name].dtype):
            expected = round(table[name].astype(float).mean())
        else:
            expected = table[name].mode()[0]
        assert (out.loc[filled, name] == expected).all(), name
    np.testing.assert_array_equal(out.isna(), kept)


@pytest.mark.parametrize(
    "other",
    [KNNImputer(), IterativeImputer(max_iter=30, tol=0.1), SimpleImputer(strategy="most_frequent")],
    ids=lambda other: type(other).__name__,
)
@FEW_CELLS
def test_every_dtype_comes_back_with_valid_values(survey, other):
    out = SelectiveImputer(["age", "town"], imputer=other, random_state=0).fit_transform(survey)
    assert out.dtypes.equals(survey.dtypes)
    assert set(out["town"].dropna()) <= {"Ulm", "Bonn", "Köln"}
    assert out["income"].between(survey["income"].min(), survey["income"].max()).all()
    assert out["seen"].notna().all()
    for name in survey:
        there = survey[name].notna()
        pd.testing.assert_series_equal(out[name][there], survey[name][there])


def test_an_imputer_that_looks_at_the_row_uses_categories():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], 300)
    height = {"a": 0.0, "b": 10.0, "c": 20.0}
    table = pd.DataFrame({"group": group, "height": [height[g] for g in group]})
    table["height"] += rng.normal(0, 0.5, 300)
    truth = table.copy()
    table.loc[:49, "group"] = None
    table.loc[50:99, "height"] = None
    out = SelectiveImputer([], imputer=KNNImputer()).fit_transform(table)
    assert (out["group"] == truth["group"]).mean() == 1.0
    assert (out["height"] - truth["height"]).abs().max() < 5


def test_new_rows_are_filled_by_what_was_fitted(table, around_mean):
    row = table.iloc[[0]].copy()
    row["age"] = pd.array([None], dtype=row["age"].dtype)
    out = around_mean.transform(row)
    assert out["age"].iloc[0] == round(table["age"].astype(float).mean())


def test_an_open_random_state_is_fixed_by_ours(survey):
    other = IterativeImputer(sample_posterior=True, max_iter=2, tol=0.5)

    def fill(seed):
        wrapped = SelectiveImputer([], imputer=other, random_state=seed)
        return wrapped.fit_transform(survey)

    pd.testing.assert_frame_equal(fill(0), fill(0))
    assert not fill(0).equals(fill(1))
    assert other.random_state is None


def test_parameters_of_the_other_imputer_can_be_set_and_are_cloned():
    imputer = SelectiveImputer([], imputer=KNNImputer())
    imputer.set_params(imputer__n_neighbors=2)
    assert clone(imputer).get_params()["imputer__n_neighbors"] == 2


def test_the_imputer_given_is_itself_not_fitted(survey):
    other = SimpleImputer()
    SelectiveImputer([], imputer=other).fit(survey)
    assert not hasattr(other, "statistics_")


def test_uncertainty_is_unknown_where_another_gave_the_value(table, around_mean):
    spread = around_mean.uncertainty(table)
    np.testing.assert_array_equal(spread.isna(), table.isna())


def test_draws_and_files_are_refused_in_words(table, around_mean, tmp_path):
    with pytest.raises(InputError, match="imputer=None to sample"):
        around_mean.sample(table)
    with pytest.raises(InputError, match="pickle"):
        around_mean.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"imputer": SimpleImputer}, "Pass an instance"),
        ({"imputer": "knn"}, "scikit-learn imputer"),
        ({"imputer": SimpleImputer(), "detector": "paper"}, "detector='paper' needs one"),
        ({"imputer": SimpleImputer(), "checkpoint": "x"}, "checkpoint='x' needs one"),
        ({"imputer": SimpleImputer(add_indicator=True)}, "add_indicator=False"),
    ],
)
def test_what_cannot_be_wrapped_is_refused_in_words(survey, params, words):
    with pytest.raises(InputError, match=words):
        new_imputer([], **params).fit(survey)


def test_settings_of_the_diffusion_model_are_said_to_be_idle(survey):
    with pytest.warns(DataWarning, match="max_epochs=3: set for diffjoint's own models"):
        SelectiveImputer([], imputer=SimpleImputer(), diffusion=Diffusion(max_epochs=3)).fit(survey)


# keep_na


def test_cells_come_from_the_other_tool_but_for_meaningful_ones(table, around_mean):
    filled = SelectiveImputer([], imputer=SimpleImputer()).fit_transform(table)
    out = keep_na(table, filled, around_mean)
    kept = around_mean.predict_mm(table)
    pd.testing.assert_frame_equal(out, filled.mask(kept).astype(table.dtypes))
    assert out.dtypes.equals(table.dtypes)
    pd.testing.assert_frame_equal(keep_na(table, filled, around_mean.impute(table)), out)
    pd.testing.assert_frame_equal(keep_na(table, filled, kept), out)


@pytest.mark.slow
def test_without_a_mask_cells_are_called_as_auto_does():
    table = household_survey(600).observed_table[["age", "married", "spouse_age"]]
    filled = SelectiveImputer([], imputer=SimpleImputer()).fit_transform(table)
    kept = keep_na(table, filled).isna()
    auto = SelectiveImputer("auto", imputer=SimpleImputer(), random_state=0).fit(table)
    pd.testing.assert_frame_equal(kept, auto.predict_mm(table))
    assert kept["spouse_age"].sum() > 100


def test_an_array_of_floats_goes_back_into_whole_numbers_and_frames():
    table = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, None, False]}, index=[5, 6, 7]
    ).astype({"b": "boolean"})
    completed = np.array([[1.0, 1.0], [2.4, 0.0], [3.0, 0.0]])
    out = keep_na(table, completed, np.zeros((3, 2), dtype=bool))
    assert out["a"].tolist() == [1, 2, 3]
    assert out["b"].tolist() == [True, False, False]
    assert out.dtypes.equals(table.dtypes)
    assert out.index.tolist() == [5, 6, 7]


def test_polars_stays_polars():
    table = pl.DataFrame({"a": [1, None, None], "day": [None, None, None]}).with_columns(
        pl.col("day").cast(pl.Date)
    )
    completed = table.with_columns(pl.col("a").fill_null(9), day=pl.date(2024, 5, 1))
    out = keep_na(table, completed, pl.DataFrame({"a": [False, True, False]}))
    assert out["a"].to_list() == [1, None, 9]
    assert out.schema == table.schema
    assert out["day"].null_count() == 0


def test_observed_cells_that_the_tool_changed_are_told_and_taken_from_x():
    table = pd.DataFrame({"a": [1.0, None, 3.0], "b": [5.0, 6.0, 7.0]})
    with pytest.warns(DataWarning, match=r"b \(2\)"):
        out = keep_na(table, table.fillna(2.0).assign(b=[5.0, 0.0, 0.0]), np.zeros((3, 2), bool))
    assert out["b"].tolist() == [5.0, 6.0, 7.0]


@pytest.mark.parametrize(
    ("completed", "words"),
    [
        (pd.DataFrame({"a": [1.0]}), "X's rows"),
        (pd.DataFrame({"c": [1.0, 2.0]}), "'a' is not among them"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}), "cannot hold"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}, index=[3, 4]), "X's index"),
        (np.zeros((2, 3)), "Drop what the tool added"),
    ],
)
def test_another_table_is_refused_in_words(completed, words):
    table = pd.DataFrame({"a": [1.0, None], "b": ["u", None]})
    with pytest.raises(InputError, match=words):
        keep_na(table, completed, np.zeros((2, 2), dtype=bool))
