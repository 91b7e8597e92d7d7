"""How likely a cell is missing, given the rest of its row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint.arrays import Cells, Values
from diffjoint.trees import Trees, constant, grow, side_by_side

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
UNTIL_WORSE: dict[str, Any] = {
    "max_iter": 300,
    "early_stopping": True,
    "validation_fraction": 0.15,
    "n_iter_no_change": 15,
}
"""Rounds go on until some rows that are held out say that they no longer help."""
UNTIL_LITTLE = UNTIL_WORSE | {"tol": 1e-4}
"""Or until they hardly help: a column that the others determine would go on to the last round."""
LEARNER: dict[str, Any] = {"learning_rate": 0.05, "max_leaf_nodes": 8, "l2_regularization": 1.0}
IN_FOLDS = LEARNER | {"l2_regularization": 10.0, "max_features": 0.5}
"""Trees that judge cells: they differ more from each other, which steadies their sum."""
MOST_ROWS = 100_000
"""Rows that one set of trees learns from."""


def learn_missing(
    features: Values, is_missing: Cells, n_levels: NDArray[np.int64], seed: int
) -> Trees:
    """Trees for the logit of P(missing | features), as many as rows held out call for.

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        The other cells, coded, NaN where missing.
    is_missing : bool array of shape (n_rows,)
    n_levels : array of shape (n_features,)
        Levels of categorical features; 0 for numbers.
    """
    return _grown(features, is_missing, n_levels, LEARNER | UNTIL_WORSE, seed)


def learn_in_folds(
    features: Values,
    is_missing: Cells,
    n_levels: NDArray[np.int64],
    folds: NDArray[np.int64],
    n_folds: int,
    seed: int,
) -> tuple[Trees, ...]:
    """Trees for each fold, learnt on the rows of the others, or on some if there are many.

    The number of rounds is the middle of what a third of the folds call for, so that none has to
    hold out rows for it.
    """

    def grown(some: range, settings: dict[str, Any]) -> Iterator[Trees]:
        def of(fold: int) -> Trees:
            rows = _rows_outside(folds, fold, seed)
            return _grown(features[rows], is_missing[rows], n_levels, IN_FOLDS | settings, seed)

        return side_by_side(of, some, len(features))

    tried = grown(range(max(1, n_folds // 3)), UNTIL_LITTLE)
    n_rounds = max(1, int(np.median([len(trees.roots) for trees in tried])))
    return tuple(grown(range(n_folds), {"max_iter": n_rounds, "early_stopping": False}))


def _rows_outside(folds: NDArray[np.int64], fold: int, seed: int) -> NDArray[np.intp]:
    rows = rows_outside(folds, fold)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
    return rows


def rows_outside(folds: NDArray[np.int64], fold: int) -> NDArray[np.intp]:
    """Rows of the other folds; of all, if there are no others."""
    rows = np.flatnonzero(folds != fold)
    return rows if len(rows) else np.arange(len(folds))


def _grown(
    features: Values,
    is_missing: Cells,
    n_levels: NDArray[np.int64],
    settings: dict[str, Any],
    seed: int,
) -> Trees:
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    if few or features.shape[1] == 0:
        return constant(np.array([logit(rate)]), n_levels)
    leaf = int(np.clip(len(features) // 300, 10, 40))
    learner = HistGradientBoostingClassifier(**settings, min_samples_leaf=leaf, random_state=seed)
    return grow(learner, features, is_missing, n_levels)
