"""What a file format is: its endings, and how a table is read and written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

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
