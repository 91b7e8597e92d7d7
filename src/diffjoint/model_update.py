"""Algorithm 2, Model-Update: train the denoiser on the current joint state."""

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from diffjoint.config import Settings
from diffjoint.edm import Denoiser, denoising_loss, new_denoiser, training_sigmas
from diffjoint.errors import TrainingError
from diffjoint.progress import Progress

TRAINING_UNITS = 3
"""A training row costs about three network passes: forward, and twice that backward."""


@dataclass(frozen=True)
class Trained:
    """A trained denoiser, and how training went."""

    denoiser: Denoiser
    loss: float
    n_epochs: int


def model_update(
    vectors: Tensor,
    settings: Settings,
    generator: torch.Generator,
    progress: Progress,
    start: Denoiser | None = None,
) -> Trained:
    """Train until the loss has not improved for ``patience`` epochs; keep the best weights.

    Parameters
    ----------
    vectors : Tensor of shape (n_rows, n_coordinates)
        The joint state in model space.
    start : Denoiser, optional
        Where to start from; a new denoiser if None.
    """
    denoiser = copy.deepcopy(start) if start is not None else _new(vectors, settings, generator)
    optimizer = torch.optim.Adam(denoiser.parameters(), lr=settings.learning_rate, fused=True)
    scheduler = _scheduler(optimizer, settings)
    best_loss, best_weights, best_epoch = math.inf, denoiser.state_dict(), 0
    for epoch in range(1, settings.max_epochs + 1):
        loss = _epoch(denoiser, optimizer, vectors, settings, generator)
        if not math.isfinite(loss):
            raise _diverged(loss, epoch, settings)
        if loss < best_loss:
            best_loss, best_epoch = loss, epoch
            best_weights = copy.deepcopy(denoiser.state_dict())
        if scheduler is not None:
            scheduler.step(loss)
        progress.advance(TRAINING_UNITS * len(vectors), loss)
        if epoch - best_epoch >= settings.patience:
            break
    progress.advance(TRAINING_UNITS * len(vectors) * (settings.max_epochs - epoch))
    denoiser.load_state_dict(best_weights)
    if not all(torch.isfinite(weight).all() for weight in denoiser.parameters()):
        raise _diverged(math.inf, epoch, settings)
    return Trained(denoiser.eval(), best_loss, epoch)


def _epoch(
    denoiser: Denoiser,
    optimizer: torch.optim.Optimizer,
    vectors: Tensor,
    settings: Settings,
    generator: torch.Generator,
) -> float:
    """Once through the rows in random order; the mean loss."""
    denoiser.train()
    order = torch.randperm(len(vectors), generator=generator, device=generator.device)
    total = torch.zeros((), device=vectors.device)
    for batch in torch.split(order, settings.batch_size):
        clean = vectors[batch]
        sigma = training_sigmas(
            len(clean), settings.log_sigma_mean, settings.log_sigma_std, generator
        )
        noise = torch.randn(clean.shape, generator=generator, device=clean.device)
        loss = denoising_loss(denoiser, clean, sigma, noise)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.detach() * len(clean)
    return float(total) / len(vectors)


def _new(vectors: Tensor, settings: Settings, generator: torch.Generator) -> Denoiser:
    return new_denoiser(vectors.shape[1], settings.width, settings.sigma_data, generator)


def _scheduler(
    optimizer: torch.optim.Optimizer, settings: Settings
) -> torch.optim.lr_scheduler.ReduceLROnPlateau | None:
    if settings.scheduler_patience is None:
        return None
    return torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.9, patience=settings.scheduler_patience
    )


def _diverged(loss: float, epoch: int, settings: Settings) -> TrainingError:
    return TrainingError(
        f"The training loss became {loss} in epoch {epoch}: training diverged. "
        f"Lower learning_rate (it is {settings.learning_rate:g}), or look for extreme values in "
        "the numeric columns."
    )
