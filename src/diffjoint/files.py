"""Tables in files: CSV and TSV as text that stays as it was, others with their types."""

import csv
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from diffjoint.errors import FileError, InputError
from diffjoint.persist import write_whole
from diffjoint.statistical import (
    READABLE,
    WRITABLE,
    Notes,
    read_statistical,
    require_pyreadstat,
    statistical_bytes,
)
from diffjoint.table import Kind, Schema, codes_by_column, matches, open_table

NA_VALUES = ("NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None", "#N/A")
"""Tokens for an empty cell in text files, unless others are named; the empty text always is."""
STANDARD_STREAM = "-"

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow")
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S.%f",
)


@dataclass(frozen=True)
class TableFile:
    """A table read from a file.

    Attributes
    ----------
    table : pandas.DataFrame or pyarrow.Table
        The table with types.
    text : TextTable or None
        The table as it was written, if it came as text.
    carried : tuple of str
        Columns that are an index rather than data.
    notes : Notes or None
        What a statistical file says beside its cells.
    reason_codes : dict
        Codes for empty cells whose reason the file itself gives, by column.
    without_reason : dict
        Codes for empty cells that do not say why, by column; they are read as empty.
    kinds : dict
        Columns whose kind the file itself gives.
    """

    table: Any
    text: "TextTable | None" = None
    carried: tuple[str, ...] = ()
    notes: Notes | None = None
    reason_codes: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    without_reason: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextTable:
    """The cells of a text file, to be written back as they were.

    Attributes
    ----------
    cells : DataFrame of str
    missing : bool array of the same shape
    formats : list of callables
        How each column writes a cell that was filled.
    newline, delimiter, encoding : str
    """

    cells: pd.DataFrame
    missing: NDArray[np.bool_]
    formats: list[Callable[[Any], str]]
    newline: str
    delimiter: str
    encoding: str


def read_file(
    path: str,
    na_values: Sequence[str] = NA_VALUES,
    encoding: str = "utf-8",
    schema: Schema | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
) -> TableFile:
    """Read a table; its format is told by the file's ending, CSV on standard input ("-").

    Parameters
    ----------
    schema : Schema, optional
        What the columns are, if that is known; told from the text otherwise.
    reason_codes : mapping, optional
        Codes for empty cells. They stay in the table, but text is typed, and written back,
        as if they were empty.
    """
    reading = _Reading(path, tuple(na_values), encoding, schema, reason_codes or {})
    if path == STANDARD_STREAM:
        named = replace(reading, name="standard input")
        return _parse_text(sys.stdin.buffer.read(), ",", named)
    ending = check_ending(path)
    try:
        if ending in _DELIMITERS:
            return _parse_text(Path(path).read_bytes(), _DELIMITERS[ending], reading)
        if ending in READABLE:
            return _read_statistical(path, reading)
        reader = pa_parquet.read_table if ending in _PARQUET else pa_feather.read_table
        table = reader(path)
        return TableFile(table, carried=_index_columns(table))
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"Cannot read {path}: {error.strerror or error}. Check the path and the file."
        ) from error
    except pa.ArrowInvalid as error:
        raise FileError(
            f"Cannot read {path}: it is not a {ending[1:]} file ({error}). Check the file."
        ) from error


def write_file(path: str, table: Any, source: TableFile | None = None) -> None:
    """Write a table whole or not at all; the format is told by the file's ending.

    Parameters
    ----------
    source : TableFile, optional
        Where the table came from. Cells that were there in a text file are written in their
        own text.
    """
    if path == STANDARD_STREAM:
        _write_out(_as_text(table, ",", source))
        return
    ending = check_ending(path, to_write=True)
    if ending in WRITABLE:
        frame = _as_frame(table) if isinstance(table, pa.Table) else table
        notes = source.notes if source is not None else None
        content = statistical_bytes(frame, ending, notes)
        write_whole(path, lambda file: file.write(content))
        return
    if ending in _DELIMITERS:
        content = _as_text(table, _DELIMITERS[ending], source)
        write_whole(path, lambda file: file.write(content))
        return
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
    writer = pa_parquet.write_table if ending in _PARQUET else _write_feather
    write_whole(path, lambda file: writer(arrow, file))


