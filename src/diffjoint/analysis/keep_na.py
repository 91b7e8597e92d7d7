"""Put meaningful cells back into a table that another tool has completed."""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer

from diffjoint._types import Mask
from diffjoint.errors import InputError, warn_user
from diffjoint.imputer import SelectiveImputer
from diffjoint.knowledge.labels import open_flags
from diffjoint.results.imputation import Imputation
from diffjoint.table import (
    Table,
    cells_of,
    is_date,
    microseconds,
    open_table,
    with_cells,
    with_microseconds,
)

CLOSE = 1e-5
"""Largest relative difference at which an observed number counts as unchanged."""


def keep_na(X: Any, completed: Any, meaningful: Any = None) -> Any:
    """Fill lost cells from a table completed by any tool, and keep meaningful cells as NA.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array of shape (n_rows, n_columns)
        Table before it was completed.
    completed : table or array of the same rows and columns
        The same table after another tool has completed it.
    meaningful : bool table, Imputation or fitted SelectiveImputer, optional
        Cells to keep as NA: True where meaningful, or a result or imputer that says so. If not
        given, columns are found and cells called as by ``SelectiveImputer("auto")``.

    Returns
    -------
    table
        Same container, dtypes, index and column order as X. Observed cells are those of X. Numbers
        are rounded where the column of X holds whole numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"married": ["yes", "no", "yes"], "spouse_age": [40.0, None, None]})
    >>> filled = X.fillna({"spouse_age": X["spouse_age"].mean()})
    >>> keep_na(X, filled, pd.DataFrame({"spouse_age": [False, True, False]}))
      married  spouse_age
    0     yes        40.0
    1      no         NaN
    2     yes        40.0
    """
    table, other = open_table(X), open_table(completed)
    places = _places(table, other)
    kept = _kept(X, table, meaningful)
    columns, changed = {}, {}
    for position, place in enumerate(places):
        series, source = table.column(position), other.column(place)
        is_missing, is_unfilled = table.missing(position), other.missing(place)
        rows = np.flatnonzero(is_missing & ~kept[:, position] & ~is_unfilled)
        name = table.names[position]
        columns[position] = _filled(series, source, rows, name)
        n_changed = _n_changed(series, source, np.flatnonzero(~is_missing))
        if n_changed:
            changed[name] = n_changed
    if changed:
        listed = ", ".join(f"{name} ({n:,})" for name, n in changed.items())
        warn_user(
            f"Observed cells are not the same in completed: {listed}. X's own are kept. If the "
            "tool scaled or recoded the table, undo that first."
        )
    return table.replace_columns(columns)


def _kept(X: Any, table: Table, meaningful: Any) -> Mask:
    """Return the meaningful cells as a mask of the table's shape."""
    if meaningful is None:
        meaningful = SelectiveImputer("auto", imputer=SimpleImputer(), random_state=0).fit(X)
    if isinstance(meaningful, SelectiveImputer):
        meaningful = meaningful.predict_mm(X)
    if isinstance(meaningful, Imputation):
        meaningful = meaningful.meaningful
    return open_flags(table, meaningful, "meaningful")


def _places(table: Table, other: Table) -> list[int]:
    """Return the position of each column of X in the completed table, matched by name.

    The columns of arrays are matched by position.
    """
    if other.n_rows != table.n_rows:
        raise InputError(
            f"completed must have X's rows ({table.n_rows:,}); it has {other.n_rows:,}. Pass a "
            "row for each row of X, in its order.",
            parameter="completed",
        )
    _check_index(table, other)
    if table.is_array or other.is_array:
        if other.n_columns != table.n_columns:
            raise InputError(
                f"completed must have X's columns ({table.n_columns}); it has "
                f"{other.n_columns}. Drop what the tool added.",
                parameter="completed",
            )
        return list(range(table.n_columns))
    return [_place(table, other, position) for position in range(table.n_columns)]


def _place(table: Table, other: Table, position: int) -> int:
    label = table.labels[position]
    place = other.position(label)
    if place is None:
        raise InputError(
            f"completed must have X's columns; {label!r} is not among them "
            f"({', '.join(other.names[:30])}). Rename them back.",
            parameter="completed",
        )
    return place


def _check_index(table: Table, other: Table) -> None:
    """Raise an error if both are pandas tables and their indexes differ."""
    ours, theirs = table.frame.to_native(), other.frame.to_native()
    have_both = isinstance(ours, pd.DataFrame) and isinstance(theirs, pd.DataFrame)
    if table.is_array or other.is_array or not have_both or theirs.index.equals(ours.index):
        return
    raise InputError(
        "completed must have X's index, in its order; it has another. Pass completed.loc[X.index], "
        "or completed.set_axis(X.index) if the rows are in order.",
        parameter="completed",
    )


def _filled(
    series: nw.Series[Any], source: nw.Series[Any], rows: NDArray[np.intp], name: str
) -> nw.Series[Any]:
    """Return a column with cells taken from another column, in its own dtype."""
    if not len(rows):
        return series
    if is_date(series):
        if not is_date(source):
            raise _cannot_hold(name, series, source)
        return with_microseconds(series, rows, microseconds(source)[rows], step=0.0)
    try:
        cells = [_as_held(cell, series) for cell in cells_of(source, rows)]
    except (TypeError, ValueError) as error:
        raise _cannot_hold(name, series, source) from error
    return with_cells(series, rows, cells)


def _as_held(cell: Any, series: nw.Series[Any]) -> Any:
    """Convert a cell to the column's dtype."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        if float(cell) not in (0.0, 1.0):
            raise ValueError(cell)
        return bool(cell)
    if dtype.is_integer():
        return round(float(cell))
    if dtype.is_float():
        return float(cell)
    if dtype in (nw.String, nw.Enum) and not isinstance(cell, str):
        raise TypeError(cell)
    return cell


def _n_changed(series: nw.Series[Any], source: nw.Series[Any], rows: NDArray[np.intp]) -> int:
    """Count the observed cells that the other tool has changed."""
    if series.dtype.is_numeric() and source.dtype.is_numeric():
        before = series.to_numpy()[rows].astype(np.float64)
        after = source.to_numpy()[rows].astype(np.float64)
        return int((~np.isclose(before, after, rtol=CLOSE, equal_nan=False)).sum())
    if series.dtype == source.dtype and not is_date(series):
        return int((series.to_numpy()[rows] != source.to_numpy()[rows]).sum())
    return 0


def _cannot_hold(name: str, series: nw.Series[Any], source: nw.Series[Any]) -> InputError:
    return InputError(
        f"Column '{name}' of X is {series.dtype}; completed has {source.dtype} there, with cells "
        "that it cannot hold. Decode what the tool made back to X's own values first.",
        parameter="completed",
    )
