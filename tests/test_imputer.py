import copy
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from diffjoint import SelectiveImputer
from diffjoint.errors import DataWarning, InputError, TrainingError
from diffjoint.simulate import household_survey
from tests.conftest import FEW_CELLS, TINY, TINY_INPAINT, new_imputer

MM = ["age", "town"]


def imputer(**params):
    tiny = {**TINY_INPAINT, "detector": "paper", "random_state": 0, "mm_columns": MM}
    return new_imputer(**{**tiny, **params})


@pytest.fixture
def fitted(survey):
    return imputer().fit(survey)


# What comes back


@pytest.mark.slow
def test_observed_cells_come_back_unchanged(survey):
    out = imputer().fit_transform(survey)
    pd.testing.assert_index_equal(out.index, survey.index)
    pd.testing.assert_index_equal(out.columns, survey.columns)
    assert out.dtypes.equals(survey.dtypes)
    for name in survey:
        there = survey[name].notna()
        pd.testing.assert_series_equal(out[name][there], survey[name][there], check_exact=True)


def test_lost_cells_are_filled_and_meaningful_ones_stay_na(survey, fitted):
    out, kept = fitted.transform(survey), fitted.predict_mm(survey)
    modelled = [name for name in survey if name != "person"]
    np.testing.assert_array_equal(out[modelled].isna(), kept[modelled])


def test_x_itself_is_left_alone(survey):
    before = survey.copy(deep=True)
    imputer().fit_transform(survey)
    pd.testing.assert_frame_equal(survey, before)


def test_the_mask_has_xs_shape_index_and_columns(survey, fitted):
    kept, proba, spread = (
        fitted.predict_mm(survey),
        fitted.predict_mm_proba(survey),
        fitted.uncertainty(survey),
    )
    for frame in (kept, proba, spread):
        assert frame.shape == survey.shape
        pd.testing.assert_index_equal(frame.index, survey.index)
        pd.testing.assert_index_equal(frame.columns, survey.columns)
    assert (kept.dtypes == "bool").all()
    assert (proba.dtypes == "float64").all()
    there = survey.notna().to_numpy()
    assert (proba.to_numpy()[there] == 0.0).all()
    assert (spread.to_numpy()[there] == 0.0).all()
    assert ((proba >= 0) & (proba <= 1)).all(axis=None)
    np.testing.assert_array_equal(kept, proba > 0.5)


def test_only_mm_columns_are_ever_kept(survey, fitted):
    kept = fitted.predict_mm(survey)
    assert not kept.drop(columns=MM).any(axis=None)


def test_polars_gives_what_pandas_gives(survey, fitted):
    frame = pl.from_pandas(survey)
    other = imputer().fit(frame)
    out = other.transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.schema == frame.schema
    ages = fitted.transform(survey)["age"]
    assert out["age"].to_list() == [None if pd.isna(age) else age for age in ages]
    assert other.predict_mm(frame).schema == dict.fromkeys(frame.columns, pl.Boolean)


def test_pass_through_columns_are_carried_along(survey):
    survey.iloc[3, 0] = None
    result = imputer(column_kinds={"person": "pass-through"}).fit(survey).impute(survey)
    pd.testing.assert_series_equal(result.table["person"], survey["person"])
    assert result.n_left == 1


def test_the_counts_add_up(survey, fitted):
    result = fitted.impute(survey)
    assert result.n_observed == int(survey.notna().sum().sum())
    assert result.n_kept == int(result.meaningful.to_numpy().sum())
    assert result.n_observed + result.n_kept + result.n_imputed + result.n_left == survey.size


def test_meaningful_is_what_fit_called(survey, fitted):
    fitted._fitted = replace(fitted._fitted, digest=None)
    np.testing.assert_array_equal(fitted.meaningful_, fitted.predict_mm(survey))
    assert fitted.meaningful_.any()


def test_the_history_has_a_line_per_pass(fitted):
    assert [line["iteration"] for line in fitted.history_] == [1, 2]
    for line in fitted.history_:
        assert line["loss"] > 0
        assert 0 <= line["meaningful_share"] <= 1
        assert 0 <= line["changed_share"] <= 1
    assert fitted.history_[0]["value_change"] is None
    assert fitted.history_[1]["value_change"] > 0


