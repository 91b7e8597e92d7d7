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
FAILED, MOST_GROUNDS, MOST_GATES = 8, 8, 3
"""From ``FAILED`` on an answer is FALSE and says on what grounds: a bit for each of the first
gates, set if the rule would fail without it, too."""
BLOCK = 20_000
"""Rows that are asked at once."""


class SkipRule(Protocol):
    """When one column has something to record."""

    @property
    def gates(self) -> frozenset[int]:
        """Positions of the columns that it asks."""

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
            fails = np.flatnonzero(missing & (said == FALSE))
            for start in range(0, len(fails), BLOCK):
                rows = fails[start : start + BLOCK]
                grounds = _grounds(rule, values[rows], meaningful[rows])
                answers[rows, rule.target] = FAILED + grounds
    return answers


def _grounds(rule: SkipRule, values: Values, meaningful: Mask) -> Answers:
    """Return on what grounds a rule fails in some rows: those gates without which it fails, too."""
    grounds = np.zeros(len(values), dtype=np.int8)
    gates = sorted(rule.gates)[:MOST_GATES]
    for k, gate in enumerate(gates if len(gates) > 1 else []):
        held = values[:, gate].copy(), meaningful[:, gate].copy()
        values[:, gate], meaningful[:, gate] = np.nan, False
        grounds += (rule.answers(values, meaningful) == FALSE).astype(np.int8) << k
        values[:, gate], meaningful[:, gate] = held
    return grounds


def is_false(answers: Answers) -> Mask:
    """Return where a rule fails, on whatever grounds.

    Examples
    --------
    >>> is_false(np.array([FALSE, UNDECIDED, TRUE, FAILED + 2])).tolist()
    [True, False, False, True]
    """
    fails: Mask = (answers == FALSE) | (answers >= FAILED)
    return fails


def grounds_of(answers: Answers) -> NDArray[np.int64]:
    """Return on what grounds rules fail, 0 where they do not."""
    return np.maximum(answers.astype(np.int64) - FAILED, 0)
