"""Losses as they happen in life, as a user meets them: calls, review lists, words, remedies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import SelectiveImputer, find_mm_columns
from diffjoint.errors import DataWarning
from diffjoint.metrics import lost_scores
from diffjoint.simulate import household_survey, make_mechanism
from tests.conftest import new_imputer


def fitted(table, columns, **params):
    """An imputer that leaves values to the mean: calls are what counts here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = new_imputer(columns, imputer=SimpleImputer(), random_state=0, **params)
        return model.fit(table)


@pytest.fixture(scope="module")
def survey():
    world = household_survey(1_500, mechanism="survey", loss_rate=0.1)
    return world, fitted(world.observed_table, world.mm_columns)


@pytest.mark.slow
def test_cells_that_people_did_not_answer_are_recognised(survey):
    world, model = survey
    result = model.impute(world.observed_table)
    scores = lost_scores(world, result.meaningful, result.probability)
    assert scores["lost_found"] > 0.85
    assert scores["lost_precision"] > 0.8
    assert scores["meaningful_recall"] > 0.95


@pytest.mark.slow
def test_it_is_said_that_cells_get_lost_together(survey):
    world, _ = survey
    with pytest.warns(DataWarning, match="Cells get lost together in this table"):
        SelectiveImputer(world.mm_columns, imputer=SimpleImputer(), random_state=0).fit(
            world.observed_table
        )


@pytest.mark.slow
def test_an_explanation_speaks_of_values_and_of_what_else_was_lost(survey):
    world, model = survey
    table = world.observed_table
    lost = (world.lost & ~world.meaningful)["weekly_hours"]
    with_income = lost & table["income"].isna() & table["employed"].notna()
    explanation = model.explain(table, (int(np.flatnonzero(with_income)[0]), "weekly_hours"))
    assert not explanation.meaningful
    assert explanation.by_values < 0.5
    assert "By the row's values alone" in str(explanation)
    assert "income, which speaks for a common loss." in str(explanation)


@pytest.mark.slow
def test_where_losses_are_independent_nothing_is_said_of_common_ones():
    world = household_survey(1_500, loss_rate=0.1)
    model = fitted(world.observed_table, world.mm_columns)
    explanation = model.explain(world.observed_table)
    assert not any("lost together" in doubt for doubt in model.doubts_)
    assert explanation["probability"].between(0, 1).all()


def pair_table():
    """Wage and its logarithm taken out together, from people who work like the others."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(420, 6)), columns=["wage", *"abcde"])
    table["log_wage"] = table["wage"] * 2 + 1
    table.loc[rng.choice(420, 42, replace=False), ["wage", "log_wage"]] = np.nan
    return table


@pytest.mark.slow
def test_a_pair_lost_together_is_listed_for_review_and_the_remedy_works():
    table = pair_table()
    model = fitted(table, ["wage", "log_wage"])
    likely = model.impute(table).probability[["wage", "log_wage"]].to_numpy()
    missing = table[["wage", "log_wage"]].isna().to_numpy()
    assert (likely[missing] > 0.2).all()
    assert (likely[missing] < 0.8).all()
    assert len(model.review(table)) == missing.sum()
    assert any("set loss_rate" in doubt for doubt in model.doubts_)
    given = fitted(table, ["wage", "log_wage"], loss_rate=0.1)
    calls = given.impute(table).meaningful[["wage", "log_wage"]].to_numpy()
    assert calls[missing].mean() < 0.1


def test_a_gap_where_fit_saw_hardly_one_is_listed_for_review():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    table.loc[rng.random(300) < 0.2, "b"] = np.nan
    table.loc[0, "a"] = np.nan
    model = fitted(table, ["a", "b"])
    new = pd.DataFrame(np.zeros((1, 4)), columns=list("abcd"))
    new.loc[0, "a"] = np.nan
    result = model.impute(new)
    assert 0.2 < result.probability.loc[0, "a"] < 0.8
    assert model.review(new)["column"].tolist() == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["survey", "break-off", "blocks"])
def test_columns_that_only_lose_cells_together_are_not_named(mechanism):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(1_500, 3)) @ rng.normal(size=(3, 8))
    table = pd.DataFrame(factors + rng.normal(size=(1_500, 8)), columns=list("abcdefgh"))
    lost = make_mechanism(mechanism, table, 0.15, rng).lose(table, rng)
    found = find_mm_columns(table.mask(lost))
    assert not [record["column"] for record in found if record["is_named"]]


@pytest.mark.slow
def test_columns_with_skips_are_named_beside_common_losses():
    world = household_survey(1_500, mechanism="survey", loss_rate=0.1)
    found = find_mm_columns(world.observed_table, world.column_kinds)
    assert {record["column"] for record in found if record["is_named"]} == {*world.mm_columns}


def pupils(seed, n=900):
    """An eighth of the pupils breaks off; two sections are lost as wholes; four skips have gates."""
    rng = np.random.default_rng(seed)
    grade = rng.integers(7, 13, n).astype(float)
    works = rng.random(n) < np.where(grade >= 10, 0.4, 0.05)
    siblings = rng.poisson(1.1, n).astype(float)
    hours = np.where(works, rng.integers(2, 20, n), np.nan)
    score = np.round(rng.normal(60, 12, n) + grade)
    maths = np.round(score / 2 + rng.normal(0, 5, n))
    table = pd.DataFrame(
        {
            "grade": grade,
            "town": rng.choice(["north", "south", "east"], n),
            "works": np.where(works, "yes", "no"),
            "hours": hours,
            "pay": np.round(hours * rng.normal(9, 1, n), 2),
            "siblings": siblings,
            "eldest": np.where(siblings > 0, np.round(rng.normal(15, 4, n).clip(1)), np.nan),
            "licence": np.where(grade >= 11, rng.choice(["yes", "no"], n, p=[0.3, 0.7]), None),
            "score": score,
            "maths": maths,
            "reading": score - maths,
            "transport": rng.choice(["bus", "walk", "car", "bike"], n),
        }
    )
    lost = rng.random(table.shape) < rng.uniform(0.01, 0.08, table.shape[1])
    ends = np.where(rng.random(n) < 0.12, rng.integers(3, 12, n), 12)
    lost |= np.arange(12) >= ends[:, None]
    for section, share in (([8, 9, 10], 0.06), ([3, 4], 0.08)):
        lost[np.ix_(rng.random(n) < share, section)] = True
    lost[:, 0] = False
    return table.mask(lost)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_sections_and_breaks_are_not_taken_for_skips(seed):
    """What is missing after a break says when it was, and nothing of what was asked."""
    found = find_mm_columns(pupils(seed))
    named = [told["column"] for told in found if told["is_named"]]
    assert named == ["hours", "pay", "eldest", "licence"]
