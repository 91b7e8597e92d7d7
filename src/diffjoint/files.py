"""Tables in files: CSV and TSV as text that stays as it was, Parquet and Feather with types."""

import csv
import io
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

NA_VALUES = ("NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None", "#N/A")
"""Tokens for an empty cell in text files, unless others are named; the empty text always is."""
STANDARD_STREAM = "-"

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow")
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
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
    """

    table: Any
    text: "TextTable | None" = None


@dataclass(frozen=True)
class TextTable:
    """The cells of a text file, to be written back as they were.

    Attributes
    ----------
    cells : DataFrame of str
    missing : bool array of the same shape
    formats : list of callables
        How each column writes a cell that was filled.
    newline : str
    """

    cells: pd.DataFrame
    missing: NDArray[np.bool_]
    formats: list[Callable[[Any], str]]
    newline: str


def read_file(
    path: str, na_values: Sequence[str] = NA_VALUES, encoding: str = "utf-8"
) -> TableFile:
    """Read a table; its format is told by the file's ending, CSV on standard input ("-")."""
    if path == STANDARD_STREAM:
        return _parse_text(sys.stdin.buffer.read(), "standard input", ",", na_values, encoding)
    ending = check_ending(path)
    try:
        if ending in _DELIMITERS:
            content = Path(path).read_bytes()
            return _parse_text(content, path, _DELIMITERS[ending], na_values, encoding)
        if ending in _PARQUET:
            return TableFile(pa_parquet.read_table(path))
        return TableFile(pa_feather.read_table(path))
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
        sys.stdout.buffer.write(_as_text(table, ",", source))
        sys.stdout.buffer.flush()
        return
    ending = check_ending(path)
    if ending in _DELIMITERS:
        content = _as_text(table, _DELIMITERS[ending], source)
        write_whole(path, lambda file: file.write(content))
        return
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
    writer = pa_parquet.write_table if ending in _PARQUET else _write_feather
    write_whole(path, lambda file: writer(arrow, file))


def check_ending(path: str) -> str:
    """The file's ending, if it is one that can be read and written."""
    ending = Path(path).suffix.lower()
    endings = [*_DELIMITERS, *_PARQUET, *_FEATHER]
    if ending not in endings:
        raise InputError(
            f"The name of a table file must end in {', '.join(endings)}; got {path!r}. Rename the "
            "file, or use - for CSV on standard input and output."
        )
    return ending


def _write_feather(table: pa.Table, file: BinaryIO) -> None:
    pa_feather.write_feather(table, file)


def _parse_text(
    content: bytes, name: str, delimiter: str, na_values: Sequence[str], encoding: str
) -> TableFile:
    cells = _read_cells(content, name, delimiter, encoding)
    tokens = {"", *na_values}
    missing = cells.isin(tokens).to_numpy()
    columns, formats = [], []
    for i in range(cells.shape[1]):
        column, write = _typed(cells.iloc[:, i], missing[:, i])
        columns.append(column)
        formats.append(write)
    table = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    newline = "\r\n" if b"\r\n" in content[:65536] else "\n"
    return TableFile(table, TextTable(cells, missing, formats, newline))


def _read_cells(content: bytes, name: str, delimiter: str, encoding: str) -> pd.DataFrame:
    try:
        text = content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise FileError(
            f"Cannot read {name} as {encoding} text ({error}). Name its encoding with --encoding, "
            "for example latin-1."
        ) from error
    header = next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    if not header:
        raise FileError(
            f"Cannot read {name}: it is empty. A first line with column names is needed."
        )
    try:
        arrow = pa_csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=pa_csv.ReadOptions(block_size=1 << 26, use_threads=False),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(header) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise FileError(
            f"Cannot read {name}: {error}. Each row must have a cell for each of the "
            f"{len(header)} columns."
        ) from error
    cells: pd.DataFrame = arrow.to_pandas().astype(str)
    return cells


def _typed(text: pd.Series, missing: NDArray[np.bool_]) -> tuple[pd.Series, Callable[[Any], str]]:
    """A column with the type its text has, and how to write such values as text."""
    observed = text[~missing]
    if len(observed) and observed.str.fullmatch(_WHOLE).all() and not _has_leading_zeros(observed):
        return pd.to_numeric(text.mask(missing)).astype("Int64"), lambda value: str(int(value))
    if len(observed) and observed.map(_is_number).all():
        n_decimals = int(observed.map(_decimals).max())
        return pd.to_numeric(text.mask(missing)).astype(
            "float64"
        ), lambda value: f"{float(value):.{n_decimals}f}"
    for form in _DATE_FORMATS:
        dates = pd.to_datetime(observed, format=form, errors="coerce")
        if len(observed) and dates.notna().all() and (dates.dt.strftime(form) == observed).all():
            return dates.reindex(text.index), lambda value, form=form: value.strftime(form)
    return text.mask(missing), str


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and any(char.isdigit() for char in text)


def _has_leading_zeros(observed: pd.Series) -> bool:
    return bool(observed.str.fullmatch(r"[+-]?0\d+").any())


def _decimals(text: str) -> int:
    mantissa = re.split("[eE]", text)[0]
    extra = 6 if len(mantissa) < len(text) else 0
    return max(extra, len(mantissa.partition(".")[2]))


def _as_text(table: Any, delimiter: str, source: TableFile | None) -> bytes:
    frame = table.to_pandas() if isinstance(table, pa.Table) else table
    text = source.text if source is not None else None
    if text is not None:
        frame = _in_own_words(frame, text)
    newline = text.newline if text is not None else "\n"
    written = frame.to_csv(index=False, sep=delimiter, lineterminator=newline)
    return str(written).encode()


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
