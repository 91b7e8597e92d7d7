"""The evidence detector inside the imputer."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.errors import DataWarning, InputError
from diffjoint.evidence import learn_in_turn
from diffjoint.metrics import mm_scores
from diffjoint.simulate import household_survey
from tests.conftest import TINY, new_imputer


@pytest.fixture(scope="module")
def world():
    return household_survey(1_000, seed=7)


@pytest.fixture(scope="module")
def fitted(world):
    imputer = new_imputer(world.mm_columns, column_kinds=world.column_kinds, random_state=0, **TINY)
    return imputer.fit(world.observed_table)


@pytest.mark.slow
def test_skip_logic_is_found(world, fitted):
    result = fitted.impute(world.observed_table)
    scores = mm_scores(world, result.meaningful, result.probability)
    assert scores["f1"] > 0.95
    assert scores["calibration_error"] < 0.05


def test_rows_get_the_same_probability_alone_and_among_others(world, fitted):
    survey = world.observed_table
    whole = fitted.predict_mm_proba(survey)
    part = fitted.predict_mm_proba(survey.iloc[100:140])
    np.testing.assert_array_equal(part, whole.iloc[100:140])
    turned = fitted.predict_mm_proba(survey.iloc[::-1])
    np.testing.assert_array_equal(turned.iloc[::-1], whole)


@pytest.mark.slow
def test_a_saved_imputer_has_its_evidence(world, fitted, tmp_path):
    fitted.save(tmp_path / "model", draws=True)
    again = load(tmp_path / "model")
    part = world.observed_table.head(60)
    np.testing.assert_array_equal(again.predict_mm_proba(part), fitted.predict_mm_proba(part))
    for one, other in zip(again.sample(part, 2), fitted.sample(part, 2), strict=True):
        assert one.equals(other)


@pytest.mark.slow
def test_a_higher_threshold_keeps_fewer_cells(world, fitted):
    strict = SelectiveImputer(**{**fitted.get_params(deep=False), "threshold": 0.97})
    survey = world.observed_table
    kept, fewer = (i.predict_mm(survey) for i in (fitted, strict.fit(survey)))
    assert fewer.to_numpy().sum() < kept.to_numpy().sum()
    assert not (fewer & ~kept).any(axis=None)


def test_sampled_masks_vary_and_agree(world, fitted):
    """Hours and commute are asked together: drawn tables keep or fill them together."""
    survey = world.observed_table.head(300)
    both = survey[["weekly_hours", "commute"]].isna().all(axis=1)
    tables = fitted.sample(survey, 5)
    together = [
        (t.loc[both, "weekly_hours"].isna() == t.loc[both, "commute"].isna()).mean() for t in tables
    ]
    assert np.mean(together) > 0.95
    masks = [table.isna().to_numpy() for table in tables]
    assert any((mask != masks[0]).any() for mask in masks[1:])


@pytest.mark.slow
def test_fit_learns_nothing_that_only_draws_need(world, monkeypatch):
    """Masks are learnt in turn when draws are first asked for, once, and calls stay the same."""
    learnt, survey = [], world.observed_table
    usual = learn_in_turn

    def count(*args, **options):
        learnt.append(1)
        return usual(*args, **options)

    monkeypatch.setattr("diffjoint.detectors.evidence.learn_in_turn", count)
    imputer = new_imputer(
        world.mm_columns, column_kinds=world.column_kinds, random_state=0, **TINY
    ).fit(survey)
    before = imputer.predict_mm_proba(survey)
    imputer.transform(survey)
    assert imputer._fitted.model.belief.evidence.in_turn == {}
    assert learnt == []
    first = imputer.sample(survey, 2)
    evidence = imputer._fitted.model.belief.evidence
    assert list(evidence.in_turn) == list(evidence.columns)
    pd.testing.assert_frame_equal(imputer.predict_mm_proba(survey), before)
    for one, other in zip(imputer.sample(survey, 2), first, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert learnt == [1]


@pytest.mark.slow
def test_masks_are_drawn_the_same_whichever_way_the_table_was_sorted(world, fitted):
    survey = world.observed_table.sample(frac=1, random_state=0)
    turned = SelectiveImputer(**fitted.get_params(deep=False)).fit(survey)
    one, other = (i.sample(world.observed_table, 1)[0] for i in (fitted, turned))
    pd.testing.assert_frame_equal(one.isna(), other.isna())


@pytest.mark.slow
def test_a_loss_rate_can_be_given_by_column(world, fitted):
    given = SelectiveImputer(**{**fitted.get_params(deep=False), "loss_rate": {"commute": 0.0}})
    survey = world.observed_table
    kept = given.fit(survey).predict_mm(survey)
    assert kept["commute"].sum() == survey["commute"].isna().sum()


def test_rates_of_other_columns_are_refused(world, fitted):
    params = {**fitted.get_params(deep=False), "loss_rate": {"age": 0.1}}
    with pytest.raises(InputError, match="loss_rate names 'age', which is not among mm_columns"):
        new_imputer(**params).fit(world.observed_table)
    params |= {"loss_rate": 0.1, "detector": "paper"}
    with pytest.raises(InputError, match="loss_rate is for detector='evidence'"):
        new_imputer(**params).fit(world.observed_table)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.9, {"commute": 0.9}])
def test_a_rate_above_what_is_missing_is_doubted(world, fitted, rate):
    survey = world.observed_table.head(200)
    missing = survey["commute"].isna().mean()
    told = SelectiveImputer(**{**fitted.get_params(deep=False), "loss_rate": rate})
    words = rf"'commute' \(given 90.0%, missing {missing:.1%}\).*Lower it"
    with pytest.warns(DataWarning, match=words):
        told.fit(survey)


def test_a_rate_that_chance_explains_is_not(world, fitted):
    """Cells of age are lost alone, so that it misses as many; a given rate is never exact."""
    survey = world.observed_table.loc[:200, ["age", "married", "income"]]
    params = {"mm_columns": ["age"], "column_kinds": None}
    params["loss_rate"] = survey["age"].isna().mean() + 0.02
    assert SelectiveImputer(**{**fitted.get_params(deep=False), **params}).fit(survey).doubts_ == ()


@pytest.mark.parametrize("rate", [1.0, -0.1, "much", {"commute": 2}])
def test_a_rate_that_is_none_is_refused(world, fitted, rate):
    with pytest.raises(InputError, match="loss_rate must be at least 0 and below 1"):
        SelectiveImputer(**{**fitted.get_params(deep=False), "loss_rate": rate}).fit(
            world.observed_table
        )


def test_a_table_that_cannot_tell_says_so(world, fitted):
    imputer = new_imputer(["spouse_age"], random_state=0, **TINY)
    words = (
        r"is told by each column alone: spouse_age \d+%.*set it: loss_rate={'spouse_age': 0\.\d+}"
    )
    with pytest.warns(DataWarning, match=words):
        imputer.fit(world.observed_table[["age", "spouse_age"]].dropna(subset="age"))


def test_a_table_whose_rows_tell_needs_no_other_column(world):
    survey = world.observed_table[["married", "spouse_age"]].dropna(subset="married")
    imputer = new_imputer(["spouse_age"], random_state=0, **TINY).fit(survey)
    assert imputer.doubts_ == ()
