"""Columns that losses alone cannot explain, on tables in which it is known which they are."""

import numpy as np
import pytest
from scipy.special import expit

from diffjoint.evidence import find_candidates
from diffjoint.evidence.best_losses import (
    STEEPEST,
    LossFeatures,
    association,
    loss_logits,
    together,
)
from diffjoint.evidence.candidates import (
    CONTEXTS,
    EXCESS,
    LOSSES,
    NOTHING_MISSING,
    TOO_FEW,
    _holm,
    _shared_rate,
)
from diffjoint.evidence.detector import folds_of
from diffjoint.evidence.never_there import Contexts
from diffjoint.simulate import bayesian_network, make_mechanism
from diffjoint.state import row_keys
from diffjoint.trees import open_screen

N_LEVELS = np.array([0, 0, 2, 3, 2])


def named(values, n_levels):
    found = find_candidates(values, np.isnan(values), np.asarray(n_levels))
    return [j for j, candidate in enumerate(found) if candidate.is_named]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "loss_rate", "seed"),
    [(None, 0.1, 0), ("mcar", 0.3, 1), ("mar", 0.2, 4), ("mnar", 0.2, 2)],
)
def test_the_three_columns_of_the_network_are_named_and_no_other(mechanism, loss_rate, seed):
    world = bayesian_network(10_000, 0, mechanism=mechanism, loss_rate=loss_rate, seed=seed)
    assert named(world.observed_table.to_numpy(), N_LEVELS) == [0, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["mcar", "mar", "mnar"])
@pytest.mark.parametrize("loss_rate", [0.1, 0.4])
def test_nothing_is_named_where_cells_are_only_lost(mechanism, loss_rate):
    truth = bayesian_network(5_000, 0, mechanism=None, seed=5).truth
    rng = np.random.default_rng(5)
    for name in truth:
        missing = truth[name].isna()
        truth.loc[missing, name] = rng.choice(truth.loc[~missing, name], missing.sum())
    lost = make_mechanism(mechanism, truth, loss_rate, rng).lose(truth, rng)
    assert named(truth.mask(lost).to_numpy(), N_LEVELS) == []


def test_a_gate_is_enough_where_nothing_is_lost():
    """A single column with a single gate: additive, but steeper than any loss."""
    rng = np.random.default_rng(0)
    gate = (rng.random(2_000) < 0.3).astype(float)
    values = np.column_stack([gate, rng.normal(size=(2_000, 2))])
    values[gate == 1, 2] = np.nan
    found = find_candidates(values, np.isnan(values), np.array([2, 0, 0]))
    assert [candidate.is_named for candidate in found] == [False, False, True]
    assert found[2].reason == CONTEXTS
    assert found[2].auc == pytest.approx(1.0)
    assert found[0].reason == NOTHING_MISSING


@pytest.mark.slow
@pytest.mark.parametrize(("share", "expected"), [(0.06, []), (0.4, [3, 4, 5])])
def test_columns_missing_together_are_named_without_their_gate_if_no_loss_is_as_likely(
    share, expected
):
    """Nothing else in a row tells why: values of a broken tube look just like skipped questions."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3_000, 6))
    values[rng.random(3_000) < share, 3:] = np.nan
    values[rng.random(values.shape) < 0.1] = np.nan
    assert named(values, np.zeros(6, dtype=int)) == expected


def houses(*, has_skips, loss=0.2, seed=0):
    """One house in thirty has no basement, and three columns say nothing of it then."""
    rng = np.random.default_rng(seed)
    area = np.where(rng.random(2_500) < 1 / 30, 0.0, rng.normal(1_000, 300, 2_500).clip(100))
    values = np.column_stack([area, rng.normal(size=(2_500, 9))])
    values[np.ix_(area == 0, [2, 3, 4])] = np.nan if has_skips else 0.0
    values[rng.random(values.shape) < loss] = np.nan
    return values


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_columns_that_few_rows_skip_are_named_for_being_nowhere_there(seed):
    values, levels = houses(has_skips=True, seed=seed), np.zeros(10, dtype=int)
    found = find_candidates(values, np.isnan(values), levels)
    assert [j for j, candidate in enumerate(found) if candidate.is_named] == [2, 3, 4]
    values = houses(has_skips=False, seed=seed)
    found = find_candidates(values, np.isnan(values), levels)
    assert not any(candidate.is_named for candidate in found)


def test_a_context_that_losses_explain_is_none():
    """In the tail of a steep loss all cells are missing; that is what such a loss does."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=4_000)
    logits = 2.0 * x - 2.0
    is_missing = rng.random(4_000) < expit(logits)
    contexts = Contexts(x[:, None], np.array([0]))
    assert contexts.p_value(is_missing, np.array([0])) > 0.05
    assert contexts.p_value(is_missing | (x < -1.5), np.array([0])) < 1e-6


def test_a_column_that_merely_loses_more_is_not_named():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4_000, 5))
    rates = np.array([0.1, 0.1, 0.1, 0.1, 0.3])
    values[rng.random(values.shape) < rates] = np.nan
    found = find_candidates(values, np.isnan(values), np.zeros(5, dtype=int))
    assert not any(candidate.is_named for candidate in found)
    assert found[4].excess == pytest.approx(0.2, abs=0.03)
    assert {candidate.reason for candidate in found} == {LOSSES}


