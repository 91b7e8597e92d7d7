"""Gaussian noise that belongs to a row, not to a place in a batch.

A stream of numbers from one generator changes when rows are cut into other blocks or put
in another order. Here every number is a hash of (key of the row and draw, counter), so a row
gets the same noise wherever it stands: results do not depend on the memory limit, and a
row imputed alone gets the answer it gets inside its table. Repeats of a row are told apart by
which repeat they are, so that their draws are independent; the first of them is the row alone.
"""

import math

import torch
from torch import Tensor

from diffjoint.state.keys import GOLDEN, MIX_1, MIX_2

_LOW_32 = 0xFFFFFFFF


def draw_keys(rows: Tensor, draws: Tensor, stream: int) -> Tensor:
    """Keys of (row, draw) pairs within a stream."""
    offset = _signed((stream + 1) * MIX_1)
    return _mix(rows + _mix(draws * _signed(GOLDEN) + offset))


def keyed_normal(keys: Tensor, counter: int, n_columns: int) -> Tensor:
    """Standard normal noise of shape (len(keys), n_columns), a function of its arguments.

    Notes
    -----
    SplitMix64's finaliser hashes key and counter; the two halves of each hash give two
    normals by Box and Muller's formula.
    """
    n_pairs = (n_columns + 1) // 2
    counters = torch.arange(n_pairs, device=keys.device) + counter * n_pairs + 1
    hashed = _mix(keys[:, None] + counters[None, :] * _signed(GOLDEN))
    first = ((_shift(hashed, 32) + 0.5) / 2**32).to(torch.float32)
    second = ((hashed & _LOW_32) / 2**32).to(torch.float32)
    radius = torch.sqrt(-2.0 * torch.log(first))
    angle = 2 * math.pi * second
    return torch.cat([radius * angle.cos(), radius * angle.sin()], dim=1)[:, :n_columns]


def _mix(z: Tensor) -> Tensor:
    z = (z ^ _shift(z, 30)) * _signed(MIX_1)
    z = (z ^ _shift(z, 27)) * _signed(MIX_2)
    return z ^ _shift(z, 31)


def _shift(z: Tensor, n_bits: int) -> Tensor:
    """Shift right without dragging the sign along."""
    return (z >> n_bits) & ((1 << (64 - n_bits)) - 1)


def _signed(number: int) -> int:
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number
