"""Count repeats of rows in parts of a table, so that the parts give what the whole gives.

A row's key depends on how often the same content occurred in the rows before it. A part of a table
does not hold those rows; what is needed of them is how often each content occurred.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

_N_PASSES = 16
"""Ranges of keys that are merged one after the other, to bound the memory that this takes."""


@dataclass(frozen=True)
class KeyCounts:
    """How often keys occur.

    Attributes
    ----------
    keys : uint64 array
        Distinct keys, in ascending order.
    counts : int array
        How often each of them occurs.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, keys: NDArray[np.uint64]) -> Self:
        """Count keys."""
        distinct, counts = np.unique(keys, return_counts=True)
        return cls(distinct, counts.astype(np.int64))

    def between(self, low: int, high: int) -> "KeyCounts":
        """Return the part with keys from ``low`` up to ``high``, both included."""
        bounds = np.array([low, high], dtype=np.uint64)
        first = int(np.searchsorted(self.keys, bounds[0], side="left"))
        last = int(np.searchsorted(self.keys, bounds[1], side="right"))
        return KeyCounts(self.keys[first:last], self.counts[first:last])

    def look_up(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the counts of some keys; 0 for others."""
        if len(self.keys) == 0:
            return np.zeros(len(keys), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 0)


NOTHING = KeyCounts(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))


def counts_before(parts: Sequence[KeyCounts], start: KeyCounts = NOTHING) -> list[KeyCounts]:
    """Return, for each part of a table, how often its keys occur in the parts before it.

    Parameters
    ----------
    parts : sequence of KeyCounts
        Keys of the parts, in the order of the table.
    start : KeyCounts
        How often keys occur before the first part.

    Returns
    -------
    list of KeyCounts
        Keys that do not occur before are left out.

    Examples
    --------
    >>> import numpy as np
    >>> parts = [KeyCounts.of(np.array(keys, dtype=np.uint64)) for keys in ([5, 5, 7], [5, 9])]
    >>> [(part.keys.tolist(), part.counts.tolist()) for part in counts_before(parts)]
    [([], []), ([5], [2])]
    """
    found: list[list[KeyCounts]] = [[] for _ in parts]
    step = 2**64 // _N_PASSES
    for low in range(0, 2**64, step):
        some = [part.between(low, low + step - 1) for part in (start, *parts)]
        for own, before in zip(found, _merged(some)[1:], strict=True):
            own.append(before)
    return [
        KeyCounts(
            np.concatenate([part.keys for part in own]),
            np.concatenate([part.counts for part in own]),
        )
        for own in found
    ]


def _merged(parts: Sequence[KeyCounts]) -> list[KeyCounts]:
    """Return the counts before each part, of all keys at once."""
    keys = np.concatenate([part.keys for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    owner = np.repeat(np.arange(len(parts)), [len(part.keys) for part in parts])
    order = np.argsort(keys, kind="stable")  # parts stay in their order for each key
    keys, counts, owner = keys[order], counts[order], owner[order]
    is_first = np.r_[True, keys[1:] != keys[:-1]][: len(keys)]
    total = np.cumsum(counts) - counts
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    before = total - total[first]
    again = ~is_first & (before > 0)
    keys, before, owner = keys[again], before[again], owner[again]
    order = np.argsort(owner, kind="stable")  # keys stay in ascending order for each part
    ends = np.searchsorted(owner[order], np.arange(len(parts) + 1))
    return [KeyCounts(keys[order[a:b]], before[order[a:b]]) for a, b in pairwise(ends)]


_BEFORE: ContextVar[KeyCounts] = ContextVar("before", default=NOTHING)
_BY_ITSELF: ContextVar[bool] = ContextVar("by_itself", default=False)


@contextmanager
def as_part_of_a_table(before: KeyCounts) -> Iterator[None]:
    """Enter a part of a table: repeats are numbered as if other rows were before these.

    Parameters
    ----------
    before : KeyCounts
        How often the content of these rows occurs in the rows before.
    """
    token = _BEFORE.set(before)
    try:
        yield
    finally:
        _BEFORE.reset(token)


@contextmanager
def each_row_by_itself() -> Iterator[None]:
    """Take every row inside for the first of its content, whatever the rows before it hold."""
    token = _BY_ITSELF.set(True)
    try:
        yield
    finally:
        _BY_ITSELF.reset(token)


def occurrences(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how often each key occurred in the rows before: here, and in earlier parts."""
    if _BY_ITSELF.get():
        return np.zeros(len(keys), dtype=np.int64)
    return _here(keys) + _BEFORE.get().look_up(keys)


def _here(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return 0 for the first row with a key, 1 for the second, and so on."""
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
    rank = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    occurrence = np.empty(len(keys), dtype=np.int64)
    occurrence[order] = rank
    return occurrence
