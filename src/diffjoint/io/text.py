"""Text files in blocks: read as often as needed, never held whole.

A first reading tells what each column holds. Cells are then typed and written back block by block;
those that were there are written in their own text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from diffjoint.errors import FileError
from diffjoint.io.column_formats import ColumnFormat, ColumnScan, known_kind
from diffjoint.io.text_source import TextSource, open_source
from diffjoint.knowledge.reason_codes import codes_by_column, matches
from diffjoint.table import Schema, open_table

BLOCK_BYTES = 1 << 18
"""Text that is read at a time."""
LARGE_BLOCK_BYTES = 1 << 26
"""The same where a row is longer than that."""
_ROW_TOO_LONG = ("straddling", "cannot infer number of columns")
"""Words of the parser for a row, or a row of names, that is longer than a block."""


@dataclass(frozen=True)
class TextBlock:
    """Some rows of a text file.

    Attributes
    ----------
    cells : DataFrame of str
        Their text as it is in the file; "" for cells with a reason code.
    missing : bool array of the same shape
        Cells without a value: those that hold nothing, a missing token or a reason code.
    table : DataFrame
        The rows with types; reason codes stay.
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
    formats : tuple of ColumnFormat
        By column.
    na_values : frozenset of str
        Text that stands for a missing cell.
    codes : tuple of dict
        Reason codes by column, and what they mean.
    n_rows : int
    examples : int array
        Rows that together hold the lowest and highest number or date of each column, and its
        levels: any choice of rows that is to stand for all must have them.
    counted : tuple of str
        Names of the columns that count the rows.
    scans : tuple of ColumnScan
        What was seen of each column.
    """

    source: TextSource
    formats: tuple[ColumnFormat, ...]
    na_values: frozenset[str]
    codes: tuple[Mapping[Any, str], ...]
    n_rows: int
    examples: NDArray[np.intp]
    counted: tuple[str, ...]
    scans: tuple[ColumnScan, ...] = field(default=(), repr=False, compare=False)

    @property
    def with_commas(self) -> tuple[str, ...]:
        """Names of the columns whose numbers have a decimal comma."""
        pairs = zip(self.source.names, self.formats, strict=True)
        return tuple(name for name, form in pairs if form.has_commas)

    @property
    def cells(self) -> pd.DataFrame:
        """Return all cells as text."""
        return pd.concat([block.cells for block in self.blocks()], ignore_index=True)

    def blocks(self) -> Iterator[TextBlock]:
        """Read the file, some rows at a time."""
        for cells in self.source.blocks():
            missing, coded = _missing_and_coded(cells, self.na_values, self.codes)
            columns = [
                one.parse(cells.iloc[:, i], missing[:, i], coded[:, i])
                for i, one in enumerate(self.formats)
            ]
            plain = cells.mask(coded, "") if coded.any() else cells
            yield TextBlock(plain, missing | coded, pd.concat(columns, axis=1))

    def some_rows(self, n_rows: int, seed: int) -> NDArray[np.intp]:
        """Choose rows at random, and those with examples, so that they can stand for all."""
        at_random = np.random.default_rng(seed).choice(self.n_rows, n_rows, replace=False)
        places: NDArray[np.intp] = np.union1d(at_random, self.examples)
        return places

    def table(self, rows: NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Read the table with its types, or only some rows, given in ascending order."""
        parts: list[list[pd.Series]] = [[] for _ in self.formats]
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

    def in_own_text(self, completed: pd.DataFrame, block: TextBlock) -> pd.DataFrame:
        """Return completed rows as text; cells that were not filled keep the text they had.

        Columns have the names that they have in the file.
        """
        texts: dict[Any, Any] = {}
        for i, name in enumerate(completed.columns):
            column = completed.iloc[:, i]
            if i >= len(self.formats):
                texts[name] = column.astype(str)
                continue
            filled = np.flatnonzero(block.missing[:, i] & column.notna().to_numpy())
            texts[name] = block.cells.iloc[:, i].to_numpy(dtype=object).copy()
            values = column.iloc[filled].tolist()
            texts[name][filled] = [self.formats[i].write(value) for value in values]
        own = pd.DataFrame(texts)
        return own.set_axis([*self.source.header, *own.columns[len(self.source.header) :]], axis=1)


