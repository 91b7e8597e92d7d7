"""Keep what a denoiser gives within a few times the range of the data.

Off the data a trained network may grow what it is given. Each inner repeat then multiplies it, and
one draw of one cell can run away by millions; it would decide a column's clusters and the training
of the next pass. Draws near the data are not changed.
"""

import numpy as np
import torch
from torch import Tensor

from diffjoint.diffusion.edm import Denoiser
from diffjoint.diffusion.edm.heun import Denoise
from diffjoint.state import JointSpace
from diffjoint.table import to_standard_units

WIDER = 3.0
"""The outputs may reach so many times half the range away from its middle."""


def output_limits(space: JointSpace) -> tuple[Tensor, Tensor]:
    """Return the lowest and the highest value of each coordinate that a denoiser may give."""
    low, high = [], []
    for column in space.schema.modelled:
        if column.is_categorical:
            ends = np.tile([[0.0], [1.0]], column.width)
        else:
            ends = to_standard_units(np.array([[column.low], [column.high]]), column)
            ends = np.vstack([np.minimum(ends[0], -1.0), np.maximum(ends[1], 1.0)])
            ends *= space.number_scale
        low.append(ends[0])
        high.append(ends[1])
    low.append(np.zeros(len(space.mm)))
    high.append(np.ones(len(space.mm)))
    lowest, highest = np.concatenate(low), np.concatenate(high)
    middle, half = (lowest + highest) / 2, (highest - lowest) / 2
    reach = WIDER * half
    return (
        torch.from_numpy((middle - reach).astype(np.float32)),
        torch.from_numpy((middle + reach).astype(np.float32)),
    )


def clamped(denoiser: Denoise, space: JointSpace) -> Denoise:
    """Return a denoiser whose outputs are kept within limits."""
    low, high = output_limits(space)
    if isinstance(denoiser, Denoiser):
        device = next(denoiser.parameters()).device
        low, high = (denoiser.scaled(end.to(device)) for end in (low, high))

    def denoise(noisy: Tensor, sigma: Tensor) -> Tensor:
        return torch.clamp(denoiser(noisy, sigma), low.to(noisy.device), high.to(noisy.device))

    return denoise
