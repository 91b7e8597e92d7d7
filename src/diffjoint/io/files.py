"""Tables in files: CSV and TSV as text that stays as it was, others with their types."""

import codecs
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa

from diffjoint.errors import FileError, InputError
from diffjoint.io.compression import COMPRESSED, compressing, opened, split_endings
from diffjoint.io.decimals import as_decimals, as_numbers
from diffjoint.io.devices import refuse_device
from diffjoint.io.formats import BY_ENDING, DATABASES
from diffjoint.io.names import distinct_names, renamed
from diffjoint.io.places import TABLE, place_of, read_place, write_place
from diffjoint.io.read_back import ReadBackCheck
from diffjoint.io.statistical import (
    READABLE,
    WRITABLE,
    Notes,
    read_statistical,
    require_pyreadstat,
    statistical_bytes,
)
from diffjoint.io.text import TextBlock, TextTable, names_in, read_text
from diffjoint.io.text_source import RowParser
from diffjoint.settings import NA_VALUES
from diffjoint.storage.atomic import spooled, write_whole, writing_whole
from diffjoint.table import Schema, Table, open_table

STANDARD_STREAM = "-"

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_ANY_LINE_BREAK = "\r\n"
_ROWS_AT_ONCE = 50_000
"""Rows of a table in memory that are made text at a time."""


@dataclass
class TableFile:
    """A table read from a file.

    Attributes
    ----------
    held : pandas.DataFrame or pyarrow.Table, or None
        The table with types; None as long as that of a text file was not asked for.
    text : TextTable or None
        The table as it was written, if it came as text.
    passed_through : tuple of str
        Columns that are an index rather than data.
    notes : Notes or None
        What a statistical file says beside its cells.
    reason_codes : dict
        Codes for missing cells whose reason the file itself gives, by column.
    without_reason : dict
        Codes for missing cells that do not say why, by column; they are read as missing.
    kinds : dict
        Columns whose kind the file itself gives.
    decimals : dict
        Types of columns of decimal numbers, which are held as others are.
    header : tuple of str
        Names of the columns as the file has them, where some share a name; empty otherwise.
    """

    held: Any
    text: TextTable | None = None
    passed_through: tuple[str, ...] = ()
    notes: Notes | None = None
    reason_codes: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    without_reason: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, pa.DataType] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    _opened: tuple[Any, Table] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def renamed(self) -> dict[str, str]:
        """The names that tell columns apart which share one in the file, and that one."""
        if self.text is not None:
            return renamed(self.text.source.names, self.text.source.header)
        return renamed(distinct_names(self.header), self.header)

    @property
    def table(self) -> Any:
        """The table with types."""
        if self.held is None and self.text is not None:
            self.held = self.text.table()
        return self.held

    @property
    def opened(self) -> Table:
        """The table, opened; again only if another is held now."""
        table = self.table
        if self._opened is None or self._opened[0] is not table:
            self._opened = (table, open_table(table))
        return self._opened[1]

    def hold_some(self, n_rows: int, seed: int) -> None:
        """Hold some rows of a text file in place of its table; what counts rows stays what it is.

        Parameters
        ----------
        n_rows : int
            How many, chosen at random; a few more have the rarest levels and the ends of numbers.
        """
        if self.text is not None:
            self.held = self.text.table(self.text.some_rows(n_rows, seed))
            self.kinds = {**dict.fromkeys(self.text.counted, "pass-through"), **self.kinds}

    def take(self) -> Any:
        """Give the table away; that of a text file is read again if it is asked for again."""
        table, self._opened = self.table, None
        self.held = None if self.text is not None else table
        return table


