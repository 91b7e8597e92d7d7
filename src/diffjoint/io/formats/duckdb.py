"""Read and write tables in DuckDB files."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from diffjoint.io.formats.format import Database

_NAMES = """
SELECT CASE WHEN schema_name = 'main' THEN '' ELSE schema_name END, {what}_name
FROM duckdb_{what}s() WHERE NOT internal AND database_name = current_database() ORDER BY ALL
"""
_HAS = """
SELECT count(*) FROM duckdb_{what}s() WHERE NOT internal AND database_name = current_database()
AND lower(schema_name) = lower(?) AND lower({what}_name) = lower(?)
"""
_SCHEMAS = "SELECT count(*) FROM duckdb_schemas() WHERE schema_name = ?"
_GIVEN = "diffjoint_given"


class _Session:
    """An open file; see :class:`diffjoint.io.formats.format.Session`.

    DuckDB takes no empty file for a new database: that is made elsewhere, and copied when done.
    """

    def __init__(self, path: str, to_write: bool) -> None:
        Path(path).open("rb").close()  # says what is wrong in the words of other files
        self._library: Any = import_module("duckdb")
        self._path, self._is_new = path, to_write and not Path(path).stat().st_size
        with ExitStack() as opened, self._explained():
            if self._is_new:
                path = f"{opened.enter_context(tempfile.TemporaryDirectory())}/new.duckdb"
            self._connection = self._library.connect(path, read_only=not to_write)
            opened.callback(self._connection.close)
            self._connection.execute("SET TimeZone = 'UTC'")
            self._connection.execute("BEGIN")
            self._close = opened.pop_all().close
        self._made = path

    def names(self) -> list[str]:
        """Return the names of the tables, or else of the views; those of other schemas in full."""
        with self._explained():
            tables, views = (
                self._connection.execute(_NAMES.format(what=what)).fetchall()
                for what in ("table", "view")
            )
        return [".".join(filter(None, names)) for names in tables or views]

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name, in capitals or not."""
        with self._explained():
            schema, own = self._split(name)
            return any(
                self._connection.execute(_HAS.format(what=what), [schema, own]).fetchone()[0]
                for what in ("table", "view")
            )

    def read(self, name: str) -> pa.Table:
        """Return a table, with its types as Arrow has them."""
        with self._explained():
            table = self._connection.sql(f"SELECT * FROM {self._quoted(name)}").to_arrow_table()
        return pa.table(table.columns, schema=table.schema)

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table; categories become enums."""
        columns = ", ".join(
            f"CAST({_quoted(field.name)} AS {_enum(table[field.name])}) AS {_quoted(field.name)}"
            if pa.types.is_dictionary(field.type) and _is_text(field.type.value_type)
            else _quoted(field.name)
            for field in table.schema
        )
        with self._explained():
            self._connection.register(_GIVEN, table)
            self._connection.execute(
                f"CREATE OR REPLACE TABLE {self._quoted(name)} AS SELECT {columns} FROM {_GIVEN}"
            )
            self._connection.unregister(_GIVEN)

    def commit(self) -> None:
        """Make lasting what was written; a new file is then complete."""
        with self._explained():
            self._connection.execute("COMMIT")
            self._connection.execute("CHECKPOINT")
        if self._is_new:
            self._connection.close()
            shutil.copyfile(self._made, self._path)

    def close(self) -> None:
        """Close the file; what was not committed is undone."""
        self._close()

    def _split(self, name: str) -> tuple[str, str]:
        """Return the schema and the name of a table."""
        schema, _, rest = name.partition(".")
        if rest and self._connection.execute(_SCHEMAS, [schema]).fetchone()[0]:
            return schema, rest
        return "main", name

    def _quoted(self, name: str) -> str:
        """Return a name as SQL has it, that of its schema before it."""
        return ".".join(map(_quoted, self._split(name)))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise OSError for what DuckDB says."""
        try:
            yield
        except self._library.Error as error:
            raise OSError(str(error)) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _enum(column: pa.ChunkedArray) -> str:
    """Return the type of a column of categories."""
    levels = column.unify_dictionaries().chunk(0).dictionary.to_pylist() if len(column) else [""]
    return f"ENUM({', '.join(_text(level) for level in levels)})"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _text(level: str) -> str:
    return "'" + level.replace("'", "''") + "'"


DUCKDB = Database((".duckdb", ".ddb"), _Session, "duckdb", "duckdb")
