"""Memory that the process holds, and how many rows a limit leaves room for."""

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
"""Bytes that the program takes with its libraries, where the system does not tell."""
FIXED = 80 * 10**6
"""Bytes that blocks of rows, models and trees take, however many rows there are."""
BY_CELL = 72
"""Bytes that a cell takes while a table is learnt."""
BY_GROWN_CELL, MOST_GROWN = 50, 100_000
"""Bytes that a cell takes in each thread that grows trees, and rows that these learn from."""
BY_ROW = 50
"""Bytes that a row takes while a table is completed in blocks."""
FEWEST_ROWS = 10_000
"""Rows that are learnt from at least, if a table has as many."""


def rows_within(limit: int, n_rows: int, n_columns: int, n_threads: int) -> int:
    """As many rows of a table as can be learnt while the process stays within a limit.

    Parameters
    ----------
    limit : int
        Bytes that the process may hold, what it holds by now included.
    n_threads : int
        Threads that grow trees at the same time.

    Raises
    ------
    InputError
        If these are too few to learn from, or if the rows cannot be completed in blocks.

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
    """Raise if so many rows cannot be completed in blocks within a limit."""
    _room(limit, n_rows * BY_ROW, n_rows)


def _room(limit: int, needed: int, n_rows: int) -> int:
    """What a limit leaves for the rows of a table, if that is enough."""
    give_back()
    program = resident()
    if program + FIXED + needed > limit:
        least = -(-(program + FIXED + needed) // 10**6)
        raise InputError(
            f"{option('memory_limit')} must be at least {least} MB for {n_rows:,} rows, of which "
            f"the program itself takes {program // 10**6} MB; got {limit // 10**6} MB. Raise it, "
            "or leave it out.",
            parameter="memory_limit",
        )
    return limit - program - FIXED


def resident() -> int:
    """Bytes of memory that the process holds."""
    if not sys.platform.startswith("linux"):
        return PROGRAM
    n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return n_pages * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Hand memory that was freed back to the system.

    Allocators keep what is freed for what comes next. After a phase of another kind, such as
    reading a table, that is memory no one uses.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """The C library's way to do so; None where it has none."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
