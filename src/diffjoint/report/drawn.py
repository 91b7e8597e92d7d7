"""Draw the filled-in cells of a table several times, to lay the draws over what is observed."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.draws.learn import Lesson
from diffjoint.draws.trees import TreeDraws, learn_tree_draws
from diffjoint.fitting.fitted import Fitted
from diffjoint.fitting.model import ValueModel
from diffjoint.fitting.prepare import CodedTable
from diffjoint.values.boosted import Expectation

USUAL_DRAWS = 5
"""Number of draws, unless it is given."""
MOST_LEARNT, FEWEST_LEARNT, MOST_CELLS = 1_000, 200, 12_000
"""Rows that draws are learnt from: at most, and at least so many as a wide table allows."""
MOST_COORDINATES = 100
"""Largest number of numbers and levels, in all columns, to draw without being asked for."""
MOST_DRAWN = 2_000
"""Largest number of rows to draw; of more, as many are taken at equal distances."""


@dataclass(frozen=True)
class Drawn:
    """Draws of some rows.

    Attributes
    ----------
    rows : int array of shape (n_rows,)
        Their positions in the table.
    values : array of shape (n_draws, n_rows, n_modelled)
        Coded values.
    n_learnt : int
        Number of rows that the draws were learnt from.
    """

    rows: NDArray[np.intp]
    values: Values
    n_learnt: int


def draw_filled_cells(
    coded: CodedTable,
    called: Mask,
    fitted: Fitted,
    n_draws: int | None,
    memory_limit: int,
    progress: Progress,
) -> Drawn | None:
    """Draw the cells that are filled in, by trees and regressions as ``sample`` does.

    The calls stay as they are, and of long tables only some rows are learnt from and drawn, so that
    this takes about as long as the fit at most, in tables that are not wide.

    Parameters
    ----------
    called : bool array of shape (n_rows, n_modelled)
        Missing cells that are kept as NA.
    n_draws : int or None
        None: as many as usual, or none if the table is wide.

    Returns
    -------
    Drawn or None
        None if nothing is to be drawn, or there is nothing to learn it from.
    """
    model = fitted.model
    is_filled = coded.missing & ~called
    if n_draws is None:
        n_draws = USUAL_DRAWS if _n_coordinates(fitted) <= MOST_COORDINATES else 0
    if n_draws == 0 or not is_filled.any() or not _can_draw(fitted):
        return None
    assert isinstance(model, ValueModel)
    learnt, n_learnt = _learn(fitted, n_draws, progress)
    rows = np.flatnonzero(is_filled.any(axis=1))
    places = np.linspace(0, len(rows) - 1, min(len(rows), MOST_DRAWN)).astype(np.intp)
    rows = rows[np.unique(places)]
    observation = coded.observe(model.space, model.seed).take(rows)
    observation = replace(observation, known_meaningful=called[rows])
    assert isinstance(model.expectation, Expectation)
    progress.begin(len(rows) * n_draws)
    progress.phase("drawing")
    blocks = learnt.draw(
        observation, model.expectation, range(n_draws), None, memory_limit, progress
    )
    return Drawn(rows, np.concatenate([block.values for block in blocks], axis=1), n_learnt)


def _n_coordinates(fitted: Fitted) -> int:
    """Return the number of numbers and levels in all columns, which the work grows with."""
    return sum(column.width for column in fitted.model.space.schema.modelled)


def _can_draw(fitted: Fitted) -> bool:
    """Return whether there is something to draw by trees from, or it can be learnt."""
    model = fitted.model
    has_learnt = isinstance(model, ValueModel) and model.tree_draws is not None
    return has_learnt or fitted.can_learn_to_draw


def _learn(fitted: Fitted, n_draws: int, progress: Progress) -> tuple[TreeDraws, int]:
    """Learn to draw from some rows of the table of fit; without it, take what is saved with it.

    What ``sample`` has learnt on the way is left alone: a report must not depend on what was asked
    for before it.
    """
    model, coded, inferred = fitted.model, fitted.coded, fitted.inferred
    assert isinstance(model, ValueModel)
    if not fitted.can_learn_to_draw and model.tree_draws is not None:
        return model.tree_draws, 0
    assert coded is not None
    assert inferred is not None
    n_rows = max(FEWEST_LEARNT, min(MOST_LEARNT, MOST_CELLS // _n_coordinates(fitted)))
    rows = coded.order[:n_rows]
    called = coded.settle(inferred.state).meaningful
    observation = coded.observe(model.space, model.seed).take(rows)
    observation = replace(observation, known_meaningful=called[rows])
    assert isinstance(model.expectation, Expectation)
    lesson = Lesson(observation, model.space, model.expectation, lambda *_: None)
    return learn_tree_draws(lesson, n_draws, None, progress), len(rows)
