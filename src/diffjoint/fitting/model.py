"""Fitted models, and inference on new rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._effort import sampling_units
from diffjoint._extras import need_torch
from diffjoint._progress import Progress
from diffjoint._types import Mask, Places, Values
from diffjoint.detectors import Belief, load_detector
from diffjoint.diffusion.aggregate import Aggregated, Clusters, aggregate, aggregate_without_draws
from diffjoint.draws.packing import pack_draws, unpack_draws
from diffjoint.draws.trees import TreeDraws
from diffjoint.errors import InputError, option
from diffjoint.parameters.choices import DrawsName
from diffjoint.relations import Relations, make_agree, pack_relations, unpack_relations
from diffjoint.settings import DEFAULT_DETECTOR, Settings
from diffjoint.state import Draws, JointSpace, JointState, Masks, Observation, one_mask
from diffjoint.storage.bundles import DENOISER, Arrays
from diffjoint.values.boosted import Expectation, expectation_from
from diffjoint.values.wrapped import Wrapped

BELIEF, EXPECTATION, TREE_DRAWS, RELATIONS = "belief.", "expectation.", "draws.", "relations."
"""What the names of their arrays begin with."""
FIRST_MASK = 1_000
"""Streams of random numbers below this belong to fit."""
WITHOUT_TORCH = ("auto", "cpu")
"""Devices that need no torch check."""


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """All that was learnt.

    It holds no tensor: torch is loaded when something is drawn.

    Attributes
    ----------
    belief : Belief or None
        What the detector thinks of the mask; None: the draws decide, or no column is searched.
    denoiser : dict of arrays or None
        Weights by name; None as long as none was needed.
    """

    space: JointSpace
    settings: Settings
    seed: int
    belief: Belief | None
    device: str
    denoiser: Arrays | None

    @abstractmethod
    def infer(
        self,
        observation: Observation,
        memory_limit: int,
        progress: Progress,
        folds: NDArray[np.int64] | None = None,
    ) -> Aggregated:
        """Return value, uncertainty and call of every cell.

        Parameters
        ----------
        folds : int array of shape (n_rows,), optional
            The folds that judge these rows, if they are some rows of a table.
        """

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return all that was learnt as plain arrays, for :func:`model_from`."""

    def make_agree(self, observation: Observation, state: JointState, fixed: Mask) -> Values:
        """Return a state's values, those filled in as the rest of their row has it.

        Parameters
        ----------
        fixed : bool array of shape (n_rows, n_columns)
            Filled cells that stay as they are.
        """
        return state.values

    @property
    def detector(self) -> str:
        """Return the name of the detector that can read its belief again."""
        return DEFAULT_DETECTOR if self.belief is None else self.belief.detector

    def draws(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        masks: Masks | None = None,
    ) -> Iterator[Draws]:
        """Draw the incomplete rows, block by block, under masks if given."""
        from diffjoint.diffusion.engine import draw

        assert self.denoiser is not None, "draws are asked for once there is a denoiser"
        return draw(
            self.denoiser,
            observation,
            self.space,
            self.settings,
            draws,
            device=self.device,
            memory_limit=memory_limit,
            progress=progress,
            masks=masks,
        )

    def states(
        self,
        observation: Observation,
        n_draws: int,
        memory_limit: int,
        progress: Progress,
        by: DrawsName,
    ) -> Iterator[JointState]:
        """Draw states of values and mask, one after the other.

        As many as fill half the limit, and one at least, are drawn together and held until they
        are asked for; the other half is for drawing.
        """
        progress.begin(self._drawing_units(observation, n_draws, by))
        progress.phase("drawing")
        values = observation.values
        at_once = max(1, memory_limit // 2 // max(values.nbytes + values.size, 1))
        for first in range(0, n_draws, at_once):
            draws = range(first, min(first + at_once, n_draws))
            yield from self._states(observation, draws, memory_limit // 2, progress, by)

    def masks(self, observation: Observation, draws: range) -> Masks | None:
        """Return the masks of some draws; None if there is no belief to draw them from."""
        streams = range(FIRST_MASK + draws.start, FIRST_MASK + draws.stop)
        return self.belief.draws(observation, streams) if self.belief else None

    def _drawing_units(self, observation: Observation, n_draws: int, by: DrawsName) -> float:
        """Return the work of drawing."""
        return sampling_units(observation, replace(self.settings, n_draws=n_draws))

    def _blocks(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        by: DrawsName,
    ) -> Iterator[Draws]:
        """Draw the incomplete rows under drawn masks, block by block."""
        masks = self.masks(observation, draws)
        return self.draws(observation, draws, memory_limit, progress, masks)

    def _states(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        by: DrawsName,
    ) -> Iterator[JointState]:
        """Draw some states, held together."""
        may_be = observation.candidates | observation.known_meaningful
        shape = (len(draws), *observation.values.shape)
        values = np.broadcast_to(observation.values, shape).copy()
        meaningful = np.broadcast_to(observation.known_meaningful, shape).copy()
        for block in self._blocks(observation, draws, memory_limit, progress, by):
            values[:, block.rows] = block.values
            meaningful[:, block.rows] |= block.meaningful & may_be[block.rows]
        for drawn in zip(values, meaningful, strict=True):
            yield JointState(*drawn)


@dataclass(frozen=True, kw_only=True)
class ValueModel(Model):
    """Values to fill in by boosted trees or another imputer; a denoiser once draws are asked for.

    Attributes
    ----------
    expectation : Expectation or Wrapped
        What lost cells are expected to hold.
    shares : array of shape (n_columns,), optional
        How far from what is expected draws are left, see :mod:`diffjoint.diffusion.narrow_draws`.
    tree_draws : TreeDraws or None
        What draws by trees have learnt.
    relations : Relations
        What all observed rows hold, and so completed ones.
    """

    expectation: Expectation | Wrapped
    denoiser: Arrays | None = None
    shares: Values | None = None
    tree_draws: TreeDraws | None = None
    relations: Relations = field(default_factory=Relations)

    @property
    def can_learn_to_draw(self) -> bool:
        """Whether a denoiser can be trained from the table of ``fit``."""
        return isinstance(self.expectation, Expectation)

    def infer(
        self,
        observation: Observation,
        memory_limit: int,
        progress: Progress,
        folds: NDArray[np.int64] | None = None,
    ) -> Aggregated:
        """Return what is expected of every cell, and P(meaningful); nothing is drawn."""
        probability = observation.known_meaningful.astype(np.float64)
        if self.belief is not None:
            probability = self.belief.probability(observation, folds)
        expected = self.expectation.predict(observation)
        return aggregate_without_draws(*expected, probability, self.settings.threshold)

    def make_agree(self, observation: Observation, state: JointState, fixed: Mask) -> Values:
        """Return a state's values, those filled in as the rest of their row has it."""
        filled = ~observation.observed & ~state.meaningful & ~fixed
        has_value = (observation.observed | fixed) & ~state.meaningful & ~np.isnan(state.values)

        def likely(column: int, rows: Places) -> Values:
            n_codes = int(self.space.schema.n_levels[column])
            if isinstance(self.expectation, Wrapped):
                return np.ones((len(rows), n_codes))
            return self.expectation.columns[column].likely(observation.values[rows], n_codes)

        columns = self.space.schema.modelled
        return make_agree(self.relations, columns, state.values, filled, has_value, likely)

    def _drawing_units(self, observation: Observation, n_draws: int, by: DrawsName) -> float:
        if by == "diffusion":
            return super()._drawing_units(observation, n_draws, by)
        return n_draws * int((~observation.observed.all(axis=1)).sum())

    def _blocks(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        by: DrawsName,
    ) -> Iterator[Draws]:
        if by == "diffusion":
            return super()._blocks(observation, draws, memory_limit, progress, by)
        assert isinstance(self.expectation, Expectation)
        assert self.tree_draws is not None, "draws are asked for once they were learnt"
        masks = self.masks(observation, draws)
        return self.tree_draws.draw(
            observation, self.expectation, draws, masks, memory_limit, progress
        )

    def draws(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        masks: Masks | None = None,
    ) -> Iterator[Draws]:
        """Draw incomplete rows by diffusion, shrunk towards the expected value by ``shares``."""
        from diffjoint.diffusion.narrow_draws import narrowed

        blocks = super().draws(observation, draws, memory_limit, progress, masks)
        shares = self.shares
        if shares is None or (shares == 1.0).all():
            return blocks
        expected, missing = self.expectation.predict(observation)[0], ~observation.observed
        return (
            narrowed(block, expected[block.rows], missing[block.rows], self.space, shares)
            for block in blocks
        )

    def arrays(self) -> Arrays:
        """Return all that was learnt as plain arrays; raise if another imputer is part of it."""
        if isinstance(self.expectation, Wrapped):
            raise InputError(
                "An imputer around another one cannot be saved: that would take pickle, which "
                f"runs code when it is read. Fit with {option('imputer', None)} to save, or fit "
                "again where it is needed.",
                parameter="imputer",
            )
        shares = {} if self.shares is None else {"shares": self.shares}
        parts = {**_named(EXPECTATION, self.expectation.arrays()), **_belief_arrays(self.belief)}
        parts |= _named(RELATIONS, pack_relations(self.relations))
        if self.tree_draws is not None:
            parts |= _named(TREE_DRAWS, pack_draws(self.tree_draws))
        return {**(self.denoiser or {}), **shares, **parts}


@dataclass(frozen=True, kw_only=True)
class PassModel(Model):
    """The denoiser of the last pass of Algorithm 1: its draws say what to fill in.

    Attributes
    ----------
    clusters : array of shape (n_mm_columns, 2)
        The uncertainty's two centres per searched column.
    """

    denoiser: Arrays
    clusters: Clusters

    def infer(
        self,
        observation: Observation,
        memory_limit: int,
        progress: Progress,
        folds: NDArray[np.int64] | None = None,
    ) -> Aggregated:
        """Return what draws agree on, and calls by the clusters found in training or by belief."""
        probability = self.belief.probability(observation, folds) if self.belief else None
        called = None if probability is None else one_mask(probability > self.settings.threshold)
        progress.begin(sampling_units(observation, self.settings))
        progress.phase("drawing")
        n_draws = range(self.settings.n_draws)
        draws = self.draws(observation, n_draws, memory_limit, progress, called)
        return aggregate(draws, observation, self.space, self.settings, self.clusters, probability)

    def arrays(self) -> Arrays:
        """Return all that was learnt as plain arrays."""
        return {"clusters": self.clusters, **self.denoiser, **_belief_arrays(self.belief)}


def model_from(
    arrays: Arrays, detector: str, space: JointSpace, settings: Settings, seed: int, device: str
) -> Model:
    """Return the model whose arrays these are, and whose belief is that detector's."""
    denoiser = {name: array for name, array in arrays.items() if name.startswith(DENOISER)}
    belief = load_detector(detector).read(arrays_of(arrays, BELIEF))
    expectation = expectation_from(arrays_of(arrays, EXPECTATION), space)
    if expectation is None:
        return PassModel(
            space=space,
            settings=settings,
            seed=seed,
            belief=belief,
            device=device,
            denoiser=denoiser,
            clusters=arrays["clusters"],
        )
    return ValueModel(
        space=space,
        settings=settings,
        seed=seed,
        belief=belief,
        device=device,
        expectation=expectation,
        denoiser=denoiser or None,
        shares=arrays.get("shares"),
        tree_draws=unpack_draws(arrays_of(arrays, TREE_DRAWS), space),
        relations=unpack_relations(arrays_of(arrays, RELATIONS)),
    )


def check_device(name: str) -> None:
    """Raise unless torch can use a device; what is always there is not asked for."""
    if name not in WITHOUT_TORCH:
        need_torch(option("device", name))
        from diffjoint.diffusion.engine import choose_device

        choose_device(name)


def _belief_arrays(belief: Belief | None) -> Arrays:
    return {} if belief is None else _named(BELIEF, belief.arrays())


def _named(prefix: str, arrays: Arrays) -> Arrays:
    """Return arrays with a part's name before their own."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def arrays_of(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
