"""EDM's training loss."""

from torch import Tensor

from diffjoint.edm.denoiser import Denoiser


def denoising_loss(denoiser: Denoiser, clean: Tensor, sigma: Tensor, noise: Tensor) -> Tensor:
    """Mean squared denoising error, weighted so that every noise level counts alike.

    Notes
    -----
    lambda(sigma) = (sigma^2 + sigma_data^2) / (sigma sigma_data)^2 makes the weight of the
    raw network's own error equal to one.
    """
    weight = (sigma**2 + denoiser.sigma_data**2) / (sigma * denoiser.sigma_data) ** 2
    error: Tensor = denoiser(clean + sigma * noise, sigma) - clean
    return (weight * error**2).mean()
