"""Columns that say which cells of others are meaningful, and masks that are drawn by them.

Who has no telephone has no second line. Where the telephone was lost as well, what the rest of the
row says of it is sharper than what it says of the second line, which is mostly told by the
telephone. So the gate is drawn first there, and the cells behind it are drawn as it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.state import Observation
from diffjoint.values.boosted import Expectation

VALUES, CALLS = 0.01, 0.03
"""Values behind a gate that is closed, and cells behind an open one that are called meaningful, at
most: as shares of the cells that agree, of which the rarer kind counts."""
FEWEST = 20
"""Cells behind a gate that is open, and behind one that is closed, at least."""


@dataclass(frozen=True)
class Gates:
    """Pairs of a gate and a column behind it.

    Attributes
    ----------
    gate, column : int arrays of shape (n_pairs,)
    closed : tuple of bool arrays of shape (n_levels,)
        Levels of each pair's gate at which cells of the column are meaningful.
    draw_missing : bool
        Whether gates that are missing are drawn. Where cells get lost together they are not: that a
        cell is missing as well says little of its gate then, but models of values take it to.
    """

    gate: Places
    column: Places
    closed: tuple[Mask, ...]
    draw_missing: bool = True

    def settle(
        self,
        observation: Observation,
        expectation: Expectation,
        masks: Mask,
        uniforms: Sequence[Values],
    ) -> Mask:
        """Return drawn masks whose cells behind gates are as the gates say.

        Parameters
        ----------
        expectation : Expectation
            Gates that are missing are drawn from it.
        masks : bool array of shape (n_draws, n_rows, n_columns)
        uniforms : sequence of arrays of shape (n_rows, n_columns)
            Random numbers of each draw.
        """
        if not len(self.gate):
            return masks
        settled, values = masks.copy(), observation.values
        undecided = observation.candidates.copy()
        for gate, column, closed in zip(self.gate, self.column, self.closed, strict=True):
            rows = np.flatnonzero(undecided[:, column] & ~np.isnan(values[:, gate]))
            settled[:, rows, column] = closed[values[rows, gate].astype(np.int64)]
            undecided[rows, column] = False
        for gate in np.unique(self.gate).tolist() if self.draw_missing else []:
            self._settle_by_drawn(gate, observation, expectation, settled, uniforms, undecided)
        return settled

    def _settle_by_drawn(
        self,
        gate: int,
        observation: Observation,
        expectation: Expectation,
        masks: Mask,
        uniforms: Sequence[Values],
        undecided: Mask,
    ) -> None:
        """Settle the undecided cells behind a gate that is missing; open if one has a value."""
        behind = np.flatnonzero(self.gate == gate).tolist()
        columns = self.column[behind]
        rows = np.flatnonzero(undecided[:, columns].any(axis=1))
        if not len(rows):
            return
        column = expectation.space.schema.modelled[gate]
        is_open = (~np.isnan(observation.values[np.ix_(rows, columns)])).any(axis=1)
        for mask, uniform in zip(masks, uniforms, strict=True):
            drawn = expectation.columns[gate].draw_cells(
                observation.values[rows], column, uniform[rows, gate]
            )
            for pair in behind:
                at = undecided[rows, self.column[pair]]
                is_closed = self.closed[pair][drawn.astype(np.int64)] & ~is_open
                mask[rows[at], self.column[pair]] = is_closed[at]
        undecided[np.ix_(rows, columns)] = False


NO_GATES = Gates(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), ())


def find_gates(
    values: Values,
    meaningful: Mask,
    gates: Places,
    n_levels: Places,
    *,
    draw_missing: bool = True,
) -> Gates:
    """Find columns that say by themselves which cells of others are meaningful.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    meaningful : bool array of the same shape
        Missing cells that are called meaningful.
    gates : int array
        Columns that may be gates: those with levels that have no meaningful cells themselves.
    n_levels : int array of shape (n_columns,)
    draw_missing : bool
        As :class:`Gates` has it.

    Examples
    --------
    >>> phone = np.repeat([0.0, 1.0], 30)
    >>> line = np.where(phone == 0, np.nan, 5.0)
    >>> table = np.column_stack([phone, line])
    >>> found = find_gates(table, np.isnan(table), np.array([0]), np.array([2, 0]))
    >>> found.column.tolist(), found.closed[0].tolist()
    ([1], [True, False])
    """
    found = []
    for column in np.flatnonzero(meaningful.any(axis=0)).tolist():
        for gate in gates.tolist():
            closed = _closed_levels(
                values[:, gate], values[:, column], meaningful[:, column], int(n_levels[gate])
            )
            if gate != column and closed is not None:
                found.append((gate, column, closed))
    pairs = np.array([pair[:2] for pair in found], dtype=np.int64).reshape(-1, 2)
    return Gates(pairs[:, 0], pairs[:, 1], tuple(pair[2] for pair in found), draw_missing)


def _closed_levels(gate: Values, cells: Values, meaningful: Mask, n_levels: int) -> Mask | None:
    """Return the levels of a gate at which cells are meaningful; None if it is no gate."""
    seen = ~np.isnan(gate)
    levels = gate[seen].astype(np.int64)
    n_called = np.bincount(levels, meaningful[seen], n_levels)
    n_others = np.bincount(levels, ~meaningful[seen], n_levels)
    closed: Mask = n_called > n_others
    rarer = min(n_called[closed].sum(), n_others[~closed].sum())
    if rarer < FEWEST or n_others[closed].sum() > VALUES * rarer:
        return None
    if n_called[~closed].sum() > CALLS * rarer:
        return None
    return closed
