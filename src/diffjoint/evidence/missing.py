"""How likely a cell is missing, given the rest of its row."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint.arrays import Values
from diffjoint.trees import Trees, constant, grow

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
LEARNER = {
    "learning_rate": 0.05,
    "max_iter": 300,
    "max_leaf_nodes": 8,
    "l2_regularization": 1.0,
    "early_stopping": True,
    "validation_fraction": 0.15,
    "n_iter_no_change": 15,
}


def learn_missing(
    features: Values, is_missing: NDArray[np.bool_], n_levels: NDArray[np.int64], seed: int
) -> Trees:
    """Trees for the logit of P(missing | features).

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        The other cells, coded, NaN where missing.
    is_missing : bool array of shape (n_rows,)
    n_levels : array of shape (n_features,)
        Levels of categorical features; 0 for numbers.
    """
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    if few or features.shape[1] == 0:
        return constant(np.array([logit(rate)]), n_levels)
    leaf = int(np.clip(len(features) // 300, 10, 40))
    learner = HistGradientBoostingClassifier(**LEARNER, min_samples_leaf=leaf, random_state=seed)
    return grow(learner, features, is_missing, n_levels)
