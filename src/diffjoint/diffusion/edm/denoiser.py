"""Define the denoiser: an MLP inside EDM's preconditioning."""

import math

import torch
from torch import Tensor, nn


class NoiseEmbedding(nn.Module):
    """Embedding of the noise level: sinusoids, then a two-layer MLP."""

    frequencies: Tensor

    def __init__(self, width: int, max_period: float = 10_000.0) -> None:
        super().__init__()
        n_frequencies = width // 2
        exponents = torch.arange(n_frequencies) / n_frequencies
        frequencies = torch.exp(-math.log(max_period) * exponents)
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.mlp = nn.Sequential(
            nn.Linear(2 * n_frequencies, width), nn.SiLU(), nn.Linear(width, width)
        )

    def forward(self, noise_level: Tensor) -> Tensor:
        """Embed noise levels of shape (n, 1)."""
        angles = noise_level * self.frequencies
        embedded: Tensor = self.mlp(torch.cat([angles.cos(), angles.sin()], dim=1))
        return embedded


class NoiseMLP(nn.Module):
    """Raw network: a projection, to which the noise embedding is added, and an MLP."""

    def __init__(self, n_inputs: int, n_coordinates: int, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_inputs, width)
        self.embed_noise = NoiseEmbedding(width)
        self.hidden = nn.Sequential(
            nn.Linear(width, 2 * width),
            nn.SiLU(),
            nn.Linear(2 * width, 2 * width),
            nn.SiLU(),
            nn.Linear(2 * width, width),
            nn.SiLU(),
        )
        self.read_out = nn.Linear(width, n_coordinates)

    def forward(self, vectors: Tensor, noise_level: Tensor) -> Tensor:
        """Return one vector for each input vector."""
        hidden = self.hidden(self.project(vectors) + self.embed_noise(noise_level))
        read: Tensor = self.read_out(hidden)
        return read


class Denoiser(nn.Module):
    """E[clean | noisy, sigma] for joint vectors, preconditioned as in EDM.

    Notes
    -----
    D(s; sigma) = c_skip s + c_out F(c_in s; log(sigma)/4) with

    - c_skip = sigma_data^2 / (sigma^2 + sigma_data^2)
    - c_out = sigma sigma_data / sqrt(sigma^2 + sigma_data^2)
    - c_in = 1 / sqrt(sigma^2 + sigma_data^2)

    A conditional denoiser is given the part of each coordinate: 1 if it is known and holds its
    value, 0 if it is being drawn and holds noise, -1 if nothing is known of it and it holds 0.
    """

    shift: Tensor | None
    scale: Tensor | None

    def __init__(
        self, n_coordinates: int, width: int, sigma_data: float, *, conditional: bool = False
    ) -> None:
        super().__init__()
        n_inputs = 2 * n_coordinates if conditional else n_coordinates
        self.network = NoiseMLP(n_inputs, n_coordinates, width)
        self.n_coordinates = n_coordinates
        self.sigma_data = sigma_data
        self.register_buffer("shift", None)
        self.register_buffer("scale", None)

    def set_scaling(self, shift: Tensor, scale: Tensor) -> None:
        """Keep how vectors are scaled before this denoiser sees them."""
        self.register_buffer("shift", shift)
        self.register_buffer("scale", scale)

    def scaled(self, vectors: Tensor) -> Tensor:
        """Return joint vectors as this denoiser sees them."""
        if self.shift is None or self.scale is None:
            return vectors
        return (vectors - self.shift) * self.scale

    def unscaled(self, vectors: Tensor) -> Tensor:
        """Return joint vectors of what this denoiser sees."""
        if self.shift is None or self.scale is None:
            return vectors
        return vectors / self.scale + self.shift

    def forward(self, noisy: Tensor, sigma: Tensor, part: Tensor | None = None) -> Tensor:
        """Denoise rows at noise levels ``sigma`` of shape (n, 1), or (1, 1) for the same in all.

        Parameters
        ----------
        part : Tensor of the rows' shape, optional
            Part of each coordinate, for a conditional denoiser.
        """
        variance = sigma**2 + self.sigma_data**2
        c_skip = self.sigma_data**2 / variance
        c_out = sigma * self.sigma_data / variance.sqrt()
        c_in = 1 / variance.sqrt()
        inputs = c_in * noisy
        if part is not None:
            inputs = torch.cat([torch.where(part == 0, inputs, noisy), part], dim=1)
        cleaned: Tensor = c_skip * noisy + c_out * self.network(inputs, sigma.log() / 4)
        return cleaned


def new_denoiser(
    n_coordinates: int,
    width: int,
    sigma_data: float,
    generator: torch.Generator,
    *,
    conditional: bool = False,
) -> Denoiser:
    """Return a denoiser whose initial weights depend on ``generator`` alone.

    Layers draw their weights from torch's global generator, whose state is restored afterwards.
    """
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(generator.initial_seed())
        denoiser = Denoiser(n_coordinates, width, sigma_data, conditional=conditional)
        return denoiser.to(generator.device)
