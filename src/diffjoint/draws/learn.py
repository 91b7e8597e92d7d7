"""Learn to draw by trees and regressions: a plan for each column, and sets of what plans learn.

Each set is learnt from a bootstrap of the rows, beside its own draws of what they miss. So the sets
differ as estimates from other samples would, and draws from several sets are proper in Rubin's
sense: they vary with what is not known of the models, too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson
from threadpoolctl import threadpool_limits

from diffjoint._progress import Progress
from diffjoint._types import Mask, Places, Values
from diffjoint.draws.chain import OF_GATES, Completion, Kept, Uniform, find_apart, uniform_of
from diffjoint.draws.choose import choose_plan, plain_plan
from diffjoint.draws.column import ColumnModel, ColumnPlan, fit_column
from diffjoint.draws.design import Layout, lay_out_columns
from diffjoint.draws.gates import NO_GATES, Gates, find_gates
from diffjoint.draws.never import find_never_together
from diffjoint.draws.start import start_in_turn
from diffjoint.draws.weigh import plan_weighing
from diffjoint.relations import Relations, relations_of
from diffjoint.state import JointSpace, Masks, Observation, keyed_uniform
from diffjoint.trees import open_screen, side_by_side
from diffjoint.values.boosted import Expectation

MOST_ROWS = 20_000
"""Rows to learn from at most."""
ROUNDS, ROUNDS_WITH_TREES, PLAIN_ROUNDS = 5, 2, 5
"""Rounds in which a set is learnt, the last of them, which grow trees, and rounds of plain
regressions before plans are chosen: first values do not show yet how sharp relations are."""
MOST_COUNTED = 12
"""Times that a bootstrap holds a row, at most."""
BOOTSTRAPS, FIRST = 500_000_000, 499_999_999
"""Streams of random numbers for bootstraps, and for what is drawn before plans are chosen."""
BLAS = {"user_api": "blas"}
"""The threads of matrix products: one alone adds up in one order."""
MasksOf = Callable[[Observation, range], Masks | None]
"""Returns the masks to draw values under, for some draws of some rows; None: as it is known."""


@dataclass(frozen=True)
class Plans:
    """How all columns are modelled, and what does not vary between sets.

    Attributes
    ----------
    layout : Layout
    columns : tuple of ColumnPlan
        After those of all columns, those of columns apart from others: see :class:`Kept`.
    kept : Kept
    gates : Gates
    """

    layout: Layout
    columns: tuple[ColumnPlan, ...]
    kept: Kept
    gates: Gates = NO_GATES

    def of(self, column: int) -> list[int]:
        """Return the places of a column's plans: its own, and those apart from others."""
        n_columns = len(self.layout.columns)
        return [column, *(n_columns + np.flatnonzero(self.kept.apart[:, 0] == column)).tolist()]


ModelSet = tuple[ColumnModel, ...]
"""A model of each column, learnt from one bootstrap."""


@dataclass(frozen=True)
class Lesson:
    """The table that sets are learnt from.

    Attributes
    ----------
    observation : Observation
        The rows of ``fit`` in their canonical order.
    space : JointSpace
    expectation : Expectation
        What lost cells are expected to hold: first values are drawn from it.
    masks : callable
    draw_gates : bool
        Whether gates that are missing may be drawn before the mask, see :class:`Gates`.
    gates : Gates
    """

    observation: Observation
    space: JointSpace
    expectation: Expectation
    masks: MasksOf
    draw_gates: bool = True
    gates: Gates = NO_GATES

    def some_rows(self) -> "Lesson":
        """Return the lesson with no more rows than are learnt from."""
        rows = np.arange(min(len(self.observation.values), MOST_ROWS))
        return replace(self, observation=self.observation.take(rows))

    def mask(self, draw: int) -> Mask:
        """Return the mask of a draw."""
        observation = self.observation
        masks = self.masks(observation, range(draw, draw + 1))
        if masks is None:
            return observation.known_meaningful
        drawn = masks(np.arange(len(observation.values)))
        uniform = uniform_of(observation.keys, draw, self.space.n_columns)(OF_GATES)
        mask: Mask = self.gates.settle(observation, self.expectation, drawn, [uniform])[0]
        return mask

    def with_gates(self) -> "Lesson":
        """Return the lesson with the gates that its table shows."""
        may_be = np.flatnonzero((self.n_levels > 0) & ~self.space.schema.checkboxes)
        gates = np.setdiff1d(may_be, self.space.can_be_meaningful)
        found = find_gates(
            self.observation.values,
            self.mask(0) & self.observation.candidates,
            gates,
            self.n_levels,
            draw_missing=self.draw_gates,
        )
        return replace(self, gates=found)

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """Levels of each column; 0 for numbers."""
        return self.space.schema.n_levels

    def start(self) -> Values:
        """Return the table completed once, before anything is chosen or learnt."""
        observation = self.observation
        uniform = uniform_of(observation.keys, FIRST, self.space.n_columns)
        return start_in_turn(
            self.expectation, observation.values, self.mask(0), self.order, uniform(0)
        )

    def relations(self) -> Relations:
        """Return what relates columns in all observed rows."""
        return relations_of(self.observation.values, self.space.schema.modelled)

    @property
    def order(self) -> Places:
        """The columns, those with the fewest missing cells first."""
        n_missing = (~self.observation.observed).sum(axis=0)
        return np.argsort(n_missing, kind="stable").astype(np.int64)


