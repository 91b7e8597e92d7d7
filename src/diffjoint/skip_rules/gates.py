"""Code the columns that a rule can ask: levels, numbers in their order, not applicable, unknown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.table import Column, Schema

Codes = NDArray[np.int64]
FEW_NUMBERS = 20
"""A column of at most this many different numbers may be codes: sets of them are tried as well."""


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
