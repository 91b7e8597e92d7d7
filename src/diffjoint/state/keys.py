"""Hash rows to keys that depend on their content, not on their position; hash keys to numbers."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from diffjoint.state.repeats import occurrences

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB

Keys = NDArray[np.uint64]


def row_keys(values: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Return one key per row that depends on its content; repeats of a row get different keys.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    seed : int
        Keys of different seeds are unrelated.
    """
    return number_repeats(content_keys(values, seed))


def number_repeats(keys: Keys) -> NDArray[np.int64]:
    """Give repeats of a key different keys, by how often it occurred in the rows before."""
    with np.errstate(over="ignore"):
        keys = mix(keys + np.uint64(GOLDEN) * occurrences(keys).astype(np.uint64))
    return keys.view(np.int64)


def canonical_order(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order of the rows that depends on their content, not on their positions.

    Repeats of a row stay in order among themselves, so that each keeps its key.
    """
    n_rows, content = len(values), content_keys(values, seed=0)
    place_in_order = np.argsort(number_repeats(content), kind="stable")
    places = np.lexsort((np.arange(n_rows), content[place_in_order]))
    order = np.empty(n_rows, dtype=np.intp)
    order[places] = np.lexsort((np.arange(n_rows), content))
    return order


def content_keys(values: NDArray[np.float64], seed: int) -> Keys:
    """Return one key per row that depends on its content; repeats of a row share a key."""
    bits = (np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64) for column in values.T)
    return mix_columns(bits, len(values), seed)


def mix_columns(columns: Iterable[Keys], n_rows: int, seed: int = 0) -> Keys:
    """Return one key per row that depends on the numbers in all columns."""
    keys = np.full(n_rows, seed % 2**64, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            keys = mix((keys ^ column) + np.uint64(GOLDEN))
    return keys


def keyed_uniform(keys: NDArray[np.int64], stream: int, n_columns: int) -> NDArray[np.float64]:
    """Return uniform random numbers, one row per key; streams are independent of each other."""
    uniform = np.empty((len(keys), n_columns))
    with np.errstate(over="ignore"):
        start = mix(keys.view(np.uint64) + np.uint64((stream + 1) * MIX_2 % 2**64))
        steps = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        for column, step in enumerate(steps):
            hashed = mix(start + step)
            uniform[:, column] = (hashed >> np.uint64(11)).astype(np.float64) / 2.0**53
    return uniform


def mix(z: Keys) -> Keys:
    """Hash numbers so that every bit depends on every bit of the input (SplitMix64)."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2)
    return z ^ (z >> np.uint64(31))