def test_the_kinds_are_shown(fitted):
    assert re.search(r"^seen +datetime +2024-01-01 to 2024-0", str(fitted.schema_), re.MULTILINE)


# What meaningful cells become


def test_as_a_category(survey):
    fitted = imputer(mm_output="category", mm_label="none").fit(survey)
    out, kept = fitted.transform(survey), fitted.predict_mm(survey)
    assert kept["town"].any()
    assert (out["town"][kept["town"]] == "none").all()
    assert out["age"].notna().all()
    pd.testing.assert_series_equal(out["age_meaningful"], kept["age"], check_names=False)
    assert list(out.columns) == fitted.get_feature_names_out().tolist()


def test_as_an_indicator(survey):
    fitted = imputer(mm_output="indicator").fit(survey)
    out, kept = fitted.transform(survey), fitted.predict_mm(survey)
    assert out.drop(columns="person").notna().all(axis=None)
    assert list(out.columns)[-2:] == ["age_meaningful", "town_meaningful"]
    pd.testing.assert_series_equal(out["town_meaningful"], kept["town"], check_names=False)


def test_as_an_indicator_in_polars_and_arrays(survey):
    frame = pl.from_pandas(survey)
    out = imputer(mm_output="indicator").fit_transform(frame)
    assert out.columns[-2:] == ["age_meaningful", "town_meaningful"]
    numbers = np.where(np.random.default_rng(0).random((50, 2)) < 0.2, np.nan, 1.5)
    numbers[:, 0] += np.arange(50)
    options = {"mm_columns": [0], "mm_output": "indicator", "checkboxes": "fill"}
    array = imputer(**options).fit_transform(numbers)
    assert array.shape == (50, 3)
    assert not np.isnan(array).any()


# Draws


def test_sampled_tables_are_complete_but_for_the_drawn_mask(survey, fitted):
    tables = fitted.sample(survey, n_draws=3)
    assert len(tables) == 3
    for table in tables:
        assert table.dtypes.equals(survey.dtypes)
        assert table.drop(columns=[*MM, "person"]).notna().all(axis=None)
        there = survey["income"].notna()
        pd.testing.assert_series_equal(table["income"][there], survey["income"][there])


@pytest.mark.parametrize("memory_limit", [1, "20KB"])
def test_tables_drawn_one_by_one_are_those_drawn_together(survey, fitted, memory_limit):
    together = fitted.sample(survey, n_draws=3)
    limited = copy.deepcopy(fitted).set_params(memory_limit=memory_limit)
    for one, other in zip(limited.sample(survey, n_draws=3), together, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_sampled_tables_differ_in_values_and_mask(survey, fitted):
    first, second = fitted.sample(survey, n_draws=2)
    assert not first["income"].equals(second["income"])
    masks = [table["town"].isna() for table in fitted.sample(survey, n_draws=8)]
    assert any(not masks[0].equals(mask) for mask in masks[1:])


# Same seed, same result


def test_twice_the_same(survey):
    pd.testing.assert_frame_equal(imputer().fit_transform(survey), imputer().fit_transform(survey))


def test_another_seed_another_result(survey):
    first, second = imputer().fit_transform(survey), imputer(random_state=1).fit_transform(survey)
    assert not first["income"].equals(second["income"])


def test_without_a_seed_numpys_global_state_decides(survey):
    def run():
        np.random.seed(3)  # noqa: NPY002
        return imputer(random_state=None).fit_transform(survey)

    pd.testing.assert_frame_equal(run(), run())


def test_row_order_does_not_matter(survey):
    shuffled = survey.sample(frac=1, random_state=0)
    straight = imputer().fit_transform(survey)
    pd.testing.assert_frame_equal(imputer().fit_transform(shuffled).loc[survey.index], straight)


def test_fit_transform_is_fit_and_transform(survey, fitted):
    together = imputer().fit_transform(survey)
    fitted._fitted = replace(fitted._fitted, digest=None)
    pd.testing.assert_frame_equal(fitted.transform(survey), together)


def test_a_row_alone_gets_the_answer_it_gets_in_its_table(survey, fitted):
    whole = fitted.transform(survey)
    for i in range(0, 60, 7):
        pd.testing.assert_frame_equal(fitted.transform(survey.iloc[[i]]), whole.iloc[[i]])


@pytest.mark.parametrize("memory_limit", [1, "100KB", "2GB"])
def test_the_memory_limit_does_not_matter(survey, memory_limit):
    out = imputer(memory_limit=memory_limit).fit_transform(survey)
    pd.testing.assert_frame_equal(out, imputer().fit_transform(survey))


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_do_not_matter_and_are_given_back(survey, n_threads):
    before = torch.get_num_threads()
    out = imputer(n_threads=n_threads).fit_transform(survey)
    assert torch.get_num_threads() == before
    pd.testing.assert_frame_equal(out, imputer().fit_transform(survey))


def test_boosted_trees_keep_to_the_threads_too(survey):
    """OpenMP's threads are theirs; as many as before are given back."""

    def open_mp():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}

    seen = []
    with threadpool_limits(2):
        imputer(n_threads=np.int64(1), callback=lambda _: seen.append(open_mp())).fit(survey)
        assert open_mp() == {2}
    assert seen
    assert set().union(*seen) == {1}


