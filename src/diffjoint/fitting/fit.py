"""The two ways of fitting: values and calls learnt from the table, or passes of Algorithm 1."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from diffjoint._effort import evidence_units, fit_units, in_turn_units, value_units
from diffjoint._progress import Progress, ScaledProgress
from diffjoint.detectors import Belief, load_detector
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.draws.learn import MOST_ROWS, Lesson
from diffjoint.draws.trees import learn_tree_draws
from diffjoint.errors import warn_user
from diffjoint.fitting.model import Model, PassModel, ValueModel
from diffjoint.fitting.options import Options
from diffjoint.fitting.prepare import CodedTable, Plan, Task
from diffjoint.fitting.running import running
from diffjoint.relations import relations_of
from diffjoint.settings import DEFAULT_DETECTOR
from diffjoint.state import Observation
from diffjoint.storage.bundles import Arrays
from diffjoint.values.boosted import Expectation, learn_values
from diffjoint.values.wrapped import Wrapped, learn_wrapped


@dataclass(frozen=True)
class Learned:
    """What was learnt from a table, and what it says of it.

    Attributes
    ----------
    model : Model
    inferred : Aggregated
        Of the rows of ``fit``, in their own order.
    history : list of dict
        How training of the diffusion model went.
    """

    model: Model
    inferred: Aggregated
    history: list[dict[str, Any]]


class Store(Protocol):
    """Takes what was learnt; ``is_new`` is False for what a resumed run had learnt before."""

    def __call__(self, learned: Learned, *, is_new: bool = True) -> object:
        """Take it."""


def fit_values(task: Task, seed: int, options: Options, store: Store) -> None:
    """Learn the mask, and what lost cells are expected to hold; no draw is needed for it."""
    observation = task.observe(seed)
    with running(options.n_threads, verbose=options.verbose) as progress:
        model = learn_value_model(observation, task.plan, seed, options.diffusion.device, progress)
        inferred = model.infer(observation, options.memory_bytes, progress)
        store(Learned(model, _in_own_order(inferred, task), []))


def learn_value_model(
    observation: Observation, plan: Plan, seed: int, device: str, progress: Progress
) -> ValueModel:
    """Learn a model of the mask, and of what lost cells are expected to hold."""
    _begin(observation, plan, 0, progress)
    belief = _learn_belief(observation, plan, seed, progress)
    return ValueModel(
        space=plan.space,
        settings=plan.settings,
        seed=seed,
        belief=belief,
        device=device,
        expectation=_learn_expectation(observation, plan, seed, progress),
        relations=relations_of(observation.values[:MOST_ROWS], plan.space.schema.modelled),
    )


def fit_passes(task: Task, seed: int, options: Options, store: Store, *, is_seeded: bool) -> None:
    """Run Algorithm 1 pass by pass, from a checkpoint if there is one.

    Parameters
    ----------
    seed : int
        The seed of a run that starts here; one that is resumed keeps its own.
    store : callable
        Takes what each pass has learnt.
    is_seeded : bool
        Whether the seed was asked for, so that only a run with this seed may be resumed.
    """
    from diffjoint.diffusion.engine import Passes

    plan, coded, diffusion = task.plan, task.coded, options.diffusion
    passes = Passes(
        diffusion.checkpoint,
        task.identity,
        coded.known.mark_known(coded.values)[coded.order],
        plan.space,
        plan.settings,
        seed=seed,
        is_seeded=is_seeded,
        device=diffusion.device,
    )
    seed = passes.seed
    observation = task.observe(seed)
    with (
        running(options.n_threads, verbose=options.verbose, draws=True) as progress,
        passes.explained_interrupts(),
    ):
        _begin(observation, plan, passes.n_left, progress)
        belief = _learn_belief(observation, plan, seed, progress)
        if belief is not None:
            step = ScaledProgress(progress, evidence_units(observation, plan.settings))
            belief = belief.ready_to_draw(observation, seed, step)

        def learned(denoiser: Arrays, inferred: Aggregated) -> Learned:
            model = PassModel(
                space=plan.space,
                settings=plan.settings,
                seed=seed,
                belief=belief,
                device=diffusion.device,
                denoiser=denoiser,
                clusters=inferred.clusters,
            )
            return Learned(model, _in_own_order(inferred, task), passes.history)

        if passes.resumed is not None:
            store(learned(*passes.resumed), is_new=False)
        for done in passes.run(observation, belief, options.memory_bytes, progress):
            store(learned(*done))


def learn_to_draw(
    model: ValueModel, coded: CodedTable, inferred: Aggregated, options: Options, progress: Progress
) -> tuple[ValueModel, list[dict[str, Any]]]:
    """Train the denoiser when draws are first asked for: nothing else needs it.

    Parameters
    ----------
    coded : CodedTable
        The table of ``fit``.
    inferred : Aggregated
        What was inferred of it.

    Returns
    -------
    model
        With a denoiser.
    history : list of dict
        How training went.
    """
    from diffjoint.diffusion.engine import train_drawer

    device = options.diffusion.device
    drawer = train_drawer(
        coded.observe(model.space, model.seed).take(coded.order),
        model.space,
        model.settings,
        model.belief,
        inferred.take(coded.order),
        seed=model.seed,
        device=device,
        memory_limit=options.memory_bytes,
        progress=progress,
    )
    learned = replace(
        model,
        denoiser=drawer.denoiser,
        shares=drawer.shares,
        belief=drawer.belief,
        device=device,
    )
    return learned, drawer.history


def learn_tree_draws_of(
    model: ValueModel, coded: CodedTable, n_draws: int, progress: Progress
) -> ValueModel:
    """Learn what so many draws by trees need and was not learnt before.

    Parameters
    ----------
    coded : CodedTable
        The table of ``fit``.
    """
    if not isinstance(model.expectation, Expectation):
        raise TypeError("draws by trees start from the model's own values")
    expectation = model.expectation
    observation = coded.observe(model.space, model.seed).take(coded.order)
    if model.belief is not None and model.tree_draws is None:
        progress.begin(in_turn_units(observation, model.space, model.settings))
        step = ScaledProgress(progress, evidence_units(observation, model.settings))
        model = replace(model, belief=model.belief.ready_to_draw(observation, model.seed, step))
    one_by_one = model.belief is None or not model.belief.losses_go_together
    lesson = Lesson(observation, model.space, expectation, model.masks, one_by_one)
    learnt = learn_tree_draws(lesson, n_draws, model.tree_draws, progress)
    return replace(model, tree_draws=learnt)


def identify(model: Model, inferred: Aggregated, table_digest: str) -> str:
    """Return a digest that copies and saved models share.

    Parameters
    ----------
    inferred : Aggregated
        Of the rows of ``fit``: values of another model differ, whoever gives them.
    table_digest : str
        What identifies those rows.
    """
    facts = (table_digest, model.seed, model.space.mm, model.settings, model.space.schema)
    digest = hashlib.sha256(repr(facts).encode())
    for part in (inferred.values, inferred.uncertainty, inferred.meaningful_score):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _begin(observation: Observation, plan: Plan, n_passes: int, progress: Progress) -> None:
    """Set the progress total over all phases."""
    by_evidence = plan.detector == DEFAULT_DETECTOR
    units = fit_units(
        observation, plan.space, plan.settings, by_evidence=by_evidence, n_passes=n_passes
    )
    progress.begin(units)


def _learn_belief(
    observation: Observation, plan: Plan, seed: int, progress: Progress
) -> Belief | None:
    """Fit the detector and emit its warnings."""
    step = ScaledProgress(progress, evidence_units(observation, plan.settings))
    detector = load_detector(plan.detector)
    belief = detector.learn(observation, plan.space, plan.loss_rate, seed, step)
    for doubt in belief.doubts if belief else ():
        warn_user(doubt)
    return belief


def _learn_expectation(
    observation: Observation, plan: Plan, seed: int, progress: Progress
) -> Expectation | Wrapped:
    """Learn what lost cells are expected to hold, by another imputer or by ours."""
    if plan.imputer is not None:
        progress.begin(1)
        return learn_wrapped(plan.imputer, observation, plan.space, seed, progress)
    step = ScaledProgress(progress, value_units(observation, plan.space, plan.settings))
    return learn_values(observation, plan.space, plan.settings.n_boosters, seed, step)


def _in_own_order(inferred: Aggregated, task: Task) -> Aggregated:
    return inferred.take(np.argsort(task.coded.order))