def read_text(
    name: str,
    content: Path | bytes,
    delimiter: str,
    encoding: str,
    na_values: frozenset[str],
    schema: Schema | None,
    reason_codes: Mapping[Any, Any],
    decimal: str | None = None,
) -> TextTable:
    """Look through a text file to find out what its columns hold.

    Parameters
    ----------
    content : Path or bytes
        Where to read it, each time that it is read.
    schema : Schema or None
        What the columns are, if that is known.
    reason_codes : mapping
        Codes for missing cells. They stay in the table, but text is converted, and written back,
        as if those cells held nothing.
    decimal : {".", ","} or None
        What numbers have before their decimals; None: a point, or a comma where it does not stand
        between cells.
    """
    for block_bytes in (BLOCK_BYTES, LARGE_BLOCK_BYTES):
        n_columns = None
        try:
            source = open_source(name, content, delimiter, encoding, block_bytes)
            n_columns = len(source.names)
            commas = decimal == "," or (decimal is None and source.delimiter != ",")
            return _scan(source, na_values, schema, reason_codes, may_have_commas=commas)
        except pa.ArrowInvalid as error:
            is_too_long = any(words in str(error) for words in _ROW_TOO_LONG)
            if block_bytes == LARGE_BLOCK_BYTES or not is_too_long:
                each = f" for each of the {n_columns} columns" if n_columns else " in each column"
                raise FileError(
                    f"Cannot read {name}: {error}. Each row must have a cell{each}."
                ) from error
    raise AssertionError("the last size of a block either is read or raises")


def names_in(name: str, content: Path, delimiter: str, encoding: str) -> tuple[str, ...]:
    """Return the names of the columns of a text file; the cells are not read."""
    for block_bytes in (BLOCK_BYTES, LARGE_BLOCK_BYTES):
        try:
            return open_source(name, content, delimiter, encoding, block_bytes).names
        except pa.ArrowInvalid as error:
            if block_bytes == LARGE_BLOCK_BYTES:
                raise FileError(f"Cannot read {name}: {error}. Check the file.") from error
    raise AssertionError("the last size of a block either is read or raises")


def in_one_format(tables: Sequence[TextTable]) -> list[TextTable]:
    """Return text files of one table, the same columns in each, read in formats that all have.

    What only the choice of rows needs is left out.
    """
    pairs = zip(*(table.scans for table in tables), strict=True)
    formats = tuple(reduce(ColumnScan.merged, scans).choose() for scans in pairs)
    nothing = np.empty(0, dtype=np.intp)
    return [replace(table, formats=formats, examples=nothing, scans=()) for table in tables]


def _scan(
    source: TextSource,
    na_values: frozenset[str],
    schema: Schema | None,
    reason_codes: Mapping[Any, Any],
    *,
    may_have_commas: bool,
) -> TextTable:
    scans: list[ColumnScan] = []
    codes: list[dict[Any, str]] = []
    n_rows = 0
    for cells in source.blocks():
        if not scans:
            codes = codes_by_column(open_table(cells), reason_codes) if reason_codes else []
            codes = codes or [{}] * cells.shape[1]
            kinds = [known_kind(schema, name) for name in cells.columns]
            scans = [ColumnScan(kind, may_have_commas=may_have_commas) for kind in kinds]
        missing, coded = _missing_and_coded(cells, na_values, codes)
        for i, column in enumerate(scans):
            is_there = ~(missing[:, i] | coded[:, i])
            column.check_counting(cells.iloc[:, i], is_complete=bool(is_there.all()))
            distinct = cells.iloc[:, i][is_there].drop_duplicates()
            column.add(
                distinct.tolist(),
                (distinct.index + n_rows).tolist(),
                has_codes=bool(coded[:, i].any()),
            )
        n_rows += len(cells)
    formats = tuple(column.choose() for column in scans)
    examples = np.unique([row for column in scans for row in column.examples()]).astype(np.intp)
    counted = tuple(name for name, one in zip(cells.columns, scans, strict=True) if one.is_counting)
    return TextTable(
        source, formats, na_values, tuple(codes), n_rows, examples, counted, tuple(scans)
    )


def _missing_and_coded(
    cells: pd.DataFrame, na_values: frozenset[str], codes: Sequence[Mapping[Any, str]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which cells hold nothing or a missing token, and which hold a reason code."""
    missing = cells.isin({"", *na_values}).to_numpy()
    coded = np.zeros(cells.shape, dtype=bool)
    for i, own in enumerate(codes):
        if own:
            column = cells.iloc[:, i]
            found = matches(own, column.unique().tolist())
            coded[:, i] = column.isin(set(found)).to_numpy() & ~missing[:, i]
    return missing, coded
