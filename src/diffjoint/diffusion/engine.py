"""The diffusion model as the estimator uses it: trained and drawn from here, kept as plain arrays.

The estimator needs torch for nothing else, so that it imports this module when draws are first
needed.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from diffjoint._atomic import Arrays
from diffjoint._effort import evidence_units, in_turn_units
from diffjoint._progress import Progress, Scaled
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
from diffjoint.diffusion.history import history_entry
from diffjoint.diffusion.sample import conditional_sample
from diffjoint.errors import InputError, option
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, Masks, Observation


@dataclass(frozen=True)
class Drawer:
    """A trained denoiser that holds no tensor.

    Attributes
    ----------
    denoiser : dict of arrays
        Its weights by name.
    shares : array of shape (n_columns,)
        How far from what is expected draws are left, see :mod:`diffjoint.diffusion.narrow_draws`.
    belief : Belief or None
        What was thought of the mask, ready to be drawn from.
    history : list of dict
        How training went.
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
    said: Aggregated,
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
    said : Aggregated
        What was inferred of them.
    """
    in_turn = in_turn_units(observation, space, settings) if belief else 0
    progress.begin(in_turn + drawing_units(observation, space, settings))
    step = Scaled(progress, evidence_units(observation, settings))
    belief = belief and belief.ready_to_draw(observation, seed, step)
    runtime = Runtime(seed, choose_device(device), memory_limit, progress)
    trained, shares = learn_to_draw(observation, space, settings, runtime, belief)
    done = Pass(0, trained.denoiser, said, trained.loss, trained.n_epochs)
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
        Which of the rows' draws to make.
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
        Where whole passes are saved; None: nowhere.
    identity : list
        What identifies the run apart from table, columns, settings and seed.
    values : array of shape (n_rows, n_columns)
        The table, in its canonical order.
    seed : int
        The seed of a run that starts here; one that is resumed keeps its own.
    is_seeded : bool
        Whether the seed was asked for, so that only a run with this seed may be resumed.
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
        """Passes still to make."""
        return self.settings.n_iterations - (self.last.iteration + 1 if self.last else 0)

    @property
    def resumed(self) -> tuple[Arrays, Aggregated] | None:
        """The denoiser and the cells of the last pass done; None before the first."""
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
        """Make the passes that are left; yield the denoiser and the cells of each."""
        runtime = Runtime(self.seed, self.device, memory_limit, progress)
        how = (self.space, self.settings, runtime)
        for done in diff_joint(observation, *how, self.last, belief):
            self.history.append(history_entry(done, self.last, observation, self.space))
            if self.checkpoint is not None:
                self.checkpoint.save(self.seed, done, self.history)
            self.last = done
            yield _kept(done)


def choose_device(name: str) -> torch.device:
    """The device meant by a name; "auto" is CUDA where there is one."""
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
    """Let torch use so many threads, and as many as before afterwards; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _kept(done: Pass) -> tuple[Arrays, Aggregated]:
    """What the estimator keeps of a pass."""
    return weights(done.denoiser), done.aggregated
