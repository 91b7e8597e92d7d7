"""How likely a cell is missing, given the rest of its row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint._types import Mask, Places, Values
from diffjoint.trees import Trees, constant, grow, side_by_side

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
UNTIL_WORSE: dict[str, Any] = {
    "max_iter": 150,
    "early_stopping": True,
    "validation_fraction": 0.15,
    "n_iter_no_change": 10,
}
"""Rounds go on until some rows that are held out say that they no longer help."""
UNTIL_LITTLE = UNTIL_WORSE | {"tol": 1e-4}
"""Or until they hardly help: a column that the others determine would go on to the last round."""
LEARNER: dict[str, Any] = {"learning_rate": 0.1, "max_leaf_nodes": 8, "l2_regularization": 1.0}
IN_FOLDS = LEARNER | {"learning_rate": 0.15, "l2_regularization": 10.0, "max_features": 0.5}
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
    return _grown(rows, is_missing, n_levels, inputs, LEARNER | UNTIL_WORSE, seed)


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

    The number of rounds is what the first fold calls for, so that none other has to hold out rows
    for it.
    """

    def grown(which: range, settings: dict[str, Any]) -> Iterator[Trees]:
        def of(fold: int) -> Trees:
            some = _rows_outside(folds, fold, seed)
            return _grown(rows[some], is_missing[some], n_levels, inputs, IN_FOLDS | settings, seed)

        return side_by_side(of, which, len(rows))

    (tried,) = grown(range(1), UNTIL_LITTLE)
    n_rounds = max(1, len(tried.roots))
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
    rows: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    inputs: Places,
    settings: dict[str, Any],
    seed: int,
) -> Trees:
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    if few or not len(inputs):
        return constant(np.array([logit(rate)]))
    leaf = int(np.clip(len(rows) // 300, 10, 40))
    learner = HistGradientBoostingClassifier(**settings, min_samples_leaf=leaf, random_state=seed)
    return grow(learner, rows[:, inputs], is_missing, n_levels[inputs], inputs)
