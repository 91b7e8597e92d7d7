"""Text files in blocks: read as often as needed, never held whole.

A first reading tells what each column holds. Cells are then typed and written back block by block;
those that were there are written in their own text.
"""

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from diffjoint.errors import FileError
from diffjoint.knowledge.reason_codes import codes_by_column, matches
from diffjoint.table import MAX_LEVELS, Kind, Schema, is_number_text, open_table

BLOCK_BYTES = 1 << 18
"""Text that is read at a time."""
LARGE_BLOCK_BYTES = 1 << 26
"""The same where a row is longer than that."""
_HEAD_BYTES = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
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
        with closing(_Utf8(self.content, self.encoding, self.name)) as stream:
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


@dataclass(frozen=True)
class Manner:
    """How the text of a column is to be taken, and how other values are written in its manner.

    Attributes
    ----------
    holds : {"text", "whole", "number", "date"}
    form : str
        How dates are written.
    n_decimals : int or None
        How numbers are written; None: with six digits.
    has_codes : bool
        Whether reason codes stand in the column, which then stays text.
    """

    holds: Literal["text", "whole", "number", "date"]
    form: str = ""
    n_decimals: int | None = None
    has_codes: bool = False

    def typed(self, text: pd.Series, missing: NDArray[np.bool_]) -> pd.Series:
        """Give cells the type that the column's text has."""
        if self.holds == "text" or self.has_codes:
            return text.mask(missing)
        if self.holds == "date":
            dates = pd.to_datetime(text[~missing], format=self.form, errors="coerce")
            return dates.reindex(text.index).astype("datetime64[us]")
        numbers = pd.to_numeric(text.mask(missing))
        return numbers.astype("Int64" if self.holds == "whole" else "float64")

    def written(self, value: Any) -> str:
        """Write a value in the manner of the column."""
        if self.holds == "text":
            return str(value)
        if self.holds == "whole":
            return str(int(value))
        if self.holds == "date":
            return str(value.strftime(self.form))
        return f"{float(value):{'.6g' if self.n_decimals is None else f'.{self.n_decimals}f'}}"


@dataclass(frozen=True)
class TextBlock:
    """Some rows of a text file.

    Attributes
    ----------
    cells : DataFrame of str
        As they are written; cells with a reason code are empty.
    missing : bool array of the same shape
    table : DataFrame
        The same with types; reason codes stay.
    """

    cells: pd.DataFrame
    missing: NDArray[np.bool_]
    table: pd.DataFrame


