"""What the user knows of the missing cells: labels, reason codes and rules, put together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.errors import InputError, option
from diffjoint.knowledge.labels import Labels
from diffjoint.knowledge.rules import FALSE, STRANGER, TRUE, UNDECIDED, Rule, Truth
from diffjoint.state import JointSpace, JointState
from diffjoint.table import NOT_TICKED, Schema, Table

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Knowledge:
    """Which missing cells are settled before anything is inferred, and what settles others.

    Attributes
    ----------
    meaningful, lost : bool arrays of shape (n_rows, n_modelled)
        Missing cells of known kind.
    labelled : bool array of the same shape
        Those of them that the user has labelled one by one.
    undecided : bool array of the same shape
        Missing cells of ruled columns whose rule waits for a missing gate.
    demanded : int array of the same shape
        What a rule that waits for a gate must answer, if its cell is to be what it is known to
        be: TRUE or FALSE; UNDECIDED if nothing is known of the cell.
    asked : array of the same shape
        Coded values as rules see them: NaN where missing, levels that fit did not see
        ``STRANGER``.
    n_levels : array of shape (n_modelled,)
        Levels of each column; 0 for numbers.
    rules : tuple of Rule
    doubts : tuple of str
        Where what is known contradicts itself.
    checkboxes : bool array of shape (n_rows, n_modelled)
        Empty cells of checkboxes. Their values are known, not ticked, unless they were lost; they
        are meaningful where they are not ticked.
    """

    meaningful: Mask
    lost: Mask
    labelled: Mask
    undecided: Mask
    demanded: Truth
    asked: Values
    n_levels: NDArray[np.int64]
    rules: tuple[Rule, ...] = ()
    doubts: tuple[str, ...] = ()
    checkboxes: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    def __post_init__(self) -> None:
        if self.checkboxes.size == 0:
            object.__setattr__(self, "checkboxes", np.zeros(self.meaningful.shape, dtype=bool))

    def certain(self, probability: Values) -> Values:
        """P(meaningful) of all cells from that of those that were judged."""
        return np.where(self.checkboxes & ~self.lost, 1.0, probability)

    def marked(self, values: Values) -> Values:
        """Values by which rows are told apart: cells of known kind differ from other gaps."""
        if not (self.meaningful.any() or self.lost.any()):
            return values
        marked = np.where(self.meaningful, np.inf, values)
        return np.where(self.lost, -np.inf, marked)

    def settle(self, state: JointState) -> JointState:
        """A state that obeys the rules, in which boxes that are not ticked are meaningful."""
        settled = self._by_rules(state)
        if not self.checkboxes.any():
            return settled
        unticked = self.checkboxes & (settled.values == NOT_TICKED)
        return JointState(settled.values, settled.meaningful | unticked)

    def _by_rules(self, state: JointState) -> JointState:
        """A state that obeys the rules: filled gates decide the cells that waited for them.

        A gate that was filled against a cell of known kind gives way: a category takes the
        first level under which the rules say what is known.
        """
        if not self.rules:
            return state
        settled = JointState(state.values, self._decided(state, slice(None)))
        broken = np.flatnonzero(self._n_broken(settled, slice(None)))
        if not len(broken):
            return settled
        mended = self._mended(JointState(state.values[broken], state.meaningful[broken]), broken)
        values, meaningful = settled.values.copy(), settled.meaningful
        values[broken], meaningful[broken] = mended.values, mended.meaningful
        return JointState(values, meaningful)

    def _decided(self, state: JointState, rows: Rows | slice) -> Mask:
        """The mask after each rule was asked, gates first."""
        meaningful = state.meaningful.copy()
        for rule in self.rules:
            answers = self._answers(rule, JointState(state.values, meaningful), rows)
            waited = self.undecided[rows, rule.target] & (answers != UNDECIDED)
            meaningful[waited, rule.target] = answers[waited] == FALSE
        return meaningful

    def _answers(self, rule: Rule, state: JointState, rows: Rows | slice) -> Truth:
        asked = self.asked[rows]
        return rule.answers(np.where(np.isnan(asked), state.values, asked), state.meaningful)

    def _n_broken(self, settled: JointState, rows: Rows | slice) -> NDArray[np.int64]:
        """How many rules a row's cells of known kind break."""
        n_broken = np.zeros(len(settled.values), dtype=np.int64)
        for rule in self.rules:
            demanded = self.demanded[rows, rule.target]
            answers = self._answers(rule, settled, rows)
            n_broken += (demanded != UNDECIDED) & (answers == TRUE - demanded)
        return n_broken

    def _mended(self, state: JointState, rows: Rows) -> JointState:
        """Filled gates changed one at a time, where that leaves fewer rules broken."""
        values, drawn = state.values.copy(), state.meaningful.copy()
        meaningful = self._decided(state, rows)
        fewest = self._n_broken(JointState(values, meaningful), rows)
        gates = sorted(frozenset().union(*(rule.gates for rule in self.rules)))
        for gate, level in [(j, code) for j in gates for code in range(self.n_levels[j])]:
            free = np.isnan(self.asked[rows, gate]) & ~self.meaningful[rows, gate]
            trial = JointState(values.copy(), drawn.copy())
            trial.values[free, gate], trial.meaningful[free, gate] = level, False
            settled = JointState(trial.values, self._decided(trial, rows))
            n_broken = self._n_broken(settled, rows)
            better = n_broken < fewest
            values[better], drawn[better] = trial.values[better], trial.meaningful[better]
            meaningful[better], fewest[better] = settled.meaningful[better], n_broken[better]
        return JointState(values, meaningful)


