"""Algorithm 2, Model-Update: train the denoiser on the current joint state."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from diffjoint._effort import TRAINING_UNITS, rows_per_epoch
from diffjoint._progress import Progress
from diffjoint.diffusion.edm import Denoiser, denoising_loss, new_denoiser, training_sigmas
from diffjoint.errors import TrainingError, option
from diffjoint.settings import Settings

HELD_OUT, MOST_HELD_OUT = 10, 5_000
"""One row in so many is held out to validate on hidden cells; so many rows at most."""


@dataclass(frozen=True)
class Trained:
    """A trained denoiser, its best loss and the number of epochs."""

    denoiser: Denoiser
    loss: float
    n_epochs: int


@dataclass(frozen=True)
class Hiding:
    """Chooses the cells that are hidden in training from a conditional denoiser.

    Attributes
    ----------
    observed : bool Tensor of shape (n_rows, n_columns)
    widths : int Tensor of shape (n_columns,)
        Number of coordinates of each column; those of the mask follow, and are always shown.
    """

    observed: Tensor
    widths: Tensor

    def pattern(
        self, rows: Tensor, n_coordinates: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return the known and the hidden coordinates of some rows.

        At least one observed cell of each row is hidden. The expected share of hidden cells is
        uniform between 0 and one half, so that rows with few and with many missing cells are
        learnt alike.
        """
        observed = self.observed[rows]
        chance = torch.rand(observed.shape, generator=generator, device=observed.device)
        share = torch.rand(len(rows), 1, generator=generator, device=observed.device) / 2
        first = chance.masked_fill(~observed, 2.0).argmin(dim=1, keepdim=True)
        hidden = (chance < share).scatter(1, first, value=True) & observed
        known_values = (observed & ~hidden).repeat_interleave(self.widths, dim=1)
        asked_values = hidden.repeat_interleave(self.widths, dim=1)
        n_mask = n_coordinates - known_values.shape[1]
        mask = torch.ones(len(rows), n_mask, dtype=torch.bool, device=observed.device)
        return torch.cat([known_values, mask], 1), torch.cat([asked_values, ~mask], 1)


def model_update(
    vectors: Tensor,
    settings: Settings,
    generator: torch.Generator,
    progress: Progress,
    start: Denoiser | None = None,
    hiding: Hiding | None = None,
    scaling: tuple[Tensor, Tensor] | None = None,
) -> Trained:
    """Train until the loss has not improved for ``patience`` epochs; keep the best weights.

    Parameters
    ----------
    vectors : Tensor of shape (n_rows, n_coordinates)
        The joint state in model space.
    start : Denoiser, optional
        The denoiser to start from; a new one if None.
    hiding : Hiding, optional
        Trains a conditional denoiser, whose loss is that of held-out rows.
    scaling : pair of Tensors, optional
        Shift and scale of each coordinate; the denoiser keeps them.
    """
    if scaling is not None:
        shift, scale = (part.to(vectors.device) for part in scaling)
        vectors = (vectors - shift) * scale
    data = _TrainingData(vectors, settings, generator, hiding)
    denoiser = copy.deepcopy(start) if start is not None else data.new_denoiser()
    if scaling is not None:
        denoiser.set_scaling(shift, scale)
    optimizer = torch.optim.Adam(denoiser.parameters(), lr=settings.learning_rate, fused=True)
    slow_down = _scheduler(optimizer, settings)
    best_loss, best_weights, best_epoch = math.inf, denoiser.state_dict(), 0
    for epoch in range(1, settings.max_epochs + 1):
        loss = data.train_epoch(denoiser, optimizer)
        if not math.isfinite(loss):
            raise _diverged(loss, epoch, settings)
        if loss < best_loss:
            best_loss, best_epoch = loss, epoch
            best_weights = copy.deepcopy(denoiser.state_dict())
        slow_down(loss)
        progress.advance(TRAINING_UNITS * data.rows_per_epoch, loss)
        if epoch - best_epoch >= settings.patience:
            break
    progress.advance(TRAINING_UNITS * data.rows_per_epoch * (settings.max_epochs - epoch))
    denoiser.load_state_dict(best_weights)
    if not all(torch.isfinite(weight).all() for weight in denoiser.parameters()):
        raise _diverged(math.inf, epoch, settings)
    return Trained(denoiser.eval(), best_loss, epoch)


def first_held_out(n_rows: int) -> int:
    """Return the first of the last rows, which are held out if cells are hidden in training."""
    return n_rows - min(n_rows // HELD_OUT, MOST_HELD_OUT)


class _TrainingData:
    """The rows to train on, and the noise and hidden cells of each batch."""

    def __init__(
        self,
        vectors: Tensor,
        settings: Settings,
        generator: torch.Generator,
        hiding: Hiding | None,
    ) -> None:
        self.vectors, self.settings = vectors, settings
        self.generator, self.hiding = generator, hiding
        self.n_rows = first_held_out(len(vectors)) if hiding else len(vectors)
        self.rows_per_epoch = rows_per_epoch(len(vectors), settings)
        if hiding:
            first = self.n_rows if self.n_rows < len(vectors) else 0
            held_out = torch.arange(first, len(vectors), device=vectors.device)
            self.held_out = self._batch(held_out)

    def new_denoiser(self) -> Denoiser:
        return new_denoiser(
            self.vectors.shape[1],
            self.settings.width,
            self.settings.sigma_data,
            self.generator,
            conditional=self.hiding is not None,
        )

    def train_epoch(self, denoiser: Denoiser, optimizer: torch.optim.Optimizer) -> float:
        """Train for one epoch; return its mean loss, or that of the held-out rows."""
        denoiser.train()
        total = torch.zeros((), device=self.vectors.device)
        for rows in torch.split(self._order(), self.settings.batch_size):
            loss = denoising_loss(denoiser, *self._batch(rows))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.detach() * len(rows)
        if self.hiding is None:
            return float(total) / self.rows_per_epoch
        with torch.inference_mode():
            return float(denoising_loss(denoiser.eval(), *self.held_out))

    def _order(self) -> Tensor:
        """Return the rows of one epoch: all once, or a random sample if cells are hidden."""
        device = self.generator.device
        if self.hiding is None:
            return torch.randperm(self.n_rows, generator=self.generator, device=device)
        shape = (self.rows_per_epoch,)
        return torch.randint(self.n_rows, shape, generator=self.generator, device=device)

    def _batch(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Return clean rows, noise levels, noise and, if cells are hidden, known and hidden."""
        clean, settings = self.vectors[rows], self.settings
        sigma = training_sigmas(
            len(clean), settings.log_sigma_mean, settings.log_sigma_std, self.generator
        )
        noise = torch.randn(clean.shape, generator=self.generator, device=clean.device)
        if self.hiding is None:
            return clean, sigma, noise
        return clean, sigma, noise, *self.hiding.pattern(rows, clean.shape[1], self.generator)


def _scheduler(optimizer: torch.optim.Optimizer, settings: Settings) -> Callable[[float], object]:
    """Return a function that adapts the learning rate after an epoch, given its loss."""
    if settings.is_amortised:
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.max_epochs)
        return lambda loss: cosine.step()
    if settings.scheduler_patience is None:
        return lambda loss: None
    return torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.9, patience=settings.scheduler_patience
    ).step


def _diverged(loss: float, epoch: int, settings: Settings) -> TrainingError:
    return TrainingError(
        f"The training loss became {loss} in epoch {epoch}: training diverged. "
        f"Lower {option('learning_rate')} (it is {settings.learning_rate:g}), or look for extreme "
        "values in the numeric columns.",
        parameter="learning_rate",
    )
