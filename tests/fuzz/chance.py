"""Try inputs that are made by chance from those that are known: needs nothing else installed."""

import random
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.judge import Counts, Target, bounded_memory

MOST_CHANGES = 6


def try_by_chance(
    target: Target, known: Sequence[bytes], n_runs: int, folder: Path, seed: int = 0
) -> Counts:
    """Try all known inputs, and then so many that are made from them."""
    counts, rng = Counts(), random.Random(seed)
    with bounded_memory():
        for data in known:
            counts.judge(data, lambda data=data: target.run(data, folder))  # type: ignore[misc]
        for _ in range(n_runs):
            data = changed(rng, known, target)
            counts.judge(data, lambda data=data: target.run(data, folder))  # type: ignore[misc]
    return counts


def changed(rng: random.Random, known: Sequence[bytes], target: Target) -> bytes:
    """Return a known input with some changes.

    Examples
    --------
    >>> target = Target(lambda data, folder: None, (), (b"not ",), 1)
    >>> data = changed(random.Random(3), [b"a and b"], target)
    >>> data == changed(random.Random(3), [b"a and b"], target), data != b"a and b"
    (True, True)
    """
    data = bytearray(rng.choice(known))
    for _ in range(rng.randint(1, MOST_CHANGES)):
        place = rng.randint(0, len(data))
        how = rng.randrange(6)
        if how == 0:
            data[place : place + 1] = bytes([rng.randrange(256)])
        elif how == 1 and target.words:
            data[place:place] = rng.choice(target.words)
        elif how == 2:
            del data[place : place + rng.randint(1, 8)]
        elif how == 3:
            other = rng.choice(known)
            data[place:] = other[rng.randint(0, len(other)) :]
        elif how == 4 and data:
            start = rng.randrange(len(data))
            piece = data[start : start + rng.randint(1, 16)]
            data[place:place] = piece * rng.choice([1, 1, 2, 8, 64])
        else:
            data[place:place] = rng.randbytes(rng.randint(1, 4))
    return bytes(data[: target.longest])
