"""Algorithm 3, Conditional-Sample: draw unknown coordinates given the known ones."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from diffjoint._effort import passes_per_draw
from diffjoint._progress import Progress
from diffjoint._types import Mask
from diffjoint.diffusion.clamp import clamped
from diffjoint.diffusion.edm import Denoiser, draw_keys, heun_step, keyed_normal, sampling_sigmas
from diffjoint.diffusion.edm.heun import Denoise
from diffjoint.errors import TrainingError, option
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, JointState, Masks, Observation

MOST_ADDED = 2**0.5 - 1
"""EDM's bound on the noise that a step adds, as a share of its own."""
_TILE_STEP = 64
"""In batches whose size is a multiple of this, a row gets bit-identical matrix products."""
_TILE_ROWS = {"cpu": 2048, "cuda": 131072}
"""Draws in one batch at most: activations fit in a processor's cache, or fill a GPU."""


def conditional_sample(
    denoiser: Denoiser,
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    *,
    stream: int,
    memory_limit: int,
    progress: Progress,
    masks: Masks | None = None,
    first_draw: int = 0,
) -> Iterator[Draws]:
    """Draw every row that has unknown cells, block by block within ``memory_limit``.

    Parameters
    ----------
    stream : int
        Which of the rows' independent streams of noise to use.
    masks : callable, optional
        Returns the masks to draw values under; if None, masks are drawn with the values.
    first_draw : int
        Number of draws of these rows that were made before.
    """
    incomplete = np.flatnonzero(~observation.observed.all(axis=1))
    n_rows = _rows_per_block(space, settings, memory_limit)
    for start in range(0, len(incomplete), n_rows):
        rows = incomplete[start : start + n_rows]
        given = None if masks is None else masks(rows)
        vectors = _draw(
            denoiser,
            observation.take(rows),
            space,
            settings,
            stream,
            first_draw,
            memory_limit,
            progress,
            given,
        )
        state = space.decode(vectors.reshape(len(rows), settings.n_draws, -1))
        drawn = state.meaningful.swapaxes(0, 1) if given is None else given
        yield Draws(rows, state.values.swapaxes(0, 1), drawn)


def inpaint(
    denoiser: Denoise,
    clean: Tensor,
    known: Tensor,
    noise: Callable[[], Tensor],
    settings: Settings,
) -> Tensor:
    """Draw each row once: go down the noise levels, with known coordinates held at their values.

    Parameters
    ----------
    clean : Tensor of shape (n_rows, n_coordinates)
        Joint vectors; only the known coordinates are used.
    known : bool Tensor of the same shape
    noise : callable
        Returns fresh standard normal noise of that shape.
    """
    sigmas = sampling_sigmas(settings.n_steps, settings.sigma_min, settings.sigma_max, settings.rho)
    vectors = sigmas[0] * noise()
    added = min(settings.churn / settings.n_steps, MOST_ADDED)
    for sigma, next_sigma in pairwise(sigmas):
        for repeat in range(settings.n_inpaint_repeats):
            forward = clean + next_sigma * noise()
            noisier = sigma * (1.0 + added)
            if added:
                vectors = vectors + (noisier**2 - sigma**2) ** 0.5 * noise()
            reverse = heun_step(denoiser, vectors, noisier, next_sigma)
            vectors = torch.where(known, forward, reverse)
            if repeat < settings.n_inpaint_repeats - 1:
                vectors = vectors + (sigma**2 - next_sigma**2) ** 0.5 * noise()
    return vectors


def sample_amortised(
    denoiser: Denoiser,
    clean: Tensor,
    known: Tensor,
    absent: Tensor,
    noise: Callable[[], Tensor],
    settings: Settings,
) -> Tensor:
    """Draw each row once by a denoiser that is told what is known; it needs no inner repeats.

    Parameters
    ----------
    clean, known, noise
        As for :func:`inpaint`.
    absent : bool Tensor of the same shape
        Coordinates of the values of meaningful cells, which have none.
    """
    sigmas = sampling_sigmas(settings.n_steps, settings.sigma_min, settings.sigma_max, settings.rho)
    part = known.to(clean.dtype) - absent.to(clean.dtype)
    still = torch.where(known, clean, 0.0)
    vectors = torch.where(part == 0, sigmas[0] * noise(), still)
    for sigma, next_sigma in pairwise(sigmas):
        stepped = heun_step(lambda noisy, at: denoiser(noisy, at, part), vectors, sigma, next_sigma)
        vectors = torch.where(part == 0, stepped, still)
    return vectors