@dataclass(frozen=True)
class TextTable:
    """The table in a text file, to be read in blocks and written back as it was.

    Attributes
    ----------
    source : TextSource
    manners : tuple of Manner
        By column.
    na_values : frozenset of str
        Text that stands for an empty cell.
    codes : tuple of dict
        Codes for empty cells by column, and what they mean.
    n_rows : int
    examples : int array
        Rows that together hold the lowest and highest number or date of each column, and its
        levels: what some of the rows must have to stand for all.
    counted : tuple of str
        Columns that count the rows.
    """

    source: TextSource
    manners: tuple[Manner, ...]
    na_values: frozenset[str]
    codes: tuple[Mapping[Any, str], ...]
    n_rows: int
    examples: NDArray[np.intp]
    counted: tuple[str, ...]

    @property
    def cells(self) -> pd.DataFrame:
        """All cells as text."""
        return pd.concat([block.cells for block in self.blocks()], ignore_index=True)

    def blocks(self) -> Iterator[TextBlock]:
        """Read the file, some rows at a time."""
        for cells in self.source.blocks():
            missing, coded = _empty(cells, self.na_values, self.codes)
            columns = [
                manner.typed(cells.iloc[:, i], missing[:, i])
                for i, manner in enumerate(self.manners)
            ]
            plain = cells.mask(coded, "") if coded.any() else cells
            yield TextBlock(plain, missing | coded, pd.concat(columns, axis=1))

    def some_rows(self, n_rows: int, seed: int) -> NDArray[np.intp]:
        """Choose rows at random that can stand for all: those with examples are among them."""
        at_random = np.random.default_rng(seed).choice(self.n_rows, n_rows, replace=False)
        places: NDArray[np.intp] = np.union1d(at_random, self.examples)
        return places

    def table(self, rows: NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Read the table with its types, or some rows of it, given in their order."""
        parts: list[list[pd.Series]] = [[] for _ in self.manners]
        first = 0
        for block in self.blocks():
            last = first + len(block.table)
            some = block.table
            if rows is not None:
                some = some.iloc[rows[slice(*np.searchsorted(rows, [first, last]))] - first]
            for i, part in enumerate(parts):
                part.append(some.iloc[:, i])
            first = last
        columns = []
        for i in range(len(parts)):
            columns.append(pd.concat(parts[i], ignore_index=True))
            parts[i] = []
        return pd.concat(columns, axis=1)

    def in_own_words(self, completed: pd.DataFrame, block: TextBlock) -> pd.DataFrame:
        """The text of completed rows: what was there or stays empty as it was written."""
        words: dict[Any, Any] = {}
        for i, name in enumerate(completed.columns):
            column = completed.iloc[:, i]
            if i >= len(self.manners):
                words[name] = column.astype(str)
                continue
            filled = np.flatnonzero(block.missing[:, i] & column.notna().to_numpy())
            words[name] = block.cells.iloc[:, i].to_numpy(dtype=object).copy()
            values = column.iloc[filled].tolist()
            words[name][filled] = [self.manners[i].written(value) for value in values]
        return pd.DataFrame(words)


def read_text(
    name: str,
    content: Path | bytes,
    delimiter: str,
    encoding: str,
    na_values: frozenset[str],
    schema: Schema | None,
    reason_codes: Mapping[Any, Any],
) -> TextTable:
    """Look through a text file and find out what its columns hold.

    Parameters
    ----------
    content : Path or bytes
        Where to read it, each time that it is read.
    schema : Schema or None
        What the columns are, if that is known.
    reason_codes : mapping
        Codes for empty cells. They stay in the table, but text is typed, and written back, as if
        they were empty.
    """
    source = _open_source(name, content, delimiter, encoding)
    look = partial(_look_through, na_values=na_values, schema=schema, reason_codes=reason_codes)
    try:
        try:
            return look(source)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
            return look(replace(source, block_bytes=LARGE_BLOCK_BYTES))
    except pa.ArrowInvalid as error:
        raise FileError(
            f"Cannot read {name}: {error}. Each row must have a cell for each of the "
            f"{len(source.names)} columns."
        ) from error


def _look_through(
    source: TextSource,
    na_values: frozenset[str],
    schema: Schema | None,
    reason_codes: Mapping[Any, Any],
) -> TextTable:
    seen: list[_Seen] = []
    codes: list[dict[Any, str]] = []
    n_rows = 0
    for cells in source.blocks():
        if not seen:
            codes = codes_by_column(open_table(cells), reason_codes) if reason_codes else []
            codes = codes or [{}] * cells.shape[1]
            seen = [_Seen(_known_kind(schema, name)) for name in cells.columns]
        missing, coded = _empty(cells, na_values, codes)
        for i, column in enumerate(seen):
            is_there = ~(missing[:, i] | coded[:, i])
            column.count(cells.iloc[:, i], is_complete=bool(is_there.all()))
            distinct = cells.iloc[:, i][is_there].drop_duplicates()
            column.look(
                distinct.tolist(),
                (distinct.index + n_rows).tolist(),
                has_codes=bool(coded[:, i].any()),
            )
        n_rows += len(cells)
    manners = tuple(column.manner() for column in seen)
    examples = np.unique([row for column in seen for row in column.examples()]).astype(np.intp)
    counted = tuple(name for name, one in zip(cells.columns, seen, strict=True) if one.is_counting)
    return TextTable(source, manners, na_values, tuple(codes), n_rows, examples, counted)


class _Seen:
    """What has been seen of a column's text so far."""

    def __init__(self, kind: str | None) -> None:
        self.kind = kind
        self.is_whole = self.is_number = self.is_empty = True
        self.has_exponents = self.has_codes = False
        self.n_decimals = 0
        self.forms: tuple[str, ...] = _DATE_FORMATS if kind != "number" else ()
        self.is_counting, self.last_count = True, float("nan")
        self.levels: dict[str, int] = {}
        self.ends: dict[str, tuple[Any, int]] = {}

    def count(self, column: pd.Series, *, is_complete: bool) -> None:
        """Find out whether whole numbers go on one by one from row to row."""
        self.is_counting = self.is_counting and is_complete and all(map(_is_whole, column))
        if self.is_counting and len(column):
            counts = column.to_numpy(dtype=np.float64)
            before = counts[0] - 1 if math.isnan(self.last_count) else self.last_count
            self.is_counting = bool((np.diff(counts, prepend=before) == 1).all())
            self.last_count = float(counts[-1])

    def look(self, texts: list[str], rows: Sequence[int], *, has_codes: bool) -> None:
        """Take some distinct texts into account, and the rows that they stand in."""
        for text, row in zip(texts, rows, strict=True):
            if len(self.levels) > MAX_LEVELS:
                break
            self.levels.setdefault(text, row)
        self.has_codes |= has_codes
        self.is_empty &= not texts
        if self.kind == "text" or not texts:
            return
        self.is_whole = self.is_whole and all(map(_is_whole, texts))
        self.is_number = self.is_number and all(map(is_number_text, texts))
        if self.is_number or self.is_whole:
            self.has_exponents |= any("e" in text or "E" in text for text in texts)
            self.n_decimals = max(self.n_decimals, *(len(text.partition(".")[2]) for text in texts))
        self.forms = tuple(form for form in self.forms if _are_dates(texts, form))
        if self.is_number or self.is_whole:
            self._keep_ends([float(text) for text in texts], rows)
        elif self.forms:
            self._keep_ends(texts, rows)

    def _keep_ends(self, values: Sequence[Any], rows: Sequence[int]) -> None:
        """Keep the rows of the lowest and the highest value, and of one that is not whole."""
        pairs = list(zip(values, rows, strict=True))
        self.ends["low"] = min([*pairs, *self._end("low")])
        self.ends["high"] = max([*pairs, *self._end("high")])
        fractions = [pair for pair in pairs if isinstance(pair[0], float) and pair[0] % 1]
        if fractions:
            self.ends.setdefault("fraction", fractions[0])

    def _end(self, name: str) -> list[tuple[Any, int]]:
        return [self.ends[name]] if name in self.ends else []

    def examples(self) -> list[int]:
        """Rows that together hold the levels, or the ends, of what was seen."""
        return [*self.levels.values(), *(row for _, row in self.ends.values())]

    def manner(self) -> Manner:
        """What all that was seen comes to."""
        said = partial(Manner, has_codes=self.has_codes)
        if self.kind == "text" or (self.kind is None and self.is_empty):
            return said("text")
        if self.kind is None and self.is_whole:
            return said("whole")
        if self.kind != "date" and (self.is_number or (self.kind == "number" and self.is_whole)):
            by_digits = self.is_empty or self.has_exponents
            return said("number", n_decimals=None if by_digits else self.n_decimals)
        return said("date", form=self.forms[0]) if self.forms else said("text")


def _empty(
    cells: pd.DataFrame, na_values: frozenset[str], codes: Sequence[Mapping[Any, str]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Cells that are empty, and those that hold a reason code."""
    missing = cells.isin({"", *na_values}).to_numpy()
    coded = np.zeros(cells.shape, dtype=bool)
    for i, own in enumerate(codes):
        if own:
            column = cells.iloc[:, i]
            found = matches(own, column.unique().tolist())
            coded[:, i] = column.isin(set(found)).to_numpy() & ~missing[:, i]
    return missing, coded


def _known_kind(schema: Schema | None, name: str) -> str | None:
    """How the text of a column is to be taken: as number, date or text; None: find out."""
    column = next((c for c in schema.columns if c.name == name), None) if schema else None
    if column is None:
        return None
    if column.kind is Kind.DATETIME:
        return "date"
    is_text = any(isinstance(level, str) for level in column.levels)
    return "text" if is_text or not column.is_modelled else "number"


def _is_whole(text: str) -> bool:
    return is_number_text(text) and bool(_WHOLE.fullmatch(text))


def _are_dates(texts: list[str], form: str) -> bool:
    """Whether all are written in one form; the first alone mostly tells."""
    return all(
        bool((pd.to_datetime(some, format=form, errors="coerce").dt.strftime(form) == some).all())
        for some in (pd.Series(texts[:1], dtype=str), pd.Series(texts, dtype=str))
    )


def _open_source(name: str, content: Path | bytes, delimiter: str, encoding: str) -> TextSource:
    with closing(_opened(content)) as file:
        head = file.read(_HEAD_BYTES)
    if encoding.lower() in ("utf-8", "utf8") and head.startswith(_BYTE_ORDER_MARK):
        encoding = "utf-8-sig"
    header = _header(content, encoding, name)
    delimiter = _delimiter(header, delimiter)
    names = next(csv.reader([header], delimiter=delimiter))
    newline = "\r\n" if b"\r\n" in head else "\n"
    how = (encoding, delimiter, newline, tuple(names), _stamp(content), BLOCK_BYTES)
    return TextSource(name, content, *how)


def _header(content: Path | bytes, encoding: str, name: str) -> str:
    """The first line."""
    read = b""
    with closing(_Utf8(content, encoding, name)) as stream:
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


class _Utf8(io.RawIOBase):
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