def read_file(
    path: str,
    na_values: Sequence[str] = NA_VALUES,
    encoding: str = "utf-8",
    schema: Schema | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
    decimal: str | None = None,
) -> TableFile:
    """Read a table; its format is told by the file's ending, CSV on standard input ("-").

    ``survey.duckdb::people`` is a table in a database, as is one after an SQLAlchemy address.

    Parameters
    ----------
    schema : Schema, optional
        What the columns are, if that is known; told from the text otherwise.
    reason_codes : mapping, optional
        Codes for missing cells. They stay in the table, but text is typed, and written back,
        as if they were missing.
    decimal : {".", ","}, optional
        What numbers in text have before their decimals; told from the text if not given.
    """
    codes = reason_codes or {}
    how = (encoding, frozenset(na_values), schema, codes, decimal)
    if path == STANDARD_STREAM:
        if sys.stdin is None:
            raise FileError("Cannot read standard input: it is closed. Name a file instead of -.")
        return TableFile(None, read_text("standard input", sys.stdin.buffer.read(), ",", *how))
    place = place_of(path)
    if place is not None:
        table, decimals = as_numbers(read_place(place))
        return TableFile(table, decimals=decimals)
    ending = check_ending(path)
    refuse_device(path)
    try:
        if ending in _DELIMITERS:
            file = Path(path)
            content = file if file.is_file() or not file.exists() else _all_of(file)
            return TableFile(None, read_text(path, content, _DELIMITERS[ending], *how))
        if ending in READABLE:
            return _read_statistical(path, codes, guess=schema is None)
        table, header = BY_ENDING[ending].read(path), ()
        if len(set(table.column_names)) < len(table.column_names):
            header = tuple(table.column_names)
            table = table.rename_columns(list(distinct_names(header)))
        return TableFile(table, passed_through=_index_columns(table), header=header)
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


def text_columns(path: str, encoding: str = "utf-8") -> tuple[str, ...]:
    """Return the names of the columns of a text file, without reading its cells."""
    return names_in(path, Path(path), _DELIMITERS[check_ending(path)], encoding)


def write_file(path: str, table: Any, source: TableFile | None = None) -> None:
    """Write a table whole or not at all; the format is told by the file's ending.

    Parameters
    ----------
    source : TableFile, optional
        Where the table came from. Cells that were there in a text file are written in their
        own text.
    """
    if is_text(path):
        _write_text(path, table, source)
        return
    place, ending = place_of(path), check_ending(path, to_write=True)
    if ending in WRITABLE:
        frame = _as_frame(table) if isinstance(table, pa.Table) else table
        notes = source.notes if source is not None else None
        content = statistical_bytes(frame, ending, notes)
        write_whole(path, lambda file: file.write(content))
        return
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
    arrow = arrow if source is None else as_decimals(arrow, source.decimals)
    if place is not None:
        index = _index_columns(arrow)
        write_place(place, arrow.drop_columns([*index]))
        return
    if source is not None and source.header:
        more = arrow.column_names[len(source.header) :]
        arrow = arrow.rename_columns([*source.header, *more])
    write_whole(path, lambda file: BY_ENDING[ending].write(arrow, file))


def is_text(path: str) -> bool:
    """Whether a table is written there as text."""
    return path == STANDARD_STREAM or check_ending(path, to_write=True) in _DELIMITERS


class TextWriter:
    """Write a table as text, some rows at a time.

    Parameters
    ----------
    file : binary file
    delimiter : str
        Unless the source has another one.
    text : TextTable, optional
        Where the table came from: its cells are written in their own text.
    rows : RowParser, optional
        The rows of that source; what is written is read back and compared with them.
    """

    def __init__(
        self,
        file: BinaryIO,
        delimiter: str,
        text: TextTable | None = None,
        rows: RowParser | None = None,
    ) -> None:
        source = None if text is None else text.source
        self._file, self._text, self._has_begun = file, text, False
        self._newline = "\n" if source is None else source.newline
        self._delimiter = delimiter if source is None or delimiter != "," else source.delimiter
        self._encoding = "utf-8" if source is None else source.encoding
        self._encoder = codecs.getincrementalencoder(self._encoding)()
        self._check = None
        if text is not None and rows is not None:
            self._check = ReadBackCheck(text, rows, self._delimiter)

    def write(self, rows: pd.DataFrame, block: TextBlock | None = None) -> None:
        """Write some rows; ``block`` holds the text that they came from."""
        if self._text is not None and block is not None:
            rows = self._text.in_own_text(rows, block)
        written, has_header = self._as_text(rows), not self._has_begun
        if self._check is not None:
            self._check.check(written, has_header=has_header, n_columns=rows.shape[1])
        self._has_begun = True
        try:
            self._file.write(self._encoder.encode(written))
        except UnicodeEncodeError as error:
            raise FileError(
                f"The text {error.object[error.start : error.end]!r} cannot be written as "
                f"{self._encoding}. Replace it in the table, or choose text that "
                f"{self._encoding} can hold."
            ) from error

    def finish(self) -> None:
        """Check that all rows of the source were written."""
        if self._check is not None:
            self._check.finish()

    def _as_text(self, rows: pd.DataFrame) -> str:
        """Return the rows as text; a cell with a line break of any sort is quoted."""
        lines = _Lines(self._newline)
        rows.to_csv(
            lines,  # type: ignore[call-overload]
            index=False,
            header=not self._has_begun,
            sep=self._delimiter,
            lineterminator=_ANY_LINE_BREAK,
        )
        return "".join(lines.lines)


