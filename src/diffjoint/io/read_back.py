"""Check text that is about to be written: every observed cell must have the text it was read with.

The check stands apart from what it checks: both files are parsed by Python's own parser, the table
was read by another. It takes about half as long as reading does.
"""

import io
from collections.abc import Sequence

from diffjoint.errors import FileError
from diffjoint.io.text import TextTable
from diffjoint.io.text_source import RowParser
from diffjoint.knowledge.reason_codes import matches


class ReadBackCheck:
    """Compare rows of text with those of the file that they came from, in its order.

    Parameters
    ----------
    text : TextTable
        The table that is written back.
    rows : RowParser
        The rows of its source, that of the names first.
    delimiter : str
        What the written text has between cells.
    """

    def __init__(self, text: TextTable, rows: RowParser, delimiter: str) -> None:
        self._text, self._rows, self._delimiter = text, rows, delimiter
        self._missing = frozenset({"", *text.na_values})
        self._n_rows = 0

    def check(self, written: str, *, has_header: bool, n_columns: int) -> None:
        """Raise unless the next rows hold the observed cells of the source.

        Parameters
        ----------
        written : str
        has_header : bool
            Whether the first row holds the names.
        n_columns : int
            Of the written text, which may have more than the source.
        """
        lines = io.StringIO(written, newline="")
        rows = RowParser(lines, self._delimiter, n_columns).take()
        if has_header:
            self._check_names(self._rows.take(1)[0], rows.pop(0))
        n_own = len(self._text.source.names)
        sources = self._rows.take(len(rows))
        if len(sources) != len(rows):
            raise self._wrong(f"{len(rows) - len(sources)} rows more would be written than read")
        for source, row in zip(sources, rows, strict=True):
            self._n_rows += 1
            own = row[:n_own]
            if own != source:
                self._check_row(source, own)

    def finish(self) -> None:
        """Raise if the source has rows that were not written."""
        if self._rows.take(1):
            raise self._wrong(f"only {self._n_rows:,} of its rows would be written")

    def _check_names(self, source: Sequence[str], names: Sequence[str]) -> None:
        if list(names[: len(source)]) != list(source):
            raise self._wrong(f"the column names {source} would be written as {list(names)}")

    def _check_row(self, source: Sequence[str], row: Sequence[str]) -> None:
        if len(row) != len(source):
            raise self._wrong(f"row {self._n_rows:,} would be written with {len(row)} cells")
        for i, (before, after) in enumerate(zip(source, row, strict=True)):
            if before != after and before not in self._missing and not self._is_code(before, i):
                raise self._wrong(
                    f"row {self._n_rows:,} has {before!r} in column "
                    f"{self._text.source.names[i]!r}, which would be written as {after!r}"
                )

    def _is_code(self, cell: str, column: int) -> bool:
        codes = self._text.codes[column]
        return bool(codes and matches(codes, [cell]))

    def _wrong(self, what: str) -> FileError:
        return FileError(
            f"Observed cells of {self._text.source.name} must be written as they were read; "
            f"{what}. So nothing was written, and what was there before is still there. This is a "
            "fault of diffjoint, not of the table: please report it, with the first lines of the "
            "file. A Parquet file of the same table is not concerned."
        )
