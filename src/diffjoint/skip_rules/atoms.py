"""Single conditions on one column, and the search for the best ones by counts alone.

Of a region of rows it is counted once how many cells of the target are missing in each slot of each
column. A condition splits a column's slots in two; its score needs these counts only. Numbers are
split at a threshold. Levels are sorted by how often the target is missing beside them and split
somewhere in that order, which holds the best of all splits in two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask
from diffjoint.skip_rules.gates import Codes, Gates, Layout, lay_out
from diffjoint.state.rules import FALSE, TRUE, UNDECIDED, Answers

Counts = NDArray[np.float64]
MOST_EXCEPTIONS = 0.002
"""Share of cells that may be observed where a sharp rule says that there is nothing to record."""
MOST_MISTAKES = 0.01
"""The same where mistakes are in the data: of a rule whose edge is clear otherwise."""

LEAST_BY_VALUES = 7.0
"""Log-likelihood that the values of a gate must gain beyond where the gate itself applies.

Columns that one gate opens together apply in the same rows; none of them is the other's gate.
"""

MOST_CLOSELY = 32
"""Columns that are looked at closely: those of which a split gains most, and of sharp splits."""


@dataclass(frozen=True)
class Atom:
    """A condition on one column.

    Attributes
    ----------
    column : int
    holds : bool array
        Whether it holds in each of the column's slots but the last, which is "unknown".
    by_order : bool
        Whether it compares with a threshold.
    cost : float
        Natural logarithm of the number of conditions it was chosen from.
    """

    column: int
    holds: Mask
    by_order: bool
    cost: float

    def answers(self, gates: Gates, slots: Codes) -> Answers:
        """Return TRUE, FALSE or UNDECIDED for rows with these slots of all columns."""
        by_slot = np.append(np.where(self.holds, TRUE, FALSE), UNDECIDED).astype(np.int8)
        answers: Answers = by_slot[slots[:, self.column] - gates.starts[self.column]]
        return answers

    @property
    def key(self) -> tuple[int, bytes]:
        """What tells it from other conditions."""
        return self.column, self.holds.tobytes()


@dataclass(frozen=True)
class Tally:
    """How many cells of a target are observed and missing, in one group or in many."""

    observed: Counts
    missing: Counts

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.observed + other.observed, self.missing + other.missing)

    def __sub__(self, other: "Tally") -> "Tally":
        return Tally(self.observed - other.observed, self.missing - other.missing)

    @property
    def n(self) -> Counts:
        """Number of cells."""
        return self.observed + self.missing

    @property
    def fit(self) -> Counts:
        """Log-likelihood of which cells are missing, at the group's own rate."""
        n = self.n
        at_least_one = np.maximum(n, 1.0)
        of_observed: Counts = self.observed * np.log(np.maximum(self.observed, 1.0) / at_least_one)
        of_missing: Counts = self.missing * np.log(np.maximum(self.missing, 1.0) / at_least_one)
        return of_observed + of_missing

    @property
    def is_sharp(self) -> NDArray[np.bool_]:
        """Whether (nearly) all cells are missing."""
        sharp: NDArray[np.bool_] = self.observed <= MOST_EXCEPTIONS * self.missing
        return sharp

    @property
    def is_nearly_sharp(self) -> NDArray[np.bool_]:
        """Whether all cells are missing but for mistakes."""
        nearly: NDArray[np.bool_] = self.observed <= MOST_MISTAKES * self.missing
        return nearly


def tally(is_missing: Mask, where: Mask | slice = slice(None)) -> Tally:
    """Count the cells of a target in some rows."""
    some = is_missing[where]
    return Tally(np.array(float((~some).sum())), np.array(float(some.sum())))


@dataclass(frozen=True)
class Choice:
    """The columns that a rule may ask; of many, those that seem worth it are looked at closely.

    Which ones is told by groups of slots, a few of each column, so that the work grows little with
    the number of columns.

    Attributes
    ----------
    gates : Gates
    usable : bool array of shape (n_columns,)
    """

    gates: Gates
    usable: Mask

    def layout(self, counts: Tally, keep_false: Tally, keep_true: Tally) -> Layout:
        """Return the columns to look at in a region, with the parameters of ``best_atoms``."""
        if self.usable.sum() <= MOST_CLOSELY:
            return lay_out(self.gates, self.usable)
        groups, firsts = self.gates.groups, self.gates.group_firsts
        summed = Tally(*(np.add.reduceat(c, firsts) for c in (counts.observed, counts.missing)))
        splits = _split(groups, summed, keep_false, keep_true, 0.0)
        begins = np.flatnonzero(np.diff(groups.block, prepend=-1))
        may_ask = self.usable[groups.column]
        chosen = np.zeros(len(self.usable), dtype=bool)
        for score in (splits.gain, splits.sharp):
            top = np.where(may_ask, np.maximum.reduceat(score, begins), -np.inf)
            best = np.argsort(-top, kind="stable")[:MOST_CLOSELY]
            chosen[groups.column[best[np.isfinite(top[best])]]] = True
        return lay_out(self.gates, chosen, int(may_ask.sum()))


def count_slots(gates: Gates, slots: Codes, is_missing: Mask) -> Tally:
    """Count the target's observed and missing cells in each slot of each column."""
    observed, missing = (
        np.bincount(slots[rows].ravel(), minlength=gates.n_slots).astype(np.float64)
        for rows in (~is_missing, is_missing)
    )
    return Tally(observed, missing)


