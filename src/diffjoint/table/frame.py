"""Open pandas, polars and Arrow tables and NumPy arrays, and give them back in their own type."""

import difflib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.dependencies import is_into_dataframe
from numpy.typing import NDArray
from sklearn.utils import check_array

from diffjoint.errors import InputError, option
from diffjoint.table.names import check_names

MICROSECONDS_PER_DAY = 86_400_000_000
_GRIDS: dict[float, tuple[str, str]] = {
    86_400_000_000: ("1d", "D"),
    3_600_000_000: ("1h", "h"),
    60_000_000: ("1m", "min"),
    1_000_000: ("1s", "s"),
}
"""Steps in microseconds, with the names that narwhals and pandas have for them."""
DATE_STEPS = tuple(_GRIDS)


@dataclass(frozen=True)
class Table:
    """An opened table: its columns by position, and the type to give back.

    Attributes
    ----------
    frame : narwhals.DataFrame
        The columns, named ``names``.
    columns : pandas.Index
        The column labels of the user's table; positions for an array.
    array_dtype : numpy.dtype or None
        The dtype of the user's array; None if the table is a data frame.
    narrowed : dict
        Dtypes that columns of the user's data frame have, where ``frame`` holds them in a more
        usable one; by name.
    """

    frame: nw.DataFrame[Any]
    columns: pd.Index
    array_dtype: np.dtype[Any] | None = None
    narrowed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_array(self) -> bool:
        """Whether the user's table is an array."""
        return self.array_dtype is not None

    @property
    def names(self) -> list[str]:
        """Column names as text."""
        return self.frame.columns

    @property
    def labels(self) -> list[Hashable]:
        """Column labels of the user's table."""
        return list(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def column(self, position: int) -> nw.Series[Any]:
        """Return the column at a position."""
        return self.frame.get_column(self.names[position])

    def missing(self, position: int) -> NDArray[np.bool_]:
        """Return which cells of a column are missing: null, None, NA, NaT or NaN."""
        return missing_cells(self.column(position))

    def position(self, label: Hashable) -> int | None:
        """Return the position of a label, or None if no column has it."""
        if label in self.labels:
            return self.labels.index(label)
        return self.names.index(label) if label in self.names else None

    def require(self, label: Hashable, parameter: str) -> int:
        """Return the position of a label; raise if no column has it.

        Parameters
        ----------
        parameter : str
            The parameter that holds the label, for the error message.
        """
        position = self.position(label)
        if position is None:
            close = difflib.get_close_matches(str(label), self.names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "Take names from its header."
            raise InputError(
                f"{option(parameter)} names {label!r}, which is not a column of the table "
                f"({_listed(self.names)}). {hint}",
                parameter=parameter,
            )
        return position

    def replace_columns(self, columns: dict[int, nw.Series[Any]]) -> Any:
        """Return the user's table with new columns at some positions."""
        new = [columns[i].alias(self.names[i]) for i in columns]
        return self._outside(self.frame.with_columns(*new) if new else self.frame)

    def wrap(self, cells: NDArray[Any], names: Sequence[str] | None = None) -> Any:
        """Return cells in this table's type, with its index and, unless named, its columns."""
        if self.is_array:
            return cells
        keys = self.names if names is None else list(names)
        if self.frame.implementation.is_pandas_like():
            frame = pd.DataFrame(cells, index=nw.to_native(self.frame).index, columns=keys)
            return _relabelled(frame, self.columns) if names is None else frame
        columns = {key: cells[:, i] for i, key in enumerate(keys)}
        return nw.from_dict(columns, backend=self.frame.implementation).to_native()

    def append_columns(self, native: Any, extra: Any) -> Any:
        """Return the columns of ``native``, followed by those of ``extra``."""
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
            return native.to_numpy().astype(self.array_dtype, copy=False)
        if self.narrowed:
            held = self.frame.to_native().dtypes
            same = {n: own for n, own in self.narrowed.items() if native[n].dtype == held[n]}
            native = native.astype(same)
        if isinstance(native, pa.Table):
            return _with_notes(native, self.frame.to_native().schema)
        return _relabelled(native, self.columns) if isinstance(native, pd.DataFrame) else native


def open_table(X: Any) -> Table:
    """Open a pandas, polars or Arrow table, or a two-dimensional array; an open one stays as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"age": [31, None], "town": ["Ulm", None]}))
    >>> table.names, table.missing(0).tolist()
    (['age', 'town'], [False, True])
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, pd.DataFrame):
        names = [str(label) for label in X.columns]
        check_names(names, X.columns)
        named = X.set_axis(names, axis=1)
        usable = _usable_types(named)
        frame = nw.from_native(named.astype(usable) if usable else named, eager_only=True)
        return Table(frame, X.columns, narrowed={name: named[name].dtype for name in usable})
    if isinstance(X, pa.Table):
        check_names(X.column_names)
    if is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return Table(frame, pd.Index(frame.columns))
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InputError("X must be a table in memory; got a lazy frame. Pass X.collect().")
    return _open_array(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def _open_array(array: NDArray[Any]) -> Table:
    if array.dtype.kind not in "biufOUS":
        raise InputError(
            f"An array must hold numbers, text or objects; got {array.dtype}. Pass a DataFrame."
        )
    modelled_as = {"U": object, "S": object}.get(array.dtype.kind, array.dtype)
    in_order = getattr(modelled_as, "newbyteorder", lambda order: modelled_as)("=")
    held = array.astype(np.float32 if array.dtype == np.float16 else in_order)
    names = [f"x{i}" for i in range(array.shape[1])]
    frame = nw.from_native(pd.DataFrame(held, columns=names), eager_only=True)
    return Table(frame, pd.RangeIndex(array.shape[1]), array.dtype)


def _usable_types(frame: pd.DataFrame) -> dict[str, Any]:
    """Return usable dtypes for columns in another byte order than this machine's, and of halves."""
    usable: dict[Any, Any] = {
        name: dtype.newbyteorder("=")
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and not dtype.isnative
    }
    half, single = pd.ArrowDtype(pa.float16()), pd.ArrowDtype(pa.float32())
    return usable | {name: single for name, dtype in frame.dtypes.items() if dtype == half}


def missing_cells(series: nw.Series[Any]) -> NDArray[np.bool_]:
    """Return which cells of a series are missing; NaN counts in any dtype that can hold it."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(True)
    return missing.to_numpy().astype(bool)


def numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a numeric column as floats, NaN where missing; raise TypeError for other columns."""
    if series.dtype == nw.Object:
        cells = objects(series)
        return np.array([np.nan if cell is None else _number(cell) for cell in cells])
    if not series.dtype.is_numeric():
        raise TypeError(f"{series.dtype} is not numeric")
    observed = ~missing_cells(series)
    result = np.full(len(series), np.nan)
    if observed.any():
        there = series.filter(observed.tolist())
        is_too_wide = series.dtype in (nw.Int128, nw.UInt128)
        result[observed] = (there.cast(nw.Float64) if is_too_wide else there).to_numpy()
    return result


def is_date(series: nw.Series[Any]) -> bool:
    """Return whether a column holds dates or datetimes."""
    return series.dtype in (nw.Datetime, nw.Date) or _pandas_zone(series) is not None


def microseconds(series: nw.Series[Any], *, on_the_wall: bool = False) -> NDArray[np.float64]:
    """Return a date or datetime column as microseconds since 1970, which floats hold exactly.

    Parameters
    ----------
    on_the_wall : bool
        Whether to count in the local time of the column's time zone rather than in UTC.
    """
    observed = ~missing_cells(series)
    result = np.full(len(series), np.nan)
    if not observed.any():
        return result
    if _pandas_zone(series) is not None:
        stamps = series.to_native().dt.tz_convert(None if not on_the_wall else _pandas_zone(series))
        series = nw.from_native(stamps.dt.tz_localize(None), series_only=True)
    stamps = series.filter(observed.tolist())
    if stamps.dtype == nw.Date:
        stamps = stamps.cast(nw.Datetime("us"))
    elif on_the_wall and getattr(stamps.dtype, "time_zone", None) is not None:
        stamps = stamps.dt.replace_time_zone(None)
    result[observed] = stamps.dt.timestamp("us").to_numpy()
    return result


def iso_microseconds(text: str) -> float | None:
    """Return the microseconds since 1970 of an ISO date or time, or None for other text.

    Text without a time zone is taken as UTC.

    Examples
    --------
    >>> iso_microseconds("1970-01-02"), iso_microseconds("tomorrow")
    (86400000000.0, None)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return float((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


def _pandas_zone(series: nw.Series[Any]) -> Any:
    """Return the time zone of a pandas column, which narwhals does not always recognise."""
    dtype = getattr(series.to_native(), "dtype", None)
    return dtype.tz if isinstance(dtype, pd.DatetimeTZDtype) else None


def objects(series: nw.Series[Any]) -> list[Any]:
    """Return a column as Python objects, None where missing."""
    missing = missing_cells(series)
    return [None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]


def cells_of(series: nw.Series[Any], rows: NDArray[np.intp]) -> list[Any]:
    """Return the cells of some rows as Python objects, None where missing."""
    return objects(series[rows.tolist()])


def with_cells(
    series: nw.Series[Any], rows: NDArray[np.intp], cells: Sequence[Any]
) -> nw.Series[Any]:
    """Return a column with some cells set; its dtype, index and other cells stay the same."""
    if len(rows) == 0:
        return series
    if series.implementation.is_pyarrow():
        return _with_arrow_cells(series, rows, cells)
    native = series.to_native()
    if getattr(native, "dtype", None) == np.float16:
        filled = native.copy()
        filled.iloc[rows] = np.asarray(cells, dtype=np.float16)
        return nw.from_native(filled, series_only=True)
    try:
        return _admitting(series, cells).scatter(rows.tolist(), list(cells))
    except UnicodeEncodeError as error:
        raise InputError(
            f"Column {series.name!r} holds {error.object!r}, half of a character (a lone "
            "surrogate), which cannot be filled in as text. Replace such text, for example by "
            "X[column].str.encode('utf-8', 'replace').str.decode('utf-8')."
        ) from error


def with_new_types(frame: nw.DataFrame[Any], columns: list[nw.Series[Any]]) -> nw.DataFrame[Any]:
    """Return a frame with columns of other dtypes, without Arrow's metadata on the old ones."""
    changed = frame.with_columns(*columns)
    native = changed.to_native()
    if not isinstance(native, pa.Table) or not native.schema.pandas_metadata:
        return changed
    names = {column.name for column in columns}
    notes = native.schema.pandas_metadata
    notes["columns"] = [note for note in notes["columns"] if note["field_name"] not in names]
    metadata = {**native.schema.metadata, b"pandas": json.dumps(notes).encode()}
    return nw.from_native(native.replace_schema_metadata(metadata), eager_only=True)


def without_cells(series: nw.Series[Any], rows: NDArray[np.intp]) -> nw.Series[Any]:
    """Return a column with some cells set to missing; its dtype must allow missing cells."""
    if not series.implementation.is_pandas_like():
        return with_cells(series, rows, [None] * len(rows))
    gone = np.zeros(len(series), dtype=bool)
    gone[rows] = True
    return nw.from_native(series.to_native().mask(gone), series_only=True)


def with_microseconds(
    series: nw.Series[Any],
    rows: NDArray[np.intp],
    since_epoch: NDArray[np.float64],
    *,
    step: float,
) -> nw.Series[Any]:
    """Return a date or datetime column with some cells set.

    Parameters
    ----------
    since_epoch : array
        The new cells in microseconds since 1970, UTC.
    step : float
        The grid that the column's local times are on, in microseconds; 0 for none.
    """
    if len(rows) == 0:
        return series
    micros = np.round(since_epoch).astype(np.int64)
    native = series.to_native()
    if _pandas_zone(series) is not None:
        return nw.from_native(_with_zoned(native, rows, micros, step), series_only=True)
    stamps = nw.new_series(series.name, micros, nw.Int64, backend=series.implementation)
    stamps = stamps.cast(nw.Datetime("us"))
    time_zone = getattr(series.dtype, "time_zone", None)
    if time_zone is not None:
        stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(time_zone)
        stamps = stamps.dt.truncate(_GRIDS[step][0]) if step in _GRIDS else stamps
    return series.scatter(rows.tolist(), stamps.cast(series.dtype))


def _with_zoned(
    native: pd.Series, rows: NDArray[np.intp], micros: NDArray[np.int64], step: float
) -> pd.Series:
    stamps = pd.to_datetime(micros, unit="us", utc=True).tz_convert(native.dt.tz)
    if step in _GRIDS:
        first = np.ones(len(stamps), dtype=bool)
        stamps = stamps.floor(_GRIDS[step][1], ambiguous=first, nonexistent="shift_forward")
    filled = native.copy()
    filled.iloc[rows] = stamps.as_unit(native.dt.unit)
    return filled


def empty_like(series: nw.Series[Any], levels: Sequence[Any], *, of_dates: bool) -> nw.Series[Any]:
    """Return an all-missing column whose dtype can hold the values to be filled in.

    Parameters
    ----------
    levels : sequence
        The levels to hold; none for numbers or dates.
    of_dates : bool
    """
    pandas_dtype: str
    dtype: nw.dtypes.DType
    if of_dates:
        pandas_dtype, dtype = "datetime64[us]", nw.Datetime("us")
    elif levels and all(isinstance(level, str) for level in levels):
        pandas_dtype, dtype = "str", nw.String()
    elif levels and all(isinstance(level, bool) for level in levels):
        pandas_dtype, dtype = "boolean", nw.Boolean()
    else:
        pandas_dtype, dtype = "float64", nw.Float64()
    if series.implementation.is_pandas_like():
        index = series.to_native().index
        native = pd.Series(None, index=index, dtype=pandas_dtype, name=series.name)
        return nw.from_native(native, series_only=True)
    nothing = [None] * len(series)
    return nw.new_series(series.name, nothing, dtype, backend=series.implementation)


def _with_arrow_cells(
    series: nw.Series[Any], rows: NDArray[np.intp], cells: Sequence[Any]
) -> nw.Series[Any]:
    """Return an Arrow column with some cells set; dictionaries keep their order.

    Arrow replaces cells only by cells of exactly the same type.
    """
    chosen = np.zeros(len(series), dtype=bool)
    chosen[rows] = True
    column = series.to_native()
    if not pa.types.is_dictionary(column.type):
        plain = pa.string() if pa.types.is_string_view(column.type) else column.type
        filled = pc.replace_with_mask(column.cast(plain), chosen, pa.array(cells, type=plain))
        return nw.from_native(filled.cast(column.type), series_only=True)
    whole = column.unify_dictionaries().combine_chunks()
    known = [cell for cell in cells if cell is not None]
    levels = list(dict.fromkeys([*whole.dictionary.to_pylist(), *known]))
    codes_of = {level: code for code, level in enumerate(levels)}
    places = pa.array([codes_of.get(cell) for cell in cells], type=whole.indices.type)
    codes = pc.replace_with_mask(whole.indices, chosen, places)
    dictionary = pa.array(levels, type=column.type.value_type)
    filled = pa.DictionaryArray.from_arrays(codes, dictionary, ordered=column.type.ordered)
    return nw.from_native(pa.chunked_array([filled]), series_only=True)


def _admitting(series: nw.Series[Any], cells: Sequence[Any]) -> nw.Series[Any]:
    """Return a categorical column with ``cells`` among its categories; others unchanged."""
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
        new = sorted(set(cells) - {None} - set(native.cat.categories), key=str)
        return nw.from_native(native.cat.add_categories(new), series_only=True) if new else series
    if isinstance(series.dtype, nw.Enum):
        known = series.dtype.categories
        new = sorted(set(cells) - {None} - set(known), key=str)
        return series.cast(nw.Enum([*known, *new])) if new else series
    return series


def _listed(names: Sequence[str], most: int = 30) -> str:
    more = f", ... and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _number(value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise TypeError(f"{value!r} is too large a number") from error


def _with_notes(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return an Arrow table whose columns have the notes of a schema, such as Parquet's ids."""
    fields = []
    for own, column, old in zip(table.schema, table.columns, schema, strict=True):
        kept = own.with_metadata(old.metadata)
        fields.append(kept.with_nullable(old.nullable or column.null_count > 0))
    whole = pa.schema(fields, metadata=table.schema.metadata)
    return pa.Table.from_arrays(table.columns, schema=whole)


def _relabelled(native: pd.DataFrame, columns: pd.Index) -> pd.DataFrame:
    return native.set_axis(columns, axis=1)
