"""Text files that can be read again and again, some rows at a time."""

import codecs
import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from diffjoint.errors import FileError
from diffjoint.io.compression import opened
from diffjoint.io.names import distinct_names

_HEAD_BYTES = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DELIMITERS = (",", ";", "\t", "|")
_ROWS_AT_ONCE = 10_000
_LONGEST_CELL = 2**31 - 1
"""Characters of a cell, for Python's own parser: as many as it can be told."""


@dataclass(frozen=True)
class TextSource:
    """A text file, or the bytes of one, that can be read again.

    Attributes
    ----------
    name : str
        What to call it in errors.
    content : Path or bytes
    encoding, delimiter, newline : str
    names : tuple of str
        The columns; those that share a name in the file are told apart.
    header : tuple of str
        Their names as the file has them.
    stamp : tuple of int
        Size and time of the file when it was first read; empty for bytes.
    block_bytes : int
    """

    name: str
    content: Path | bytes
    encoding: str
    delimiter: str
    newline: str
    names: tuple[str, ...]
    header: tuple[str, ...]
    stamp: tuple[int, ...]
    block_bytes: int

    def blocks(self) -> Iterator[pd.DataFrame]:
        """Yield the cells as text, some rows at a time; one block at least."""
        if _stamp(self.content) != self.stamp:
            raise FileError(
                f"{self.name} must stay as it is while it is read; it was changed. Run again."
            )
        n_columns, n_blocks = len(self.names), 0
        with closing(self._open()) as stream:
            reader = _open_rows(
                stream, self.delimiter, self.block_bytes, n_columns, skip_blank=n_columns > 1
            )
            is_header, last = True, ""
            for batch in reader:
                rows = batch.slice(1) if is_header else batch
                is_header = False
                last = batch.columns[-1][-1].as_py() if len(batch) else last
                if len(rows):
                    n_blocks += 1
                    yield self._as_frame(rows)
            if last.endswith(("\n", "\r")):
                self._check_closed()
            if not n_blocks:
                yield self._as_frame(reader.schema.empty_table())

    def _check_closed(self) -> None:
        """Raise if a quote is open at the end: all that follows it would be taken for one cell."""
        with closing(self._open()) as stream:
            lines = io.TextIOWrapper(cast(BinaryIO, stream), encoding="utf-8", newline="")
            parser, last = RowParser(chain(lines, ["end"]), self.delimiter, 2), []
            while rows := parser.take(_ROWS_AT_ONCE):
                last = rows[-1]
        if last != ["end"]:
            raise FileError(
                f"Cannot read {self.name}: a quote in its last row is opened and never closed: "
                f"{last[-1].removesuffix('end')[:60]!r}. Close it, or take it out."
            )

    @contextmanager
    def rows(self) -> Iterator["RowParser"]:
        """Open the rows, that of the names first, for Python's own parser: a second opinion."""
        with closing(self._open()) as stream:
            lines = io.TextIOWrapper(cast(BinaryIO, stream), encoding="utf-8", newline="")
            yield RowParser(lines, self.delimiter, len(self.names))

    def _open(self) -> "Utf8Stream":
        return Utf8Stream(self.content, self.encoding, self.name)

    def _as_frame(self, rows: pa.RecordBatch | pa.Table) -> pd.DataFrame:
        """Return rows of text with the names of the columns."""
        frame: pd.DataFrame = rows.to_pandas().astype(str)
        return frame.set_axis(list(self.names), axis=1)


class RowParser:
    r"""Parse rows by Python's own parser; a blank line is a row only of a single column.

    Examples
    --------
    >>> RowParser(["a,b\n", "\n", '"1,5",\n'], ",", 2).take()
    [['a', 'b'], ['1,5', '']]
    """

    def __init__(self, lines: Iterable[str], delimiter: str, n_columns: int) -> None:
        rows = csv.reader(lines, delimiter=delimiter)
        self._rows = filter(None, rows) if n_columns > 1 else (row or [""] for row in rows)

    def take(self, n_rows: int | None = None) -> list[list[str]]:
        """Return the next rows, or all that are left."""
        usual = csv.field_size_limit(_LONGEST_CELL)
        try:
            return list(islice(self._rows, n_rows))
        finally:
            csv.field_size_limit(usual)