@pytest.mark.slow
def test_more_missing_than_others_and_not_at_random_is_named():
    """Contexts add up and are flat here, so the level alone can tell."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(8_000, 5))
    meaningful = rng.random(8_000) < expit(-2.0 + 0.4 * values[:, 0])
    values[meaningful, 4] = np.nan
    values[rng.random(values.shape) < 0.1] = np.nan
    found = find_candidates(values, np.isnan(values), np.zeros(5, dtype=int))
    assert [candidate.reason for candidate in found] == [LOSSES] * 4 + [EXCESS]
    assert found[4].p_value < 0.05
    assert found[4].excess == pytest.approx(0.11, abs=0.02)


@pytest.mark.slow
def test_rows_in_another_order_say_the_same():
    values = bayesian_network(2_000, 0, loss_rate=0.2).observed_table.to_numpy()
    turned = values[np.random.default_rng(0).permutation(len(values))]
    is_missing = np.isnan(values), np.isnan(turned)
    assert find_candidates(values, is_missing[0], N_LEVELS) == find_candidates(
        turned, is_missing[1], N_LEVELS
    )


@pytest.mark.parametrize("shape", [(0, 3), (5, 3), (60, 1), (60, 0), (45, 4)])
def test_small_tables_name_nothing(shape):
    rng = np.random.default_rng(0)
    values = rng.normal(size=shape)
    values[rng.random(shape) < 0.5] = np.nan
    found = find_candidates(values, np.isnan(values), np.zeros(shape[1], dtype=int))
    assert len(found) == shape[1]
    assert not any(candidate.is_named for candidate in found)


def test_a_column_with_few_observed_cells_is_not_judged():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 3))
    values[10:, 0] = np.nan
    values[:100, 1] = np.nan
    found = find_candidates(values, np.isnan(values), np.zeros(3, dtype=int))
    assert (found[0].reason, found[0].auc, found[0].p_value) == (TOO_FEW, None, 1.0)


def loss_features(values, n_levels):
    n_levels = np.array(n_levels)
    return LossFeatures(values, n_levels, open_screen(values, n_levels))


def test_losses_are_never_steeper_than_losses_can_be():
    rng = np.random.default_rng(0)
    gate = (rng.random(2_000) < 0.5).astype(float)
    values = np.column_stack([gate, np.where(gate == 1, np.nan, 1.0)])
    features = loss_features(values, [2, 0]).beside(1, np.array([0]))
    logits = loss_logits(features, np.isnan(values[:, 1]), folds_of(row_keys(values, 0), 5), seed=0)
    assert logits.std() == pytest.approx(STEEPEST)
    assert expit(logits).mean() == pytest.approx(np.isnan(values[:, 1]).mean())


def test_losses_that_depend_on_nothing_are_flat():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4_000, 4))
    values[rng.random(values.shape) < 0.2] = np.nan
    features = loss_features(values, [0] * 4).beside(0, np.arange(1, 4))
    logits = loss_logits(features, np.isnan(values[:, 0]), folds_of(row_keys(values, 0), 5), seed=0)
    assert logits.std() < 0.1
    assert association(features, np.isnan(values[:, 0])) > 0.01


def test_what_is_guessed_beside_a_column_does_not_know_it():
    """Features for a column are the same whatever its own cells are."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1_000, 4))
    values[rng.random(values.shape) < 0.3] = np.nan
    features = loss_features(values, [0] * 4)
    lost = np.isnan(values[:, 0])
    assert abs(np.corrcoef(features.beside(0, np.arange(1, 4)).T, lost)[-1, :-1]).max() < 0.1


def test_the_level_is_the_rate_that_most_agree_on():
    rates = np.array([0.1, 0.3, 0.302, 0.1, 0.101, 0.5])
    assert _shared_rate(rates, [0, 1, 2, 3, 4, 5], 10_000, False) == pytest.approx(0.1003, abs=1e-4)
    assert _shared_rate(rates, [0, 1, 2, 3], 10_000, False) == pytest.approx(0.1)
    assert _shared_rate(rates, [0, 1, 5], 10_000, False) is None
    assert _shared_rate(rates, [0, 1], 10_000, False) is None
    assert _shared_rate(rates, [0, 1], 10_000, True) == pytest.approx(0.1)


def test_p_values_are_corrected_in_turn():
    assert _holm({0: 0.01, 1: 0.04, 2: 0.02}, 1) == pytest.approx({0: 0.03, 2: 0.04, 1: 0.04})
    assert _holm({}, 2) == {}


def test_logits_that_point_the_wrong_way_are_left_out():
    rng = np.random.default_rng(0)
    right = rng.normal(size=4_000)
    is_missing = rng.random(4_000) < expit(right)
    joined = together(np.column_stack([right, -1.0 - right]), is_missing)
    assert np.corrcoef(joined, right)[0, 1] > 0.99
    assert expit(joined).mean() == pytest.approx(is_missing.mean())
    wrong = together(-right[:, None], is_missing)
    np.testing.assert_allclose(expit(wrong), is_missing.mean())
