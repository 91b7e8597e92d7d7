"""The folds of a table's rows, and what is said of the cells of one column in each row."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from diffjoint._types import Values
from diffjoint.trees import Trees

TINY = 1e-6
NEW = -1
"""The fold of a row that was not learnt from: all folds judge it, and their mean counts."""


@dataclass(frozen=True)
class Judged:
    """What is said of every row's cell in one column."""

    missing_rate: Values
    loss_rate: Values
    mm_rate: Values
    nearest: float = 0.0

    @property
    def probability(self) -> Values:
        """P(meaningful | missing); where nothing is lost, what is missing is meaningful.

        It is no nearer to 0 or 1 than ``nearest``: what few rows bear out is not sure.
        """
        share = self.mm_rate / np.maximum(self.missing_rate, TINY)
        share = np.where(self.loss_rate <= TINY, 1.0, np.minimum(share, 1.0))  # rounding aside
        return np.clip(share, self.nearest, 1 - self.nearest)


def rows_by_fold(
    folds: NDArray[np.int64], n_folds: int
) -> Iterator[tuple[int, NDArray[np.intp], Values]]:
    """Go through the folds, with the rows that each judges and its weight in them.

    Fewer folds than rows were dealt into take several of them together.
    """
    is_new = folds == NEW
    for fold in range(n_folds):
        rows = np.flatnonzero(is_new | (folds % n_folds == fold))
        if len(rows):
            yield fold, rows, np.where(is_new[rows], 1.0 / n_folds, 1.0)


def logits_in_folds(trees: tuple[Trees, ...], rows: Values, folds: NDArray[np.int64]) -> Values:
    """Return the logits of each row by the trees of its fold; by all, on average, if it is new."""
    logits = np.zeros(len(rows))
    for fold, some, weight in rows_by_fold(folds, len(trees)):
        logits[some] += weight * trees[fold].logit(rows[some])
    return logits


def to_logit(p: Values) -> Values:
    """Logits of probabilities, finite at 0 and 1."""
    clipped: Values = logit(np.clip(p, TINY, 1 - TINY))
    return clipped
