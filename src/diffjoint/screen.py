"""Which columns say something about a target: a cheap look at all of them.

A model of each column that sees every other column costs the square of their number. Most columns
of a wide table say nothing about a given one. So each model sees the few that do: those whose
values go with its target, and those that are missing along with it. Both are asked, so that many
columns that are missing together do not crowd out the one that decides over all of them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint.arrays import Cells, Places, Values

N_BINS = 12
"""Bins of a number; levels of a category, of which the rarer ones are one bin."""
MOST_ROWS = 5_000
"""Rows that are looked at."""
MOST_BY_VALUES, MOST_BY_GAPS = 20, 12
"""Columns that a model sees for what they hold, and for what is missing in them."""
BLOCK = 2**24
"""Cells of the largest array at work."""

Floats = NDArray[np.float32]


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
    """

    values: Values
    n_levels: NDArray[np.int64]
    rows: Places

    @property
    def is_needed(self) -> bool:
        """Whether there are more columns than a model sees."""
        return len(self.n_levels) - 1 > MOST_BY_VALUES + MOST_BY_GAPS

    def beside(self, column: int) -> Places:
        """All columns but one."""
        return np.delete(np.arange(len(self.n_levels)), column)

    def inputs(
        self, targets: Values, columns: Places, gaps: Cells | None = None
    ) -> dict[int, Places]:
        """For each of some columns the other columns that its model sees, in their order.

        Parameters
        ----------
        targets : array of shape (n_rows, len(columns))
            What each model is to say, of all rows of the table; NaN where that is not known.
        columns : int array
            The columns the targets belong to; none is an input of its own model.
        gaps : bool array of shape (n_rows, n_columns), optional
            Missing cells; columns that are missing along with the target are seen, too.
        """
        if not self.is_needed:
            return {int(j): self.beside(int(j)) for j in columns}
        targets = targets[np.ix_(self.rows, np.arange(targets.shape[1]))]
        by_values = self.strength(targets)
        by_gaps = None if gaps is None else _correlation(gaps[self.rows], targets)
        chosen = {}
        for place, j in enumerate(columns.tolist()):
            found = _strongest(by_values[:, place], j, MOST_BY_VALUES)
            if by_gaps is not None:
                found |= _strongest(by_gaps[:, place], j, MOST_BY_GAPS)
            chosen[j] = np.array(sorted(found), dtype=np.int64)
        return chosen

    def about(self, column: int) -> Places:
        """The columns that say something about what one column holds, in their order."""
        return self._about_all[column] if self.is_needed else self.beside(column)

    @cached_property
    def _about_all(self) -> list[Places]:
        """What :meth:`about` says of every column: far cheaper together than one by one."""
        gaps, found = self._all_codes < 0, []
        for block in self._blocks():
            targets = [_indicators(self.values[self.rows, j], int(self.n_levels[j])) for j in block]
            ends = np.cumsum([target.shape[1] for target in targets])[:-1]
            by_values = np.split(self.strength(np.hstack(targets)), ends, axis=1)
            by_gaps = np.split(_correlation(gaps, np.hstack(targets)), ends, axis=1)
            for j, values, missing in zip(block.tolist(), by_values, by_gaps, strict=True):
                chosen = _strongest(values.sum(axis=1), j, MOST_BY_VALUES)
                chosen |= _strongest(missing.sum(axis=1), j, MOST_BY_GAPS)
                found.append(np.array(sorted(chosen), dtype=np.int64))
        return found

    def strength(self, targets: Values) -> Values:
        """How much the values of each column say about each target.

        The chi-squared statistic of the target's means in the column's bins, where the column is
        observed, less what chance alone makes of it.

        Parameters
        ----------
        targets : array of shape (len(rows), n_targets)

        Returns
        -------
        array of shape (n_columns, n_targets)
        """
        above, known = _standard(targets), (~np.isnan(targets)).astype(np.float32)
        strength = np.empty((len(self.n_levels), targets.shape[1]))
        for block in self._blocks():
            bins = self._bins(block)
            sums, counts = bins.T @ above, bins.T @ known
            by_bin = _by_column(sums**2 / np.maximum(counts, 1.0), len(block))
            total = _by_column(sums, len(block)) ** 2
            between = by_bin - total / np.maximum(_by_column(counts, len(block)), 1.0)
            n_filled = _by_column((counts > 0).astype(np.float32), len(block))
            strength[block] = between - np.maximum(n_filled - 1, 0)
        return strength

    def _blocks(self) -> list[Places]:
        """Columns in parts whose bins are not too many for an array."""
        size = max(1, BLOCK // max(1, N_BINS * len(self.rows)))
        places = np.arange(len(self.n_levels))
        return [places[start : start + size] for start in range(0, len(places), size)]

    def _bins(self, columns: Places) -> Floats:
        """Indicators of the bins of some columns, shape (n_rows, len(columns) * N_BINS)."""
        bins = self._all_codes[:, columns, None] == np.arange(N_BINS, dtype=np.int8)
        flags: Floats = bins.astype(np.float32).reshape(len(self.rows), N_BINS * len(columns))
        return flags

    @cached_property
    def _all_codes(self) -> NDArray[np.int8]:
        """The bin of each cell, shape (n_rows, n_columns); -1 where missing."""
        codes = np.empty((len(self.rows), len(self.n_levels)), dtype=np.int8)
        for j, n_levels in enumerate(self.n_levels.tolist()):
            codes[:, j] = _codes(self.values[self.rows, j], n_levels)
        return codes


def open_screen(values: Values, n_levels: NDArray[np.int64]) -> Screen:
    """Return the screen of a table: some of its rows, equally spaced."""
    rows = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).astype(np.int64)
    return Screen(values, n_levels, np.unique(rows))


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


def _by_column(cells: NDArray[np.floating[Any]], n_columns: int) -> Values:
    """Sums over the bins of each column, shape (n_columns, n_targets)."""
    sums: Values = cells.reshape(n_columns, N_BINS, cells.shape[1]).sum(axis=1, dtype=np.float64)
    return sums


def _correlation(gaps: Cells, targets: Values) -> Values:
    """Squared correlation of who is missing in each column with each target, times the rows."""
    flags = gaps.astype(np.float32)
    flags -= flags.sum(axis=0) / max(1, len(flags))
    above = _standard(targets)
    scale = (flags**2).sum(axis=0)[:, None] * (above**2).sum(axis=0)[None, :]
    together: Values = len(flags) * (flags.T @ above) ** 2 / np.maximum(scale, 1e-12)
    return together


def _standard(targets: Values) -> Floats:
    """Targets in standard deviations from their means, whatever their unit; 0 if not known."""
    known = ~np.isnan(targets)
    n_known = np.maximum(known.sum(axis=0), 1)
    largest = np.max(np.abs(targets), axis=0, where=known, initial=0.0)
    shares = np.where(known, targets, 0.0) / np.where(largest > 0, largest, 1.0)
    above = np.where(known, shares - shares.sum(axis=0) / n_known, 0.0)
    scale = np.sqrt((above**2).sum(axis=0) / n_known)
    standard: Floats = (above / np.where(scale > 0, scale, 1.0)).astype(np.float32)
    return standard


def _strongest(strength: Values, own: int, most: int) -> set[int]:
    order = np.argsort(-strength, kind="stable")
    return set(order[order != own][:most].tolist())