@FEW_CELLS
@pytest.mark.parametrize("by", ["trees", "diffusion"])
def test_drawing_is_learnt_when_draws_are_first_asked_for(survey, by):
    """It takes most of the time, and what is filled in does not need it."""
    settings = {**TINY, "mm_columns": MM, "random_state": 0}
    early, late = (new_imputer(**settings).fit(survey) for _ in range(2))
    assert early.history_ == []
    first = early.sample(survey, 2, draws=by)
    assert [done["n_epochs"] for done in early.history_] == ([3] if by == "diffusion" else [])
    pd.testing.assert_frame_equal(late.transform(survey), early.transform(survey))
    for one, other in zip(late.sample(survey, 2, draws=by), first, strict=True):
        pd.testing.assert_frame_equal(one, other)


@FEW_CELLS
def test_a_copy_without_the_table_says_why_it_cannot_draw(survey):
    fitted = new_imputer(**TINY, mm_columns=MM, random_state=0).fit(survey)
    with pytest.raises(InputError, match="Call sample, or save.*, before copying"):
        copy.deepcopy(fitted).sample(survey)
    fitted.sample(survey, 1)
    assert len(copy.deepcopy(fitted).sample(survey, 2)) == 2


def test_no_global_generator_is_touched(survey):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    torch_state = torch.get_rng_state()
    imputer().fit_transform(survey)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), torch_state)


# Unusual tables


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.5, 2.5, None, 4.0] * 5}),
        pd.DataFrame({"a": ["x", None, "y", "x"] * 5}),
        pd.DataFrame({"a": [3.5, None, 3.5, 3.5] * 5, "b": np.arange(20) * 1.5}),
        pd.DataFrame({"a": ["yes", None, "yes", "yes"] * 5, "b": np.arange(20) * 1.5}),
        pd.DataFrame({"a": ["yes", None, "yes", "yes"] * 5}),
        pd.DataFrame({"a": [1.5, None], "b": [None, "x"]}),
    ],
    ids=[
        "one number",
        "one category",
        "constant number",
        "one level",
        "nothing but one level",
        "two rows",
    ],
)
def test_small_and_odd_tables_work(table):
    fitted = imputer(mm_columns=["a"], checkboxes="fill").fit(table)
    out = fitted.transform(table)
    np.testing.assert_array_equal(out.isna(), fitted.predict_mm(table))


def test_a_complete_table_is_returned_as_it_is(survey):
    complete = survey.dropna()
    out = imputer(mm_columns=[]).fit_transform(complete)
    pd.testing.assert_frame_equal(out, complete)


def test_no_rows_to_transform_is_no_problem(survey, fitted):
    assert fitted.transform(survey.iloc[:0]).shape == (0, survey.shape[1])


@pytest.fixture
def strangers(survey):
    new = survey.iloc[:20].copy()
    new["town"] = "Rom"
    return new


def test_an_unseen_level_is_left_with_a_warning_or_refused(strangers, fitted):
    with pytest.warns(DataWarning, match="'town' holds 'Rom', a level not seen in fit.*are left"):
        assert (fitted.transform(strangers)["town"] == "Rom").all()
    try:
        with pytest.raises(InputError, match="'town' holds 'Rom', a level not seen in fit"):
            fitted.set_params(unseen="error").transform(strangers)
    finally:
        fitted.set_params(unseen="warn")


