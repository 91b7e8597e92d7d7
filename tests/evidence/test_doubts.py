"""Doubts: what the table cannot confirm is told."""

import numpy as np
import pytest

from diffjoint.errors import option
from diffjoint.evidence import fit_evidence, pack, unpack
from diffjoint.evidence.doubts import ALL_SEARCHED

SEARCHED = (0, 3, 4)


def test_without_other_losses_the_floor_is_taken_and_rows_that_settle_it_raise_no_doubt():
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 2, 4_000).astype(float)
    answer = np.where((gate == 0) | (rng.random(4_000) < 0.1), np.nan, rng.normal(size=4_000))
    values = np.column_stack([gate, answer])
    evidence = fit_evidence(values, np.isnan(values), np.array([2, 0]), [1])
    assert evidence.doubts == ()
    likely = evidence.probability(values, np.isnan(values))[:, 1]
    assert (likely[gate == 0] > 0.95).all()
    lost = np.isnan(answer) & (gate == 1)
    assert (likely[lost] < 0.1).all()


def test_without_other_losses_rows_that_do_not_settle_it_raise_a_doubt():
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 2, 4_000).astype(float)
    share = np.where(gate == 0, 0.5, 0.2)
    answer = np.where(rng.random(4_000) < share, np.nan, rng.normal(size=4_000))
    values = np.column_stack([gate, answer])
    (doubt,) = fit_evidence(values, np.isnan(values), np.array([2, 0]), [1]).doubts
    assert doubt.startswith(f"No column outside {option('mm_columns')} loses cells")


def test_columns_that_disagree_raise_a_doubt():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2_000, 4))
    values[rng.random(2_000) < 0.02, 0] = np.nan
    values[rng.random(2_000) < 0.4, 1] = np.nan
    values[rng.random(2_000) < 0.3, 2] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(4, dtype=int), [2])
    assert "how often column 2 may lose theirs is not known" in evidence.doubts[0]
    given = fit_evidence(values, np.isnan(values), np.zeros(4, dtype=int), [2], loss_rate=0.3)
    assert given.doubts == ()


def test_columns_that_disagree_raise_none_where_the_rest_of_the_row_settles_it():
    """Then another rate would change no call, and nobody needs to look it up."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2_000, 4))
    values[values[:, 3] > 0, 2] = np.nan
    for j, rate in enumerate((0.02, 0.2, 0.05)):
        values[rng.random(2_000) < rate, j] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(4, dtype=int), [2])
    assert evidence.doubts == ()


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 3])
def test_without_any_other_column_a_doubt_says_so(n_columns):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1_000, n_columns))
    values[rng.random(values.shape) < 0.3] = np.nan
    n_levels, everything = np.zeros(n_columns, dtype=int), range(n_columns)
    evidence = fit_evidence(values, np.isnan(values), n_levels, everything)
    assert evidence.doubts == (ALL_SEARCHED,)
    assert unpack(pack(evidence)).doubts == evidence.doubts
    given = fit_evidence(values, np.isnan(values), n_levels, everything, loss_rate=0.1)
    assert given.doubts == ()
    likely = given.probability(values, np.isnan(values))[np.isnan(values)]
    assert likely.mean() == pytest.approx((0.3 - 0.1) / 0.9 / 0.3, abs=0.08)


@pytest.mark.slow
def test_a_column_that_may_lose_by_its_own_rate_raises_a_doubt():
    """A tenth is lost elsewhere, 40% here and whatever the row holds: meaning or loss?"""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3_000, 4))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[rng.random(3_000) < 0.4, 2] = np.nan
    values[values[:, 0] > 0, 3] = np.nan
    n_levels = np.zeros(4, dtype=int)
    names = ["a", "b", "flat", "gated"]
    evidence = fit_evidence(values, np.isnan(values), n_levels, [2, 3], names=names)
    assert [doubt.split(" are missing")[0] for doubt in evidence.doubts] == ["Cells of flat"]
    given = fit_evidence(values, np.isnan(values), n_levels, [2, 3], loss_rate={2: 0.4})
    assert given.doubts == ()


def test_every_doubt_comes_back():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2_000, 4))
    values[rng.random(2_000) < 0.02, 0] = np.nan
    values[rng.random(2_000) < 0.4, 1] = np.nan
    values[:10, 2] = np.nan
    values[rng.random(2_000) < 0.3, 3] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(4, dtype=int), [2, 3])
    assert len(evidence.doubts) == 2
    assert unpack(pack(evidence)).doubts == evidence.doubts


@pytest.mark.slow
def test_cells_lost_together_raise_a_doubt():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2_000, 5))
    values[rng.random(2_000) < 0.15, 1:] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(5, dtype=int), [4])
    assert evidence.leans_on_values
    assert any("Cells get lost together" in doubt for doubt in evidence.doubts)