class _Lines:
    """Lines of text with another end than they were given with.

    Cells with a character of the line end are quoted: lines must come with both a carriage
    return and a line feed, or a cell that holds the other one would be read back as two rows.
    """

    def __init__(self, newline: str) -> None:
        self.newline = newline
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line.removesuffix(_ANY_LINE_BREAK) + self.newline)


@contextmanager
def text_writer(path: str, source: TableFile | None = None) -> Iterator[TextWriter]:
    """Open a text file to be written whole or not at all, some rows at a time.

    What goes to standard output goes there when it is complete.
    """
    text = None if source is None else source.text
    ending = ".csv" if path == STANDARD_STREAM else check_ending(path, to_write=True)
    with ExitStack() as stack:
        rows = None if text is None else stack.enter_context(text.source.rows())
        if path == STANDARD_STREAM:
            file = stack.enter_context(spooled(_write_out))
        else:
            whole = stack.enter_context(writing_whole(path))
            file = stack.enter_context(compressing(whole, path))
        writer = TextWriter(file, _DELIMITERS[ending], text, rows)
        yield writer
        writer.finish()


def check_ending(path: str, *, to_write: bool = False) -> str:
    """Return the file's ending, if it is one that can be read, or written; that of text if packed.

    ``survey.csv.gz`` has the ending ``.csv``; a table in a database has ``::``.
    """
    if place_of(path) is not None:
        return TABLE
    ending, compression = split_endings(path)
    endings = [*_DELIMITERS, *BY_ENDING, *(WRITABLE if to_write else READABLE), *DATABASES]
    if compression and ending not in _DELIMITERS:
        raise InputError(
            f"What ends in {compression} must be text: {', '.join(_DELIMITERS)} before it; got "
            f"{path!r}. Unpack the file, or write it unpacked."
        )
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
            f"The name of a table file must end in {', '.join(endings)}, or be text with "
            f"{' or '.join(COMPRESSED)} after its ending; got {path!r}. {advice}"
        )
    return ending


def _all_of(file: Path) -> bytes:
    """Return the text of what can be read once, such as a pipe."""
    with opened(file) as stream:
        return stream.read()


def _read_statistical(path: str, codes: Mapping[Any, Any], *, guess: bool) -> TableFile:
    """Read a statistical file; where the columns are known already, so are the codes."""
    Path(path).open("rb").close()
    read = read_statistical(path, codes, guess=guess)
    return TableFile(
        read.table,
        notes=read.notes,
        reason_codes=read.reason_codes,
        without_reason=read.without_reason,
        kinds=read.kinds,
    )


def _index_columns(table: pa.Table) -> tuple[str, ...]:
    """Return the columns that pandas wrote as its index."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return tuple(name for name in index if name in table.column_names)


def check_standard_output() -> None:
    """Raise if standard output is closed, so that nothing can be written to it."""
    if sys.stdout is None:
        raise FileError("Cannot write to standard output: it is closed. Name a file instead of -.")


def _write_out(content: BinaryIO) -> None:
    check_standard_output()
    try:
        shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise FileError(f"Cannot write to standard output: {error.strerror}.") from error


def _write_text(path: str, table: Any, source: TableFile | None) -> None:
    frame = _as_frame(table) if isinstance(table, pa.Table) else table
    with text_writer(path, source) as writer:
        if source is not None and source.text is not None:
            first = 0
            for block in source.text.blocks():
                last = first + len(block.cells)
                writer.write(frame.iloc[first:last], block)
                first = last
            return
        for first in range(0, max(len(frame), 1), _ROWS_AT_ONCE):
            writer.write(frame.iloc[first : first + _ROWS_AT_ONCE])


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table to write as text: whole numbers stay whole beside missing cells."""
    plain = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    named = pa.table(plain, names=table.column_names)
    frame: pd.DataFrame = named.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return frame
