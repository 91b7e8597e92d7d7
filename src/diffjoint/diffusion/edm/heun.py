"""Step down the probability-flow ODE by Heun's second-order method."""

from collections.abc import Callable

import torch
from torch import Tensor

Denoise = Callable[[Tensor, Tensor], Tensor]
"""E[clean | noisy, sigma]."""


def heun_step(denoiser: Denoise, vectors: Tensor, sigma: float, next_sigma: float) -> Tensor:
    """Step ``vectors`` from noise level ``sigma`` down to ``next_sigma``.

    The step to zero noise is Euler's, as the slope at zero is not defined.
    """
    slope = _slope(denoiser, vectors, sigma)
    stepped = vectors + (next_sigma - sigma) * slope
    if next_sigma == 0.0:
        return stepped
    next_slope = _slope(denoiser, stepped, next_sigma)
    return vectors + (next_sigma - sigma) * (slope + next_slope) / 2


def _slope(denoiser: Denoise, vectors: Tensor, sigma: float) -> Tensor:
    cleaned: Tensor = denoiser(vectors, torch.full((1, 1), sigma, device=vectors.device))
    return (vectors - cleaned) / sigma
