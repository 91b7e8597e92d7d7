"""Grow trees in parallel: one thread or process for each item, never two at one tree."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Grown = TypeVar("Grown")

MANY_ROWS = 30_000
"""Rows from which on threads grow trees side by side; with fewer, they would mostly wait."""
MANY_ITEMS = 12
"""Columns of a table of fewer rows from which on they are shared among processes."""
MOST_AT_ONCE = 8
"""Trees grown side by side at most: each takes memory of its own."""
OPENMP = {"user_api": "openmp"}
"""The threads that grow trees."""


def side_by_side(
    grow_one: Callable[[Item], Grown], items: Sequence[Item], n_rows: int
) -> Iterator[Grown]:
    """Call ``grow_one`` on every item, as many at a time as there are threads; keep their order.

    Each item is grown by one thread: two threads at one tree mostly wait for each other.

    Parameters
    ----------
    n_rows : int
        Rows that an item is learnt from.

    Notes
    -----
    Trees of few rows are mostly grown by Python, in which threads wait for each other as well. So
    a table of few rows gets processes if there are enough items to make up for their start.
    Nested calls run one after the other.
    """
    n_threads = max((pool["num_threads"] for pool in _pools().select(**OPENMP).info()), default=1)
    n_threads = min(n_threads, MOST_AT_ONCE, len(items))
    if n_threads <= 1 or (n_rows < MANY_ROWS and len(items) < MANY_ITEMS):
        yield from map(grow_one, items)
        return
    if n_rows < MANY_ROWS:
        yield from Parallel(n_threads, return_as="generator")(map(delayed(grow_one), items))
        return
    with ThreadPoolExecutor(n_threads, initializer=one_thread) as pool:
        yield from pool.map(grow_one, items)


def one_thread() -> AbstractContextManager[Any]:
    """Limit the growing of trees to one thread; as a context manager, until it exits."""
    limit: AbstractContextManager[Any] = _pools().limit(limits=1, **OPENMP)
    return limit


@cache
def _pools() -> ThreadpoolController:
    """Return the thread pools of the libraries that are loaded."""
    return ThreadpoolController()
