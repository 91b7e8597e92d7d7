"""Gaussian noise that belongs to a row, not to a place in a batch.

A stream of numbers from one generator changes when rows are cut into other blocks or put
in another order. Here every number is a hash of (key of the row and draw, counter), so a row
gets the same noise wherever it stands: results do not depend on the memory limit, and a
row imputed alone gets the answer it gets inside its table. Repeats of a row are told apart by
which repeat they are, so that their draws are independent; the first of them is the row alone.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_LOW_32 = 0xFFFFFFFF


def row_keys(values: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """One key per row from what the row holds; repeats of a row are told apart.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    seed : int
        Keys of another seed are unrelated.
    """
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = np.ascontiguousarray(plain).view(np.uint64)
    keys = np.full(len(values), seed % 2**64, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in bits.T:
            keys = _mix_numpy((keys ^ column) + np.uint64(_GOLDEN))
        keys = _mix_numpy(keys + np.uint64(_GOLDEN) * _occurrence(keys).astype(np.uint64))
    return keys.view(np.int64)


def draw_keys(rows: Tensor, draws: Tensor, stream: int) -> Tensor:
    """Keys of (row, draw) pairs within a stream."""
    offset = _signed((stream + 1) * _MIX_1)
    return _mix(rows + _mix(draws * _signed(_GOLDEN) + offset))


def keyed_normal(keys: Tensor, counter: int, n_columns: int) -> Tensor:
    """Standard normal noise of shape (len(keys), n_columns), a function of its arguments.

    Notes
    -----
    SplitMix64's finaliser hashes key and counter; the two halves of each hash give two
    normals by Box and Muller's formula.
    """
    n_pairs = (n_columns + 1) // 2
    counters = torch.arange(n_pairs, device=keys.device) + counter * n_pairs + 1
    hashed = _mix(keys[:, None] + counters[None, :] * _signed(_GOLDEN))
    first = ((_shift(hashed, 32) + 0.5) / 2**32).to(torch.float32)
    second = ((hashed & _LOW_32) / 2**32).to(torch.float32)
    radius = torch.sqrt(-2.0 * torch.log(first))
    angle = 2 * math.pi * second
    return torch.cat([radius * angle.cos(), radius * angle.sin()], dim=1)[:, :n_columns]


def _occurrence(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """0 for the first row with a key, 1 for the second, and so on."""
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
    rank = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    occurrence = np.empty(len(keys), dtype=np.int64)
    occurrence[order] = rank
    return occurrence


def _mix(z: Tensor) -> Tensor:
    z = (z ^ _shift(z, 30)) * _signed(_MIX_1)
    z = (z ^ _shift(z, 27)) * _signed(_MIX_2)
    return z ^ _shift(z, 31)


def _mix_numpy(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_2)
    return z ^ (z >> np.uint64(31))


def _shift(z: Tensor, n_bits: int) -> Tensor:
    """Shift right without dragging the sign along."""
    return (z >> n_bits) & ((1 << (64 - n_bits)) - 1)


def _signed(number: int) -> int:
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number
