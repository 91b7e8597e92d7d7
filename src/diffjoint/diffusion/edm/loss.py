"""Compute EDM's training loss."""

import torch
from torch import Tensor

from diffjoint.diffusion.edm.denoiser import Denoiser


def denoising_loss(
    denoiser: Denoiser,
    clean: Tensor,
    sigma: Tensor,
    noise: Tensor,
    known: Tensor | None = None,
    hidden: Tensor | None = None,
) -> Tensor:
    """Return the mean squared denoising error, weighted so that all noise levels count equally.

    Parameters
    ----------
    known, hidden : bool Tensors of the rows' shape, optional
        Coordinates that the denoiser gets without noise, and those whose error counts; the others
        are unknown. Without these, all coordinates are noisy and count.

    Notes
    -----
    lambda(sigma) = (sigma^2 + sigma_data^2) / (sigma sigma_data)^2 makes the weight of the
    raw network's own error equal to one.
    """
    weight = (sigma**2 + denoiser.sigma_data**2) / (sigma * denoiser.sigma_data) ** 2
    if known is None or hidden is None:
        error: Tensor = denoiser(clean + sigma * noise, sigma) - clean
        return (weight * error**2).mean()
    noisy = torch.where(hidden, clean + sigma * noise, torch.where(known, clean, 0.0))
    part = known.to(clean.dtype) - (~known & ~hidden).to(clean.dtype)
    squares = torch.where(hidden, weight * (denoiser(noisy, sigma, part) - clean) ** 2, 0.0)
    return squares.sum() / hidden.sum().clamp(min=1)
