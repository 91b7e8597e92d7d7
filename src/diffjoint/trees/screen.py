"""Screen the columns of a wide table for those that are associated with a target.

If the model of each column saw every other column, costs would grow with the square of their
number. Most columns of a wide table are unrelated to a given one. So each model sees a few: those
whose values are associated with its target, and those that are missing together with it. Each kind
has a number of places of its own, so that many columns that are missing together do not crowd out
the one that determines all of them. Further places go to columns that explain what the strongest
leave unexplained, so that many copies of one cause do not crowd out another.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Places, Values

N_BINS = 12
"""Bins of a column: quantiles of a number, or levels, of which the rarer ones share a bin."""
FEWEST_ROWS, MOST_ROWS, MOST_CELLS = 500, 5_000, 2**24
"""Rows to screen at least and at most, and cells of their bins, which are held in memory."""
RIDGE = 10.0
"""Ridge penalty of the regression on the strongest columns."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class InputLimits:
    """Numbers of columns that a model sees at most.

    Attributes
    ----------
    strongest, unexplained, missing_together : int
        Columns with the strongest association; those with the strongest association with what
        these leave unexplained; columns that are missing together with the target.
    """

    strongest: int
    unexplained: int
    missing_together: int

    @property
    def total(self) -> int:
        """Number of columns in all."""
        return self.strongest + self.unexplained + self.missing_together


MISSINGNESS_INPUTS, VALUE_INPUTS = InputLimits(16, 8, 8), InputLimits(20, 16, 6)
"""Limits for models of which cells of a column are missing, and of its values."""


@dataclass(frozen=True)
class Screen:
    """Binned rows of a table, to compute associations with targets from.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : array of shape (n_columns,)
        Number of levels of categorical columns; 0 for numbers.
    rows : int array
        The rows that are screened.
    bins : array of shape (len(rows), n_columns * N_BINS)
        Indicators of the bins of all columns.
    flags : array of shape (len(rows), n_columns)
        Indicators of missing cells, centred and scaled to a length of 1.
    """

    values: Values
    n_levels: NDArray[np.int64]
    rows: Places
    bins: Floats
    flags: Floats

    def inputs_for_missingness(self, column: int, *, by_missingness: bool = True) -> Places:
        """Choose the columns that a model of which cells are missing in a column sees.

        Parameters
        ----------
        by_missingness : bool
            Whether to choose columns that are missing together with it.

        Returns
        -------
        int array
            Positions in ascending order.
        """
        target = np.isnan(self.values[self.rows, column])[:, None].astype(np.float64)
        return self._inputs(column, target, MISSINGNESS_INPUTS, by_missingness)

    def inputs_for_values(self, column: int) -> Places:
        """Choose the columns that a model of a column's values sees, in ascending order."""
        targets = _indicators(self.values[self.rows, column], int(self.n_levels[column]))
        return self._inputs(column, targets, VALUE_INPUTS, by_missingness=True)

    def strength(self, targets: Values) -> Values:
        """Compute how strongly the values of each column are associated with some targets.

        It is the chi-squared statistic of the targets' means in the column's bins, over the rows in
        which the column is observed, minus its degrees of freedom.

        Parameters
        ----------
        targets : array of shape (len(rows), n_targets)
            With mean 0 and variance 1; NaN where unknown.

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

    def _inputs(
        self, column: int, targets: Values, limits: InputLimits, by_missingness: bool
    ) -> Places:
        """Choose the columns that a model of some targets sees; all others in a narrow table."""
        others = np.delete(np.arange(len(self.n_levels)), column)
        if len(others) <= limits.total:
            return others
        targets = _standard(targets)
        found = _strongest(self.strength(targets), {column}, limits.strongest)
        left = _standard(self._residuals(targets, sorted(found)))
        found |= _strongest(self.strength(left), {column} | found, limits.unexplained)
        if by_missingness:
            along = ((self.flags.T @ np.nan_to_num(targets)) ** 2).sum(axis=1)
            found |= _strongest(along, {column}, limits.missing_together)
        return np.array(sorted(found), dtype=np.int64)

    def _residuals(self, targets: Values, columns: list[int]) -> Values:
        """Return the residuals of targets in a ridge regression on the bins of some columns."""
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
        """Sum over the bins of each column; return shape (n_columns, n_targets)."""
        sums: Values = cells.reshape(len(self.n_levels), N_BINS, -1).sum(axis=1, dtype=np.float64)
        return sums


def open_screen(values: Values, n_levels: NDArray[np.int64]) -> Screen:
    """Bin some rows of a table, equally spaced; none of a narrow table, which needs no choice."""
    fitting = MOST_CELLS // max(1, N_BINS * len(n_levels))
    n_rows = min(len(values), int(np.clip(fitting, FEWEST_ROWS, MOST_ROWS)))
    if len(n_levels) - 1 <= MISSINGNESS_INPUTS.total:
        n_rows = 0
    rows = np.unique(np.linspace(0, max(len(values) - 1, 0), n_rows, dtype=int))
    some = values[rows]
    return Screen(values, n_levels, rows, _bins(some, n_levels), _flags(some))


def _bins(values: Values, n_levels: NDArray[np.int64]) -> Floats:
    """Return indicators of the bins of all columns."""
    n_rows, n_columns = values.shape
    bins = np.zeros((n_rows, n_columns, N_BINS), dtype=np.float32)
    for j in range(n_columns if n_rows else 0):
        codes = _codes(values[:, j], int(n_levels[j]))
        there = np.flatnonzero(codes >= 0)
        bins[there, j, codes[there]] = 1.0
    return bins.reshape(n_rows, n_columns * N_BINS)


def _flags(values: Values) -> Floats:
    """Return indicators of missing cells, centred and scaled to a length of 1."""
    flags = np.isnan(values).astype(np.float32)
    flags -= flags.sum(axis=0) / max(len(values), 1)
    length = np.maximum(np.sqrt((flags**2).sum(axis=0)), 1e-6)
    return np.asarray(flags / length, dtype=np.float32)


def _codes(column: Values, n_levels: int) -> NDArray[np.int64]:
    """Return the bin of each cell; -1 where missing."""
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
    """Return a column as targets: the number, or an indicator per common level; NaN if missing."""
    if not n_levels:
        return cells[:, None]
    codes = _codes(cells, n_levels)
    bins = np.where(codes[:, None] >= 0, codes[:, None] == np.arange(N_BINS), np.nan)
    return bins[:, np.nansum(bins, axis=0) > 0]


def _standard(targets: Values) -> Values:
    """Standardise targets to mean 0 and variance 1 where they are known; constant ones to 0."""
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
