"""Draws by trees: values of missing cells under drawn masks, without torch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.draws.chain import OF_GATES, Completion, draw_in_turn, uniform_of
from diffjoint.draws.learn import (
    BLAS,
    Lesson,
    ModelSet,
    Plans,
    learn_plans,
    learn_sets,
    n_sets_at_most,
)
from diffjoint.draws.start import start_in_turn
from diffjoint.state import Draws, Masks, Observation, one_mask
from diffjoint.values.boosted import Expectation

ROUNDS = 5
"""Rounds in which the missing cells of a row are drawn."""
BYTES_PER_CELL = 240
"""Memory of a cell while it is drawn, its coordinates included."""


@dataclass(frozen=True)
class TreeDraws:
    """What draws by trees have learnt.

    Attributes
    ----------
    plans : Plans
    sets : tuple of ModelSet
        Draw k uses the set k; if there are fewer, they are used again, with other noise.
    """

    plans: Plans
    sets: tuple[ModelSet, ...]

    def draw(
        self,
        observation: Observation,
        expectation: Expectation,
        draws: range,
        masks: Masks | None,
        memory_limit: int,
        progress: Progress,
    ) -> Iterator[Draws]:
        """Draw the incomplete rows, block by block.

        Parameters
        ----------
        expectation : Expectation
            First values are drawn from it.
        masks : callable, optional
            Returns the masks to draw values under; None: as it is known.
        """
        incomplete = np.flatnonzero(~observation.observed.all(axis=1))
        n_columns = observation.values.shape[1]
        bytes_per_row = BYTES_PER_CELL * n_columns + 60 * n_columns * len(draws)
        n_rows = max(1, memory_limit // bytes_per_row)
        for first in range(0, len(incomplete), n_rows):
            rows = incomplete[first : first + n_rows]
            given = (masks or one_mask(observation.known_meaningful))(rows)
            given = np.broadcast_to(given, (len(draws), len(rows), n_columns))
            some, values = observation.take(rows), []
            if masks is not None:
                of_gates = [uniform_of(some.keys, k, n_columns)(OF_GATES) for k in draws]
                given = self.plans.gates.settle(some, expectation, given, of_gates)
            starts = self._starts(some, expectation, draws, given)
            for k, start, mask in zip(draws, starts, given, strict=True):
                values.append(self._draw_block(some, start, k, mask))
                progress.advance(len(rows))
            yield Draws(rows, np.stack(values), given)

    def _starts(
        self, observation: Observation, expectation: Expectation, draws: range, masks: Mask
    ) -> Values:
        """Return the first values of some draws, shape (n_draws, n_rows, n_columns)."""
        n_rows, n_columns = observation.values.shape
        uniforms = [uniform_of(observation.keys, k, n_columns)(ROUNDS) for k in draws]
        values = np.tile(observation.values, (len(draws), 1))
        meaningful, uniform = masks.reshape(-1, n_columns), np.concatenate(uniforms)
        start = start_in_turn(expectation, values, meaningful, self.plans.kept.order, uniform)
        return start.reshape(len(draws), n_rows, n_columns)

    def _draw_block(self, observation: Observation, start: Values, draw: int, mask: Mask) -> Values:
        """Return the values of one draw of some rows."""
        plans, models = self.plans, self.sets[draw % len(self.sets)]
        uniform = uniform_of(observation.keys, draw, observation.values.shape[1])
        with threadpool_limits(1, **BLAS):
            completion = Completion(plans.layout, start, ~observation.observed, mask)
            draw_in_turn(completion, models, uniform, ROUNDS, plans.kept)
        return completion.values


def learn_tree_draws(
    lesson: Lesson, n_draws: int, before: TreeDraws | None, progress: Progress
) -> TreeDraws:
    """Learn what so many draws need, beyond what was learnt before."""
    lesson = lesson.some_rows()
    n_sets = min(n_draws, n_sets_at_most(len(lesson.observation.values)))
    n_before = len(before.sets) if before else 0
    if before is not None and n_before >= n_sets:
        return before
    progress.begin(max(n_sets - n_before, 0) + (before is None))
    progress.phase("how to draw lost cells")
    lesson = replace(lesson, gates=before.plans.gates) if before else lesson.with_gates()
    start = lesson.start()
    if before is None:
        before = TreeDraws(learn_plans(lesson, start), ())
        progress.advance(1)
    learnt = learn_sets(lesson, before.plans, start, range(n_before, n_sets), progress)
    return replace(before, sets=(*before.sets, *learnt))
