"""Which columns say something about a target: a cheap look at all of them.

A model of each column that sees every other column costs the square of their number. Most columns
of a wide table say nothing about a given one. So each model sees the few that do: those whose
values go with its target, and those that are missing along with it. Both are asked, so that many
columns that are missing together do not crowd out the one that decides over all of them. And those
that say what the strongest leave open are seen, too, so that many that say the same leave room.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Places, Values

N_BINS = 12
"""Bins of a number; levels of a category, of which the rarer ones are one bin."""
FEWEST_ROWS, MOST_ROWS, MOST_CELLS = 500, 5_000, 2**24
"""Rows that are looked at, fewer in wide tables: their bins are held in memory."""
RIDGE = 10.0
"""How much the strongest columns are held back from saying all there is to say."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class InputLimits:
    """How many columns a model sees, at most.

    Attributes
    ----------
    strongest, left_open, gaps : int
        For what they hold; for what they say beyond those; for what is missing in them.
    """

    strongest: int
    left_open: int
    gaps: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.strongest + self.left_open + self.gaps


MISSINGNESS_INPUTS, VALUE_INPUTS = InputLimits(16, 8, 8), InputLimits(20, 16, 6)
"""Columns that say who is missing in a column, and what the column holds."""


@dataclass(frozen=True)
class Screen:
    """Bins of some rows of a table, held against targets.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    rows : int array
        The rows that are looked at.
    bins : array of shape (len(rows), n_columns * N_BINS)
        Indicators of the bins of all columns.
    flags : array of shape (len(rows), n_columns)
        Who is missing in each column, with a mean of 0 and a length of 1.
    """

    values: Values
    n_levels: NDArray[np.int64]
    rows: Places
    bins: Floats
    flags: Floats

    def inputs_for_missingness(self, column: int, *, by_gaps: bool = True) -> Places:
        """The columns that say who is missing in one column, in their order.

        Parameters
        ----------
        by_gaps : bool
            Whether columns count that are missing along with it.
        """
        target = np.isnan(self.values[self.rows, column])[:, None].astype(np.float64)
        return self._inputs(column, target, MISSINGNESS_INPUTS, by_gaps)

    def inputs_for_values(self, column: int) -> Places:
        """The columns that say something about what one column holds, in their order."""
        targets = _indicators(self.values[self.rows, column], int(self.n_levels[column]))
        return self._inputs(column, targets, VALUE_INPUTS, by_gaps=True)

    def strength(self, targets: Values) -> Values:
        """How much the values of each column say about some targets together.

        The chi-squared statistic of the targets' means in the column's bins, where the column is
        observed, less what chance alone makes of it.

        Parameters
        ----------
        targets : array of shape (len(rows), n_targets)
            With a mean of 0 and a variance of 1; NaN where not known.

        Returns
        -------
        array of shape (n_columns,)
        """
        known = ~np.isnan(targets)
        n_known = np.asarray(known.any(axis=1), dtype=np.float32)
        sums = self.bins.T @ np.where(known, targets, 0.0).astype(np.float32)
        counts = self.bins.T @ n_known[:, None]
        total = self._by_column(sums) ** 2 / np.maximum(self._by_column(counts), 1.0)
        between = self._by_column(sums**2 / np.maximum(counts, 1.0)) - total
        n_filled = self._by_column((counts > 0).astype(np.float32))
        strength: Values = (between - np.maximum(n_filled - 1, 0)).sum(axis=1)
        return strength

    def _inputs(self, column: int, targets: Values, most: InputLimits, by_gaps: bool) -> Places:
        """The columns that a model of some targets sees: all of them in a narrow table."""
        others = np.delete(np.arange(len(self.n_levels)), column)
        if len(others) <= most.total:
            return others
        targets = _standard(targets)
        found = _strongest(self.strength(targets), {column}, most.strongest)
        left = _standard(self._left_open(targets, sorted(found)))
        found |= _strongest(self.strength(left), {column} | found, most.left_open)
        if by_gaps:
            along = ((self.flags.T @ np.nan_to_num(targets)) ** 2).sum(axis=1)
            found |= _strongest(along, {column}, most.gaps)
        return np.array(sorted(found), dtype=np.int64)

    def _left_open(self, targets: Values, columns: list[int]) -> Values:
        """What is left of targets where the bins of some columns say what they can."""
        places = (np.array(columns)[:, None] * N_BINS + np.arange(N_BINS)).ravel()
        known = (~np.isnan(targets)).any(axis=1)
        bins = self.bins[np.ix_(known, places)]
        goal = targets[known].astype(np.float32)
        weights = np.linalg.solve(
            bins.T @ bins + RIDGE * np.eye(len(places), dtype=np.float32), bins.T @ goal
        )
        left = np.full(targets.shape, np.nan)
        left[known] = goal - bins @ weights
        return left

    def _by_column(self, cells: NDArray[np.floating[Any]]) -> Values:
        """Sums over the bins of each column, shape (n_columns, n_targets)."""
        sums: Values = cells.reshape(len(self.n_levels), N_BINS, -1).sum(axis=1, dtype=np.float64)
        return sums


