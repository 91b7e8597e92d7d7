"""Let the filled-in cells of a row agree with each other and with what was observed."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.relations.found import Relations
from diffjoint.table import Column

Likely = Callable[[int, Places], Values]
"""Returns how likely each level of a column is in some rows: an array (n_rows, n_codes)."""
ROUNDS = 10
"""Rounds in which cells that others decide may decide others in turn, at most."""
NEAR = 1e-9
"""How near two equal numbers are, relative to them."""


def make_agree(
    relations: Relations,
    columns: Sequence[Column],
    values: Values,
    filled: Mask,
    has_value: Mask,
    likely: Likely,
) -> Values:
    """Return values in which the filled cells of each row agree with the rest of it.

    What observed cells decide is filled so. The others keep what they were filled with, one column
    after the other, as far as the cells before them allow it, and decide what comes after them. A
    row's values depend on nothing but the row.

    Parameters
    ----------
    columns : sequence of Column
        All modelled ones.
    values : array of shape (n_rows, n_columns)
        Coded values, some value in every filled cell.
    filled, has_value : bool arrays of the same shape
        Cells that were filled in, and those that hold a value otherwise. All else holds none.
    likely : callable
        Asked where a level cannot stand beside the rest of its row.

    Examples
    --------
    >>> from diffjoint.relations import Equation
    >>> from diffjoint.table import Kind
    >>> total = Relations((Equation((2, 0, 1), (1.0, 1.0)),))
    >>> columns = [Column(name, Kind.CONTINUOUS, high=9.0) for name in "abc"]
    >>> filled = np.array([[False, False, True], [True, True, False]])
    >>> make_agree(
    ...     total, columns, np.array([[1.0, 2.0, 9.0], [4.0, 4.0, 7.0]]), filled, ~filled, None
    ... )
    array([[1., 2., 3.],
           [4., 3., 7.]])
    """
    concerned = [j for j in range(len(columns)) if relations.concern(j)]
    rows = np.flatnonzero(filled[:, concerned].any(axis=1))
    if not len(rows):
        return values
    row = _Rows(relations, columns, values[rows], filled[rows], has_value[rows])
    ordered = in_order(relations, columns, concerned)
    row.fill(ordered, lambda level, some: likely(level, rows[some]))
    _try_levels(row, ordered)
    agreed = values.copy()
    agreed[rows] = np.where(filled[rows], row.held(), values[rows])
    return agreed


def _try_levels(row: "_Rows", ordered: Sequence[int]) -> None:
    """Try the other levels of guessed addends in rows that a sum does not hold in."""
    level_numbers = row.relations.level_numbers
    for column in (j for j in ordered if level_numbers and len(level_numbers[j])):
        for level in range(len(level_numbers[column])):
            n_broken = row.relations.broken(row.cells).sum(axis=1)
            some = np.flatnonzero((n_broken > 0) & row.guessed[:, column])
            if not len(some):
                break
            trial = row.with_level(column, level, some)
            trial.fill(ordered, lambda _, at: np.ones((len(at), 1)))
            better = row.relations.broken(trial.cells).sum(axis=1) < n_broken[some]
            row.cells[some[better]] = trial.cells[better]


def in_order(
    relations: Relations, columns: Sequence[Column], concerned: Sequence[int]
) -> list[int]:
    """Return columns in the order in which they keep their values: those that decide others first.

    Otherwise coarse ones come before fine ones, which can follow more closely.

    Examples
    --------
    >>> from diffjoint.relations import Lookup
    >>> from diffjoint.table import Kind
    >>> columns = [Column(name, Kind.CATEGORICAL) for name in "abc"]
    >>> in_order(Relations(lookups=(Lookup(2, 0, np.zeros(3)),)), columns, [0, 2])
    [2, 0]
    """
    decides = [(one.source, one.target) for one in relations.lookups]
    decides += [(one.number, one.levels) for one in relations.bands]
    before: dict[int, set[int]] = {j: set() for j in concerned}
    for source, target in decides:
        if (target, source) not in decides:
            before[target].add(source)
    by_fineness = sorted(concerned, key=lambda j: _fineness(j, relations, columns))
    ordered: list[int] = []
    while len(ordered) < len(concerned):
        left = [j for j in by_fineness if j not in ordered]
        ready = [j for j in left if before[j] <= {*ordered}]
        ordered.append((ready or left)[0])
    return ordered


def _fineness(column: int, relations: Relations, columns: Sequence[Column]) -> float:
    if columns[column].is_categorical:
        return -np.inf
    return -float(relations.units[column]) if len(relations.units) else 0.0


class _Rows:
    """Rows whose filled cells are given their values one by one.

    Attributes
    ----------
    cells : array of shape (n_rows, n_columns)
        What the cells hold so far, NaN where nothing.
    guessed : bool array of the same shape
        Filled cells that nothing has decided.
    """

    def __init__(
        self,
        relations: Relations,
        columns: Sequence[Column],
        values: Values,
        filled: Mask,
        has_value: Mask,
    ) -> None:
        self.relations, self.columns, self.values = relations, columns, values
        self.filled, self.has_value = filled, has_value
        self.cells = np.where(has_value & ~filled, values, np.nan)
        self.guessed = np.zeros(filled.shape, dtype=bool)
        self.decide([j for j in range(len(columns)) if relations.concern(j)])

    def with_level(self, column: int, level: int, rows: Places) -> "_Rows":
        """Return some rows as they were before anything was guessed, but for one cell."""
        values, filled = self.values[rows].copy(), self.filled[rows].copy()
        values[:, column], filled[:, column] = level, False
        has_value = self.has_value[rows].copy()
        has_value[:, column] = True
        return _Rows(self.relations, self.columns, values, filled, has_value)

    def fill(self, ordered: Sequence[int], likely: Likely) -> None:
        """Fill all cells, column by column."""
        for column in ordered:
            self.keep(column, likely)
            self.decide(ordered)
        self.decide_guesses(ordered)
        self.leave_room(ordered, likely)

    def held(self) -> Values:
        """Return what the cells hold; what they were filled with where nothing was said of them."""
        return np.where(np.isnan(self.cells), self.values, self.cells)

    def decide(self, concerned: Sequence[int]) -> None:
        """Fill what the cells so far decide, and what this decides in turn."""
        for _ in range(ROUNDS):
            n_left = int(np.isnan(self.cells).sum())
            for column in concerned:
                waiting = np.flatnonzero(self.filled[:, column] & np.isnan(self.cells[:, column]))
                if len(waiting):
                    self.cells[waiting, column] = self._decided(column, waiting)
            if int(np.isnan(self.cells).sum()) == n_left:
                return

    def keep(self, column: int, likely: Likely, *, by_sums: bool = False) -> None:
        """Let a column keep what it was filled with, or what is nearest to it and allowed.

        Parameters
        ----------
        by_sums : bool
            Whether it leaves room for the other missing cells of a sum.
        """
        rows = np.flatnonzero(self.filled[:, column] & np.isnan(self.cells[:, column]))
        if not len(rows):
            return
        described, cells, kept = self.columns[column], self.cells[rows], self.values[rows, column]
        if described.is_categorical:
            allowed = self.relations.allowed(column, described.n_codes, cells)
            is_allowed = allowed[np.arange(len(rows)), kept.astype(np.int64)]
            at = np.flatnonzero(~is_allowed & allowed.any(axis=1))
            if len(at):
                scores = np.where(allowed[at], likely(column, rows[at]), -1.0)
                kept[at] = scores.argmax(axis=1)
        else:
            low, high = self.relations.limits(column, cells)
            for least, most in self._left_by_sums(column, cells) if by_sums else ():
                low, high = np.fmax(low, least), np.fmin(high, most)
            kept = self.relations.rounded(column, kept)
            kept = np.where(low <= high, np.clip(kept, low, high), kept)
        self.cells[rows, column] = kept
        self.guessed[rows, column] = True

    def decide_guesses(self, ordered: Sequence[int]) -> None:
        """Decide guesses again by the cells after them, where these could not follow a guess."""
        for column in reversed(ordered):
            rows = np.flatnonzero(self.guessed[:, column])
            n_broken = self.relations.broken(self.cells[rows]).sum(axis=1)
            rows, n_broken = rows[n_broken > 0], n_broken[n_broken > 0]
            if not len(rows):
                continue
            decided = self._decided(column, rows)
            tried = self.cells[rows]
            tried[:, column] = np.where(np.isnan(decided), tried[:, column], decided)
            better = self.relations.broken(tried).sum(axis=1) < n_broken
            self.cells[rows[better], column] = tried[better, column]

    def leave_room(self, ordered: Sequence[int], likely: Likely) -> None:
        """Fill rows anew in which a guess took more than its sum holds."""
        rows = np.flatnonzero(self.relations.broken(self.cells).any(axis=1))
        rows = rows[self.guessed[rows].any(axis=1)]
        if not len(rows) or not self.relations.equations:
            return
        held = (self.values[rows], self.filled[rows], self.has_value[rows])
        trial = _Rows(self.relations, self.columns, *held)
        for column in ordered:
            trial.keep(column, lambda level, at: likely(level, rows[at]), by_sums=True)
            trial.decide(ordered)
        n_broken, n_now = (
            self.relations.broken(cells).sum(axis=1) for cells in (trial.cells, self.cells[rows])
        )
        self.cells[rows[n_broken < n_now]] = trial.cells[n_broken < n_now]

    def _left_by_sums(self, column: int, cells: Values) -> Iterator[tuple[Values, Values]]:
        """Yield what sums leave to a column whose other missing cells can hold so much at most."""
        for equation in self.relations.equations:
            if equation.is_product or column not in equation.columns:
                continue
            others = [other for other in equation.columns if other != column]
            is_open = np.isnan(cells[:, others])
            if (is_open.any(axis=1) & (is_open.sum(axis=1) < len(others))).any():
                yield equation.range_of(column, cells, [self._range(other) for other in others])

    def _range(self, column: int) -> tuple[float, float]:
        """Return between which numbers a column may be filled in.

        They may lie beyond those that were observed, but not on the other side of 0.
        """
        described = self.columns[column]
        lowest, highest = described.lowest, described.highest
        if lowest is None:
            lowest = min(described.low, 0.0)
        if highest is None:
            highest = max(described.high, 0.0) if described.high <= 0 else np.inf
        return lowest, highest

    def _decided(self, column: int, rows: Places) -> Values:
        """Return what some rows decide of a column, if it can hold that; NaN otherwise."""
        cells = self.cells[rows]
        decided = self.relations.decided(column, cells)
        if self.columns[column].is_categorical:
            return decided
        decided = self.relations.rounded(column, decided)
        lowest, highest = self._range(column)
        low, high = self.relations.limits(column, cells)
        near = NEAR * np.maximum(np.abs(decided), 1.0)
        inside = decided >= np.fmax(low, lowest) - near
        inside &= decided <= np.fmin(high, highest) + near
        return np.where(inside, decided, np.nan)
