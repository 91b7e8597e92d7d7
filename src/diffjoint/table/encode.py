"""Code a table as numbers, and encode coded values in model space.

Coded values are one float per modelled cell: the number itself, microseconds since 1970, or the
position of a level; NaN where missing. A missing cell of a checkbox has a code of its own. Model
space has one coordinate per number, scaled or by rank, and a one-hot block per category.
"""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.errors import InputError, option, warn_user
from diffjoint.table.frame import Table, missing_cells, objects
from diffjoint.table.ranks import to_scores
from diffjoint.table.schema import NOT_TICKED, TICKED, Column, Schema, column_numbers


def code_table(table: Table, schema: Schema, unseen: str) -> NDArray[np.float64]:
    """Code the modelled columns of a table.

    Parameters
    ----------
    unseen : {"warn", "keep", "missing", "error"}
        What to do about a level that the schema does not have: raise, or code it as NaN, with a
        warning for "warn".

    Returns
    -------
    array of shape (n_rows, n_modelled)
    """
    positions = schema.modelled_positions
    values = np.empty((table.n_rows, len(positions)))
    for j, position in enumerate(positions):
        values[:, j] = _coded(table.column(position), schema.columns[position], unseen)
    return values


def encode(
    values: NDArray[np.float64], schema: Schema, number_scale: float, *, by_rank: bool = False
) -> NDArray[np.float32]:
    """Encode coded values in model space; missing cells become zeros.

    Parameters
    ----------
    number_scale : float
        Standard deviation of encoded numbers: EDM's sigma_data.
    by_rank : bool
        Whether to encode numbers by rank, see :mod:`diffjoint.table.ranks`, or to scale them.
    """
    blocks = []
    for column, codes in zip(schema.modelled, values.T, strict=True):
        if column.is_categorical:
            blocks.append((codes[:, None] == np.arange(column.width)).astype(np.float32))
        else:
            if by_rank:
                scaled = to_scores(codes, column.quantiles)
            else:
                scaled = to_standard_units(codes, column)
            encoded = np.nan_to_num(scaled * number_scale, nan=0.0)
            blocks.append(encoded.astype(np.float32)[:, None])
    return np.hstack(blocks) if blocks else np.empty((len(values), 0), np.float32)


def to_standard_units(values: NDArray[np.float64], column: Column) -> NDArray[np.float64]:
    """Convert numbers of a column to standard deviations from its mean."""
    standard: NDArray[np.float64] = column.standardised(values - column.mean)
    return standard


def coordinates(cells: NDArray[np.bool_], schema: Schema) -> NDArray[np.bool_]:
    """Repeat a flag per cell for each coordinate: one-hot blocks share their cell's flag."""
    return np.repeat(cells, [column.width for column in schema.modelled], axis=1)


def _coded(series: nw.Series[Any], column: Column, unseen: str) -> NDArray[np.float64]:
    if column.is_checkbox:
        codes = _level_codes(series, column, unseen)
        unticked = codes != TICKED if unseen == "missing" else missing_cells(series)
        return np.where(unticked, NOT_TICKED, codes)
    if column.is_categorical:
        return _level_codes(series, column, unseen)
    return column_numbers(series, column.name, column.kind, _unlike_fit(series, column))


def _level_codes(series: nw.Series[Any], column: Column, unseen: str) -> NDArray[np.float64]:
    cells = objects(series)
    observed = np.array([cell is not None for cell in cells], dtype=bool)
    of_numbers = not any(isinstance(level, str) for level in column.levels)
    if of_numbers and any(isinstance(cell, str) for cell in cells):
        raise _unlike_fit(series, column)
    index = pd.Index(column.levels, dtype=object)
    codes: NDArray[np.float64] = index.get_indexer(pd.Index(cells, dtype=object)).astype(np.float64)
    strangers = observed & (codes < 0)
    if strangers.any() and unseen in ("error", "warn"):
        _tell_of_stranger(cells[int(np.flatnonzero(strangers)[0])], column, unseen)
    codes[codes < 0] = np.nan
    return codes


def _tell_of_stranger(level: Any, column: Column, unseen: str) -> None:
    """Raise, or warn, because of a level that fit has not seen."""
    what = f"Column '{column.name}' holds {level!r}, a level not seen in fit ({column.in_words()})."
    if unseen == "error":
        raise InputError(
            f"{what} Fit on rows that have it, or set {option('unseen')} to 'missing' (such cells "
            "are imputed) or 'keep' (they are left as they are).",
            parameter="unseen",
        )
    warn_user(
        f"{what} Such cells are left as they are, and say nothing of others. {option('unseen')} "
        "may be 'missing' (they are imputed), 'error', or 'keep' to have nothing said."
    )


def _unlike_fit(series: nw.Series[Any], column: Column) -> InputError:
    return InputError(
        f"Column '{column.name}' was {column.kind} ({column.in_words()}) in fit; its dtype is now "
        f"{series.dtype}. Convert it to what fit saw."
    )