def check_ending(path: str, *, to_write: bool = False) -> str:
    """The file's ending, if it is one that can be read, or written."""
    ending = Path(path).suffix.lower()
    endings = [*_DELIMITERS, *_PARQUET, *_FEATHER, *(WRITABLE if to_write else READABLE)]
    if to_write and ending in READABLE and ending not in WRITABLE:
        raise InputError(
            f"{ending[1:]} files can be read, but not written; got {path!r}. Write one that ends "
            f"in {', '.join(endings)}."
        )
    if ending in READABLE:
        require_pyreadstat(path)
    if ending not in endings:
        advice = "Rename the file, or use - for CSV on standard input and output."
        if ending in _SPREADSHEETS:
            advice = "Save the sheet as CSV (UTF-8), with one line of column names, and pass that."
        raise InputError(
            f"The name of a table file must end in {', '.join(endings)}; got {path!r}. {advice}"
        )
    return ending


def _read_statistical(path: str, reading: "_Reading") -> TableFile:
    """A statistical file; where the columns are known already, so are the codes."""
    Path(path).open("rb").close()
    read = read_statistical(path, reading.reason_codes, guess=reading.schema is None)
    return TableFile(
        read.table,
        notes=read.notes,
        reason_codes=read.reason_codes,
        without_reason=read.without_reason,
        kinds=read.kinds,
    )


@dataclass(frozen=True)
class _Reading:
    """How a text file is to be read."""

    name: str
    na_values: tuple[str, ...]
    encoding: str
    schema: Schema | None
    reason_codes: Mapping[Any, Any]


