"""Gather the relations of a table, and say what they decide and allow in a row."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.relations.equations import Equation, find_equations
from diffjoint.relations.lookups import Band, Lookup, find_bands, find_lookups
from diffjoint.relations.orders import find_orders


@dataclass(frozen=True)
class Relations:
    """Relations between columns, by their positions.

    Attributes
    ----------
    equations : tuple of Equation
    lookups : tuple of Lookup
    bands : tuple of Band
    orders : int array of shape (n_pairs, 2)
        The first column of a pair is never above the second.
    """

    equations: tuple[Equation, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    bands: tuple[Band, ...] = ()
    orders: Places = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def decided(self, column: int, cells: Values, waiting: Mask | None = None) -> Values:
        """Return what a column must hold in some rows; NaN where nothing decides it.

        Parameters
        ----------
        cells : array of shape (n_rows, n_columns)
            Coded cells, NaN where there is no value. What the column itself holds does not count.
        waiting : bool array of the same shape, optional
            Cells that will be decided later: no equation with them decides.

        Examples
        --------
        >>> relations = Relations((Equation((0, 1, 2), (1.0, 1.0)),))
        >>> relations.decided(2, np.array([[5.0, 2.0, 0.0], [np.nan, 2.0, 0.0]]))
        array([ 3., nan])
        """
        found = np.full(len(cells), np.nan)
        says = [
            *(one.look_up(cells) for one in self.lookups if one.target == column),
            *(one.look_up(cells) for one in self.bands if one.levels == column),
            *(
                _where_none_waits(one, column, cells, waiting)
                for one in self.equations
                if column in one.columns
            ),
        ]
        for said in says:
            found = np.where(np.isnan(found), said, found)
        return found

    def follows(self, column: int, other: int) -> tuple[int, ...] | None:
        """Return which columns decide another one together with a column; None if it is free.

        Examples
        --------
        >>> Relations((Equation((0, 1, 2), (1.0, 1.0)),)).follows(1, 0)
        (0, 1, 2)
        """
        for equation in self.equations:
            if {column, other} <= {*equation.columns}:
                return equation.columns
        pairs = {(one.source, one.target) for one in self.lookups}
        pairs |= {(one.number, one.levels) for one in self.bands}
        return (column, other) if (column, other) in pairs else None

    def limits(self, column: int, cells: Values) -> tuple[Values, Values]:
        """Return the lowest and the highest number that a column may hold in some rows."""
        low, high = np.full(len(cells), -np.inf), np.full(len(cells), np.inf)
        for below, above in self.orders:
            if below == column:
                high = np.fmin(high, cells[:, above])
            elif above == column:
                low = np.fmax(low, cells[:, below])
        for band in self.bands:
            if band.number == column:
                lowest, highest = band.limits(cells)
                low, high = np.maximum(low, lowest), np.minimum(high, highest)
        return low, high

    def concern(self, column: int) -> bool:
        """Return whether anything is known of a column."""
        decides = (
            {one.target for one in self.lookups}
            | {one.levels for one in self.bands}
            | {one.number for one in self.bands}
            | {j for one in self.equations for j in one.columns}
        )
        return column in decides or bool((self.orders == column).any())

    def broken(self, cells: Values, near: float = 1e-6) -> Mask:
        """Return which rows break each relation, in the order of the attributes.

        Examples
        --------
        >>> relations = Relations((Equation((0, 1, 2), (1.0, 1.0)),))
        >>> relations.broken(np.array([[5.0, 2.0, 3.0], [5.0, 2.0, 9.0]]))
        array([[False],
               [ True]])
        """
        columns: list[Mask] = []
        for equation in self.equations:
            off = equation.off(cells)
            size = np.nanmax(np.abs(cells[:, equation.columns]), axis=1, initial=1.0)
            columns.append(np.abs(off) > near * size)
        looked_up = [
            *((one.target, one.look_up(cells)) for one in self.lookups),
            *((one.levels, one.look_up(cells)) for one in self.bands),
        ]
        for target, says in looked_up:
            held = cells[:, target]
            columns.append((says != held) & ~np.isnan(says) & ~np.isnan(held))
        columns += [cells[:, low] > cells[:, high] for low, high in self.orders]
        return np.column_stack([np.empty((len(cells), 0), dtype=bool), *columns])


def _where_none_waits(
    equation: Equation, column: int, cells: Values, waiting: Mask | None
) -> Values:
    said = equation.solve(column, cells)
    if waiting is None:
        return said
    others = [j for j in equation.columns if j != column]
    return np.where(waiting[:, others].any(axis=1), np.nan, said)


def find_relations(values: Values, n_levels: Places, numbers: Sequence[int]) -> Relations:
    """Find the relations that hold in the observed rows of a table.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : int array of shape (n_columns,)
        Levels of each column; 0 for numbers.
    numbers : sequence of int
        The columns that equations and orders are between: numbers, not dates.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).integers(1, 9, (2, 200)).astype(float)
    >>> found = find_relations(np.column_stack([a, b, a + b]), np.zeros(3, dtype=int), [0, 1, 2])
    >>> found.equations[0].columns, found.orders.tolist()
    ((2, 0, 1), [[0, 2], [1, 2]])
    """
    return Relations(
        find_equations(values, numbers),
        find_lookups(values, n_levels),
        find_bands(values, n_levels, numbers),
        find_orders(values, numbers),
    )
