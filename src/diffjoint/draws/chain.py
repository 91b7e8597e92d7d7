"""Draw the missing cells of rows in turn, each given the rest of its row, for several rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.draws.column import ColumnModel, Rows
from diffjoint.draws.design import Layout
from diffjoint.draws.never import NeverTogether
from diffjoint.draws.weigh import draw_weighed
from diffjoint.relations import Relations
from diffjoint.state import keyed_uniform
from diffjoint.table import on_grid

Uniform = Callable[[int], Values]
"""Returns uniform random numbers for a round, one for each cell."""
STREAMS = 1_000_000_000
"""Streams of random numbers from this on belong to draws by trees; each draw has a few."""
PER_DRAW, MOST_SETS = 64, 1_000
"""Random streams per draw; maximum number of model sets."""
OF_GATES = PER_DRAW - 1
"""The turn whose random numbers gates are drawn by."""
TRIES, APART = 6, 0.381966
"""Times that a number beyond its limits is drawn again, each by a random number so far on."""


@dataclass(frozen=True)
class Kept:
    """What drawn rows keep to, because all observed rows do.

    Attributes
    ----------
    order : int array
        The columns in the order in which they are drawn: those with the fewest missing cells first.
    never : NeverTogether
    relations : Relations
    apart : int array of shape (n_pairs, 2)
        Pairs of columns of which the first decides the second, with others or alone. Where both are
        missing the first is drawn without regard to the second, by a model of its own: beside what
        it has decided it could not change. These models come after those of all columns.
    """

    order: Places
    never: NeverTogether
    relations: Relations
    apart: Places

    def later(self, column: int) -> Places:
        """Return the columns that are drawn after one."""
        return self.order[int(np.flatnonzero(self.order == column)[0]) + 1 :]

    def decides_last(self, pair: int, missing: Mask) -> Mask:
        """Return the rows in which both cells of a pair are missing, and the second comes last."""
        column, other = self.apart[pair].tolist()
        together = self.relations.follows(column, other) or (column, other)
        after = [j for j in self.later(other).tolist() if j in together and j != column]
        return missing[:, column] & missing[:, other] & ~missing[:, after].any(axis=1)


def find_apart(kept: Kept, missing: Mask) -> Places:
    """Return the pairs of columns that need a model apart, as `Kept` has them."""
    n_columns = missing.shape[1]
    pairs = [
        (column, other)
        for column in range(n_columns)
        for other in range(n_columns)
        if column != other and _decides(kept, column, other)
    ]
    found = replace(kept, apart=np.array(pairs, dtype=np.int64).reshape(-1, 2))
    some = [pair for pair in range(len(pairs)) if found.decides_last(pair, missing).any()]
    return found.apart[some]


def _decides(kept: Kept, column: int, other: int) -> bool:
    """Return whether a column decides another; in equations the last one is decided."""
    together = kept.relations.follows(column, other)
    if together is None:
        return False
    is_equation = kept.relations.follows(other, column) == together
    return other in kept.later(column) or not is_equation


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
        self.missing = missing
        self.places = [np.flatnonzero(missing[:, j]) for j in range(missing.shape[1])]
        cells = np.where(meaningful, np.nan, self.values)
        self.rows = Rows(layout.lay_out(self.values, meaningful), cells)

    def draw(
        self,
        column: int,
        models: Sequence[ColumnModel | None],
        uniform: Values,
        kept: Kept,
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
        allowed = kept.never.allowed(column, asked.cells) if model.plan.n_classes else None
        numbers = uniform[rows, column]
        if len(model.plan.weighed_by):
            is_class = model.plan.n_classes > 0
            likely = model.level_probabilities(asked, allowed) if is_class else None
            drawn = draw_weighed(column, models, self.layout, asked, numbers, likely)
        else:
            drawn = model.draw(asked, self.layout.columns[column], numbers, allowed)
        if kept.relations.concern(column):
            asked = self._draw_apart(column, models, asked, drawn, numbers, kept)
            drawn = self._within_limits(column, model, asked, drawn, numbers, kept.relations)
            drawn = self._as_decided(column, asked, drawn, kept, kept.later(column))
        self.put(column, drawn)

    def _draw_apart(
        self,
        column: int,
        models: Sequence[ColumnModel | None],
        asked: Rows,
        drawn: Values,
        numbers: Values,
        kept: Kept,
    ) -> Rows:
        """Draw cells that decide others again, without these; return the rows without these."""
        cells, missing = asked.cells.copy(), self.missing[self.places[column]]
        has_value = ~self.meaningful[self.places[column]]
        for pair in np.flatnonzero(kept.apart[:, 0] == column).tolist():
            other, model = int(kept.apart[pair, 1]), models[len(self.places) + pair]
            at = np.flatnonzero(kept.decides_last(pair, missing) & has_value[:, other])
            if model is not None and len(at):
                described = self.layout.columns[column]
                drawn[at] = model.draw(asked.take(at), described, numbers[at])
                cells[at, other] = np.nan
        return Rows(asked.coordinates, cells)

    def _within_limits(
        self,
        column: int,
        model: ColumnModel,
        asked: Rows,
        drawn: Values,
        numbers: Values,
        relations: Relations,
    ) -> Values:
        """Return drawn numbers, those beyond what relations allow drawn again, or at the limit."""
        if model.plan.n_classes:
            return drawn
        low, high = relations.limits(column, asked.cells)
        possible = low <= high
        for attempt in range(1, TRIES + 1):
            again = np.flatnonzero(possible & ((drawn < low) | (drawn > high)))
            if not len(again) or len(model.plan.weighed_by):
                break
            moved = (numbers[again] + APART * attempt) % 1.0
            drawn[again] = model.draw(asked.take(again), self.layout.columns[column], moved)
        return np.where(possible, np.clip(drawn, low, high), drawn)

    def _as_decided(
        self, column: int, asked: Rows, drawn: Values, kept: Kept, later: Places
    ) -> Values:
        """Return drawn cells, those that the rest of their row decides as it does."""
        waiting = np.zeros(asked.cells.shape, dtype=bool)
        waiting[:, later] = self.missing[np.ix_(self.places[column], later)]
        decided = kept.relations.decided(column, asked.cells, waiting)
        described = self.layout.columns[column]
        if not described.is_categorical:
            low, high = kept.relations.limits(column, asked.cells)
            lowest, highest = described.limits
            inside = (decided >= np.fmax(low, lowest)) & (decided <= np.fmin(high, highest))
            decided = on_grid(np.where(inside, decided, np.nan), described)
        return np.where(np.isnan(decided), drawn, decided)

    def settle(self, kept: Kept) -> None:
        """Let the rest of each row decide once more, where what decided before was out of range."""
        for column in kept.order[::-1].tolist():
            rows = self.places[column]
            if len(rows) and kept.relations.concern(column):
                nothing = np.empty(0, dtype=np.int64)
                asked, held = self.rows.take(rows), self.values[rows, column]
                self.put(column, self._as_decided(column, asked, held, kept, nothing))

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
    uniform: Uniform,
    n_rounds: int,
    kept: Kept,
) -> None:
    """Draw all missing cells, column by column, for several rounds."""
    for turn in range(n_rounds):
        numbers = uniform(turn)
        for column in kept.order.tolist():
            completion.draw(column, models, numbers, kept)
    completion.settle(kept)