def _draw(
    denoiser: Denoiser,
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    stream: int,
    first_draw: int,
    memory_limit: int,
    progress: Progress,
    masks: Mask | None,
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the joint vectors of every draw of every row; the draws of a row are contiguous."""
    device = next(denoiser.parameters()).device
    known = torch.from_numpy(space.known(observation, mask_too=masks is not None)).to(device)
    if masks is None:
        masks = observation.known_meaningful[None]
    clean = torch.stack(
        [torch.from_numpy(space.encode(JointState(observation.values, mask))) for mask in masks]
    ).to(device)
    keys = torch.from_numpy(observation.keys).to(device)
    n_pairs = len(keys) * settings.n_draws
    drawn = np.empty((n_pairs, space.n_coordinates), dtype=np.float32)
    tile_rows = _rows_per_tile(space, settings, memory_limit, device)
    for start in range(0, n_pairs, tile_rows):
        n_wanted = min(tile_rows, n_pairs - start)
        pairs = _padded(torch.arange(start, start + n_wanted, device=device))
        rows, draws = pairs // settings.n_draws, pairs % settings.n_draws
        row_keys = draw_keys(keys[rows], first_draw + draws, stream)
        noise = _noise(row_keys, space.n_coordinates)
        with torch.inference_mode():
            given = clean[draws % len(clean), rows]
            if settings.is_amortised:
                absent = _of_meaningful(given, space)
                vectors = sample_amortised(denoiser, given, known[rows], absent, noise, settings)
            else:
                within = clamped(denoiser, space)
                own = denoiser.scaled(given)
                vectors = inpaint(within, own, known[rows], noise, settings)
                vectors = denoiser.unscaled(vectors)
        if not torch.isfinite(vectors).all():
            raise TrainingError(
                "Draws became infinite: the denoiser was not trained well enough to draw from. "
                f"Train longer ({option('max_epochs')} is {settings.max_epochs}) or lower "
                f"{option('learning_rate')} (it is {settings.learning_rate:g}).",
                parameter="max_epochs",
            )
        drawn[start : start + n_wanted] = vectors[:n_wanted].cpu().numpy()
        progress.advance(n_wanted * passes_per_draw(settings))
    return drawn


def _of_meaningful(vectors: Tensor, space: JointSpace) -> Tensor:
    """Return the coordinates of the values of meaningful cells, which have none."""
    n_values = space.n_coordinates - len(space.mm)
    cells = torch.zeros(len(vectors), space.n_columns, dtype=torch.bool, device=vectors.device)
    cells[:, list(space.mm)] = vectors[:, n_values:] > 0.5
    widths = torch.tensor([column.width for column in space.schema.modelled], device=cells.device)
    values = cells.repeat_interleave(widths, dim=1)
    return torch.cat([values, torch.zeros_like(vectors[:, n_values:], dtype=torch.bool)], dim=1)


def _noise(keys: Tensor, n_coordinates: int) -> Callable[[], Tensor]:
    """Return a function that gives fresh noise at each call, determined by the keys."""
    counter = iter(range(2**62))
    return lambda: keyed_normal(keys, next(counter), n_coordinates)


def _padded(pairs: Tensor) -> Tensor:
    """Repeat the last pair until the number of pairs is a multiple of the tile step."""
    n_padded = -(-len(pairs) // _TILE_STEP) * _TILE_STEP
    return torch.cat([pairs, pairs[-1:].expand(n_padded - len(pairs))])


def _rows_per_tile(
    space: JointSpace, settings: Settings, memory_limit: int, device: torch.device
) -> int:
    """Return how many draws go through the network at once; activations fill half the limit."""
    bytes_per_row = 4 * (8 * settings.width + 32 * space.n_coordinates)
    affordable = memory_limit // 2 // bytes_per_row
    most = _TILE_ROWS.get(device.type, _TILE_ROWS["cpu"])
    return max(_TILE_STEP, min(affordable, most) // _TILE_STEP * _TILE_STEP)


def _rows_per_block(space: JointSpace, settings: Settings, memory_limit: int) -> int:
    """Return for how many rows draws are held at once; they fill the other half of the limit."""
    bytes_per_draw = 12 * space.n_coordinates + 40 * space.n_columns + 64
    return max(1, memory_limit // 2 // (bytes_per_draw * settings.n_draws))
