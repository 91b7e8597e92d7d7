"""Algorithm 1, Diff-Joint for selective imputation: train, draw and aggregate, repeatedly."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from diffjoint._effort import training_units
from diffjoint._progress import Progress
from diffjoint._types import Values
from diffjoint.detectors import Belief
from diffjoint.diffusion.aggregate import Aggregated, aggregate
from diffjoint.diffusion.edm import Denoiser
from diffjoint.diffusion.narrow_draws import find_shares, narrowing_units
from diffjoint.diffusion.sample import conditional_sample
from diffjoint.diffusion.train import Hiding, Trained, model_update
from diffjoint.settings import Settings
from diffjoint.state import JointSpace, JointState, Observation, one_mask


@dataclass(frozen=True)
class Runtime:
    """How to run, as opposed to what to compute."""

    seed: int
    device: torch.device
    memory_limit: int
    progress: Progress


@dataclass(frozen=True)
class Pass:
    """Result of one pass of Algorithm 1."""

    iteration: int
    denoiser: Denoiser
    aggregated: Aggregated
    loss: float
    n_epochs: int


def diff_joint(
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    runtime: Runtime,
    last: Pass | None = None,
    belief: Belief | None = None,
) -> Iterator[Pass]:
    """Run Algorithm 1; yield each pass when it is complete. The last one holds the result.

    Parameters
    ----------
    observation : Observation
        X^obs and Omega.
    space : JointSpace
        The columns, and which of them are searched (the paper's T).
    last : Pass, optional
        The last complete pass before an interruption, to resume from.
    belief : Belief, optional
        A detector's belief about the mask: the model is trained on masks drawn from it, and values
        are drawn under the mask that it calls. None: the draws decide, as in the paper.
    """
    denoiser = last.denoiser if last else None
    state = last.aggregated.state if last else initial_state(observation, runtime.seed)
    scaling = coordinate_scaling(observation, space) if settings.standardised else None
    probability = belief.probability(observation) if belief else None
    called = None if probability is None else one_mask(probability > settings.threshold)
    first = last.iteration + 1 if last else 0

    for iteration in range(first, settings.n_iterations):
        if belief is not None:
            state = JointState(state.values, belief.draw(observation, 1 + iteration))
        runtime.progress.phase(f"pass {iteration + 1} of {settings.n_iterations}: training")
        vectors = space.encode(state)
        if iteration == 0 and settings.first_fill == "mean":
            vectors = with_means(vectors, observation, space)
        trained = model_update(
            torch.from_numpy(vectors).to(runtime.device),
            settings,
            _generator(runtime, iteration),
            runtime.progress,
            start=denoiser if settings.warm_start else None,
            scaling=scaling,
        )
        denoiser = trained.denoiser
        runtime.progress.phase(f"pass {iteration + 1} of {settings.n_iterations}: drawing")
        # The last pass draws from stream 0, as transform does: the two agree on the rows of fit.
        draws = conditional_sample(
            denoiser,
            observation,
            space,
            settings,
            stream=settings.n_iterations - 1 - iteration,
            memory_limit=runtime.memory_limit,
            progress=runtime.progress,
            masks=called,
        )
        aggregated = aggregate(draws, observation, space, settings, probability=probability)
        state = aggregated.state
        yield Pass(iteration, denoiser, aggregated, trained.loss, trained.n_epochs)


def learn_to_draw(
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    runtime: Runtime,
    belief: Belief | None,
) -> tuple[Trained, Values]:
    """Train a denoiser that is told what is observed, in one pass: there is no fill to refine.

    It learns from hidden cells alone, whose truth is known. It is only drawn from; expected values
    come from boosted trees. Draws that are too wide are found on hidden cells, see
    :mod:`diffjoint.diffusion.narrow_draws`.

    Parameters
    ----------
    belief : Belief or None
        The detector's belief about the mask; None if no column is searched.

    Returns
    -------
    Trained, array of shape (n_columns,)
        The denoiser, and the share of their distance from the prediction to leave draws at.
    """
    mask = observation.known_meaningful if belief is None else belief.draw(observation, 1)
    runtime.progress.phase("learning to draw")
    trained = model_update(
        torch.from_numpy(space.encode(JointState(observation.values, mask))).to(runtime.device),
        settings,
        _generator(runtime, 0),
        runtime.progress,
        hiding=_hiding(observation, space, runtime.device),
    )
    how = (space, settings, runtime.seed, runtime.memory_limit, runtime.progress)
    return trained, find_shares(trained.denoiser, observation, mask, *how)


def drawing_units(observation: Observation, space: JointSpace, settings: Settings) -> float:
    """Return the rows through the network that :func:`learn_to_draw` takes at most."""
    training = training_units(len(observation.values), settings)
    return training + narrowing_units(observation, space, settings)


def initial_state(observation: Observation, seed: int) -> JointState:
    """Fill missing cells at random from their column's distinct observed values.

    Every distinct value is equally likely. Only cells known to be meaningful are meaningful.
    """
    rng = np.random.default_rng([seed, 0])
    values: Values = observation.values.copy()
    for j, column in enumerate(values.T):
        missing = np.isnan(column)
        support = np.unique(column[~missing])
        values[missing, j] = rng.choice(support, size=int(missing.sum()))
    return JointState(values, observation.known_meaningful)


def with_means(
    vectors: NDArray[np.float32], observation: Observation, space: JointSpace
) -> NDArray[np.float32]:
    """Return joint vectors whose unknown coordinates are the means of those that are known."""
    known = space.known(observation)
    means = np.where(known, vectors, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, vectors, means).astype(np.float32)


def coordinate_scaling(observation: Observation, space: JointSpace) -> tuple[Tensor, Tensor]:
    """Return shift and scale that give known coordinates a mean of 0 and numbers' deviation."""
    known = space.known(observation)
    vectors = space.encode(JointState(observation.values, observation.known_meaningful))
    cells = np.where(known, vectors, np.nan)
    counts = known.sum(axis=0)
    shift = np.where(counts > 0, np.nansum(cells, axis=0) / np.maximum(counts, 1), 0.0)
    squares = np.nansum((cells - shift) ** 2, axis=0) / np.maximum(counts, 1)
    spread = np.where(squares > 0.0, np.sqrt(squares), space.number_scale)
    scale = space.number_scale / spread
    return torch.from_numpy(shift.astype(np.float32)), torch.from_numpy(scale.astype(np.float32))


def _hiding(observation: Observation, space: JointSpace, device: torch.device) -> Hiding:
    """Return what may be hidden in training: the observed cells."""
    widths = torch.tensor([column.width for column in space.schema.modelled])
    return Hiding(torch.from_numpy(observation.observed).to(device), widths.to(device))


def _generator(runtime: Runtime, iteration: int) -> torch.Generator:
    """Return the random generator of one pass's training, a function of seed and pass."""
    entropy = np.random.SeedSequence([runtime.seed, 1, iteration]).generate_state(1, np.uint64)
    return torch.Generator(runtime.device).manual_seed(int(entropy[0] >> np.uint64(1)))
