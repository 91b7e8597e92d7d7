"""Read labels of single cells: Boolean tables in the shape of X."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.dependencies import is_into_dataframe

from diffjoint._types import Mask
from diffjoint.errors import InputError, option
from diffjoint.table.frame import Table, missing_cells, open_table


@dataclass(frozen=True)
class Labels:
    """Missing cells that are known to be meaningful or lost, in the shape of the table.

    Attributes
    ----------
    meaningful, lost : bool arrays of shape (n_rows, n_columns)
        No cell is both; observed cells are neither.
    """

    meaningful: Mask
    lost: Mask


def open_labels(table: Table, coded: Labels, known_meaningful: Any, known_lost: Any) -> Labels:
    """Check a user's labels, and join them with those from reason codes.

    Parameters
    ----------
    table : Table
        The table, with reason codes read as missing.
    coded : Labels
        The labels from reason codes.
    known_meaningful, known_lost : bool table or array, or None
        In X's shape, or with some of its columns.

    Examples
    --------
    >>> table = open_table(pd.DataFrame({"a": [1.5, None], "b": [None, 2.5]}))
    >>> nothing = np.zeros((2, 2), dtype=bool)
    >>> labels = open_labels(
    ...     table, Labels(nothing, nothing), None, pd.DataFrame({"a": [False, True]})
    ... )
    >>> labels.lost.tolist()
    [[False, False], [True, False]]
    """
    meaningful = coded.meaningful | open_flags(table, known_meaningful, "known_meaningful")
    lost = coded.lost | open_flags(table, known_lost, "known_lost")
    both = np.argwhere(meaningful & lost)
    if len(both):
        row, column = both[0]
        raise InputError(
            f"A cell is meaningful or lost; {_where(table, row, column)} is said to be both (by "
            f"{option('known_meaningful')}, {option('known_lost')} or its reason code). Say which.",
            parameter="known_meaningful",
        )
    return Labels(meaningful, lost)


def open_flags(table: Table, given: Any, name: str) -> Mask:
    """Return flags of missing cells in the table's shape; raise if they are not valid.

    Parameters
    ----------
    given : bool table or array, or None
        In the table's shape, or with some of its columns; None for no cell.
    name : str
        The parameter that holds the flags, for error messages.
    """
    cells = _cells(table, given, name)
    _check_missing(table, cells, name)
    return cells


def _cells(table: Table, given: Any, name: str) -> Mask:
    """Return the flags in the table's shape; False in columns that are not given."""
    cells = np.zeros((table.n_rows, table.n_columns), dtype=bool)
    if given is None:
        return cells
    if not is_into_dataframe(given):
        return _array(table, given, name)
    flags = open_table(given)
    if flags.n_rows != table.n_rows:
        raise InputError(
            f"{name} must have X's rows ({table.n_rows:,}); it has {flags.n_rows:,}. Pass a row "
            "for each row of X, in its order.",
            parameter=name,
        )
    _check_index(table, given, name)
    for position, label in enumerate(flags.labels):
        series = flags.column(position)
        if missing_cells(series).any() or not _is_bool(series):
            raise _not_bool(name, f"its column {label!r} is {series.dtype}")
        cells[:, table.require(label, name)] = series.to_numpy().astype(bool)
    return cells


def _array(table: Table, given: Any, name: str) -> Mask:
    flags = np.asarray(given)
    shape = (table.n_rows, table.n_columns)
    if flags.shape != shape:
        raise InputError(
            f"{name} must have X's shape {shape}; got {flags.shape}. To speak of some columns "
            "alone, pass a DataFrame with their labels.",
            parameter=name,
        )
    if flags.dtype != np.bool_:
        raise _not_bool(name, f"got {flags.dtype}")
    return flags.copy()


def _is_bool(series: nw.Series[Any]) -> bool:
    if series.dtype == nw.Object:
        return all(isinstance(flag, bool | np.bool_) for flag in series.to_list())
    return series.dtype == nw.Boolean


def _check_index(table: Table, given: Any, name: str) -> None:
    """Raise if two pandas tables have different indexes."""
    X = table.frame.to_native()
    have_both = isinstance(given, pd.DataFrame) and isinstance(X, pd.DataFrame)
    if have_both and not table.is_array and not given.index.equals(X.index):
        raise InputError(
            f"{name} must have X's index, in its order; it has another. Pass {name}.loc[X.index].",
            parameter=name,
        )


def _check_missing(table: Table, cells: Mask, name: str) -> None:
    for column in np.flatnonzero(cells.any(axis=0)).tolist():
        observed = np.flatnonzero(cells[:, column] & ~table.missing(column))
        if len(observed):
            raise InputError(
                f"{name} may be True at missing cells only; {_where(table, observed[0], column)} "
                "is observed. Set it to False there.",
                parameter=name,
            )


def _where(table: Table, row: int, column: int) -> str:
    return f"row {row} of column '{table.names[column]}' (rows count from 0)"


def _not_bool(name: str, got: str) -> InputError:
    return InputError(
        f"{name} must hold truth values, without missing ones; {got}. Pass True and False.",
        parameter=name,
    )
