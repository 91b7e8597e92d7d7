"""What skip rules answer, row by row, and where a missing gate leaves the answer open."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values

Answers = NDArray[np.int8]
"""One answer per row. ``and`` is the minimum of two answers, ``or`` their maximum."""
FALSE, UNDECIDED, TRUE = 0, 1, 2
NO_RULE = -1
"""Stands in place of an answer for cells of columns without a rule."""


class SkipRule(Protocol):
    """When one column has something to record."""

    @property
    def target(self) -> int:
        """Position of the column among the modelled ones."""

    @property
    def only_if(self) -> bool:
        """Whether cells may be meaningful for another reason where the rule holds."""

    def answers(self, values: Values, meaningful: Mask) -> Answers:
        """Return TRUE, FALSE or UNDECIDED for every row."""


def answers_of_rules(rules: Sequence[SkipRule], values: Values, meaningful: Mask) -> Answers:
    """Return what rules say of every cell, gates before the columns that they open.

    Rules that are not the whole story answer for the columns that they open, not for their own.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where unknown.
    meaningful : bool array of the same shape
        Cells known to be meaningful.
    """
    answers = np.full(values.shape, NO_RULE, dtype=np.int8)
    meaningful = meaningful.copy()
    for rule in rules:
        said, missing = rule.answers(values, meaningful), np.isnan(values[:, rule.target])
        meaningful[:, rule.target] |= missing & (said == FALSE)
        if not rule.only_if:
            answers[:, rule.target] = said
    return answers
