"""Convert coded values to the numbers that another imputer works with, and back.

Numbers are in standard deviations from their mean, so that distances and penalties treat columns
alike. A category is dummy-coded against its most frequent level: with a coordinate for every level,
each would be determined by the others, which are missing with it.
"""

import numpy as np
from numpy.typing import NDArray

from diffjoint.table.decode import from_standard_units, on_grid
from diffjoint.table.encode import to_standard_units
from diffjoint.table.schema import Column, Schema

Values = NDArray[np.float64]


def dummy_levels(values: Values, schema: Schema) -> tuple[Values, ...]:
    """Return the levels that occur in each column, the most frequent first; none for numbers."""
    return tuple(
        _by_frequency(codes) if column.is_categorical else np.empty(0)
        for column, codes in zip(schema.modelled, values.T, strict=True)
    )


def to_dummies(values: Values, schema: Schema, levels: tuple[Values, ...]) -> Values:
    """Convert coded values; NaN where missing.

    Parameters
    ----------
    levels : tuple of arrays
        The levels of each column, as :func:`dummy_levels` returns them.
    """
    blocks = []
    for j, (column, order) in enumerate(zip(schema.modelled, levels, strict=True)):
        codes = values[:, [j]]
        if column.is_categorical:
            blocks.append(np.where(np.isnan(codes), np.nan, codes == order[None, 1:]))
        else:
            blocks.append(to_standard_units(codes, column))
    return np.hstack(blocks)


def from_dummies(dummies: Values, schema: Schema, levels: tuple[Values, ...]) -> Values:
    """Convert back to coded values that the columns can hold.

    A category takes the nearest level; a number is put on its grid, within the observed range or
    the bounds that were set.
    """
    values, start = np.empty((len(dummies), len(schema.modelled))), 0
    for j, (column, order) in enumerate(zip(schema.modelled, levels, strict=True)):
        width = max(len(order) - 1, 0) if column.is_categorical else 1
        values[:, j] = _column_from_dummies(dummies[:, start : start + width], column, order)
        start += width
    return values


def _column_from_dummies(block: Values, column: Column, levels: Values) -> Values:
    if column.is_categorical and not len(levels):
        return np.zeros(len(block))
    if column.is_categorical:
        rest = 1.0 - block.sum(axis=1, keepdims=True)
        nearest: Values = levels[np.hstack([rest, block]).argmax(axis=1)]
        return nearest
    return np.clip(on_grid(from_standard_units(block[:, 0], column), column), *column.limits)


def _by_frequency(codes: Values) -> Values:
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    ordered: Values = levels[np.argsort(-counts, kind="stable")]
    return ordered
