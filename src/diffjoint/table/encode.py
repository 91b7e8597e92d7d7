"""From the table to coded values, and from coded values to model space.

Coded values are one float per modelled cell: the number itself, days since 1970, or the
position of a level; NaN where missing. Model space has a coordinate per number, scaled, and
a one-hot block per category.
"""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.errors import InputError
from diffjoint.table.frame import Table, days, numbers, objects
from diffjoint.table.schema import Column, Kind, Schema


def code_table(table: Table, schema: Schema, unseen: str) -> NDArray[np.float64]:
    """Coded values of the modelled columns, shape (n_rows, n_modelled).

    Parameters
    ----------
    unseen : {"error", "missing"}
        What a level that the schema does not have is taken for.
    """
    positions = schema.modelled_positions
    values = np.empty((table.n_rows, len(positions)))
    for j, position in enumerate(positions):
        values[:, j] = _coded(table.column(position), schema.columns[position], unseen)
    return values


def encode(values: NDArray[np.float64], schema: Schema, number_scale: float) -> NDArray[np.float32]:
    """Coded values in model space; missing cells are zeros.

    Parameters
    ----------
    number_scale : float
        Standard deviation that encoded numbers get, EDM's sigma_data.
    """
    blocks = []
    for column, codes in zip(schema.modelled, values.T, strict=True):
        if column.is_categorical:
            blocks.append((codes[:, None] == np.arange(column.width)).astype(np.float32))
        else:
            scaled = (codes - column.mean) / column.scale * number_scale
            blocks.append(np.nan_to_num(scaled, nan=0.0).astype(np.float32)[:, None])
    return np.hstack(blocks) if blocks else np.empty((len(values), 0), np.float32)


def coordinates(cells: NDArray[np.bool_], schema: Schema) -> NDArray[np.bool_]:
    """A flag per coordinate from a flag per cell: one-hot blocks share their cell's flag."""
    return np.repeat(cells, [column.width for column in schema.modelled], axis=1)


def _coded(series: nw.Series[Any], column: Column, unseen: str) -> NDArray[np.float64]:
    if column.is_categorical:
        return _level_codes(series, column, unseen)
    is_date = series.dtype in (nw.Datetime, nw.Date)
    if is_date != (column.kind is Kind.DATETIME):
        raise _unlike_fit(series, column)
    try:
        coded = days(series) if is_date else numbers(series)
    except (ValueError, TypeError, nw.exceptions.NarwhalsError) as error:
        raise _unlike_fit(series, column) from error
    if np.isinf(coded).any():
        raise InputError(
            f"Column '{column.name}' must hold finite numbers; it has infinity. "
            "Replace infinite values by missing ones or by a bound."
        )
    return coded


def _level_codes(series: nw.Series[Any], column: Column, unseen: str) -> NDArray[np.float64]:
    cells = objects(series)
    observed = np.array([cell is not None for cell in cells], dtype=bool)
    index = pd.Index(column.levels, dtype=object)
    codes: NDArray[np.float64] = index.get_indexer(pd.Index(cells, dtype=object)).astype(np.float64)
    strangers = observed & (codes < 0)
    if strangers.any() and unseen == "error":
        level = cells[int(np.flatnonzero(strangers)[0])]
        raise InputError(
            f"Column '{column.name}' holds {level!r}, a level not seen in fit "
            f"({column.in_words()}). Fit on rows that have it, or set unseen='missing' to leave "
            "such cells out of the model."
        )
    codes[codes < 0] = np.nan
    return codes


def _unlike_fit(series: nw.Series[Any], column: Column) -> InputError:
    return InputError(
        f"Column '{column.name}' was {column.kind} in fit; its dtype is now {series.dtype}. "
        "Convert it to what fit saw."
    )
