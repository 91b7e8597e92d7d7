"""Return the noise levels of training and of sampling.

In EDM the noise level is its own time: sigma(t) = t.
"""

import torch
from torch import Tensor


def training_sigmas(
    n: int, log_sigma_mean: float, log_sigma_std: float, generator: torch.Generator
) -> Tensor:
    """Draw log-normal noise levels, shape (n, 1)."""
    noise = torch.randn(n, 1, generator=generator, device=generator.device)
    return torch.exp(log_sigma_mean + log_sigma_std * noise)


def sampling_sigmas(n_steps: int, sigma_min: float, sigma_max: float, rho: float) -> list[float]:
    """Return noise levels from sigma_max down to sigma_min, then 0: ``n_steps + 1`` numbers.

    Notes
    -----
    sigma_i = (sigma_max^(1/rho) + i/(n_steps-1) (sigma_min^(1/rho) - sigma_max^(1/rho)))^rho
    for i < n_steps, and sigma_n_steps = 0.

    Examples
    --------
    >>> [round(sigma, 3) for sigma in sampling_sigmas(3, 0.002, 80.0, 7.0)]
    [80.0, 2.515, 0.002, 0.0]
    """
    high, low = sigma_max ** (1 / rho), sigma_min ** (1 / rho)
    levels = [(high + i / (n_steps - 1) * (low - high)) ** rho for i in range(n_steps)]
    return [*levels, 0.0]
