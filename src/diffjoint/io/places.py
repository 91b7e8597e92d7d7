"""Tables in databases: named after the file or address, as in ``survey.duckdb::people``."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from diffjoint._extras import need
from diffjoint.errors import DiffJointError, FileError, InputError
from diffjoint.io.compression import split_endings
from diffjoint.io.formats import DATABASES, SQL, Database, Session
from diffjoint.storage.atomic import check_writable, in_transaction

_ADDRESS = re.compile(r"[a-z][a-z0-9+_]*://", re.IGNORECASE)
_SECRET = re.compile(r"(://[^/@:]*:)[^/@]*(@)")
TABLE = "::"
"""What stands before the name of a table in a database."""
_SHOWN = 10
"""Names of tables in an error, at most."""


@dataclass(frozen=True)
class Place:
    """A table in a database.

    Attributes
    ----------
    where : str
        The path of the file, or the address of the server.
    table : str or None
        None: not named.
    database : Database
    """

    where: str
    table: str | None
    database: Database

    @property
    def is_file(self) -> bool:
        """Whether the database is a file."""
        return self.database is not SQL

    @property
    def key(self) -> str:
        """What to call the database; this tells it from others."""
        return os.path.realpath(self.where) if self.is_file else shown(self.where)

    @property
    def name_to_write(self) -> str:
        """The table to write: as named, or else after the file."""
        if self.table is None and not self.is_file:
            raise InputError(
                f"An address to write to must name the table: {shown(self.where)}{TABLE}TABLE."
            )
        return self.table or Path(self.where).stem


def place_of(path: str | os.PathLike[str]) -> Place | None:
    """Return the table in a database that a path names; None if it is a file of another kind.

    Examples
    --------
    >>> place = place_of("survey.duckdb::people")
    >>> place.where, place.table
    ('survey.duckdb', 'people')
    >>> place_of("survey.duckdb").name_to_write
    'survey'
    >>> place_of("a::b.csv") is None
    True
    """
    where, has_name, table = os.fspath(path).rpartition(TABLE)
    if not has_name:
        where, table = table, ""
    if _ADDRESS.match(where):
        return Place(where, table or None, SQL)
    database = DATABASES.get(Path(where).suffix.lower())
    return None if database is None else Place(where, table or None, database)


def shown(path: str) -> str:
    """Return a path to be shown: the password of an address is left out.

    Examples
    --------
    >>> shown("postgresql://me:secret@host/survey::people"), shown("survey.csv")
    ('postgresql://me:***@host/survey::people', 'survey.csv')
    """
    return _SECRET.sub(r"\1***\2", path) if _ADDRESS.match(path) else path


def beside(path: str) -> tuple[str, str]:
    """Return where the completed table and the report would go beside a table.

    Examples
    --------
    >>> beside("data/survey.csv.gz")
    ('data/survey_completed.csv.gz', 'data/survey_report.html')
    >>> beside("survey.db::people")
    ('survey.db::people_completed', 'people_report.html')
    """
    place = place_of(path)
    if place is not None:
        name = place.table or Path(place.where).stem
        return f"{shown(place.where)}{TABLE}{name}_completed", f"{name}_report.html"
    ending = "".join(Path(path).suffixes[-2 if split_endings(path)[1] else -1 :])
    plain = path.removesuffix(ending)
    return f"{plain}_completed{ending}", f"{plain}_report.html"


def is_same_place(one: str, other: str) -> bool:
    """Whether two paths, one of which at least is of a database, stand for the same.

    Examples
    --------
    >>> is_same_place("a.db::people", "./a.db::people"), is_same_place("a.db", "a.db::people")
    (True, False)
    """
    identities = []
    for path in (one, other):
        place = place_of(path)
        table = "" if place is None else place.table or Path(place.where).stem
        identities.append((os.path.realpath(path) if place is None else place.key, table))
    (key, table), (other_key, other_table) = identities
    return key == other_key and (table == other_table or "" in (table, other_table))


def read_place(place: Place) -> pa.Table:
    """Read a table of a database."""
    with _said(place, "read"), closing(_opened(place, to_write=False)) as session:
        return session.read(_found(place, session.names()))


def write_place(place: Place, table: pa.Table) -> None:
    """Write a table whole or not at all: in a transaction, or in a new file put in its place."""
    path = place.where if place.is_file else None

    def begin(where: str | None) -> Session:
        return _opened(place, to_write=True, where=where)

    with _said(place, "write"), in_transaction(place.key, path, begin) as session:
        session.write(place.name_to_write, table)


def check_place(place: Place, *, force: bool) -> None:
    """Raise now rather than after the work if a table cannot be written, or is there already."""
    name = place.name_to_write
    _require(place)
    if place.is_file and not Path(place.where).exists():
        check_writable(place.where)
        return
    with _said(place, "write"), closing(_opened(place, to_write=True)) as session:
        is_there = session.has(name)
    if is_there and not force:
        raise InputError(
            f"{shown(place.where)} has a table {name!r} already. Name another one after {TABLE}, "
            "or pass --force to have it replaced."
        )


def _require(place: Place) -> None:
    """Raise, with what to install, unless what a database takes is there."""
    if place.database.library is not None:
        what = "DuckDB files need" if place.is_file else "Addresses of databases need"
        need(place.database.library, place.database.extra, what, error=FileError)


def _opened(place: Place, *, to_write: bool, where: str | None = None) -> Session:
    _require(place)
    return place.database.open(where or place.where, to_write)


def _found(place: Place, names: Sequence[str]) -> str:
    """Return the table to read: as named, or the only one."""
    if place.table is not None and (place.table in names or not place.is_file):
        return place.table
    listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    if place.table is not None:
        raise InputError(
            f"{place.where} has no table {place.table!r}; there is {listed or 'none'}. Name one "
            f"of these after {TABLE}."
        )
    if len(names) != 1:
        raise InputError(
            f"{shown(place.where)} has {len(names)} tables ({listed or 'none'}). Name one: "
            f"{shown(place.where)}{TABLE}{names[0] if names else 'TABLE'}."
        )
    return names[0]


@contextmanager
def _said(place: Place, what: str) -> Iterator[None]:
    """Say which database could not be read or written, and why."""
    try:
        yield
    except DiffJointError:
        raise
    except OSError as error:
        raise FileError(
            f"Cannot {what} {shown(place.where)}: {error.strerror or error}. Check the name, and "
            "that nobody else keeps it locked."
        ) from error
