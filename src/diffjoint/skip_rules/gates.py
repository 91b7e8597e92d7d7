"""Code the columns that a rule can ask: levels, numbers in their order, not applicable, unknown."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.table import Column, Schema

Codes = NDArray[np.int64]
FEW_NUMBERS = 20
"""A column of at most this many different numbers may be codes: sets of them are tried as well."""


@dataclass(frozen=True)
class Layout:
    """The orders in which slots are split, of some columns one after the other.

    Attributes
    ----------
    slots : int array
        The slots of values that are in an order, in blocks; a column has up to three.
    block : int array
        The block of each of them.
    column : int array
        The column of each block.
    by_rate : bool array
        Blocks that are sorted by how often the target is missing.
    nothing : int array
        The slot of each block's column for cells that have nothing to record.
    n_tried : int
        Blocks of all columns that the ones laid out were chosen from.
    """

    slots: Codes
    block: Codes
    column: Codes
    by_rate: Mask
    nothing: Codes
    n_tried: int


@dataclass(frozen=True)
class Gates:
    """The columns of a table as gates: the slot that each cell falls into.

    Attributes
    ----------
    columns : tuple of Column
        The modelled columns.
    numbers : tuple of array
        The different values of each column, ascending; what its slots stand for.
    slots : int array of shape (n_rows, n_columns)
        The slot of each cell, counted through all columns. A column's own slots are its values, in
        their order, then "not applicable", then "unknown".
    starts : int array of shape (n_columns + 1,)
        The first slot of each column.
    """

    columns: tuple[Column, ...]
    numbers: tuple[Values, ...]
    slots: Codes
    starts: Codes

    @cached_property
    def group_firsts(self) -> Codes:
        """The first slot of each group of slots that lie side by side.

        Numbers are in few groups, with small ones at either end, where rules of few rows have their
        edge. Levels, "not applicable" and "unknown" have groups of their own.
        """
        n_rows = np.bincount(self.slots.ravel(), minlength=self.n_slots)
        firsts = []
        for j, own in enumerate(self.numbers):
            first, n = int(self.starts[j]), len(own)
            begins = np.arange(n) if self.has_sets(j) else _begins(n_rows[first : first + n])
            firsts += [first + begins, np.array([first + n, first + n + 1])]
        return np.concatenate(firsts).astype(np.int64)

    @cached_property
    def group_starts(self) -> Codes:
        """The first group of each column, and the number of groups."""
        return np.searchsorted(self.group_firsts, self.starts).astype(np.int64)

    @cached_property
    def groups(self) -> Layout:
        """The orders in which the groups of slots of all columns are split."""
        return _lay_out(self, np.arange(len(self.columns)), self.group_starts, None)

    @property
    def n_slots(self) -> int:
        """Number of slots of all columns."""
        return int(self.starts[-1])

    def not_applicable(self, column: int) -> int:
        """Return a column's slot for cells that have nothing to record."""
        return int(self.starts[column + 1]) - 2

    def unknown(self, column: int) -> int:
        """Return a column's slot for missing cells of which nothing is known."""
        return int(self.starts[column + 1]) - 1

    def has_order(self, column: int) -> bool:
        """Return whether a column's values can be compared with a threshold."""
        about = self.columns[column]
        return not about.is_categorical or all(
            isinstance(level, int | float) and not isinstance(level, bool) for level in about.levels
        )

    def has_sets(self, column: int) -> bool:
        """Return whether a rule may name some of a column's values."""
        return self.columns[column].is_categorical or len(self.numbers[column]) <= FEW_NUMBERS

    def mark(self, column: int, applies: Mask, fails: Mask) -> None:
        """Note at which missing cells a column has nothing to record.

        Parameters
        ----------
        applies, fails : bool array of shape (n_rows,)
            Where its rule holds, and where it does not.
        """
        own = self.slots[:, column]
        is_missing = own >= self.not_applicable(column)
        own[is_missing] = self.unknown(column)
        own[is_missing & fails & ~applies] = self.not_applicable(column)


def _begins(n_rows: Codes) -> Codes:
    """Return where groups of a column's numbers begin, given how many rows have each number.

    Groups hold a sixteenth of the rows at most. The first ones, and the last ones, double in size.
    """
    upto = np.cumsum(n_rows)
    below, above = upto - n_rows, np.maximum(upto[-1] - upto + n_rows, 1)
    group = np.floor(16 * below / upto[-1]) + np.floor(np.log2(below + 1))
    group -= np.floor(np.log2(above))
    return np.flatnonzero(np.diff(group, prepend=-np.inf))


def open_gates(values: Values, schema: Schema) -> Gates:
    """Code all columns; every missing cell is unknown at first.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import code_table, infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"age": [31.5, 40.0, None], "town": ["Ulm", None, "Bonn"]}))
    >>> schema = infer_schema(table)
    >>> gates = open_gates(code_table(table, schema, "error"), schema)
    >>> gates.slots.tolist(), gates.starts.tolist()
    ([[0, 5], [1, 7], [3, 4]], [0, 4, 8])
    """
    columns = schema.modelled
    numbers, slots = [], np.empty(values.shape, dtype=np.int64)
    starts = np.zeros(len(columns) + 1, dtype=np.int64)
    for j, about in enumerate(columns):
        x = values[:, j]
        there = ~np.isnan(x)
        own = np.arange(float(about.n_codes)) if about.is_categorical else np.unique(x[there])
        numbers.append(own)
        starts[j + 1] = starts[j] + len(own) + 2
        slots[:, j] = starts[j + 1] - 1
        slots[there, j] = starts[j] + np.searchsorted(own, x[there])
    return Gates(columns, tuple(numbers), slots, starts)


def lay_out(gates: Gates, usable: Mask, n_tried: int | None = None) -> Layout:
    """Return the orders in which the slots of usable columns are split."""
    return _lay_out(gates, np.flatnonzero(usable), gates.starts, n_tried)


def _lay_out(gates: Gates, columns: Codes, starts: Codes, n_tried: int | None) -> Layout:
    """Lay out columns whose slots, or groups of slots, begin at some places."""
    slots, column, by_rate = [], [], []
    for j in columns.tolist():
        first, n = starts[j], int(starts[j + 1] - starts[j]) - 2
        own = np.arange(first, first + n)
        if gates.has_order(j) and n > 1:
            slots += [own, own[::-1]]
            column += [j, j]
            by_rate += [False, False]
        if gates.has_sets(j) and n > (2 if gates.has_order(j) else 0):
            slots.append(own)
            column.append(j)
            by_rate.append(True)
    lengths = [len(own) for own in slots]
    place = np.array(column, dtype=np.int64)
    return Layout(
        np.concatenate(slots) if slots else np.zeros(0, dtype=np.int64),
        np.repeat(np.arange(len(slots)), lengths),
        place,
        np.array(by_rate, dtype=bool),
        starts[place + 1] - 2,
        len(slots) if n_tried is None else n_tried,
    )
