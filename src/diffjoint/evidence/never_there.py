"""Contexts in which a column is never there: an observed value beside which all cells are missing.

Few may be asked to skip a question: three in a hundred houses without a basement change little in
how well missing cells are predicted over all houses. But if not one of sixty such houses has a
value, and losses strike a fifth of the cells, that is no chance.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression

from diffjoint._types import Mask, Places, Values

FEWEST_CELLS = 20
"""Cells that a context must have, and cells of either kind that must be outside."""
STEEPER = 1.0
"""How much likelier than outside of a context losses are taken to be within, in logits, beyond what
they are for numbers as large."""


@dataclass(frozen=True)
class _Ends:
    """The rows of a column of numbers in ascending order, and where its commonest value stands."""

    order: Places
    common: Places


class Contexts:
    """Contexts on single columns: levels, either end of the numbers, and their commonest value.

    Parameters
    ----------
    values, n_levels
        Coded cells and levels, as in :func:`diffjoint.evidence.find_candidates`.
    """

    def __init__(self, values: Values, n_levels: NDArray[np.int64]) -> None:
        self._values = values
        self._rows = [
            _levels_of(column, int(n)) if n else _ends_of(column)
            for column, n in zip(values.T, n_levels, strict=True)
        ]

    def p_value(self, is_missing: Mask, columns: Places) -> float:
        """Return how likely losses alone leave a column nowhere there in some context.

        Whatever makes losses likely in a row, it is not this value alone: rows of a context lose
        their cells as others do, or as much more often as numbers further out suggest.

        Parameters
        ----------
        is_missing : bool array of shape (n_rows,)
            Whether the column's cell is.
        columns : int array
            Those that contexts are sought on.

        Examples
        --------
        >>> area = np.repeat([0.0, 1.0, 2.0], 100)
        >>> contexts = Contexts(area[:, None], np.array([0]))
        >>> is_lost = np.arange(300) % 4 == 0
        >>> contexts.p_value(is_lost | (area == 0), np.array([0])) < 1e-9
        True
        >>> contexts.p_value(is_lost, np.array([0]))
        1.0
        """
        lowest, n_contexts = 0.0, 0
        for k in columns.tolist():
            for rows, is_end in self._within(k, is_missing):
                n_contexts += 1
                if len(rows) >= FEWEST_CELLS:
                    lowest = min(lowest, self._chance(k, rows, is_missing, is_end=is_end))
        return float(min(1.0, n_contexts * np.exp(lowest))) if n_contexts else 1.0

    def _within(self, column: int, is_missing: Mask) -> Iterator[tuple[Places, bool]]:
        """Yield each context's rows, none if some cell is there, and whether it is an end."""
        known, nowhere = self._rows[column], np.empty(0, dtype=np.intp)
        if not isinstance(known, _Ends):
            yield from ((rows if is_missing[rows].all() else nowhere, False) for rows in known)
            return
        order, there = known.order, np.flatnonzero(~is_missing[known.order])
        if len(there):
            yield order[: there[0]], True
            yield order[there[-1] + 1 :], True
            yield known.common if is_missing[known.common].all() else nowhere, False

    def _chance(self, column: int, rows: Places, is_missing: Mask, *, is_end: bool) -> float:
        """Return the log of the chance that losses strike all rows of a context."""
        outside = ~np.isnan(self._values[:, column])
        outside[rows] = False
        lost = is_missing[outside]
        if min(lost.sum(), (~lost).sum()) < FEWEST_CELLS:
            return 0.0
        logits = np.full(len(rows), np.log(lost.sum() / (~lost).sum()))
        if is_end:
            x = self._values[:, [column]]
            spread = max(float(x[outside].std()), 1e-9)
            fitted = LogisticRegression().fit(x[outside] / spread, lost)
            logits = np.maximum(logits, fitted.decision_function(x[rows] / spread))
        return float(log_expit(logits + STEEPER).sum())


def _levels_of(column: Values, n_levels: int) -> list[Places]:
    """Return the rows of each level that is common enough."""
    rows = (np.flatnonzero(column == level) for level in range(n_levels))
    return [found for found in rows if len(found) >= FEWEST_CELLS]


def _ends_of(column: Values) -> _Ends:
    order = np.argsort(column, kind="stable")[: int((~np.isnan(column)).sum())]
    if not len(order):
        return _Ends(order, order)
    distinct, count = np.unique(column[order], return_counts=True)
    return _Ends(order, np.flatnonzero(column == distinct[count.argmax()]))
