"""Generate Gaussian noise that depends on the row, not on its position in a batch.

Numbers from a sequential generator change when rows are split into other blocks or reordered. Here
every number is a hash of a key (of row and draw) and a counter, so that a row always gets the same
noise: results do not depend on the memory limit, and a row that is imputed alone gets the same
result as within its table. Repeats of a row have different keys, so that their draws are
independent; the first of them has the key of the row alone.
"""

import math

import torch
from torch import Tensor

from diffjoint.state.keys import GOLDEN, MIX_1, MIX_2

_LOW_32 = 0xFFFFFFFF


def draw_keys(rows: Tensor, draws: Tensor, stream: int) -> Tensor:
    """Return keys of (row, draw) pairs within a stream."""
    offset = _signed((stream + 1) * MIX_1)
    return _mix(rows + _mix(draws * _signed(GOLDEN) + offset))


def keyed_normal(keys: Tensor, counter: int, n_columns: int) -> Tensor:
    """Return standard normal noise of shape (len(keys), n_columns), a function of the arguments.

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
    """Shift right and fill with zeros (torch's own shift copies the sign)."""
    return (z >> n_bits) & ((1 << (64 - n_bits)) - 1)


def _signed(number: int) -> int:
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number
