"""Draw the missing cells of rows in turn, each given the rest of its row, for several rounds."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.draws.column import ColumnModel, Rows
from diffjoint.draws.design import Layout
from diffjoint.draws.never import NeverTogether
from diffjoint.draws.weigh import draw_weighed
from diffjoint.state import keyed_uniform

Uniform = Callable[[int], Values]
"""Returns uniform random numbers for a round, one for each cell."""
STREAMS = 1_000_000_000
"""Streams of random numbers from this on belong to draws by trees; each draw has a few."""
PER_DRAW, MOST_SETS = 64, 1_000
"""Random streams per draw; maximum number of model sets."""


class Completion:
    """Completed rows whose missing cells are drawn again and again.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded values, some value in every cell.
    missing, meaningful : bool arrays of the same shape
        Cells to draw, and those of them that have no value in truth. These are drawn as well, since
        a rule may find later that they have one; nothing else depends on them.
    """

    def __init__(self, layout: Layout, values: Values, missing: Mask, meaningful: Mask) -> None:
        self.layout, self.values, self.meaningful = layout, values.copy(), meaningful
        self.places = [np.flatnonzero(missing[:, j]) for j in range(missing.shape[1])]
        cells = np.where(meaningful, np.nan, self.values)
        self.rows = Rows(layout.lay_out(self.values, meaningful), cells)

    def draw(
        self,
        column: int,
        models: Sequence[ColumnModel | None],
        uniform: Values,
        never: NeverTogether,
    ) -> None:
        """Draw the missing cells of a column.

        Parameters
        ----------
        models : sequence of ColumnModel or None
            Of all columns; None where nothing was learnt yet.
        """
        model = models[column]
        assert model is not None, "a column is drawn once it was learnt"
        rows = self.places[column]
        if not len(rows):
            return
        asked = self.rows.take(rows)
        allowed = never.allowed(column, asked.cells) if model.plan.n_classes else None
        numbers = uniform[rows, column]
        if len(model.plan.weighed_by):
            is_class = model.plan.n_classes > 0
            likely = model.level_probabilities(asked, allowed) if is_class else None
            drawn = draw_weighed(column, models, self.layout, asked, numbers, likely)
        else:
            drawn = model.draw(asked, self.layout.columns[column], numbers, allowed)
        self.put(column, drawn)

    def put(self, column: int, drawn: Values) -> None:
        """Put values into the missing cells of a column."""
        rows = self.places[column]
        called = self.meaningful[rows, column]
        self.values[rows, column] = drawn
        self.rows.cells[rows, column] = np.where(called, np.nan, drawn)
        first, end = self.layout.ends[column : column + 2]
        self.rows.coordinates[rows, first:end] = self.layout.block(column, drawn, called)


def uniform_of(keys: NDArray[np.int64], draw: int, n_columns: int) -> Uniform:
    """Return the random numbers of the rounds of a draw; they depend on the rows' keys alone."""
    return lambda turn: keyed_uniform(keys, STREAMS + PER_DRAW * draw + turn, n_columns)


def draw_in_turn(
    completion: Completion,
    models: Sequence[ColumnModel],
    order: Places,
    uniform: Uniform,
    n_rounds: int,
    never: NeverTogether,
) -> None:
    """Draw all missing cells, column by column, for several rounds."""
    for turn in range(n_rounds):
        numbers = uniform(turn)
        for column in order.tolist():
            completion.draw(column, models, numbers, never)