def best_atoms(
    choice: Choice, counts: Tally, keep_false: Tally, keep_true: Tally, n_best: int
) -> list[tuple[float, Atom]]:
    """Return the conditions that best split a region, with the log-likelihood each of them gains.

    Parameters
    ----------
    choice : Choice
    counts : Tally
        Of the region, by slot.
    keep_false, keep_true : Tally
        Rows outside of the region that the rule answers already; what is split off joins them.
    n_best : int
        Most conditions to return.
    """
    layout = choice.layout(counts, keep_false, keep_true)
    if not len(layout.block):
        return []
    splits = _split(layout, counts, keep_false, keep_true, LEAST_BY_VALUES)
    slots, joins, ends = splits.slots, splits.joins, splits.ends
    begins = np.concatenate([[0], ends[:-1] + 1])
    found: dict[tuple[int, bytes], tuple[float, Atom]] = {}
    for score in (splits.gain, splits.sharp):
        top = np.maximum.reduceat(score, begins)
        for b in np.argsort(-top, kind="stable")[:n_best]:
            if not np.isfinite(top[b]):
                break
            at = int(begins[b] + np.argmax(score[begins[b] : ends[b] + 1]))
            atom = _atom(choice.gates, layout, int(b), slots[begins[b] : at + 1], bool(joins[b]))
            found.setdefault(atom.key, (float(top[b]), atom))
    return sorted(found.values(), key=lambda one: -one[0])


@dataclass(frozen=True)
class _Splits:
    """All splits of a layout's blocks: after each slot, in the order ``slots``.

    Attributes
    ----------
    gain : array
        Log-likelihood that each split gains; -inf for those that are none.
    sharp : array
        The same, of sharp splits only.
    slots : int array
    ends : int array
        Where each block ends.
    joins : bool array
        Blocks whose cells that have nothing to record fail the condition.
    """

    gain: Counts
    sharp: Counts
    slots: Codes
    ends: Codes
    joins: Mask


def _split(
    layout: Layout, counts: Tally, keep_false: Tally, keep_true: Tally, least_by_values: float
) -> _Splits:
    """Split every block after each of its slots."""
    block = layout.block
    slots = _sorted(layout, counts)
    ends = np.append(np.flatnonzero(np.diff(block)), len(block) - 1)
    in_slot = Tally(counts.observed[slots], counts.missing[slots])
    below = _within(in_slot, block, ends)
    whole = Tally(below.observed[ends], below.missing[ends])
    beside = Tally(counts.observed[layout.nothing], counts.missing[layout.nothing])
    joins = beside.missing >= beside.observed
    fails = below + _of(beside, joins, block)
    above = _of(whole, np.ones(len(joins), dtype=bool), block) - below
    holds = above + _of(beside, ~joins, block)
    gain = _gain(fails, holds, keep_false, keep_true)
    without_values = np.where(joins, _gain(beside, whole, keep_false, keep_true), 0.0)
    gain = np.where(gain - without_values[block] > least_by_values, gain, -np.inf)
    steeper = fails.missing * holds.n > holds.missing * fails.n
    gain = np.where(steeper & (below.n > 0) & (above.n > 0), gain, -np.inf)
    sharp = np.where((keep_false + fails).is_sharp, gain, -np.inf)
    return _Splits(gain, sharp, slots, ends, joins)


def _gain(fails: Tally, holds: Tally, keep_false: Tally, keep_true: Tally) -> Counts:
    """Return the log-likelihood that is gained by telling two groups of a region apart."""
    apart = (keep_false + fails).fit + (keep_true + holds).fit
    gain: Counts = apart - keep_false.fit - keep_true.fit - (fails + holds).fit
    return gain


def _sorted(layout: Layout, counts: Tally) -> Codes:
    """Return the slots with those of sets sorted by how often the target is missing there."""
    slots = layout.slots
    n = counts.n[slots]
    rate = (counts.missing[slots] + 0.25) / (n + 0.5)
    key = np.where(layout.by_rate[layout.block], -rate, 0.0)
    order = np.lexsort((np.arange(len(slots)), -n * (key != 0), key, layout.block))
    return slots[order]


def _within(parts: Tally, block: Codes, ends: Codes) -> Tally:
    """Return running sums within each block."""
    sums = []
    for counts in (parts.observed, parts.missing):
        running = np.cumsum(counts)
        before = np.concatenate([[0.0], running[ends[:-1]]])
        sums.append(running - before[block])
    return Tally(*sums)


def _of(by_block: Tally, included: Mask, block: Codes) -> Tally:
    """Return counts of blocks at each of their slots, 0 for blocks that are not included."""
    return Tally(
        np.where(included, by_block.observed, 0.0)[block],
        np.where(included, by_block.missing, 0.0)[block],
    )


def _atom(gates: Gates, layout: Layout, block: int, fails: Codes, nothing_fails: bool) -> Atom:
    """Return the condition that fails in some slots of a column, and where that does not apply."""
    j = int(layout.column[block])
    first, n = int(gates.starts[j]), len(gates.numbers[j])
    holds = np.ones(n + 1, dtype=bool)
    holds[fails - first] = False
    holds[n] = not nothing_fails
    by_rate = bool(layout.by_rate[block])
    named = min(holds[:n].sum(), n - holds[:n].sum())
    cost = (
        np.log(layout.n_tried) + max(named, 1) * np.log(max(n, 2))
        if by_rate
        else (np.log(layout.n_tried) + np.log(max(n, 2)))
    )
    return Atom(j, holds, not by_rate, float(cost))
