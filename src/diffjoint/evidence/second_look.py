"""A second look at missing cells: trees that see the whole row, taught with what values said of it.

The values view has seen a few cells of each row at a time, so that what it says of a whole row is
rough. Trees that see all of it, missing cells included, learn what is common to cells of which it
says the same, and are steadier. They are no source of their own: the mean of both, in log odds,
counts.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from diffjoint._types import Places, Values
from diffjoint.evidence.folds import to_logit
from diffjoint.evidence.missing import FEWEST, rows_outside
from diffjoint.trees import Trees, grow

N_FOLDS = 3
SUREST = 0.01
"""Probabilities nearer to 0 or 1 than this teach as much as this."""
FEWEST_OF_EITHER = 5.0
"""Meaningful and lost cells, as expected, without which there is nothing to tell apart."""
LEARNER = {
    "max_iter": 40,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "l2_regularization": 5.0,
    "min_samples_leaf": 10,
    "early_stopping": False,
}


def learn_second_look(
    rows: Values,
    n_levels: NDArray[np.int64],
    inputs: Places,
    likely: Values,
    folds: NDArray[np.int64],
    seed: int,
) -> tuple[Trees, ...]:
    """Learn the log odds of P(meaningful) from whole rows; nothing if all cells are alike.

    Parameters
    ----------
    rows : array of shape (n_missing, n_columns)
        The rows whose cell is missing, NaN where missing.
    n_levels : array of shape (n_columns,)
    inputs : int array
        The columns to go by.
    likely : array of shape (n_missing,)
        P(meaningful) by the values view.
    folds : array of shape (n_missing,)
        No row is judged by trees that have learnt from it.

    Returns
    -------
    tuple of Trees
        One for each of three folds, or empty.
    """
    of_either = min(likely.sum(), (1 - likely).sum())
    if len(likely) < 2 * FEWEST or of_either < FEWEST_OF_EITHER or not len(inputs):
        return ()
    target = to_logit(np.clip(likely, SUREST, 1 - SUREST))
    return tuple(
        grow(
            HistGradientBoostingRegressor(**LEARNER, random_state=seed),
            rows[np.ix_(some, inputs)],
            target[some],
            n_levels[inputs],
            inputs,
        )
        for some in (rows_outside(folds % N_FOLDS, fold) for fold in range(N_FOLDS))
    )
