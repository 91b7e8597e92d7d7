"""Read and write tables in SQLite files.

SQLite keeps a type with each cell, not with each column, and has none for dates: columns are typed
by what they hold. Text of a column that is declared to hold dates or times is read as such where
it would be written back letter by letter.
"""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from diffjoint.io.formats.format import Database

_TABLES = """
SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name
"""
_ROWS_AT_ONCE = 10_000


class _Session:
    """An open file; see :class:`diffjoint.io.formats.format.Session`."""

    def __init__(self, path: str, to_write: bool) -> None:
        Path(path).open("rb").close()  # says what is wrong in the words of other files
        # Not "mode=ro": that could not undo what a process that was killed left half done.
        address = f"{Path(path).absolute().as_uri()}?mode=rw"
        with _explained():
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            with _explained():
                if to_write and not Path(path).stat().st_size:  # nobody waits for a new one
                    self._connection.execute("PRAGMA journal_mode = MEMORY")
                self._connection.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
        except OSError:
            self.close()
            raise

    def names(self) -> list[str]:
        """Return the names of the tables, or else of the views."""
        with _explained():
            tables, views = (
                [name for (name,) in self._connection.execute(_TABLES, (what,))]
                for what in ("table", "view")
            )
        return tables or views

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name, in capitals or not."""
        asked = "SELECT count(*) FROM sqlite_master WHERE name = ? COLLATE NOCASE"
        with _explained():
            return bool(self._connection.execute(asked, (name,)).fetchone()[0])

    def read(self, name: str) -> pa.Table:
        """Return a table, with types told by its cells."""
        with _explained():
            told = self._connection.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
            rows = self._connection.execute(f"SELECT * FROM {_quoted(name)}").fetchall()
        labels = [column[1] for column in told]
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(labels)
        columns = [
            _column(label, str(column[2]).upper(), own)
            for label, column, own in zip(labels, told, cells, strict=True)
        ]
        return pa.table(columns, names=labels)

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table; dates and times become text."""
        kinds = [_declared(field) for field in table.schema]
        named = zip(map(_quoted, table.column_names), kinds, strict=True)
        declared = ", ".join(f"{label} {kind}" for label, kind in named)
        places = ", ".join("?" * table.num_columns)
        with _explained():
            self._connection.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
            self._connection.execute(f"CREATE TABLE {_quoted(name)} ({declared})")
            for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
                columns = [[_stored(cell) for cell in one.to_pylist()] for one in batch.columns]
                rows = zip(*columns, strict=True)
                self._connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", rows)

    def commit(self) -> None:
        """Make lasting what was written."""
        with _explained():
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what was not committed is undone."""
        self._connection.close()


@contextmanager
def _explained() -> Iterator[None]:
    """Raise OSError for what SQLite, or a cell that it cannot hold, says."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        raise OSError(str(error)) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column(label: str, declared: str, cells: Sequence[Any]) -> pa.Array:
    """Return the cells of a column, typed by what they hold."""
    held = {type(cell) for cell in cells} - {type(None)}
    if held & {int, float} and str in held and not any(cell for cell in cells if type(cell) is str):
        cells = [None if cell == "" else cell for cell in cells]
        held -= {str}
    if not held:
        return pa.array(cells, _expected(declared))
    whole = [cell for cell in cells if type(cell) is int]
    if held == {int, float} and all(int(float(cell)) == cell for cell in whole):
        held = {float}
    if len(held) > 1:
        words = " and ".join(sorted(_WORDS[kind] for kind in held))
        raise OSError(f"column {label!r} holds {words}; make it one or the other")
    (kind,) = held
    if kind is int and "BOOL" in declared and {*cells} <= {0, 1, None}:
        return pa.array([None if cell is None else bool(cell) for cell in cells], pa.bool_())
    if kind is str:
        return _dated(declared, cells)
    return pa.array(cells, _TYPES[kind])


_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
_WORDS = {int: "whole numbers", float: "numbers", str: "text", bytes: "bytes"}


def _expected(declared: str) -> pa.DataType:
    """Return the type of a column without a value, by SQLite's own rules."""
    if "INT" in declared:
        return pa.int64()
    if any(part in declared for part in ("REAL", "FLOA", "DOUB", "NUM", "DEC")):
        return pa.float64()
    return pa.bool_() if "BOOL" in declared else pa.string()


def _dated(declared: str, cells: Sequence[str | None]) -> pa.Array:
    """Return text as dates or times where it is declared so and is written as they are."""
    for word, parse, kind in _DATED:
        if not declared.startswith(word):
            continue
        try:
            parsed = [None if cell is None else parse(cell) for cell in cells]
        except ValueError:
            break
        if [_stored(value) for value in parsed] == [*cells]:
            return pa.array(parsed, kind)
        break
    return pa.array(cells, pa.string())


_DATED: tuple[tuple[str, Callable[[str], Any], pa.DataType], ...] = (
    ("DATETIME", dt.datetime.fromisoformat, pa.timestamp("us")),
    ("TIMESTAMP", dt.datetime.fromisoformat, pa.timestamp("us")),
    ("DATE", dt.date.fromisoformat, pa.date32()),
)


def _declared(field: pa.Field) -> str:
    """Return the type to declare for a column of a type."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    for is_such, declared in _DECLARED:
        if is_such(kind):
            return declared
    raise OSError(
        f"column {field.name!r} is of the type {kind}, which SQLite cannot hold; write a .parquet "
        "or .duckdb file"
    )


_DECLARED: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_integer, "INTEGER"),
    (pa.types.is_floating, "REAL"),
    (pa.types.is_decimal, "DECIMAL"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_timestamp, "TIMESTAMP"),
    (pa.types.is_time, "TIME"),
    (pa.types.is_string, "TEXT"),
    (pa.types.is_large_string, "TEXT"),
    (pa.types.is_string_view, "TEXT"),
    (pa.types.is_binary, "BLOB"),
    (pa.types.is_large_binary, "BLOB"),
    (pa.types.is_null, "TEXT"),
)


def _stored(cell: Any) -> Any:
    """Return what SQLite keeps of a cell."""
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return cell if cell is None or isinstance(cell, int | float | str | bytes) else str(cell)


SQLITE = Database((".sqlite", ".sqlite3", ".db"), _Session)
