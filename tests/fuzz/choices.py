"""Decisions that the bytes of a fuzzer's input take, so that each change of a byte changes one."""

from collections.abc import Sequence
from typing import Any


class Choices:
    """The part of ``random.Random`` that alterations use, read off bytes; zeros at their end.

    Examples
    --------
    >>> picked = Choices(bytes([1, 0, 0, 7]))
    >>> picked.choice("abc"), picked.randrange(100), picked.is_over
    ('b', 7, True)
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    @property
    def is_over(self) -> bool:
        """Whether all bytes were read."""
        return self._place >= len(self._data)

    def randrange(self, n: int) -> int:
        """Return a number below ``n``: three bytes, as no array here is longer."""
        return self._take(3) % n

    def choice(self, of: Sequence[Any]) -> Any:
        """Return one of a few."""
        return of[self._take(1 if len(of) < 256 else 3) % len(of)]

    def random(self) -> float:
        """Return a number from 0 to 1."""
        return self._take(1) / 256

    def _take(self, n_bytes: int) -> int:
        taken = self._data[self._place : self._place + n_bytes]
        self._place += n_bytes
        return int.from_bytes(taken, "big")