def open_source(
    name: str, content: Path | bytes, delimiter: str, encoding: str, block_bytes: int
) -> TextSource:
    """Find out how a text file is written, and read the names of its columns.

    The names are read as cells are, by the same parser: only so does each find its column.
    """
    with closing(_opened(content)) as file:
        head = file.read(_HEAD_BYTES)
    if encoding.lower() in ("utf-8", "utf8") and head.startswith(_BYTE_ORDER_MARK):
        encoding = "utf-8-sig"

    def open_stream() -> Utf8Stream:
        return Utf8Stream(content, encoding, name)

    _check_not_blank(open_stream, name)
    delimiter, n_columns = _find_delimiter(open_stream, delimiter, block_bytes)
    with closing(open_stream()) as stream:
        first = next(iter(_open_rows(stream, delimiter, block_bytes, n_columns, only_header=True)))
    header = tuple(column[0].as_py() for column in first.columns)
    how = (
        encoding,
        delimiter,
        _newline(head, encoding),
        distinct_names(header),
        header,
        _stamp(content),
        block_bytes,
    )
    return TextSource(name, content, *how)


def _open_rows(
    stream: "Utf8Stream",
    delimiter: str,
    block_bytes: int,
    n_columns: int | None = None,
    *,
    skip_blank: bool = True,
    only_header: bool = False,
) -> Any:
    """Open all rows, that of the names included, as text; columns are known by their position.

    Parameters
    ----------
    n_columns : int or None
        None: to be found out, so that types do not matter.
    only_header : bool
        Whether rows of another length may be left out, as only the first is asked for.
    """
    columns = {f"f{i}": pa.string() for i in range(n_columns or 0)}
    return pa_csv.open_csv(
        stream,
        read_options=pa_csv.ReadOptions(
            block_size=block_bytes, use_threads=False, autogenerate_column_names=True
        ),
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=skip_blank,
            invalid_row_handler=(lambda row: "skip") if only_header else None,
        ),
        convert_options=pa_csv.ConvertOptions(column_types=columns, strings_can_be_null=False),
    )


def _check_not_blank(open_stream: Callable[[], "Utf8Stream"], name: str) -> None:
    with closing(open_stream()) as stream:
        if not any(part.strip() for part in iter(lambda: stream.read(_HEAD_BYTES), b"")):
            raise FileError(
                f"Cannot read {name}: it is empty. A first line with column names is needed."
            )


def _find_delimiter(
    open_stream: Callable[[], "Utf8Stream"], usual: str, block_bytes: int
) -> tuple[str, int]:
    """Return the usual delimiter, or the one that alone makes several columns; and how many."""
    for delimiter in (usual, *_DELIMITERS):
        with closing(open_stream()) as stream:
            rows = _open_rows(stream, delimiter, block_bytes, only_header=True)
            if len(rows.schema) > 1:
                return delimiter, len(rows.schema)
    return usual, 1


def unreadable(name: str, error: OSError) -> FileError:
    """Return the error for a file that cannot be read."""
    return FileError(f"Cannot read {name}: {error.strerror or error}. Check the path and the file.")


def _newline(head: bytes, encoding: str) -> str:
    """Return what ends the lines of a file, which was found to be text of this encoding."""
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(head)
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _opened(content: Path | bytes) -> BinaryIO:
    return io.BytesIO(content) if isinstance(content, bytes) else opened(content)


def _stamp(content: Path | bytes) -> tuple[int, ...]:
    if isinstance(content, bytes):
        return ()
    try:
        told = content.stat()
    except FileNotFoundError:
        return ()
    return told.st_size, told.st_mtime_ns


class Utf8Stream(io.RawIOBase):
    """A text file as UTF-8, without blank lines before the first and with an end to the last."""

    def __init__(self, content: Path | bytes, encoding: str, name: str) -> None:
        try:
            self._file = _opened(content)
        except OSError as error:
            raise unreadable(name, error) from error
        self._encoding, self._name = encoding, name
        self._rest, self._has_begun, self._is_at_end, self._last = b"", False, False, "\n"
        try:
            "".encode(encoding)  # not every codec is one of text
            self._decoder = codecs.getincrementaldecoder(encoding)()
        except (LookupError, ValueError) as error:
            self._file.close()
            raise self._not_decodable(error) from error

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or fewer at the end."""
        while not self._is_at_end and (size < 0 or len(self._rest) < size):
            self._rest += self._decoded(self._read(max(size, _HEAD_BYTES)))
        taken = len(self._rest) if size < 0 else size
        given, self._rest = self._rest[:taken], self._rest[taken:]
        return given

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            raise unreadable(self._name, error) from error

    def _decoded(self, part: bytes) -> bytes:
        self._is_at_end = not part
        try:
            text = self._decoder.decode(part, final=self._is_at_end)
        except UnicodeError as error:  # also of a stream without a byte order mark
            raise self._not_decodable(error) from error
        if not self._has_begun:
            text = text.lstrip("\r\n")
            self._has_begun = bool(text)
        self._last = text[-1:] or self._last
        if self._is_at_end and self._last not in "\r\n":
            text += "\n"
        return text.encode()

    def _not_decodable(self, error: Exception) -> FileError:
        return FileError(
            f"Cannot read {self._name} as {self._encoding} text ({error}). Name its encoding with "
            "--encoding, for example latin-1."
        )
