"""Losses: what they depend on, and how steeply."""

import numpy as np
import pytest
from scipy.special import expit

from diffjoint.evidence.losses import (
    LossExamples,
    LossModel,
    constant_loss,
    find_drivers,
    loss_examples,
)


@pytest.mark.parametrize("seed", range(3))
def test_losses_without_drivers_have_none(seed):
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.normal(size=(3_000, 6)), rng.integers(0, 12, (3_000, 4))])
    values[rng.random(values.shape) < 0.2] = np.nan
    n_levels = np.array([0] * 6 + [12] * 4)
    drivers, _ = find_drivers(values, n_levels, np.arange(10), seed=0)
    assert drivers == []


def test_drivers_among_many_columns_are_found():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(4_000, 8)), rng.integers(0, 5, (4_000, 4))])
    effect = np.array([1.0, -1.0, 0.3, -0.2, 0.8])
    for k in range(2, 8):
        logit = -1.5 + rng.normal() * values[:, 0] + rng.normal() * effect[values[:, 9].astype(int)]
        values[rng.random(4_000) < expit(logit), k] = np.nan
    drivers, _ = find_drivers(values, np.array([0] * 8 + [5] * 4), np.arange(2, 8), seed=0)
    assert drivers == [0, 9]


def test_a_loss_model_meets_its_level():
    scores = np.random.default_rng(0).normal(size=(5_000, 3))
    model = LossModel(np.array([0, 2]), np.array([1.0, -0.5]), 0.0).with_mean_rate(scores, 0.2)
    assert model.rate(scores).mean() == pytest.approx(0.2)
    assert constant_loss(0.25).rate(scores) == pytest.approx(0.25)


def test_losses_are_made_no_steeper_than_told():
    scores = np.random.default_rng(0).normal(size=(5_000, 3))
    rows = scores[:, 1] > 0
    model = LossModel(np.array([0, 1]), np.array([3.0, 4.0]), -1.0)
    flatter = model.no_steeper(scores, 1.0, rows)
    assert (scores[:, :2] @ flatter.weights).std() == pytest.approx(1.0)
    assert flatter.rate(scores[rows]).mean() == pytest.approx(model.rate(scores[rows]).mean())
    assert model.no_steeper(scores, 9.0, rows) is model


def test_other_columns_tell_how_steep_losses_are():
    rng = np.random.default_rng(0)
    scores, is_missing = rng.normal(size=(20_000, 3)), np.zeros((20_000, 3), dtype=bool)
    is_missing[:, 1] = rng.random(20_000) < expit(0.8 * scores[:, 0] - 1)
    is_missing[:, 2] = rng.random(20_000) < expit(0.3 * scores[:, 0] - 1)
    assert loss_examples(scores, is_missing, np.array([1, 2]), [0]).steepest == pytest.approx(
        0.8, abs=0.05
    )
    assert loss_examples(scores, is_missing, np.array([0]), [0]).steepest == 0.0, (
        "no column drives itself"
    )


def test_steepness_is_unusual_only_outside_what_other_columns_show():
    examples = LossExamples(({0: 1.0},), 0.5, 1.0)
    assert examples.excess_steepness(0.5) == examples.excess_steepness(1.0) == 0.0
    assert examples.excess_steepness(np.e) == pytest.approx(1.0)
    assert LossExamples().excess_steepness(3.0) == 0.0
