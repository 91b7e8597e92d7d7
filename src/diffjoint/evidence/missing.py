"""How likely a cell is missing, given the rest of its row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint._types import Mask, Places, Values
from diffjoint.trees import Features, Trees, constant, grow

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
UNTIL_WORSE: dict[str, Any] = {
    "max_iter": 150,
    "early_stopping": True,
    "validation_fraction": 0.15,
    "n_iter_no_change": 7,
}
"""Rounds go on until some rows that are held out say that they no longer help."""
UNTIL_LITTLE = UNTIL_WORSE | {"n_iter_no_change": 10, "tol": 1e-4}
"""Or until they hardly help: a column that the others determine would go on to the last round."""
LEARNER: dict[str, Any] = {"learning_rate": 0.15, "max_leaf_nodes": 8, "l2_regularization": 1.0}
IN_FOLDS = LEARNER | {"learning_rate": 0.2, "l2_regularization": 10.0, "max_features": 0.5}
"""Trees that judge cells: they differ more from each other, which steadies their sum."""
MOST_ROWS = 100_000
"""Rows that one set of trees learns from."""


def learn_missing(
    rows: Values, is_missing: Mask, n_levels: NDArray[np.int64], inputs: Places, seed: int
) -> Trees:
    """Trees for the logit of P(missing | other cells), as many as rows held out call for.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    is_missing : bool array of shape (n_rows,)
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    inputs : int array
        The columns to go by.
    """
    alike = _without_trees(is_missing, inputs)
    if alike is not None:
        return alike
    learner = _learner(len(rows), LEARNER | UNTIL_WORSE, seed)
    return grow(learner, rows[:, inputs], is_missing, n_levels[inputs], inputs)


def learn_in_folds(
    rows: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    inputs: Places,
    folds: NDArray[np.int64],
    n_folds: int,
    seed: int,
) -> tuple[Trees, ...]:
    """Trees for each fold, learnt on the rows of the others, or on some if there are many.

    The number of rounds is what all folds together call for, each by the rows that it holds out.
    """
    learnt = [_rows_outside(folds, fold, seed) for fold in range(n_folds)]
    grown = [_without_trees(is_missing[some], inputs) for some in learnt]
    unsure = [fold for fold in range(n_folds) if grown[fold] is None]
    if unsure:
        parts = [(learnt[fold], np.flatnonzero(folds == fold)) for fold in unsure]
        learner = _learner(min(map(len, learnt)), IN_FOLDS | UNTIL_LITTLE, seed)
        features = Features(rows[:, inputs], n_levels[inputs], inputs)
        trees = features.grow_in_folds(learner, is_missing, parts)
        for fold, one in zip(unsure, trees, strict=True):
            grown[fold] = one
    return tuple(one for one in grown if one is not None)


def _rows_outside(folds: NDArray[np.int64], fold: int, seed: int) -> NDArray[np.intp]:
    rows = rows_outside(folds, fold)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
    return rows


def rows_outside(folds: NDArray[np.int64], fold: int) -> NDArray[np.intp]:
    """Rows of the other folds; of all, if there are no others."""
    rows = np.flatnonzero(folds != fold)
    return rows if len(rows) else np.arange(len(folds))


def _without_trees(is_missing: Mask, inputs: Places) -> Trees | None:
    """Return the rate alone, where there is too little to learn from; None elsewhere."""
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    return constant(np.array([logit(rate)])) if few or not len(inputs) else None


def _learner(n_rows: int, settings: dict[str, Any], seed: int) -> HistGradientBoostingClassifier:
    leaf = int(np.clip(n_rows // 300, 10, 40))
    return HistGradientBoostingClassifier(**settings, min_samples_leaf=leaf, random_state=seed)
