"""Train the diffusion model and draw from it, with plain arrays going in and out.

The estimator uses torch through this module alone, and imports it only when it draws.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from diffjoint._effort import evidence_units, in_turn_units
from diffjoint._progress import Progress, ScaledProgress
from diffjoint._types import Values
from diffjoint.detectors import Belief
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.diffusion.algorithm1 import Pass, Runtime, diff_joint, drawing_units, learn_to_draw
from diffjoint.diffusion.checkpoint import (
    Checkpoint,
    denoiser_from,
    explained_interrupts,
    fingerprint,
    weights,
)
from diffjoint.diffusion.history import history_entry, loss_jump
from diffjoint.diffusion.sample import conditional_sample
from diffjoint.errors import InputError, option, warn_user
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, Masks, Observation
from diffjoint.storage.bundles import Arrays


@dataclass(frozen=True)
class Drawer:
    """A trained denoiser as plain arrays, with what else is needed to draw.

    Attributes
    ----------
    denoiser : dict of arrays
        Weights by name.
    shares : array of shape (n_columns,)
        The share of their distance from the prediction to leave draws at, see
        :mod:`diffjoint.diffusion.narrow_draws`.
    belief : Belief or None
        The detector's belief about the mask, ready to draw from.
    history : list of dict
        Record of the training.
    """

    denoiser: Arrays
    shares: Values
    belief: Belief | None
    history: list[dict[str, Any]]


def train_drawer(
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    belief: Belief | None,
    inferred: Aggregated,
    *,
    seed: int,
    device: str,
    memory_limit: int,
    progress: Progress,
) -> Drawer:
    """Train the denoiser of the amortised sampler.

    Parameters
    ----------
    observation : Observation
        The rows of ``fit``, in their canonical order.
    inferred : Aggregated
        What was inferred for them.
    """
    in_turn = in_turn_units(observation, space, settings) if belief else 0
    progress.begin(in_turn + drawing_units(observation, space, settings))
    step = ScaledProgress(progress, evidence_units(observation, settings))
    belief = belief and belief.ready_to_draw(observation, seed, step)
    runtime = Runtime(seed, choose_device(device), memory_limit, progress)
    trained, shares = learn_to_draw(observation, space, settings, runtime, belief)
    done = Pass(0, trained.denoiser, inferred, trained.loss, trained.n_epochs)
    history = [history_entry(done, None, observation, space)]
    return Drawer(weights(trained.denoiser), shares, belief, history)


def draw(
    denoiser: Arrays,
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    draws: range,
    *,
    device: str,
    memory_limit: int,
    progress: Progress,
    masks: Masks | None = None,
) -> Iterator[Draws]:
    """Draw the incomplete rows from a denoiser kept as arrays, block by block.

    Parameters
    ----------
    draws : range
        Indices of the draws of each row to make.
    masks : callable, optional
        As :func:`diffjoint.diffusion.sample.conditional_sample` takes it.
    """
    return conditional_sample(
        denoiser_from(denoiser, space.n_coordinates, settings, choose_device(device)),
        observation,
        space,
        replace(settings, n_draws=len(draws)),
        stream=0,
        memory_limit=memory_limit,
        progress=progress,
        masks=masks,
        first_draw=draws.start,
    )


class Passes:
    """A run of Algorithm 1 that can be interrupted and resumed.

    Parameters
    ----------
    folder : path or None
        Folder in which complete passes are saved; None to save none.
    identity : list
        What identifies the run besides table, columns, settings and seed.
    values : array of shape (n_rows, n_columns)
        The table, in its canonical order.
    seed : int
        Seed of a new run; a resumed run keeps its own.
    is_seeded : bool
        Whether the user set the seed, so that only a run with this seed may be resumed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        identity: list[Any],
        values: Values,
        space: JointSpace,
        settings: Settings,
        *,
        seed: int,
        is_seeded: bool,
        device: str,
    ) -> None:
        self.space, self.settings = space, settings
        self.device = choose_device(device)
        self.checkpoint: Checkpoint | None = None
        resumed = None
        if folder is not None:
            run = fingerprint(values, space, settings, identity)
            self.checkpoint = Checkpoint(folder, run, self.device)
            resumed = self.checkpoint.resume(seed if is_seeded else None, space, settings)
        self.seed = resumed.seed if resumed else seed
        self.history = resumed.history if resumed else []
        self.last = resumed.last if resumed else None

    @property
    def n_left(self) -> int:
        """Number of passes that are left."""
        return self.settings.n_iterations - (self.last.iteration + 1 if self.last else 0)

    @property
    def resumed(self) -> tuple[Arrays, Aggregated] | None:
        """Denoiser and cells of the last complete pass; None before the first."""
        return _kept(self.last) if self.last else None

    def explained_interrupts(self) -> AbstractContextManager[None]:
        """Add resume instructions to KeyboardInterrupt."""
        return explained_interrupts(self.checkpoint)

    def run(
        self,
        observation: Observation,
        belief: Belief | None,
        memory_limit: int,
        progress: Progress,
    ) -> Iterator[tuple[Arrays, Aggregated]]:
        """Run the passes that are left; yield the denoiser and the cells of each."""
        runtime = Runtime(self.seed, self.device, memory_limit, progress)
        how = (self.space, self.settings, runtime)
        for done in diff_joint(observation, *how, self.last, belief):
            self.history.append(history_entry(done, self.last, observation, self.space))
            if doubt := loss_jump(self.history, len(observation.values)):
                warn_user(doubt)
            if self.checkpoint is not None:
                self.checkpoint.save(self.seed, done, self.history)
            self.last = done
            yield _kept(done)


def choose_device(name: str) -> torch.device:
    """Return the device with a name; "auto" is CUDA if it is available, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            f"{option('device')} must be 'auto' or a device that torch can use here; got {name!r} "
            f"({str(error).splitlines()[0]}).",
            parameter="device",
        ) from error
    return device


@contextmanager
def limited_threads(n_threads: int | None) -> Iterator[None]:
    """Limit torch to a number of threads within the context; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _kept(done: Pass) -> tuple[Arrays, Aggregated]:
    """Return what the estimator keeps of a pass."""
    return weights(done.denoiser), done.aggregated
