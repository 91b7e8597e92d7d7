"""A loss rate for every column: what is lost beside it bears out that much at least."""

import numpy as np
import pytest

from diffjoint.evidence.loss_rates import least_loss_rate


def some_rows(n_rows: int = 4_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what others lose, meaningful cells, and losses that come with those of others."""
    rng = np.random.default_rng(0)
    breaks_off = rng.random(n_rows) < 0.3
    losses = breaks_off[:, None] & (rng.random((n_rows, 3)) < 0.8)
    return losses, rng.random(n_rows) < 0.6, breaks_off


def test_what_is_lost_with_others_is_told_from_what_is_meaningful_anyway():
    losses, meaningful, lost = some_rows()
    rate = least_loss_rate(losses, meaningful | lost)
    assert rate == pytest.approx(lost.mean(), abs=0.04)
    assert rate < lost.mean(), "a bound, with its error taken off"


def test_a_column_that_loses_nothing_with_others_is_not_bounded():
    losses, meaningful, _ = some_rows()
    assert least_loss_rate(losses, meaningful) == 0.0


def test_where_every_row_has_lost_something_nothing_can_be_said():
    losses, meaningful, lost = some_rows()
    assert least_loss_rate(np.ones_like(losses), meaningful | lost) == 0.0


def test_columns_that_lose_nothing_say_nothing():
    _, meaningful, _ = some_rows()
    assert least_loss_rate(np.zeros((len(meaningful), 3), dtype=bool), meaningful) == 0.0
