"""Text files that can be read again and again, some rows at a time."""

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from diffjoint.errors import FileError

_HEAD_BYTES = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
        The columns.
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
    stamp: tuple[int, ...]
    block_bytes: int

    def blocks(self) -> Iterator[pd.DataFrame]:
        """Yield the cells as text, some rows at a time; one block at least."""
        if _stamp(self.content) != self.stamp:
            raise FileError(
                f"{self.name} must stay as it is while it is read; it was changed. Run again."
            )
        with closing(Utf8Stream(self.content, self.encoding, self.name)) as stream:
            reader = pa_csv.open_csv(
                stream,
                read_options=pa_csv.ReadOptions(block_size=self.block_bytes, use_threads=False),
                parse_options=pa_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.names) > 1,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(self.names, pa.string()), strings_can_be_null=False
                ),
            )
            n_blocks = 0
            for n_blocks, batch in enumerate(reader, 1):  # noqa: B007
                yield batch.to_pandas().astype(str)
            if not n_blocks:
                yield reader.schema.empty_table().to_pandas().astype(str)


def open_source(
    name: str, content: Path | bytes, delimiter: str, encoding: str, block_bytes: int
) -> TextSource:
    """Find out how a text file is written."""
    with closing(_opened(content)) as file:
        head = file.read(_HEAD_BYTES)
    if encoding.lower() in ("utf-8", "utf8") and head.startswith(_BYTE_ORDER_MARK):
        encoding = "utf-8-sig"
    header = _header(content, encoding, name)
    delimiter = _delimiter(header, delimiter)
    names = next(csv.reader([header], delimiter=delimiter))
    newline = "\r\n" if b"\r\n" in head else "\n"
    how = (encoding, delimiter, newline, tuple(names), _stamp(content), block_bytes)
    return TextSource(name, content, *how)


def _header(content: Path | bytes, encoding: str, name: str) -> str:
    """The first line."""
    read = b""
    with closing(Utf8Stream(content, encoding, name)) as stream:
        while more := stream.read(_HEAD_BYTES):
            read += more
            if read.strip() and len(read.splitlines()) > 1:
                break
    text = read.decode(errors="ignore")  # a character may be cut off at the end
    if not text.strip():
        raise FileError(
            f"Cannot read {name}: it is empty. A first line with column names is needed."
        )
    return text.splitlines()[0]


def _delimiter(header: str, usual: str) -> str:
    """The usual delimiter, unless the header has another one only."""
    others = [mark for mark in (",", ";", "\t", "|") if mark in header]
    return others[0] if usual not in header and others else usual


def _opened(content: Path | bytes) -> BinaryIO:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _stamp(content: Path | bytes) -> tuple[int, ...]:
    if isinstance(content, bytes):
        return ()
    try:
        told = content.stat()
    except FileNotFoundError:
        return ()
    return told.st_size, told.st_mtime_ns


class Utf8Stream(io.RawIOBase):
    """A text file as UTF-8, without empty lines before the first and with an end to the last."""

    def __init__(self, content: Path | bytes, encoding: str, name: str) -> None:
        self._file = _opened(content)
        self._encoding, self._name = encoding, name
        self._rest, self._has_begun, self._is_at_end, self._last = b"", False, False, "\n"
        try:
            self._decoder = codecs.getincrementaldecoder(encoding)()
        except LookupError as error:
            self._file.close()
            raise self._not_decodable(error) from error

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, fewer at the end."""
        while not self._is_at_end and (size < 0 or len(self._rest) < size):
            self._rest += self._decoded(self._file.read(max(size, _HEAD_BYTES)))
        taken = len(self._rest) if size < 0 else size
        given, self._rest = self._rest[:taken], self._rest[taken:]
        return given

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _decoded(self, part: bytes) -> bytes:
        self._is_at_end = not part
        try:
            text = self._decoder.decode(part, final=self._is_at_end)
        except UnicodeDecodeError as error:
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
