"""Lay a completed table out as coordinates of a regression.

A number is one coordinate in standard units. A category has one for each common level but the most
frequent, and one that the rare ones share. A cell that is meaningful has no value: its coordinates
are 0, and a flag of its own says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.table import Column, to_standard_units

FEWEST, MOST_LEVELS = 10, 25
"""Cells that a level needs to have a coordinate, and levels of a column that have one at most."""


@dataclass(frozen=True)
class Layout:
    """Where the coordinates of each column are.

    Attributes
    ----------
    columns : tuple of Column
    level_places : tuple of int arrays
        For each category the coordinate of each level within its column, -1 for none; empty for
        numbers.
    flagged : bool array of shape (n_columns,)
        Columns that can be meaningful.
    """

    columns: tuple[Column, ...]
    level_places: tuple[Places, ...]
    flagged: NDArray[np.bool_]

    @cached_property
    def ends(self) -> Places:
        """Where the coordinates of each column end, after a 0."""
        n_values = [
            int(places.max(initial=-1)) + 1 if len(places) else 1 for places in self.level_places
        ]
        return np.cumsum([0, *(np.array(n_values, dtype=np.int64) + self.flagged)])

    def of(self, columns: Sequence[int] | Places) -> Places:
        """Return the coordinates of some columns, in their order."""
        parts = [np.arange(self.ends[j], self.ends[j + 1]) for j in columns]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def block(self, column: int, values: Values, meaningful: Mask) -> Values:
        """Return the coordinates of some cells of one column."""
        n_coordinates = int(self.ends[column + 1] - self.ends[column])
        block = np.zeros((len(values), n_coordinates))
        places, has_value = self.level_places[column], ~meaningful
        if len(places):
            place = places[values[has_value].astype(np.int64)]
            rows = np.flatnonzero(has_value)
            block[rows[place >= 0], place[place >= 0]] = 1.0
        else:
            block[has_value, 0] = to_standard_units(values[has_value], self.columns[column])
        if self.flagged[column]:
            block[meaningful, -1] = 1.0
        return block

    def lay_out(self, values: Values, meaningful: Mask) -> Values:
        """Return all coordinates of completed rows, shape (n_rows, n_coordinates)."""
        blocks = [self.block(j, values[:, j], meaningful[:, j]) for j in range(len(self.columns))]
        return np.hstack([np.empty((len(values), 0)), *blocks])


def lay_out_columns(
    columns: tuple[Column, ...], observed: Values, can_be_meaningful: Sequence[int]
) -> Layout:
    """Choose the coordinates of columns by the cells that are observed; NaN where missing."""
    places = [
        _places_of_levels(observed[:, j], column.n_codes)
        if column.is_categorical
        else np.empty(0, dtype=np.int64)
        for j, column in enumerate(columns)
    ]
    flagged = np.isin(np.arange(len(columns)), list(can_be_meaningful))
    return Layout(columns, tuple(places), flagged)


def _places_of_levels(cells: Values, n_levels: int) -> Places:
    counts = np.bincount(cells[~np.isnan(cells)].astype(np.int64), minlength=n_levels)
    by_size = np.argsort(-counts, kind="stable")
    n_own = int(np.clip((counts >= FEWEST).sum(), 1, MOST_LEVELS))
    places = np.full(n_levels, -1)
    places[by_size[1:n_own]] = np.arange(n_own - 1)
    rest = by_size[n_own:]
    if counts[rest].sum() >= FEWEST:
        places[rest] = n_own - 1
    return places