def test_an_unseen_level_is_kept_when_asked(survey, strangers):
    result = imputer(unseen="keep").fit(survey).impute(strangers)
    assert (result.table["town"] == "Rom").all()
    assert not result.meaningful["town"].any()
    assert (result.uncertainty["town"] == 0).all()


@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas])
def test_an_unseen_level_is_treated_as_missing_when_asked(survey, strangers, container):
    fitted = imputer(unseen="missing").fit(survey)
    table = container(strangers)
    towns = list(fitted.transform(table)["town"])
    kept = list(fitted.predict_mm(table)["town"])
    assert any(kept)
    for town, is_kept in zip(towns, kept, strict=True):
        assert pd.isna(town) if is_kept else town in {"Ulm", "Bonn", "Köln"}


def test_strangers_in_the_place_of_gaps_are_not_taken_for_the_fitted_table(survey):
    fitted = imputer(unseen="keep").fit(survey)
    filled = survey.assign(town=survey["town"].fillna("Rom"))
    assert not fitted.predict_mm(filled)["town"].any()


def test_joint_off_imputes_everything(survey):
    out = imputer(joint=False).fit_transform(survey)
    assert out.drop(columns="person").notna().all(axis=None)


def test_one_refinement_is_one_iteration(survey):
    assert len(imputer(n_iterations=1).fit(survey).history_) == 1


def test_the_callback_sees_an_imputer_that_can_transform(survey):
    seen = []
    imputer(callback=lambda fitted: seen.append(fitted.transform(survey.iloc[:3]).shape)).fit(
        survey
    )
    assert seen == [(3, 7), (3, 7)]


# What can go wrong


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (
            {"mm_columns": ["D9"]},
            r"mm_columns names 'D9', which is not a column of the table \(person, age, income, smoker, "
            r"town, grade, seen\)\. Take names from its header\.",
        ),
        ({"mm_columns": ["incone"]}, r"names 'incone'.*Did you mean 'income'\?"),
        ({"mm_columns": ["person"]}, "'person', which is passed through unmodelled"),
        ({"mm_columns": "age"}, r"mm_columns must be a list of columns; .* Pass \['age'\]"),
        ({"preset": "slow"}, "preset must be one of 'fast', 'balanced', 'paper'; got 'slow'"),
        ({"detector": "magic"}, "detector must be one of 'evidence', 'paper'; got 'magic'"),
        (
            {"unseen": "drop"},
            "unseen must be one of 'warn', 'keep', 'missing', 'error'; got 'drop'",
        ),
        ({"mm_output": "zero"}, "mm_output must be one of 'na', 'category', 'indicator'"),
        ({"mm_output": "category", "mm_label": "Ulm"}, "'town' already has as a level"),
        ({"memory_limit": "some"}, "memory_limit must be a number of bytes"),
        ({"device": "abacus"}, "device must be 'auto' or a device that torch can use"),
        ({"n_threads": 0}, "n_threads must be a whole number of at least 1; got 0"),
        ({"n_draws": -1}, "n_draws must be a whole number of at least 1; got -1"),
        ({"column_kinds": {"age": "number"}}, r"column_kinds\['age'\] must be one of"),
    ],
)
def test_wrong_parameters_are_named_before_any_work(survey, params, words):
    with pytest.raises(InputError, match=words):
        imputer(**params).fit(survey)


def test_an_mm_column_without_a_missing_cell(survey):
    with pytest.raises(InputError, match="'full', which has no missing cell in X.*Drop it"):
        imputer(mm_columns=["full"]).fit(survey.assign(full=np.arange(60) % 7 * 1.5))


@pytest.mark.parametrize(
    "params",
    [
        {"mm_columns": ["age", "void"]},
        {"rules": {"void": 'town == "Ulm"'}},
        {"bounds": {"void": (0, 1)}},
        {"reason_codes": {"void": {"-9": "lost"}}},
        {"column_kinds": {"void": "continuous"}},
    ],
)
@pytest.mark.filterwarnings("ignore:reason_codes")
def test_an_all_missing_column_is_refused_where_something_is_asked_of_it(survey, params):
    with pytest.raises(InputError, match="'void'.*all of its cells are missing"):
        imputer(**params).fit(survey.assign(void=np.nan))


def test_not_enough_rows(survey):
    with pytest.raises(InputError, match="fit needs at least 2 rows; X has n_samples = 1"):
        imputer().fit(survey.iloc[:1])


