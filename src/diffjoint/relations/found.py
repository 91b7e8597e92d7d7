"""Gather the relations of a table, and say what they decide and allow in a row."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.relations.equations import (
    EXACT,
    MOST_ROWS,
    Equation,
    find_equations,
    unit_of,
)
from diffjoint.relations.lookups import Band, Lookup, find_bands, find_lookups
from diffjoint.relations.orders import find_orders
from diffjoint.table import Column, Kind

NUMBERS = (Kind.CONTINUOUS, Kind.INTEGER)
"""Kinds of columns that equations are between."""
ROUNDING = 0.51
"""How far a rounded product may be off, in units of its column."""


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
    units : array of shape (n_columns,)
        What the numbers of each column are rounded to; 0 if they are not.
    level_numbers : tuple of arrays
        By column, the numbers that its levels stand for in equations; empty for columns of numbers
        and of words.
    """

    equations: tuple[Equation, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    bands: tuple[Band, ...] = ()
    orders: Places = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    units: Values = field(default_factory=lambda: np.empty(0))
    level_numbers: tuple[Values, ...] = ()

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
        found, in_numbers = np.full(len(cells), np.nan), self.in_numbers(cells)
        says = [
            *(one.look_up(cells) for one in self.lookups if one.target == column),
            *(one.look_up(cells) for one in self.bands if one.levels == column),
            *(
                self._as_level(column, _where_none_waits(one, column, in_numbers, waiting))
                for one in self.equations
                if column in one.columns
            ),
        ]
        for said in says:
            found = np.where(np.isnan(found), said, found)
        return found

    def in_numbers(self, cells: Values) -> Values:
        """Return coded cells with the numbers that levels stand for."""
        coded = [j for j, numbers in enumerate(self.level_numbers) if len(numbers)]
        if not coded:
            return cells
        found = cells.copy()
        for j in coded:
            known = ~np.isnan(cells[:, j])
            found[known, j] = self.level_numbers[j][cells[known, j].astype(np.int64)]
        return found

    def _as_level(self, column: int, numbers: Values) -> Values:
        """Return numbers as the levels of a column that stand for them; NaN where none does."""
        own = self.level_numbers[column] if self.level_numbers else np.empty(0)
        if not len(own):
            return numbers
        apart = np.abs(np.nan_to_num(numbers, nan=np.inf)[:, None] - own)
        level = apart.argmin(axis=1)
        near = EXACT * np.maximum(np.abs(own[level]), 1.0)
        return np.where(
            apart[np.arange(len(level)), level] <= near, level.astype(np.float64), np.nan
        )

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

    def allowed(self, column: int, n_codes: int, cells: Values) -> Mask:
        """Return which levels of a column can stand beside what some rows hold.

        Returns
        -------
        bool array of shape (n_rows, n_codes)

        Examples
        --------
        >>> town_of_code = Lookup(0, 1, np.array([0.0, 0.0, 1.0]))
        >>> Relations(lookups=(town_of_code,)).allowed(0, 3, np.array([[np.nan, 0.0]]))
        array([[ True,  True, False]])
        """
        found = np.ones((len(cells), n_codes), dtype=bool)
        for one in self.lookups:
            if one.source == column:
                held = cells[:, [one.target]]
                found &= np.isnan(held) | np.isnan(one.values) | (held == one.values)
        return found

    def rounded(self, column: int, numbers: Values) -> Values:
        """Return numbers rounded as those of a column are."""
        unit = self.units[column] if len(self.units) else 0.0
        return np.round(numbers, round(-np.log10(unit))) if unit else numbers

    def concern(self, column: int) -> bool:
        """Return whether anything is known of a column."""
        decides = (
            {j for one in self.lookups for j in (one.source, one.target)}
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
        in_numbers = self.in_numbers(cells)
        for equation in self.equations:
            off = equation.off(in_numbers)
            size = np.nanmax(np.abs(in_numbers[:, equation.columns]), axis=1, initial=1.0)
            unit = self.units[equation.columns[0]] if len(self.units) else 0.0
            rounding = ROUNDING * unit * equation.is_product
            columns.append(np.abs(off) > near * size + rounding)
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


def find_relations(
    values: Values,
    n_levels: Places,
    numbers: Sequence[int],
    dates: Sequence[int] = (),
    level_numbers: Sequence[Values] = (),
) -> Relations:
    """Find the relations that hold in the observed rows of a table.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : int array of shape (n_columns,)
        Levels of each column; 0 for numbers.
    numbers : sequence of int
        The columns that equations and orders are between: numbers, not dates.
    dates : sequence of int
        Columns that other orders are between.
    level_numbers : sequence of arrays
        As in :class:`Relations`: such levels may be addends.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).integers(1, 9, (2, 200)).astype(float)
    >>> found = find_relations(np.column_stack([a, b, a + b]), np.zeros(3, dtype=int), [0, 1, 2])
    >>> found.equations[0].columns, found.orders.tolist()
    ((2, 0, 1), [[0, 2], [1, 2]])
    """
    levels = Relations(level_numbers=tuple(level_numbers))
    few = [j for j, own in enumerate(level_numbers) if len(own)]
    return replace(
        levels,
        equations=find_equations(levels.in_numbers(values), numbers, few),
        lookups=find_lookups(values, n_levels),
        bands=find_bands(values, n_levels, numbers),
        orders=np.concatenate([find_orders(values, numbers), find_orders(values, dates)]),
        units=_units(values, numbers),
    )


def relations_of(values: Values, columns: Sequence[Column]) -> Relations:
    """Find the relations between the columns of a table.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    columns : sequence of Column
        All modelled ones.
    """
    numbers = [j for j, column in enumerate(columns) if column.kind in NUMBERS]
    dates = [j for j, column in enumerate(columns) if column.kind is Kind.DATETIME]
    n_levels = np.array([column.n_codes for column in columns], dtype=np.int64)
    level_numbers = [_numbers_of(column) for column in columns]
    return find_relations(values, n_levels, numbers, dates, level_numbers)


def _numbers_of(column: Column) -> Values:
    """Return the numbers that the levels of a column are; nothing unless all are numbers."""
    are_numbers = column.is_categorical and not column.is_checkbox
    are_numbers &= not any(isinstance(level, str | bool) for level in column.levels)
    return np.array(column.levels if are_numbers else (), dtype=np.float64)


def _units(values: Values, numbers: Sequence[int]) -> Values:
    """Return what numbers are rounded to, column by column."""
    found = np.zeros(values.shape[1])
    for j in numbers:
        observed = values[:MOST_ROWS, j]
        found[j] = unit_of(observed[~np.isnan(observed)])
    return found
