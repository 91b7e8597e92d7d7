"""Read and write tables on servers, by their SQLAlchemy address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from typing import Any

import pyarrow as pa

from diffjoint._extras import is_there
from diffjoint.io.formats.format import Database

_ROWS_AT_ONCE = 10_000
_DRIVERS = {"postgresql": "psycopg"}
"""Drivers to use where an address names none."""


class _Session:
    """An open connection; see :class:`diffjoint.io.formats.format.Session`."""

    def __init__(self, address: str, to_write: bool) -> None:
        self._sql: Any = import_module("sqlalchemy")
        with self._explained():
            url = self._sql.engine.make_url(address)
            driver = _DRIVERS.get(url.drivername)
            if driver is not None and is_there(driver):
                url = url.set(drivername=f"{url.drivername}+{driver}")
            self._engine = self._sql.create_engine(url)
            self._connection = self._engine.connect()
        self._transaction = self._connection.begin()

    def names(self) -> list[str]:
        """Return the names of the tables, or else of the views."""
        with self._explained():
            inspector = self._sql.inspect(self._connection)
            names: list[str] = inspector.get_table_names() or inspector.get_view_names()
        return sorted(names)

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name."""
        with self._explained():
            schema, own = self._split(name)
            return bool(self._sql.inspect(self._connection).has_table(own, schema=schema))

    def read(self, name: str) -> pa.Table:
        """Return a table; types that Arrow has no like of are read as the server writes them."""
        sql = self._sql
        with self._explained():
            schema, own = self._split(name)
            given = sql.Table(own, sql.MetaData(), schema=schema, autoload_with=self._connection)
            kinds = {column.name: self._kind(column.type) for column in given.columns}
            asked = [
                sql.cast(column, sql.Text).label(column.name)
                if kinds[column.name] is None
                else column
                for column in given.columns
            ]
            parts = [
                _batch(rows, kinds)
                for rows in self._connection.execute(sql.select(*asked)).partitions(_ROWS_AT_ONCE)
            ] or [_batch([], kinds)]
        return pa.concat_tables(parts, promote_options="permissive")

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table row by row, within the transaction."""
        sql = self._sql
        with self._explained():
            schema, own = self._split(name)
            columns = [sql.Column(field.name, self._declared(field)) for field in table.schema]
            made = sql.Table(own, sql.MetaData(), *columns, schema=schema)
            made.drop(self._connection, checkfirst=True)
            made.create(self._connection)
            for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
                if batch.num_rows:
                    self._connection.execute(sql.insert(made), batch.to_pylist())

    def commit(self) -> None:
        """Make lasting what was written."""
        with self._explained():
            self._transaction.commit()

    def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        self._connection.close()
        self._engine.dispose()

    def _split(self, name: str) -> tuple[str | None, str]:
        """Return the schema and the name of a table; None: where the server looks by itself."""
        inspector = self._sql.inspect(self._connection)
        schema, _, own = name.partition(".")
        if own and not inspector.has_table(name) and schema in inspector.get_schema_names():
            return schema, own
        return None, name

    def _kind(self, kind: Any) -> pa.DataType | None:
        """Return a column's type for Arrow, "decimal" left to its cells; None if there is none."""
        sql = self._sql
        if isinstance(kind, sql.Enum):
            return pa.dictionary(pa.int32(), pa.string())
        if isinstance(kind, sql.Numeric) and not isinstance(kind, sql.Float):
            is_sized = kind.precision is not None and kind.precision <= _MOST_DIGITS
            return pa.decimal128(kind.precision, kind.scale or 0) if is_sized else pa.null()
        if isinstance(kind, sql.DateTime):
            return pa.timestamp("us", tz="UTC" if kind.timezone else None)
        if isinstance(kind, sql.Time) and kind.timezone:
            return None
        for name, of_arrow in _KINDS:
            if isinstance(kind, getattr(sql, name)):
                return of_arrow
        return None

    def _declared(self, field: pa.Field) -> Any:
        """Return the type to declare for a column of a type."""
        sql, kind = self._sql, field.type
        if pa.types.is_dictionary(kind):
            return sql.Text()
        if pa.types.is_decimal(kind):
            return sql.Numeric(kind.precision, kind.scale)
        if pa.types.is_timestamp(kind):
            return sql.DateTime(timezone=kind.tz is not None)
        for is_such, name in _DECLARED:
            if is_such(kind):
                return getattr(sql, name)()
        raise OSError(
            f"column {field.name!r} is of the type {kind}, which is not written to databases; "
            "write a .parquet or .duckdb file"
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise OSError for what the server, or its driver, says."""
        try:
            yield
        except self._sql.exc.SQLAlchemyError as error:
            said = str(getattr(error, "orig", None) or error).strip()
            raise OSError(said.splitlines()[0] if said else type(error).__name__) from error
        except ModuleNotFoundError as error:
            raise OSError(
                f"its driver is not installed ({error}). Install it (for PostgreSQL: pip install "
                "'diffjoint[postgresql]'), or name another one in the address"
            ) from error


_MOST_DIGITS = 38
"""Of a decimal number in Arrow."""
_KINDS: tuple[tuple[str, pa.DataType], ...] = (
    ("Boolean", pa.bool_()),
    ("SmallInteger", pa.int16()),
    ("BigInteger", pa.int64()),
    ("Integer", pa.int32()),
    ("REAL", pa.float32()),
    ("Float", pa.float64()),
    ("Date", pa.date32()),
    ("Time", pa.time64("us")),
    ("String", pa.string()),
    ("LargeBinary", pa.binary()),
)
"""Types of columns, the special before the general, and what they are in Arrow."""
_DECLARED: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "Boolean"),
    (pa.types.is_int8, "SmallInteger"),
    (pa.types.is_int16, "SmallInteger"),
    (pa.types.is_uint8, "SmallInteger"),
    (pa.types.is_int32, "Integer"),
    (pa.types.is_uint16, "Integer"),
    (pa.types.is_integer, "BigInteger"),
    (pa.types.is_float16, "REAL"),
    (pa.types.is_float32, "REAL"),
    (pa.types.is_floating, "Double"),
    (pa.types.is_date, "Date"),
    (pa.types.is_time, "Time"),
    (pa.types.is_string, "Text"),
    (pa.types.is_large_string, "Text"),
    (pa.types.is_string_view, "Text"),
    (pa.types.is_binary, "LargeBinary"),
    (pa.types.is_large_binary, "LargeBinary"),
    (pa.types.is_null, "Text"),
)


def _batch(rows: Any, kinds: dict[str, pa.DataType | None]) -> pa.Table:
    """Return some rows; decimals without a size have that of the longest."""
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
    columns = []
    for own, kind in zip(cells, kinds.values(), strict=True):
        if kind is not None and pa.types.is_null(kind):
            plain = [cell if cell is None else Decimal(cell) for cell in own]
            columns.append(pa.array(plain, None if any(c is not None for c in own) else kind))
        else:
            columns.append(pa.array(own, pa.string() if kind is None else kind))
    return pa.table(columns, names=list(kinds))


SQL = Database((), _Session, "sqlalchemy", "sql")
