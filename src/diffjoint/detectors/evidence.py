"""The evidence detector: a belief from which cells are missing together."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.detectors.belief import Belief, Detector
from diffjoint.evidence import (
    CellReasons,
    Evidence,
    LossRate,
    at_loss_rate,
    explain_cells,
    fit_evidence,
    learn_in_turn,
    pack,
    unpack,
)
from diffjoint.evidence.packing import check_packed
from diffjoint.state import JointSpace, Masks, Observation, keyed_uniform
from diffjoint.storage.bundles import Arrays


class EvidenceBelief(Belief):
    """A belief from which cells are missing together, see :mod:`diffjoint.evidence`."""

    detector = "evidence"
    can_explain = True

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.doubts = evidence.doubts

    @property
    def losses_go_together(self) -> bool:
        """Whether cells of a row are found to get lost together."""
        return self.evidence.leans_on_values

    def probability(
        self, observation: Observation, folds: NDArray[np.int64] | None = None
    ) -> Values:
        """Return P(meaningful) as :meth:`Belief.probability` says it."""
        folds = self.judging_folds(observation.fold_keys) if folds is None else folds
        likely = self.evidence.probability(
            observation.values, observation.candidates, folds, observation.answers
        )
        return np.where(observation.known_meaningful, 1.0, likely)

    def judging_folds(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the folds that judge the rows of a whole table, by the keys of what they hold."""
        return self.evidence.judging_folds(keys)

    def at_loss_rate(
        self,
        observation: Observation,
        loss_rate: Mapping[int, float],
        folds: NDArray[np.int64],
    ) -> "EvidenceBelief":
        """Return the belief under other loss rates; no mask can be drawn from it."""
        is_missing = ~observation.observed
        looked_up = np.where(observation.labelled, observation.known, np.nan)
        moved = at_loss_rate(
            self.evidence, observation.values, is_missing, loss_rate, folds, looked_up
        )
        return EvidenceBelief(moved)

    def ready_to_draw(
        self, observation: Observation, seed: int, progress: Progress
    ) -> "EvidenceBelief":
        """Learn the columns again in turn, from the table of ``fit``, to draw masks."""
        if self.evidence.in_turn:
            return self
        if len(self.evidence.columns) > 1 and not self.evidence.leans_on_values:
            progress.phase("which cells are skipped together")
        ready = learn_in_turn(
            self.evidence,
            observation.values,
            ~observation.observed,
            keyed_uniform(observation.keys, 0, observation.values.shape[1]),
            known=observation.known,
            labelled=observation.labelled,
            seed=seed % 2**32,
            tick=progress.advance,
            keys=observation.fold_keys,
            answers=observation.answers,
        )
        return EvidenceBelief(ready)

    def draw(self, observation: Observation, stream: int) -> Mask:
        """Draw a mask column by column, each given those before."""
        values = observation.values
        uniform = keyed_uniform(observation.keys, stream, values.shape[1])
        may_be = observation.candidates | observation.known_meaningful
        folds, answers = self.evidence.folds(observation.fold_keys), observation.answers
        return self.evidence.draw(values, may_be, uniform, observation.known, folds, answers)

    def draws(self, observation: Observation, streams: range) -> Masks:
        """Draw a mask for each stream, some rows at a time."""
        folds = self.evidence.folds(observation.fold_keys)

        def of(rows: NDArray[np.intp]) -> Mask:
            some = observation.take(rows)
            n_columns = some.values.shape[1]
            uniform = np.stack([keyed_uniform(some.keys, stream, n_columns) for stream in streams])
            may_be = some.candidates | some.known_meaningful
            by = (uniform, some.known, folds[rows], some.answers)
            return self.evidence.draws(some.values, may_be, *by)

        return of

    def explain_cells(
        self, observation: Observation, rows: NDArray[np.intp], column: int
    ) -> CellReasons:
        """Return the rates of a column's cells in some rows, and what speaks for them."""
        folds = self.judging_folds(observation.fold_keys)
        return explain_cells(
            self.evidence, observation.values, rows, column, folds, observation.answers
        )

    def arrays(self) -> Arrays:
        """Return the belief as plain arrays."""
        return pack(self.evidence)


def learn_evidence(
    observation: Observation,
    space: JointSpace,
    loss_rate: LossRate,
    seed: int,
    progress: Progress,
) -> EvidenceBelief | None:
    """Learn which cells are missing together; return None if no column is searched."""
    if not space.mm:
        return None
    progress.phase("which cells are missing together")
    values = observation.values
    evidence = fit_evidence(
        values,
        ~observation.observed,
        space.schema.n_levels,
        space.mm,
        loss_rate=loss_rate,
        known=observation.known,
        labelled=observation.labelled,
        names=[column.name for column in space.schema.modelled],
        seed=seed % 2**32,
        tick=progress.advance,
        keys=observation.fold_keys,
        answers=observation.answers,
    )
    return EvidenceBelief(evidence)


def read_evidence(arrays: Arrays) -> EvidenceBelief | None:
    """Return the belief whose arrays these are; None if there are none."""
    return EvidenceBelief(unpack(arrays)) if arrays else None


def _check(arrays: Arrays, n_levels: NDArray[np.int64], searched: list[int]) -> None:
    if arrays:
        check_packed(arrays, n_levels, searched)


DETECTOR = Detector(learn=learn_evidence, read=read_evidence, check=_check)