def test_nothing_to_model(survey):
    with pytest.raises(InputError, match="X must have a column to model"):
        imputer(mm_columns=[]).fit(survey[["person"]])


def test_transform_before_fit(survey):
    with pytest.raises(NotFittedError, match="not fitted yet. Call 'fit'"):
        imputer().transform(survey)


def test_wrong_columns_at_transform(survey, fitted):
    words = "Feature names seen at fit time, yet now missing.*Pass the columns that fit saw.*: person, age"
    with pytest.raises(InputError, match=re.compile(words, re.DOTALL)):
        fitted.transform(survey.drop(columns="town"))
    with pytest.raises(InputError, match="must be in the same order as they were in fit"):
        fitted.transform(survey[survey.columns[::-1]])


def test_an_indicator_that_would_overwrite_a_column(survey):
    table = survey.rename(columns={"income": "age_meaningful"})
    with pytest.raises(
        InputError, match="adds a column 'age_meaningful', which the table has already"
    ):
        imputer(mm_output="indicator").fit(table)


@pytest.mark.slow
def test_columns_that_are_not_named_are_found():
    survey = household_survey(700).observed_table
    found = new_imputer("auto", **TINY, random_state=0).fit(survey)
    by_default = SelectiveImputer(n_boosters=1, random_state=0).fit(survey)
    assert by_default.mm_columns_ == found.mm_columns_ == ["spouse_age", "weekly_hours", "commute"]
    assert by_default.found_.startswith("Columns in which a missing cell may be meaningful: spouse")
    assert "mm_columns=[] has every missing cell filled in" in by_default.found_


@pytest.mark.parametrize("none", [None, []])
def test_without_searched_columns_every_missing_cell_is_filled(survey, none):
    fitted = imputer(mm_columns=none).fit(survey)
    assert fitted.found_ == ""
    assert not fitted.meaningful_.any()


def test_training_that_diverges_is_explained(survey):
    with pytest.raises(TrainingError, match="training diverged. Lower learning_rate"):
        imputer(learning_rate=1e30, max_epochs=50).fit(survey)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_iterations": 5}, "n_iterations=5: set, but sampler='amortised' does not use it"),
        ({"n_boosters": 2, "sampler": "inpaint"}, "n_boosters=2: .* set sampler='amortised'"),
        ({"n_boosters": 2, "detector": "paper"}, "n_boosters=2: .*Leave it out\\.$"),
        ({"fusion": "and", "n_draws": 9}, "n_draws=9, fusion='and': .*set sampler='inpaint'"),
        ({"warm_start": True}, "warm_start=True"),
    ],
)
def test_settings_that_change_nothing_are_told(survey, params, words):
    unused = new_imputer(["age"], device="no such device", **params)
    with pytest.warns(DataWarning, match=words), pytest.raises(InputError, match="device"):
        unused.fit(survey)


@pytest.mark.parametrize(
    "params", [{"n_iterations": 1, "fusion": "or"}, {"sampler": "inpaint", "n_draws": 9}]
)
def test_settings_that_are_used_or_as_usual_are_not(survey, params):
    """An error would come of a warning; what is refused here is the device, after the settings."""
    with pytest.raises(InputError, match="device must be"):
        new_imputer(["age"], device="no such device", **params).fit(survey)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_columns", "params", "width"),
    [(3, {}, 128), (31, {}, 256), (31, {"preset": "balanced"}, 512), (31, {"width": 64}, 64)],
)
def test_the_denoiser_is_as_wide_as_the_table_asks_for(n_columns, params, width):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, n_columns)))
    fitted = new_imputer([], **params).fit(table.set_axis(map(str, table), axis=1))
    assert fitted.settings_.width == width


@pytest.mark.parametrize(
    ("n_rows", "params", "n_boosters"),
    [
        (30, {}, 3),
        (30, {"n_boosters": 1}, 1),
        (30, {"n_boosters": 5}, 5),
        (30, {**TINY_INPAINT, "n_boosters": None}, 1),
        (5_000, {}, 1),
        (5_000, {"preset": "balanced"}, 3),
    ],
)
def test_few_rows_get_several_boosters_unless_told_otherwise(n_rows, params, n_boosters):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(n_rows, 2)), columns=["x", "y"])
    fitted = new_imputer([], **params).fit(table)
    assert fitted.settings_.n_boosters == n_boosters
