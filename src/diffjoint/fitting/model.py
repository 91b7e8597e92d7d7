"""What fitting leaves behind, and what it can say of new rows."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._atomic import DENOISER, Arrays
from diffjoint._effort import sampling_units
from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.detectors import Belief, belief_from
from diffjoint.diffusion.aggregate import Aggregated, Clusters, aggregate, aggregate_without_draws
from diffjoint.errors import InputError
from diffjoint.knowledge.resolve import Knowledge
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, JointState, Masks, Observation, one_mask, row_keys
from diffjoint.table import NOT_TICKED, Schema, Table
from diffjoint.values.boosted import Expectation, expectation_from
from diffjoint.values.wrapped import Wrapped

BELIEF, EXPECTATION = "belief.", "expectation."
"""What the names of their arrays begin with."""
FIRST_MASK = 1_000
"""Streams of random numbers below this belong to fit."""
WITHOUT_TORCH = ("auto", "cpu")
"""Devices that are there whatever torch says."""


@dataclass(frozen=True)
class Model:
    """All that was learnt; without a denoiser as long as none was needed.

    It holds no tensor: torch is loaded when something is drawn.

    Attributes
    ----------
    denoiser : dict of arrays or None
        Weights by name.
    shares : array of shape (n_columns,), optional
        How far from what is expected draws are left, see :mod:`diffjoint.diffusion.narrow_draws`.
    """

    space: JointSpace
    settings: Settings
    seed: int
    denoiser: Arrays | None
    clusters: Clusters
    belief: Belief | None = None
    expectation: Expectation | Wrapped | None = None
    shares: Values | None = None
    device: str = "auto"

    def draws(
        self,
        observation: Observation,
        draws: range,
        memory_limit: int,
        progress: Progress,
        masks: Masks | None = None,
    ) -> Iterator[Draws]:
        """Conditional draws of the incomplete rows, block by block, under masks if given."""
        from diffjoint.diffusion.engine import draw
        from diffjoint.diffusion.narrow_draws import narrowed

        assert self.denoiser is not None, "draws are asked for once there is a denoiser"
        blocks = draw(
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
        if self.shares is None or (self.shares == 1.0).all() or self.expectation is None:
            return blocks
        expected, gaps = self.expectation.predict(observation)[0], ~observation.observed
        return (
            narrowed(block, expected[block.rows], gaps[block.rows], self.space, self.shares)
            for block in blocks
        )

    def states(
        self, observation: Observation, n_draws: int, memory_limit: int, progress: Progress
    ) -> Iterator[JointState]:
        """Drawn states one after the other, of values and mask.

        As many as fill half the limit, and one at least, are drawn together and held until they
        are asked for; the other half is for drawing.
        """
        progress.begin(sampling_units(observation, replace(self.settings, n_draws=n_draws)))
        progress.phase("drawing")
        values = observation.values
        at_once = max(1, memory_limit // 2 // max(values.nbytes + values.size, 1))
        for first in range(0, n_draws, at_once):
            draws = range(first, min(first + at_once, n_draws))
            yield from self._states(observation, draws, memory_limit // 2, progress)

    def _states(
        self, observation: Observation, draws: range, memory_limit: int, progress: Progress
    ) -> Iterator[JointState]:
        """The states of some draws, held together."""
        streams = range(FIRST_MASK + draws.start, FIRST_MASK + draws.stop)
        masks = self.belief.draws(observation, streams) if self.belief else None
        may_be = observation.candidates | observation.known_meaningful
        shape = (len(draws), *observation.values.shape)
        values = np.broadcast_to(observation.values, shape).copy()
        meaningful = np.broadcast_to(observation.known_meaningful, shape).copy()
        for block in self.draws(observation, draws, memory_limit, progress, masks):
            values[:, block.rows] = block.values
            meaningful[:, block.rows] |= block.meaningful & may_be[block.rows]
        for drawn in zip(values, meaningful, strict=True):
            yield JointState(*drawn)

    def infer(
        self,
        observation: Observation,
        memory_limit: int,
        progress: Progress,
        folds: NDArray[np.int64] | None = None,
    ) -> Aggregated:
        """Value, uncertainty and call of every cell, by what was expected or found in training.

        Parameters
        ----------
        folds : int array of shape (n_rows,), optional
            The folds that judge these rows, if they are some rows of a table.
        """
        probability = self.belief.probability(observation, folds) if self.belief else None
        if self.expectation is not None:
            if probability is None:
                probability = observation.known_meaningful.astype(np.float64)
            expected = self.expectation.predict(observation)
            return aggregate_without_draws(*expected, probability, self.settings.threshold)
        threshold = self.settings.threshold
        called = None if probability is None else one_mask(probability > threshold)
        progress.begin(sampling_units(observation, self.settings))
        progress.phase("drawing")
        n_draws = range(self.settings.n_draws)
        draws = self.draws(observation, n_draws, memory_limit, progress, called)
        return aggregate(draws, observation, self.space, self.settings, self.clusters, probability)

    def arrays(self) -> Arrays:
        """All that was learnt, as plain arrays; :func:`model_from` makes the model from them."""
        if isinstance(self.expectation, Wrapped):
            raise InputError(
                "An imputer around another one cannot be saved: that would take pickle, which "
                "runs code when it is read. Fit with imputer=None to save, or fit again where it "
                "is needed."
            )
        arrays = {"clusters": self.clusters, **(self.denoiser or {})}
        if self.shares is not None:
            arrays["shares"] = self.shares
        for prefix, part in ((BELIEF, self.belief), (EXPECTATION, self.expectation)):
            if part is not None:
                arrays |= {f"{prefix}{name}": array for name, array in part.arrays().items()}
        return arrays


def model_from(
    arrays: Arrays, space: JointSpace, settings: Settings, seed: int, device: str
) -> Model:
    """The model whose arrays these are; without a denoiser if there is none among them."""
    denoiser = {name: array for name, array in arrays.items() if name.startswith(DENOISER)}
    return Model(
        space,
        settings,
        seed,
        denoiser or None,
        arrays["clusters"],
        belief_from(_named(arrays, BELIEF)),
        expectation_from(_named(arrays, EXPECTATION), space),
        arrays.get("shares"),
        device,
    )


def observe(
    values: Values, gaps: Mask, space: JointSpace, seed: int, known: Knowledge
) -> Observation:
    """What is known of a table: values, candidates for meaningful cells, and noise keys.

    Parameters
    ----------
    gaps : bool array of the values' shape
        Cells to be filled or kept: the missing ones.
    known : Knowledge
        Which of them are settled already.
    """
    searched = np.isin(np.arange(values.shape[1]), space.mm)
    candidates = gaps & searched & ~known.meaningful & ~known.lost
    keys = row_keys(known.mark_known(values), seed)
    return Observation(values, candidates, keys, known.meaningful, known.labelled)


def find_gaps(table: Table, values: Values, schema: Schema, unseen: str) -> Mask:
    """Modelled cells that are missing; with ``unseen="missing"`` also those of unseen levels."""
    if unseen == "missing":
        unticked: Mask = schema.checkboxes & (values == NOT_TICKED)
        return np.isnan(values) | unticked
    return np.column_stack([table.missing(position) for position in schema.modelled_positions])


def joint_space(
    table: Table,
    schema: Schema,
    mm_columns: Sequence[Hashable],
    settings: Settings,
    settled: Sequence[int] = (),
) -> JointSpace:
    """The model space of a table, with the searched columns found and checked.

    Parameters
    ----------
    settled : sequence of int
        Places of columns in which something else says what is meaningful; these are searched
        whether they miss a cell or not.
    """
    if not schema.modelled:
        raise InputError(
            "X must have a column to model; all of its columns are pass-through (ids or free "
            "text). Set column_kinds for those that are not."
        )
    modelled = schema.modelled_positions.tolist()
    positions = [*(_mm_position(table, schema, label) for label in mm_columns), *settled]
    mm = tuple(sorted({modelled.index(position) for position in positions}))
    searched = mm if settings.joint else ()
    return JointSpace(schema, searched, settings.sigma_data, settings.is_amortised)


def check_device(name: str) -> None:
    """Raise unless torch can use a device; what is always there is not asked for."""
    if name not in WITHOUT_TORCH:
        from diffjoint.diffusion.engine import choose_device

        choose_device(name)


def _mm_position(table: Table, schema: Schema, label: Hashable) -> int:
    position = table.require(label, "mm_columns")
    if not schema.columns[position].is_modelled:
        raise InputError(
            f"mm_columns names {label!r}, which is passed through unmodelled (an id or free "
            f"text). Drop it from mm_columns, or set column_kinds={{{label!r}: 'categorical'}}."
        )
    if not table.missing(position).any():
        raise InputError(
            f"mm_columns names {label!r}, which has no missing cell in X: there is nothing to "
            "tell apart. Drop it from mm_columns."
        )
    return position


def _named(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
