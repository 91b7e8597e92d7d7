"""Measure the memory of the process, and find how many rows fit within a limit."""

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa

from diffjoint.errors import InputError, option

PROGRAM = 400 * 10**6
"""Bytes that the program takes with its libraries, on systems where it cannot be measured."""
FIXED = 80 * 10**6
"""Bytes for blocks of rows, models and trees, for any number of rows."""
BY_CELL = 72
"""Bytes per cell to learn from."""
BY_GROWN_CELL, MOST_GROWN = 50, 100_000
"""Bytes per cell in each thread that grows trees, and rows that these learn from at most."""
BY_ROW = 50
"""Bytes per row of a table that is completed in blocks."""
FEWEST_ROWS = 10_000
"""Rows to learn from at least, if the table has as many."""


def rows_within(limit: int, n_rows: int, n_columns: int, n_threads: int) -> int:
    """Return how many rows of a table can be learnt from within a memory limit.

    Parameters
    ----------
    limit : int
        Bytes that the process may hold, including what it holds already.
    n_threads : int
        Threads that grow trees at the same time.

    Raises
    ------
    InputError
        If the rows are too few to learn from, or cannot be completed in blocks.

    Examples
    --------
    >>> rows_within(10**10, 1_000, 8, 2)
    1000
    """

    def needed(n_learnt: int) -> int:
        grown = n_threads * min(n_learnt, MOST_GROWN) * BY_GROWN_CELL
        return max(n_columns * (n_learnt * BY_CELL + grown), n_rows * BY_ROW)

    few, many = min(FEWEST_ROWS, n_rows), n_rows
    room = _room(limit, needed(few), n_rows)
    while few < many:
        middle = (few + many + 1) // 2
        few, many = (middle, many) if needed(middle) <= room else (few, middle - 1)
    return few


def check_room(limit: int, n_rows: int) -> None:
    """Raise if ``n_rows`` rows cannot be completed in blocks within a limit."""
    _room(limit, n_rows * BY_ROW, n_rows)


def _room(limit: int, needed: int, n_rows: int) -> int:
    """Return the bytes that a limit leaves for the rows of a table; raise if they are too few."""
    release_freed_memory()
    program = resident_bytes()
    if program + FIXED + needed > limit:
        least = -(-(program + FIXED + needed) // 10**6)
        raise InputError(
            f"{option('memory_limit')} must be at least {least} MB for {n_rows:,} rows, of which "
            f"the program itself takes {program // 10**6} MB; got {limit // 10**6} MB. Raise it, "
            "or leave it out.",
            parameter="memory_limit",
        )
    return limit - program - FIXED


def resident_bytes() -> int:
    """Return the bytes of memory that the process holds."""
    if not sys.platform.startswith("linux"):
        return PROGRAM
    n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return n_pages * os.sysconf("SC_PAGE_SIZE")


def release_freed_memory() -> None:
    """Return freed memory to the system.

    Allocators keep freed memory for later use. After a phase such as reading a table, most of it
    would not be used again.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return the C library's function for that; None if it has none."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
