"""Losses that are found in rounds, where they alone explain what is missing."""

import numpy as np
import pytest
from scipy.special import expit

from diffjoint.evidence.loss_rounds import KnownRate, LossSearch, find_loss
from diffjoint.evidence.losses import (
    LossExamples,
)


def test_losses_are_found_where_the_least_missing_rows_mislead():
    """Half the rows, rarely lost, are the least missing: losses there are far below the rest."""
    rng = np.random.default_rng(0)
    n_rows = 20_000
    scores = np.column_stack([rng.choice([-1.0, 1.0], n_rows), rng.normal(size=n_rows)])
    rho = expit(1.5 * scores[:, 0] - 0.5)
    phi = np.where(scores[:, 1] > 1.0, 0.9, 0.0)
    q = rho + (1 - rho) * phi
    is_missing = rng.random(n_rows) < q
    logits = np.log(q / (1 - q)) + 0.02 * rng.normal(size=n_rows)
    found = find_loss(logits, is_missing, scores, LossSearch([0], KnownRate(0.6, steepest=2.0)))
    np.testing.assert_allclose(found.rate(scores), rho, atol=0.03)


def test_losses_as_steep_as_those_of_other_columns_are_preferred():
    """Believed to be rarer than they are, losses by themselves come out far too steep."""
    rng = np.random.default_rng(0)
    n_rows = 20_000
    scores = np.where(rng.random(n_rows) < 0.3, 1.5, -0.65)[:, None]
    rho = expit(-1.1 * scores[:, 0] - 0.5)
    phi = np.where(rng.normal(size=n_rows) > 1.5, 0.5, 0.1)
    q = rho + (1 - rho) * phi
    is_missing = rng.random(n_rows) < q
    logits = np.log(q / (1 - q)) + 0.1 * rng.normal(size=n_rows)
    known = KnownRate(0.25, steepest=1.25)
    alone = find_loss(logits, is_missing, scores, LossSearch([0], known))
    assert alone.weights[0] < -1.5
    examples = LossExamples(({0: 1.1},), 0.9, 1.1)
    found = find_loss(logits, is_missing, scores, LossSearch([0], known, examples))
    assert found.weights[0] == pytest.approx(-1.1)
