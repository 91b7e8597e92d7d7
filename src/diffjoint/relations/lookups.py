"""Find columns that another one decides: a town by its code, an age group by the age."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from diffjoint._types import Mask, Places, Values

MOST_COLUMNS, MOST_ROWS = 60, 20_000
LEAST_EXPECTED = 20.0
"""Rows that would be at odds if the two columns had nothing to do with each other, at least."""
ROWS_PER_LEVEL = 3
"""Rows that the levels of a column need on average, to decide another."""
FEWEST_BESIDE = 10
"""Rows that are not of the most frequent group."""


@dataclass(frozen=True)
class Lookup:
    """Levels of one column, each of which goes with one value of another column only.

    Attributes
    ----------
    source, target : int
    values : array of shape (n_codes,)
        What the target holds beside each code of the source; NaN where that is unknown.
    """

    source: int
    target: int
    values: Values

    def look_up(self, cells: Values) -> Values:
        """Return what the target must hold in some rows; NaN where they do not say."""
        codes = cells[:, self.source]
        known = ~np.isnan(codes)
        found = np.full(len(cells), np.nan)
        found[known] = self.values[codes[known].astype(np.int64)]
        return found


@dataclass(frozen=True)
class Band:
    """Levels of a column that cut a number into ranges which do not meet.

    Attributes
    ----------
    number, levels : int
        The two columns.
    low, high : array of shape (n_codes,)
        The range of each level; NaN for levels without rows.
    """

    number: int
    levels: int
    low: Values
    high: Values

    def look_up(self, cells: Values) -> Values:
        """Return the level of the number in some rows; NaN where there is no number."""
        order = np.argsort(self.low, kind="stable")
        order = order[~np.isnan(self.low[order])]
        middles = (self.high[order[:-1]] + self.low[order[1:]]) / 2
        numbers = cells[:, self.number]
        place = np.searchsorted(middles, np.nan_to_num(numbers), side="right")
        return np.where(np.isnan(numbers), np.nan, order[place].astype(np.float64))

    def limits(self, cells: Values) -> tuple[Values, Values]:
        """Return the range that the level allows the number in some rows."""
        codes = cells[:, self.levels]
        known = ~np.isnan(codes)
        place = np.where(known, codes, 0).astype(np.int64)
        low = np.where(known, np.nan_to_num(self.low[place], nan=-np.inf), -np.inf)
        high = np.where(known, np.nan_to_num(self.high[place], nan=np.inf), np.inf)
        return low, high


def find_lookups(values: Values, n_levels: Places) -> tuple[Lookup, ...]:
    """Find categories each level of which goes with one value of another column only.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Codes of levels and numbers; NaN where missing.
    n_levels : int array of shape (n_columns,)
        0 for numbers.

    Examples
    --------
    >>> code = np.arange(60.0) % 6
    >>> found = find_lookups(np.column_stack([code, code // 2]), np.array([6, 3]))
    >>> [(one.source, one.target, one.values.tolist()) for one in found]
    [(0, 1, [0.0, 0.0, 1.0, 1.0, 2.0, 2.0])]
    """
    values = values[:MOST_ROWS]
    found = []
    sources = np.flatnonzero(n_levels > 1)[:MOST_COLUMNS].tolist()
    targets = {*np.arange(len(n_levels))[:MOST_COLUMNS].tolist(), *sources}
    for source in sources:
        for target in sorted(targets - {source}):
            decided = _decided(values[:, source], values[:, target], int(n_levels[source]))
            if decided is not None:
                found.append(Lookup(source, target, decided))
    return tuple(found)


def _decided(source: Values, target: Values, n_codes: int) -> Values | None:
    """Return the one value of the target beside each code; None if there are several."""
    known = ~np.isnan(source) & ~np.isnan(target)
    codes, held = source[known].astype(np.int64), target[known]
    low, high = np.full(n_codes, np.inf), np.full(n_codes, -np.inf)
    np.minimum.at(low, codes, held)
    np.maximum.at(high, codes, held)
    if (low < high).any() or not _is_telling(codes, held):
        return None
    return np.where(np.isfinite(low), low, np.nan)


def _is_telling(codes: Places, held: Values) -> bool:
    """Return whether many rows would be at odds if chance had brought the two together."""
    n_codes = len(np.unique(codes))
    if len(codes) < ROWS_PER_LEVEL * max(n_codes, 1):
        return False
    shares = np.unique(held, return_counts=True)[1] / max(len(held), 1)
    return bool((len(codes) - n_codes) * (1.0 - (shares**2).sum()) >= LEAST_EXPECTED)


def find_bands(values: Values, n_levels: Places, numbers: Sequence[int]) -> tuple[Band, ...]:
    """Find categories whose levels cut a number into ranges.

    Examples
    --------
    >>> age = np.arange(60.0)
    >>> found = find_bands(np.column_stack([age, age // 20]), np.array([0, 3]), [0])
    >>> [(one.number, one.levels, one.low.tolist(), one.high.tolist()) for one in found]
    [(0, 1, [0.0, 20.0, 40.0], [19.0, 39.0, 59.0])]
    """
    values = values[:MOST_ROWS]
    sides = [*np.flatnonzero(n_levels > 1)[:MOST_COLUMNS].tolist(), *list(numbers)[:MOST_COLUMNS]]
    found = []
    for levels, number in permutations(sides, 2):
        if n_levels[levels] and not n_levels[number]:
            ranges = _ranges(values[:, levels], values[:, number], int(n_levels[levels]))
            if ranges is not None:
                found.append(Band(number, levels, *ranges))
    return tuple(found)


def _ranges(levels: Values, numbers: Values, n_codes: int) -> tuple[Values, Values] | None:
    known: Mask = ~np.isnan(levels) & ~np.isnan(numbers)
    codes, held = levels[known].astype(np.int64), numbers[known]
    counts = np.bincount(codes, minlength=n_codes)
    n_distinct = len(np.unique(held))
    if counts.sum() - counts.max(initial=0) < FEWEST_BESIDE or n_distinct <= (counts > 0).sum():
        return None
    low, high = np.full(n_codes, np.inf), np.full(n_codes, -np.inf)
    np.minimum.at(low, codes, held)
    np.maximum.at(high, codes, held)
    seen = np.flatnonzero(counts)
    order = seen[np.argsort(low[seen], kind="stable")]
    if (high[order[:-1]] >= low[order[1:]]).any():
        return None
    return np.where(counts > 0, low, np.nan), np.where(counts > 0, high, np.nan)