def know(
    values: Values,
    gaps: Mask,
    schema: Schema,
    labels: Labels,
    coded: Labels,
    rules: tuple[Rule, ...] = (),
) -> Knowledge:
    """Ask every rule of a table; what is said of a single cell goes before its rule.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        Coded cells, NaN where missing or not seen in fit.
    gaps : bool array of the same shape
        Missing cells.
    labels, coded : Labels
        All that is said of single cells, and what codes say, in the shape of the whole table.
    """
    modelled = schema.modelled_positions
    checkboxes = gaps & schema.checkboxes
    by_hand = (labels.meaningful & ~coded.meaningful) | (labels.lost & ~coded.lost)
    labelled = [
        labels.meaningful[:, modelled] & gaps & ~checkboxes,
        labels.lost[:, modelled] & gaps,
    ]
    meaningful, lost = labelled[0].copy(), labelled[1].copy()
    undecided = np.zeros(gaps.shape, dtype=bool)
    demanded = np.full(gaps.shape, UNDECIDED, dtype=np.int8)
    strangers = np.isnan(values) & ~gaps
    asked = np.where(strangers, STRANGER, values) if strangers.any() else values
    against: list[tuple[Rule, Mask]] = []
    for rule in rules:
        j = rule.target
        answers = rule.answers(asked, meaningful)
        is_regular = ~gaps[:, j] | labelled[1][:, j]
        open_to_it = gaps[:, j] & ~labelled[0][:, j] & ~labelled[1][:, j]
        waits = answers == UNDECIDED
        demanded[waits & is_regular, j], demanded[waits & labelled[0][:, j], j] = TRUE, FALSE
        meaningful[:, j] |= open_to_it & (answers == FALSE)
        lost[:, j] |= open_to_it & (answers == TRUE)
        undecided[:, j] = open_to_it & waits
        breaks = (is_regular & (answers == FALSE)) | (labelled[0][:, j] & (answers == TRUE))
        against.append((rule, breaks))
    return Knowledge(
        meaningful,
        lost,
        by_hand[:, modelled] & gaps & ~checkboxes,
        undecided,
        demanded,
        asked,
        schema.n_levels,
        rules,
        _doubts(against, schema),
        checkboxes,
    )


def open_boxes(values: Values, labels: Labels, schema: Schema) -> Values:
    """Coded values without those of boxes that were lost: nothing says whether they were ticked."""
    lost = labels.lost[:, schema.modelled_positions] & schema.checkboxes
    return np.where(lost, np.nan, values) if lost.any() else values


def check_labels(
    labels: Labels, coded: Labels, table: Table, schema: Schema, space: JointSpace
) -> None:
    """Raise if cells are said to be meaningful where none is searched for, or are not modelled."""
    searched = set(schema.modelled_positions[list(space.mm)].tolist())
    modelled = set(schema.modelled_positions.tolist())
    for position in np.flatnonzero((labels.meaningful & ~coded.meaningful).any(axis=0)):
        if position not in searched and not schema.columns[position].is_checkbox:
            name = table.names[position]
            raise InputError(
                f"{option('known_meaningful')} has cells of '{name}', which is not among "
                f"{option('mm_columns')} "
                f"({', '.join(schema.modelled[j].name for j in space.mm) or 'none'}). Add '{name}' "
                f"to {option('mm_columns')} and fit, or leave those cells out.",
                parameter="known_meaningful",
            )
    for position in np.flatnonzero((labels.lost & ~coded.lost).any(axis=0)):
        if position not in modelled:
            raise InputError(
                f"{option('known_lost')} has cells of '{table.names[position]}', which is passed "
                "through unmodelled (an id or free text) and cannot be filled. Leave those cells "
                f"out, or set the column's kind in {option('column_kinds')}.",
                parameter="known_lost",
            )


def _doubts(against: Sequence[tuple[Rule, Mask]], schema: Schema) -> tuple[str, ...]:
    """One sentence on all cells that are not as their rules would have them."""
    counts = {rule.target: int(breaks.sum()) for rule, breaks in against}
    n_cells = sum(counts.values())
    if not n_cells:
        return ()
    rule, breaks = next((rule, breaks) for rule, breaks in against if breaks.any())
    listed = ", ".join(f"{schema.modelled[j].name} ({n:,})" for j, n in counts.items() if n)
    return (
        f"{n_cells:,} cells contradict their rule: {listed}. An example is row "
        f"{int(np.flatnonzero(breaks)[0])} of '{schema.modelled[rule.target].name}', whose rule is "
        f"{rule.text!r}. What is there, or known of a cell, stays as it is. Check the rules and "
        "the data.",
    )
