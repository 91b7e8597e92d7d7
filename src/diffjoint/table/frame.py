"""The door: pandas, polars and plain arrays come in here and go out as they came."""

import difflib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.dependencies import is_into_dataframe
from numpy.typing import NDArray
from sklearn.utils import check_array

from diffjoint.errors import InputError

_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Table:
    """A table at the door: its columns by position, and how to give it back.

    Attributes
    ----------
    frame : narwhals.DataFrame
        The columns, named ``names``.
    labels : tuple
        The column labels as the user has them; positions for an array.
    is_array : bool
        Whether it came as an array and goes back as one.
    """

    frame: nw.DataFrame[Any]
    labels: tuple[Hashable, ...]
    is_array: bool

    @property
    def names(self) -> list[str]:
        """Column names as text."""
        return self.frame.columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels)

    def column(self, position: int) -> nw.Series[Any]:
        """The column at a position."""
        return self.frame.get_column(self.names[position])

    def missing(self, position: int) -> NDArray[np.bool_]:
        """Which cells of a column are empty: null, None, NA, NaT or NaN."""
        return missing_cells(self.column(position))

    def position(self, label: Hashable) -> int | None:
        """Where a label stands, or None."""
        if label in self.labels:
            return self.labels.index(label)
        return self.names.index(label) if label in self.names else None

    def require(self, label: Hashable, option: str) -> int:
        """Where a label stands; an error that names the option it came in if nowhere."""
        position = self.position(label)
        if position is None:
            close = difflib.get_close_matches(str(label), self.names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "Pass names from X.columns."
            raise InputError(
                f"{option} names {label!r}, which is not a column of X ({_listed(self.names)}). "
                f"{hint}"
            )
        return position

    def rebuilt(self, columns: dict[int, nw.Series[Any]]) -> Any:
        """The table as it came, with some columns put in the place of the old ones."""
        new = [columns[i].alias(self.names[i]) for i in columns]
        return self._outside(self.frame.with_columns(*new) if new else self.frame)

    def like(self, cells: NDArray[Any], names: Sequence[str] | None = None) -> Any:
        """Other cells in this table's container, with its index; its columns unless named."""
        if self.is_array:
            return cells
        keys = self.names if names is None else list(names)
        if self.frame.implementation.is_pandas_like():
            frame = pd.DataFrame(cells, index=nw.to_native(self.frame).index, columns=keys)
            return _relabelled(frame, self.labels) if names is None else frame
        columns = {key: cells[:, i] for i, key in enumerate(keys)}
        return nw.from_dict(columns, backend=self.frame.implementation).to_native()

    def beside(self, native: Any, extra: Any) -> Any:
        """Columns of ``extra`` to the right of those of ``native``."""
        if self.is_array:
            return np.column_stack([native, extra])
        if self.frame.implementation.is_pandas_like():
            return pd.concat([native, extra], axis=1)
        right = nw.from_native(extra, eager_only=True)
        return (
            nw.from_native(native, eager_only=True).with_columns(*right.iter_columns()).to_native()
        )

    def _outside(self, frame: nw.DataFrame[Any]) -> Any:
        native = frame.to_native()
        if self.is_array:
            return native.to_numpy()
        return _relabelled(native, self.labels) if isinstance(native, pd.DataFrame) else native


def open_table(X: Any) -> Table:
    """Take in a pandas or polars table, or a two-dimensional array.

    Examples
    --------
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"age": [31, None], "town": ["Ulm", None]}))
    >>> table.names, table.missing(0).tolist()
    (['age', 'town'], [False, True])
    """
    if isinstance(X, pd.DataFrame):
        labels = tuple(X.columns)
        _check_distinct(labels)
        named = X.set_axis([str(label) for label in labels], axis=1)
        return Table(nw.from_native(named, eager_only=True), labels, is_array=False)
    if is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return Table(frame, tuple(frame.columns), is_array=False)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InputError("X must be a table in memory; got a lazy frame. Pass X.collect().")
    array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    if array.dtype.kind not in "biufO":
        array = array.astype(object)
    names = [f"x{i}" for i in range(array.shape[1])]
    frame = nw.from_native(pd.DataFrame(array, columns=names), eager_only=True)
    return Table(frame, tuple(range(array.shape[1])), is_array=True)


def missing_cells(series: nw.Series[Any]) -> NDArray[np.bool_]:
    """Which cells of a series are empty; NaN counts wherever it can occur."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(True)
    return missing.to_numpy().astype(bool)


def numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    """A numeric or boolean column as floats, NaN where missing."""
    if series.dtype == nw.Object:
        native = series.to_native()
        return np.array([_number(value) for value in native], dtype=np.float64)
    observed = ~missing_cells(series)
    result = np.full(len(series), np.nan)
    if observed.any():
        result[observed] = series.filter(observed.tolist()).cast(nw.Float64).to_numpy()
    return result


def days(series: nw.Series[Any]) -> NDArray[np.float64]:
    """A date or datetime column as days since 1970 (UTC where it has a time zone)."""
    observed = ~missing_cells(series)
    result = np.full(len(series), np.nan)
    if not observed.any():
        return result
    stamps = series.filter(observed.tolist())
    if stamps.dtype == nw.Date:
        stamps = stamps.cast(nw.Datetime("us"))
    result[observed] = stamps.dt.timestamp("us").to_numpy() / _MICROSECONDS_PER_DAY
    return result


def objects(series: nw.Series[Any]) -> list[Any]:
    """A column as Python objects, None where missing."""
    missing = missing_cells(series)
    return [None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]


def with_cells(
    series: nw.Series[Any], rows: NDArray[np.intp], cells: Sequence[Any]
) -> nw.Series[Any]:
    """A column with some cells set; its dtype, index and other cells stay as they are."""
    if len(rows) == 0:
        return series
    if series.implementation.is_pyarrow():
        return _with_arrow_cells(series, rows, cells)
    return _admitting(series, cells).scatter(rows.tolist(), list(cells))


def with_days(
    series: nw.Series[Any], rows: NDArray[np.intp], since_epoch: NDArray[np.float64]
) -> nw.Series[Any]:
    """A date or datetime column with some cells set, given as days since 1970."""
    if len(rows) == 0:
        return series
    micros = np.round(since_epoch * _MICROSECONDS_PER_DAY).astype(np.int64)
    stamps = nw.new_series(series.name, micros, nw.Int64, backend=series.implementation)
    stamps = stamps.cast(nw.Datetime("us"))
    time_zone = getattr(series.dtype, "time_zone", None)
    if time_zone is not None:
        stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(time_zone)
    return series.scatter(rows.tolist(), stamps.cast(series.dtype))


def _with_arrow_cells(
    series: nw.Series[Any], rows: NDArray[np.intp], cells: Sequence[Any]
) -> nw.Series[Any]:
    """Arrow sets cells of exactly its own type; dictionaries keep their order."""
    chosen = np.zeros(len(series), dtype=bool)
    chosen[rows] = True
    column = series.to_native()
    if not pa.types.is_dictionary(column.type):
        filled = pc.replace_with_mask(column, chosen, pa.array(cells, type=column.type))
        return nw.from_native(filled, series_only=True)
    whole = column.unify_dictionaries().combine_chunks()
    levels = list(dict.fromkeys([*whole.dictionary.to_pylist(), *cells]))
    places = pa.array([levels.index(cell) for cell in cells], type=whole.indices.type)
    codes = pc.replace_with_mask(whole.indices, chosen, places)
    dictionary = pa.array(levels, type=column.type.value_type)
    filled = pa.DictionaryArray.from_arrays(codes, dictionary, ordered=column.type.ordered)
    return nw.from_native(pa.chunked_array([filled]), series_only=True)


def _admitting(series: nw.Series[Any], cells: Sequence[Any]) -> nw.Series[Any]:
    """A category column whose dtype has a place for ``cells``; others as they are."""
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
        new = sorted(set(cells) - set(native.cat.categories), key=str)
        return nw.from_native(native.cat.add_categories(new), series_only=True) if new else series
    if isinstance(series.dtype, nw.Enum):
        known = series.dtype.categories
        new = sorted(set(cells) - set(known), key=str)
        return series.cast(nw.Enum([*known, *new])) if new else series
    return series


def _listed(names: Sequence[str], most: int = 30) -> str:
    more = f", ... and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _number(value: Any) -> float:
    return np.nan if pd.isna(value) else float(value)


def _relabelled(native: pd.DataFrame, labels: tuple[Hashable, ...]) -> pd.DataFrame:
    names = native.columns
    original = pd.Index(labels, tupleize_cols=False)
    return native if names.equals(original) else native.set_axis(original, axis=1)


def _check_distinct(labels: tuple[Hashable, ...]) -> None:
    names = [str(label) for label in labels]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"X must have columns with names of their own; {', '.join(map(repr, repeated))} "
            "occurs more than once. Rename the columns."
        )