def _index_columns(table: pa.Table) -> tuple[str, ...]:
    """Columns that pandas wrote as its index."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return tuple(name for name in index if name in table.column_names)


def _write_out(content: bytes) -> None:
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise FileError(f"Cannot write to standard output: {error.strerror}.") from error


def _write_feather(table: pa.Table, file: BinaryIO) -> None:
    pa_feather.write_feather(table, file)


def _parse_text(content: bytes, delimiter: str, reading: _Reading) -> TableFile:
    encoding = reading.encoding
    if encoding.lower() in ("utf-8", "utf8") and content.startswith(b"\xef\xbb\xbf"):
        encoding = "utf-8-sig"
    header, text = _decoded(content, encoding, reading.name)
    delimiter = _delimiter(header, delimiter)
    cells = _read_cells(text, header, delimiter, reading.name)
    missing = cells.isin({"", *reading.na_values}).to_numpy()
    coded = _coded(cells, missing, reading)
    columns, formats = [], []
    for i, name in enumerate(cells.columns):
        kind = _known_kind(reading.schema, name)
        column, write = _typed(cells.iloc[:, i], missing[:, i] | coded[:, i], kind)
        if coded[:, i].any():
            column = cells.iloc[:, i].mask(missing[:, i])
        columns.append(column)
        formats.append(write)
    table = pd.concat(columns, axis=1)
    cells, missing = cells.mask(coded, ""), missing | coded
    newline = "\r\n" if b"\r\n" in content[:65536] else "\n"
    return TableFile(table, TextTable(cells, missing, formats, newline, delimiter, encoding))


def _coded(cells: pd.DataFrame, missing: NDArray[np.bool_], reading: _Reading) -> NDArray[np.bool_]:
    """Cells that hold a reason code."""
    coded = np.zeros(cells.shape, dtype=bool)
    if not reading.reason_codes:
        return coded
    for i, codes in enumerate(codes_by_column(open_table(cells), reading.reason_codes)):
        found = matches(codes, cells.iloc[:, i].tolist())
        coded[:, i] = cells.iloc[:, i].isin(set(found)).to_numpy() & ~missing[:, i]
    return coded


def _decoded(content: bytes, encoding: str, name: str) -> tuple[str, str]:
    """The header line and the whole text."""
    try:
        text = content.decode(encoding).lstrip("\r\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise FileError(
            f"Cannot read {name} as {encoding} text ({error}). Name its encoding with --encoding, "
            "for example latin-1."
        ) from error
    if not text.strip():
        raise FileError(
            f"Cannot read {name}: it is empty. A first line with column names is needed."
        )
    return text.splitlines()[0], text


def _delimiter(header: str, usual: str) -> str:
    """The usual delimiter, unless the header has another one only."""
    others = [mark for mark in (",", ";", "\t", "|") if mark in header]
    return others[0] if usual not in header and others else usual


def _read_cells(text: str, header: str, delimiter: str, name: str) -> pd.DataFrame:
    names = next(csv.reader([header], delimiter=delimiter))
    try:
        arrow = pa_csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=pa_csv.ReadOptions(block_size=1 << 26, use_threads=False),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise FileError(
            f"Cannot read {name}: {error}. Each row must have a cell for each of the "
            f"{len(names)} columns."
        ) from error
    cells: pd.DataFrame = arrow.to_pandas().astype(str)
    return cells


def _known_kind(schema: Schema | None, name: str) -> str | None:
    """How the text of a column is to be taken: as number, date or text; None: find out."""
    column = next((c for c in schema.columns if c.name == name), None) if schema else None
    if column is None:
        return None
    if column.kind is Kind.DATETIME:
        return "date"
    is_text = any(isinstance(level, str) for level in column.levels)
    return "text" if is_text or not column.is_modelled else "number"


def _typed(
    text: pd.Series, missing: NDArray[np.bool_], kind: str | None
) -> tuple[pd.Series, Callable[[Any], str]]:
    """A column with the type its text has, and how to write such values as text."""
    observed = text[~missing]
    if kind == "text" or (kind is None and observed.empty):
        return text.mask(missing), str
    whole = observed.str.fullmatch(_WHOLE).all() and not _has_leading_zeros(observed)
    if kind is None and whole:
        return pd.to_numeric(text.mask(missing)).astype("Int64"), lambda value: str(int(value))
    if kind != "date" and (observed.map(_is_number).all() or (kind == "number" and whole)):
        numbers = pd.to_numeric(text.mask(missing)).astype("float64")
        return numbers, _number_format(observed)
    for form in _DATE_FORMATS:
        dates = pd.to_datetime(observed, format=form, errors="coerce")
        if kind != "number" and dates.notna().all() and (dates.dt.strftime(form) == observed).all():
            return dates.reindex(text.index), lambda value, form=form: value.strftime(form)
    return text.mask(missing), str


def _number_format(observed: pd.Series) -> Callable[[Any], str]:
    """As many decimals as the column has; six digits where it is written with exponents."""
    if observed.empty or observed.str.contains("[eE]").any():
        return lambda value: f"{float(value):.6g}"
    n_decimals = int(observed.map(lambda text: len(text.partition(".")[2])).max())
    return lambda value: f"{float(value):.{n_decimals}f}"


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and any(char.isdigit() for char in text)


def _has_leading_zeros(observed: pd.Series) -> bool:
    return bool(observed.str.fullmatch(r"[+-]?0\d+").any())


def _as_text(table: Any, delimiter: str, source: TableFile | None) -> bytes:
    text = source.text if source is not None else None
    if isinstance(table, pa.Table):
        table = _as_frame(table)
    if text is None:
        return str(table.to_csv(index=False, sep=delimiter, lineterminator="\n")).encode()
    words = _in_own_words(table, text)
    separator = text.delimiter if delimiter == "," else delimiter
    written = words.to_csv(index=False, sep=separator, lineterminator=text.newline)
    return str(written).encode(text.encoding)


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """An Arrow table to be written as text: whole numbers stay whole beside empty cells."""
    plain = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    named = pa.table(plain, names=table.column_names)
    frame: pd.DataFrame = named.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return frame


def _in_own_words(completed: pd.DataFrame, text: TextTable) -> pd.DataFrame:
    """The file's own text where a cell was there or stays empty; filled cells in its manner."""
    cells: dict[Any, Any] = {}
    for i, name in enumerate(completed.columns):
        column = completed.iloc[:, i]
        if i >= text.cells.shape[1]:
            cells[name] = column.astype(str)
            continue
        words = text.cells.iloc[:, i].to_numpy(dtype=object).copy()
        filled = np.flatnonzero(text.missing[:, i] & column.notna().to_numpy())
        words[filled] = [text.formats[i](value) for value in column.iloc[filled].tolist()]
        cells[name] = words
    return pd.DataFrame(cells)