def open_screen(values: Values, n_levels: NDArray[np.int64]) -> Screen:
    """Return the screen of a table: some of its rows, equally spaced; none of a narrow table."""
    fitting = MOST_CELLS // max(1, N_BINS * len(n_levels))
    n_rows = min(len(values), int(np.clip(fitting, FEWEST_ROWS, MOST_ROWS)))
    if len(n_levels) - 1 <= MISSINGNESS_INPUTS.total:
        n_rows = 0
    rows = np.unique(np.linspace(0, max(len(values) - 1, 0), n_rows, dtype=int))
    some = values[rows]
    return Screen(values, n_levels, rows, _bins(some, n_levels), _flags(some))


def _bins(values: Values, n_levels: NDArray[np.int64]) -> Floats:
    """Indicators of the bins of all columns."""
    n_rows, n_columns = values.shape
    bins = np.zeros((n_rows, n_columns, N_BINS), dtype=np.float32)
    for j in range(n_columns if n_rows else 0):
        codes = _codes(values[:, j], int(n_levels[j]))
        there = np.flatnonzero(codes >= 0)
        bins[there, j, codes[there]] = 1.0
    return bins.reshape(n_rows, n_columns * N_BINS)


def _flags(values: Values) -> Floats:
    """Who is missing in each column, with a mean of 0 and a length of 1."""
    flags = np.isnan(values).astype(np.float32)
    flags -= flags.sum(axis=0) / max(len(values), 1)
    length = np.maximum(np.sqrt((flags**2).sum(axis=0)), 1e-6)
    return np.asarray(flags / length, dtype=np.float32)


def _codes(column: Values, n_levels: int) -> NDArray[np.int64]:
    """The bin of each cell; -1 where missing."""
    codes, there = np.full(len(column), -1), ~np.isnan(column)
    if not there.any():
        return codes
    if n_levels:
        levels = column[there].astype(np.int64)
        common = np.argsort(-np.bincount(levels, minlength=n_levels), kind="stable")
        place = np.full(n_levels, N_BINS - 1)
        place[common[: N_BINS - 1]] = np.arange(min(N_BINS - 1, n_levels))
        codes[there] = place[levels]
        return codes
    cuts = np.unique(np.quantile(column[there], np.arange(1, N_BINS) / N_BINS))
    codes[there] = np.searchsorted(cuts, column[there], side="left")
    return codes


def _indicators(cells: Values, n_levels: int) -> Values:
    """What a column holds as targets: numbers as they are, each common level; NaN if missing."""
    if not n_levels:
        return cells[:, None]
    codes = _codes(cells, n_levels)
    bins = np.where(codes[:, None] >= 0, codes[:, None] == np.arange(N_BINS), np.nan)
    return bins[:, np.nansum(bins, axis=0) > 0]


def _standard(targets: Values) -> Values:
    """Targets with a mean of 0 and a variance of 1 where they are known; 0 if they are constant."""
    known = ~np.isnan(targets)
    n_known = np.maximum(known.sum(axis=0), 1)
    above = targets - np.where(known, targets, 0.0).sum(axis=0) / n_known
    largest = np.abs(np.where(known, above, 0.0)).max(axis=0, initial=0.0)
    above = above / np.where(largest > 0, largest, 1.0)
    variance = (np.where(known, above, 0.0) ** 2).sum(axis=0) / n_known
    standard: Values = above / np.sqrt(np.where(variance > 0, variance, 1.0))
    return standard


def _strongest(strength: Values, taken: set[int], most: int) -> set[int]:
    order = [j for j in np.argsort(-strength, kind="stable").tolist() if j not in taken]
    return set(order[:most])