def learn_plans(lesson: Lesson, start: Values) -> Plans:
    """Choose how to model each column, on a table that plain regressions complete for it."""
    with threadpool_limits(1, **BLAS):
        observation, space = lesson.observation, lesson.space
        values, n_columns = observation.values, space.n_columns
        missing, mask = ~observation.observed, lesson.mask(0)
        layout = lay_out_columns(space.schema.modelled, values, space.can_be_meaningful)
        completion = Completion(layout, start, missing, mask)
        screen = open_screen(values, lesson.n_levels)
        inputs_of = [screen.inputs_for_values(j) for j in range(n_columns)]
        plain = tuple(
            plain_plan(values[~missing[:, j], j], layout.columns[j], inputs, layout.of(inputs))
            for j, inputs in enumerate(inputs_of)
        )
        never = find_never_together(values, mask & missing, plain, lesson.n_levels)
        kept = Kept(lesson.order, never, lesson.relations(), np.empty((0, 2), dtype=np.int64))
        first = Plans(layout, plain, kept)
        uniform = uniform_of(observation.keys, FIRST - 1, n_columns)
        counts = np.ones(len(values))
        _draw_and_learn(lesson, first, completion, counts, uniform, PLAIN_ROUNDS)

        def choose(j: int, inputs: Places) -> ColumnPlan:
            seen = ~missing[:, j]
            return choose_plan(
                completion.rows.take(seen),
                values[seen, j],
                layout.columns[j],
                inputs,
                layout.of(inputs),
                lesson.n_levels,
            )

        def choose_from_all(j: int) -> ColumnPlan:
            return choose(j, inputs_of[j])

        plans = tuple(side_by_side(choose_from_all, range(n_columns), len(values)))
        plans = plan_weighing(plans, layout, completion.rows, values, choose)
        kept = replace(kept, apart=find_apart(kept, missing))
        apart = (choose(j, inputs_of[j][inputs_of[j] != other]) for j, other in kept.apart.tolist())
        return Plans(layout, (*plans, *apart), kept, lesson.gates)


def learn_set(lesson: Lesson, plans: Plans, start: Values, which: int) -> ModelSet:
    """Learn a set: draw and learn in turn, from one bootstrap of the rows."""
    with threadpool_limits(1, **BLAS):
        observation = lesson.observation
        counts = _bootstrap(observation.keys, which)
        uniform = uniform_of(observation.keys, BOOTSTRAPS + which, lesson.space.n_columns)
        completion = Completion(plans.layout, start, ~observation.observed, lesson.mask(which))
        models = _draw_and_learn(lesson, plans, completion, counts, uniform, ROUNDS)
        return tuple(model for model in models if model is not None)


def _draw_and_learn(
    lesson: Lesson,
    plans: Plans,
    completion: Completion,
    counts: Values,
    uniform: Uniform,
    n_rounds: int,
) -> list[ColumnModel | None]:
    """Learn each column and draw its missing cells, in turn; return what was learnt last."""
    observation, missing = lesson.observation, ~lesson.observation.observed
    models: list[ColumnModel | None] = [None] * len(plans.columns)
    for turn in range(1, n_rounds + 1):
        numbers = uniform(turn)
        for j in plans.kept.order.tolist():
            if turn < n_rounds and not len(completion.places[j]):
                continue
            seen = ~missing[:, j]
            rows = completion.rows.take(seen)
            for place in plans.of(j):
                models[place] = fit_column(
                    plans.columns[place],
                    rows,
                    observation.values[seen, j],
                    plans.layout.columns[j],
                    counts[seen],
                    lesson.n_levels,
                    with_trees=turn > n_rounds - ROUNDS_WITH_TREES,
                    before=models[place],
                )
            completion.draw(j, models, numbers, plans.kept)
    return models


def _bootstrap(keys: NDArray[np.int64], which: int) -> Values:
    """Return how often each row is counted: a Poisson number of its own."""
    ends = poisson.cdf(np.arange(MOST_COUNTED), 1.0)
    uniform = keyed_uniform(keys, BOOTSTRAPS + which, 1)[:, 0]
    return np.searchsorted(ends, uniform, side="right").astype(np.float64)


def n_sets_at_most(n_rows: int) -> int:
    """Return how many sets are learnt at most: few of many rows, which settle the models.

    Examples
    --------
    >>> n_sets_at_most(1_000), n_sets_at_most(8_000), n_sets_at_most(100_000)
    (20, 10, 5)
    """
    return int(np.clip(80_000 // max(n_rows, 1), 5, 20))


def learn_sets(
    lesson: Lesson, plans: Plans, start: Values, sets: range, progress: Progress
) -> tuple[ModelSet, ...]:
    """Learn some sets side by side."""
    learnt = []
    n_rows = len(lesson.observation.values)
    for one in side_by_side(lambda k: learn_set(lesson, plans, start, k), sets, n_rows):
        learnt.append(one)
        progress.advance(1)
    return tuple(learnt)
