"""Trees for P(missing), learnt in folds."""

import numpy as np
from scipy.special import expit

from diffjoint.evidence.missing import (
    IN_FOLDS,
    LEARNER,
    UNTIL_WORSE,
    learn_in_folds,
    learn_missing,
    rows_outside,
)
from diffjoint.trees.boosted import as_numbers
from diffjoint.trees.growing import n_bins_for

N_LEVELS = np.array([0, 0, 2, 3, 2])


def in_tens(network):
    """The network with so few distinct numbers that the bins of any of its rows are alike."""
    values = network.train.observed_table.to_numpy(dtype=float, copy=True)
    for column in (0, 1):
        low, high = np.nanquantile(values[:, column], [0.02, 0.98])
        cells = (np.clip(values[:, column], low, high) - low) / (high - low)
        values[:, column] = np.round(10 * cells)
    return values


def test_trees_say_what_scikit_learn_says(network):
    from sklearn.ensemble import HistGradientBoostingClassifier

    values = in_tens(network)
    inputs, missing = np.array([0, 1, 2, 4]), np.isnan(values[:, 3])
    trees = learn_missing(values, missing, N_LEVELS, inputs, seed=0)
    numbers = as_numbers(values[:, inputs], trees.level_codes, trees.level_starts)
    settings = LEARNER | UNTIL_WORSE | {"max_bins": n_bins_for(len(values))}
    reference = HistGradientBoostingClassifier(**settings, min_samples_leaf=33, random_state=0)
    expected = reference.fit(numbers, missing).decision_function(numbers)
    np.testing.assert_allclose(trees.logit(values), expected, atol=1e-9)


def test_every_fold_learns_from_all_rows_of_the_others(network):
    from sklearn.ensemble import HistGradientBoostingClassifier

    values = in_tens(network)[:2_000]
    inputs, missing = np.array([0, 1, 2, 4]), np.isnan(values[:, 3])
    folds = np.arange(2_000) % 4
    grown = learn_in_folds(values, missing, N_LEVELS, inputs, folds, 4, seed=0)
    n_rounds = {len(trees.roots) for trees in grown}
    assert len(n_rounds) == 1, "found once for all folds"
    rows, trees = rows_outside(folds, 2), grown[2]
    settings = IN_FOLDS | {"max_iter": n_rounds.pop(), "early_stopping": False}
    settings["max_bins"] = n_bins_for(len(rows))
    reference = HistGradientBoostingClassifier(**settings, min_samples_leaf=10, random_state=0)
    numbers = as_numbers(values[:, inputs], trees.level_codes, trees.level_starts)
    expected = reference.fit(numbers[rows], missing[rows]).decision_function(numbers)
    np.testing.assert_allclose(trees.logit(values), expected, atol=1e-9)


def test_too_few_cells_of_a_kind_give_the_rate_alone():
    missing = np.arange(100) < 3
    rows = np.random.default_rng(0).normal(size=(100, 2))
    trees = learn_missing(rows, missing, np.zeros(2, dtype=int), np.arange(2), 0)
    np.testing.assert_allclose(expit(trees.logit(np.zeros((4, 2)))), 0.03)
