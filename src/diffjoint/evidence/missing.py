"""How likely a cell is missing, given the rest of its row."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint.trees import Trees, constant, grow

Values = NDArray[np.float64]

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
LEARNER: dict[str, Any] = {
    "learning_rate": 0.05,
    "max_iter": 90,
    "max_leaf_nodes": 10,
    "max_features": 0.5,
    "l2_regularization": 10.0,
    "early_stopping": False,
}


def learn_missing(
    features: Values,
    is_missing: NDArray[np.bool_],
    n_levels: NDArray[np.int64],
    seed: int,
    settings: Mapping[str, Any] = MappingProxyType(LEARNER),
) -> Trees:
    """Trees for the logit of P(missing | features).

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        The other cells, coded, NaN where missing.
    is_missing : bool array of shape (n_rows,)
    n_levels : array of shape (n_features,)
        Levels of categorical features; 0 for numbers.
    settings : mapping
        Scikit-learn's, of the boosted trees.
    """
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    if few or features.shape[1] == 0:
        return constant(np.array([logit(rate)]), n_levels)
    leaf = int(np.clip(len(features) // 300, 10, 40))
    learner = HistGradientBoostingClassifier(**settings, min_samples_leaf=leaf, random_state=seed)
    return grow(learner, features, is_missing, n_levels)
