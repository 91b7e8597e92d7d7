"""What a format is: of files that hold a table, and of databases that hold several."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import pyarrow as pa


@dataclass(frozen=True)
class Format:
    """A file format that keeps types.

    Attributes
    ----------
    endings : tuple of str
        In lower case, with the dot.
    read : callable
        Takes a path and returns the table. It raises ``OSError`` or ``pyarrow.ArrowInvalid`` if it
        cannot.
    write : callable
        Takes a table and the open file to write it to.
    """

    endings: tuple[str, ...]
    read: Callable[[str], pa.Table]
    write: Callable[[pa.Table, BinaryIO], object]


class Session(Protocol):
    """An open database; what it cannot do raises ``OSError``, which says why.

    What is written is there for others when it is committed, and not at all if the session is
    closed before.
    """

    def names(self) -> list[str]:
        """Return the names of its tables; of its views, if it has no table."""

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name."""

    def read(self, name: str) -> pa.Table:
        """Return a table or view, whose name it has."""

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table, in place of one that has this name."""

    def commit(self) -> None:
        """Make lasting what was written."""

    def close(self) -> None:
        """Let go of the database, and of all that was not committed."""


@dataclass(frozen=True)
class Database:
    """A format of databases.

    Attributes
    ----------
    endings : tuple of str
        Of the files that are such databases, in lower case and with the dot; none for servers.
    open : callable
        Takes a path or address, and whether to write; returns the session. A file to write to may
        be an empty one.
    library, extra : str or None
        The library that this takes, and the extra that brings it; None: nothing.
    """

    endings: tuple[str, ...]
    open: Callable[[str, bool], Session]
    library: str | None = None
    extra: str = ""
