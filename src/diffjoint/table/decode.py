"""From model space back to coded values, and from there into the table's own dtypes."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint.table.frame import with_cells, with_days
from diffjoint.table.schema import Column, Kind, Schema


def decode(
    encoded: NDArray[np.float32], schema: Schema, number_scale: float
) -> NDArray[np.float64]:
    """Coded values of vectors in model space; any leading axes.

    Numbers are unscaled and put on their grid; of a one-hot block the largest coordinate wins.
    """
    values = np.zeros((*encoded.shape[:-1], len(schema.modelled)))
    start = 0
    for j, column in enumerate(schema.modelled):
        block = encoded[..., start : start + column.width]
        start += column.width
        if column.is_categorical:
            values[..., j] = block.argmax(axis=-1)
        else:
            raw = block[..., 0].astype(np.float64) / number_scale * column.scale + column.mean
            values[..., j] = on_grid(raw, column)
    return values


def on_grid(values: NDArray[np.float64], column: Column) -> NDArray[np.float64]:
    """Numbers a column can hold: integers and dates on their step, in the observed range."""
    if column.kind is Kind.CONTINUOUS:
        return values
    stepped = np.round(values / column.step) * column.step if column.step else values
    return np.clip(stepped, column.low, column.high)


def fill_column(
    series: nw.Series[Any],
    column: Column,
    rows: NDArray[np.intp],
    codes: NDArray[np.float64],
) -> nw.Series[Any]:
    """A column with coded values put into ``rows``, in the dtype it came in."""
    if column.kind is Kind.DATETIME:
        return with_days(series, rows, codes)
    if column.is_categorical:
        return with_cells(series, rows, [column.levels[int(code)] for code in codes])
    if column.kind is Kind.INTEGER:
        return with_cells(series, rows, [int(code) for code in codes])
    return with_cells(series, rows, codes.tolist())
