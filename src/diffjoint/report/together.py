"""Find which columns are missing in the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.inspection.inspect import find_blocks

FEWEST_MISSING = 5
"""Smallest number of missing, and of observed cells of a column that is compared."""
MOST_COMPARED, MOST_PAIRS = 20, 10
"""Largest number of columns to show pair by pair, and of pairs to list."""
WEAKEST, ENOUGH_ERRORS = 0.15, 4.0
"""Smallest correlation of a pair that counts, and the standard errors that it must exceed."""
MOST_TRIED = 200
"""Largest number of columns among which related ones are looked for."""


@dataclass(frozen=True)
class Block:
    """Columns that are missing in the same rows.

    Attributes
    ----------
    columns : tuple of str
    n_all, n_any : int
        Number of rows in which all of them, and at least one of them, are missing.
    """

    columns: tuple[str, ...]
    n_all: int
    n_any: int


@dataclass(frozen=True)
class Pair:
    """Two columns that are missing together more often than by chance.

    Attributes
    ----------
    first, second : str
    n_both : int
        Number of rows in which both are missing.
    expected : float
        The number to expect if one had nothing to do with the other.
    correlation : float
        Correlation of being missing.
    """

    first: str
    second: str
    n_both: int
    expected: float
    correlation: float


@dataclass(frozen=True)
class Together:
    """Which columns are missing together.

    Attributes
    ----------
    blocks : tuple of Block
        Columns that are missing in the same rows nearly always, the largest block first.
    columns : tuple of str
        Columns that are missing together, or where others are not, more than chance explains; in
        the order of the table.
    correlations : tuple of tuple of float
        Correlation of being missing, for each two of them.
    pairs : tuple of Pair
        The most strongly related of them.
    n_others : int
        Number of further such columns.
    """

    blocks: tuple[Block, ...]
    columns: tuple[str, ...]
    correlations: tuple[tuple[float, ...], ...]
    pairs: tuple[Pair, ...]
    n_others: int

    def block_of(self, name: str) -> tuple[str, ...]:
        """Return the other columns of a column's block; empty without one."""
        for block in self.blocks:
            if name in block.columns:
                return tuple(other for other in block.columns if other != name)
        return ()


def find_together(is_missing: Mask, names: Sequence[str]) -> Together:
    """Find which columns are missing together.

    Examples
    --------
    >>> hours = np.arange(40) < 16
    >>> age = np.arange(40) % 4 == 0
    >>> found = find_together(np.column_stack([hours, hours, age]), ["hours", "commute", "age"])
    >>> found.blocks
    (Block(columns=('hours', 'commute'), n_all=16, n_any=16),)
    >>> found.pairs[0].n_both, found.pairs[0].expected, found.pairs[0].correlation
    (16, 6.4, 1.0)
    """
    blocks = find_blocks(is_missing, list(names))
    n_rows, n_missing = len(is_missing), is_missing.sum(axis=0)
    enough = (n_missing >= FEWEST_MISSING) & (n_missing <= n_rows - FEWEST_MISSING)
    candidates = np.flatnonzero(enough)
    most = candidates[np.argsort(-n_missing[candidates], kind="stable")][:MOST_TRIED]
    n_both, expected, correlations = _correlations(is_missing, np.sort(most))
    weakest = max(WEAKEST, ENOUGH_ERRORS / np.sqrt(max(1, n_rows)))
    strongest = np.abs(correlations - np.eye(len(most))).max(axis=0, initial=0.0)
    related = np.argsort(-strongest, kind="stable")[: int((strongest >= weakest).sum())]
    kept = np.sort(related[:MOST_COMPARED])
    columns = [names[j] for j in np.sort(most)[kept]]
    n_both, expected, correlations = (
        part[np.ix_(kept, kept)] for part in (n_both, expected, correlations)
    )
    pairs = [
        Pair(
            columns[i],
            columns[j],
            int(n_both[i, j]),
            round(float(expected[i, j]), 1),
            round(float(correlations[i, j]), 3),
        )
        for i, j in zip(*np.triu_indices(len(columns), 1), strict=True)
        if correlations[i, j] >= weakest
    ]
    return Together(
        tuple(Block(b.columns, b.n_rows, b.n_any) for b in blocks),
        tuple(columns),
        tuple(tuple(row) for row in np.round(correlations, 3).tolist()),
        tuple(sorted(pairs, key=lambda pair: -pair.correlation)[:MOST_PAIRS]),
        len(related) - len(kept),
    )


def _correlations(is_missing: Mask, columns: NDArray[np.intp]) -> tuple[Values, Values, Values]:
    """Return for each two columns how often both are missing, by chance too, and correlations."""
    n_rows, cells = len(is_missing), is_missing[:, columns].astype(np.float32)
    n_both: Values = (cells.T @ cells).astype(np.float64)
    rates = np.diag(n_both) / max(1, n_rows)
    expected: Values = n_rows * np.outer(rates, rates)
    deviations = np.sqrt(rates * (1 - rates))
    return n_both, expected, (n_both - expected) / (n_rows * np.outer(deviations, deviations))
