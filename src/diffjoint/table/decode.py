"""Decode model space to coded values, and write coded values in the table's own dtypes."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint.table.frame import empty_like, is_date, missing_cells, with_cells, with_microseconds
from diffjoint.table.ranks import from_scores
from diffjoint.table.schema import Column, Kind, Schema


def decode(
    encoded: NDArray[np.float32], schema: Schema, number_scale: float, *, by_rank: bool = False
) -> NDArray[np.float64]:
    """Decode vectors in model space to coded values; leading axes are kept.

    Numbers are scaled back, or looked up by rank, and put on their column's grid; a one-hot block
    becomes the level of its largest coordinate.
    """
    values = np.zeros((*encoded.shape[:-1], len(schema.modelled)))
    start = 0
    for j, column in enumerate(schema.modelled):
        block = encoded[..., start : start + column.width]
        start += column.width
        if column.is_categorical:
            values[..., j] = block.argmax(axis=-1)
        else:
            scaled = block[..., 0].astype(np.float64) / number_scale
            if by_rank:
                raw = from_scores(scaled, column.quantiles)
            else:
                raw = from_standard_units(scaled, column)
            values[..., j] = on_grid(raw, column)
    return values


def from_standard_units(values: NDArray[np.float64], column: Column) -> NDArray[np.float64]:
    """Convert standard deviations from a column's mean to its numbers."""
    return values * column.scale + column.mean


def spread_from_standard_units(
    deviations: NDArray[np.float64], column: Column
) -> NDArray[np.float64]:
    """Convert standard deviations in units of a column's own to coded differences."""
    return deviations * column.scale


def in_user_units(differences: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Convert coded differences, one column for each modelled one, to the units of reports."""
    units = np.array([column.unit for column in schema.modelled])
    in_units: NDArray[np.float64] = differences / units
    return in_units


def on_grid(values: NDArray[np.float64], column: Column) -> NDArray[np.float64]:
    """Round and clip numbers to those that a column can hold.

    Integers and dates are rounded to their step and clipped to the observed range, or to the
    user's bounds; continuous numbers are clipped to the user's bounds alone.
    """
    if column.kind is Kind.CONTINUOUS:
        if (column.lowest, column.highest) == (None, None):
            return values
        return np.clip(values, column.lowest, column.highest)
    stepped = np.round(values / column.step) * column.step if column.step else values
    return np.clip(stepped, *column.limits)


def fill_column(
    series: nw.Series[Any],
    column: Column,
    rows: NDArray[np.intp],
    codes: NDArray[np.float64],
) -> nw.Series[Any]:
    """Return a column with coded values put into ``rows``, in its own dtype.

    The dtype of a column without an observed cell may not be able to hold its values, such as text
    for numbers; then the column gets one that can.
    """
    series = _holding(series, column, rows)
    if column.kind is Kind.DATETIME:
        return with_microseconds(series, rows, codes, step=column.step)
    return with_cells(series, rows, _cells(series, column, codes))


def fill_constant(
    series: nw.Series[Any], column: Column, rows: NDArray[np.intp], constant: Any
) -> nw.Series[Any]:
    """Return a column with one value put into ``rows``: a coded number, or any level."""
    if not column.is_categorical:
        return fill_column(series, column, rows, np.full(len(rows), constant, dtype=np.float64))
    series = _holding(series, column, rows)
    as_number = series.dtype.is_numeric() and isinstance(constant, bool)
    return with_cells(series, rows, [int(constant) if as_number else constant] * len(rows))


def _holding(series: nw.Series[Any], column: Column, rows: NDArray[np.intp]) -> nw.Series[Any]:
    """Return the column unchanged, or all-missing in a dtype that can hold its values."""
    if len(rows) and missing_cells(series).all() and not _can_hold(series, column):
        return empty_like(series, column.levels, of_dates=column.kind is Kind.DATETIME)
    return series


def _cells(series: nw.Series[Any], column: Column, codes: NDArray[np.float64]) -> list[Any]:
    """Return coded values as Python objects that a column's dtype accepts."""
    if column.is_categorical:
        levels = [column.levels[int(code)] for code in codes]
        as_number = series.dtype.is_numeric()
        return [int(v) if as_number and isinstance(v, bool) else v for v in levels]
    if column.kind is Kind.INTEGER or series.dtype.is_integer():
        return [round(code) for code in codes]
    if series.dtype == nw.Float32:
        with np.errstate(over="ignore"):
            codes = codes.astype(np.float32).astype(np.float64)
    return [float(code) for code in codes]


def _can_hold(series: nw.Series[Any], column: Column) -> bool:
    dtype = series.dtype
    if column.kind is Kind.DATETIME:
        return is_date(series)
    if not column.is_categorical:
        return dtype.is_numeric()
    if dtype in (nw.Categorical, nw.Enum):
        return True
    if all(isinstance(level, str) for level in column.levels):
        return dtype in (nw.String, nw.Object)
    return dtype.is_numeric() or dtype in (nw.Boolean, nw.Object)
