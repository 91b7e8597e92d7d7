"""Count patterns: which cells of a row are missing, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint.report.states import IMPUTED, KEPT, LEFT, OBSERVED, States

MOST_PATTERNS, MOST_COLUMNS = 20, 20
"""Largest number of patterns, and of columns, to show."""


@dataclass(frozen=True)
class PatternColumn:
    """A column with missing cells.

    Attributes
    ----------
    name : str
    n_kept, n_imputed, n_left : int
        Its cells that are kept as NA, imputed, and left as they were.
    """

    name: str
    n_kept: int
    n_imputed: int
    n_left: int

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return self.n_kept + self.n_imputed + self.n_left


@dataclass(frozen=True)
class Pattern:
    """Rows in which the same cells are missing.

    Attributes
    ----------
    n_rows : int
    is_missing : tuple of bool
        For each shown column, and in the end for all others together, if there are any.
    kept_share : tuple of float
        Share of these cells that are kept as NA; 0.0 where they are observed.
    """

    n_rows: int
    is_missing: tuple[bool, ...]
    kept_share: tuple[float, ...]


@dataclass(frozen=True)
class Patterns:
    """The most frequent patterns of a table.

    Attributes
    ----------
    columns : tuple of PatternColumn
        Columns with missing cells, those with the most first.
    n_others : int
        Number of further columns with missing cells.
    patterns : tuple of Pattern
        The most frequent first; rows without a missing cell are not among them.
    n_patterns : int
        Number of all patterns with a missing cell; those of columns that are not shown count as
        one.
    n_complete, n_incomplete : int
        Number of rows without and with a missing cell.
    """

    columns: tuple[PatternColumn, ...]
    n_others: int
    patterns: tuple[Pattern, ...]
    n_patterns: int
    n_complete: int
    n_incomplete: int

    @property
    def n_covered(self) -> int:
        """Number of rows that have one of the patterns shown."""
        return sum(pattern.n_rows for pattern in self.patterns)


def find_patterns(states: States, names: Sequence[str]) -> Patterns:
    """Count the patterns of a table.

    Parameters
    ----------
    states : int array of shape (n_rows, n_columns)
        What became of each cell.
    names : sequence of str
        Names of the columns.

    Examples
    --------
    >>> states = np.array([[0, 2, 2], [0, 2, 2], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    >>> found = find_patterns(states, ["work", "hours", "pay"])
    >>> [column.name for column in found.columns], found.n_complete
    (['pay', 'hours'], 1)
    >>> [(pattern.n_rows, pattern.is_missing) for pattern in found.patterns]
    [(2, (True, True)), (1, (True, False))]
    """
    is_missing = states != OBSERVED
    n_missing = is_missing.sum(axis=0)
    order = np.argsort(-n_missing, kind="stable")[: int((n_missing > 0).sum())]
    shown, others = order[:MOST_COLUMNS], order[MOST_COLUMNS:]
    beside = is_missing[:, others].any(axis=1)
    codes = _codes(np.column_stack([is_missing[:, shown], beside]))
    found, n_rows = np.unique(codes[codes > 0], return_counts=True)
    first = np.argsort(-n_rows, kind="stable")[:MOST_PATTERNS]
    columns = tuple(
        PatternColumn(
            names[j],
            *(int((states[:, j] == state).sum()) for state in (KEPT, IMPUTED, LEFT)),
        )
        for j in shown.tolist()
    )
    n_complete = int((codes == 0).sum())
    return Patterns(
        columns,
        len(others),
        tuple(_pattern(states[codes == code], shown, others) for code in found[first]),
        len(found),
        n_complete,
        len(states) - n_complete,
    )


def _codes(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return a number for each row that is the same for the same flags, and 0 for none."""
    codes: NDArray[np.int64] = flags @ (1 << np.arange(flags.shape[1], dtype=np.int64))
    return codes


def _pattern(states: States, shown: NDArray[np.intp], others: NDArray[np.intp]) -> Pattern:
    """Describe rows in which the same cells are missing."""
    groups = [*shown[:, None], *([others] if len(others) else [])]
    missing = [int((states[:, group] != OBSERVED).sum()) for group in groups]
    kept = [int((states[:, group] == KEPT).sum()) for group in groups]
    shares = [n_kept / max(1, n) for n_kept, n in zip(kept, missing, strict=True)]
    return Pattern(len(states), tuple(n > 0 for n in missing), tuple(shares))
