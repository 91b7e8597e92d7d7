"""Resolve labels, reason codes and rules to what is known of every missing cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.errors import InputError, option
from diffjoint.knowledge.conditions import UNSEEN_LEVEL, Rule
from diffjoint.knowledge.labels import Labels
from diffjoint.state import JointSpace, JointState
from diffjoint.state.rules import FALSE, TRUE, UNDECIDED, Answers
from diffjoint.table import NOT_TICKED, Schema, Table, how_to_model, why_passed_through

Rows = NDArray[np.intp]
MOST_TRIALS = 400
"""Settings of the gates of one rule that are tried together."""
KNOWN = 100_000
"""How many calls a cell that is known weighs as much as."""


@dataclass(frozen=True)
class Knowledge:
    """What the user's labels, codes and rules decide of a table's missing cells.

    Attributes
    ----------
    meaningful, lost : bool arrays of shape (n_rows, n_modelled)
        Missing cells that are known to be meaningful, or lost.
    labelled : bool array of the same shape
        Those of them that the user has labelled cell by cell.
    undecided : bool array of the same shape
        Missing cells whose rule cannot be decided, since a gate is missing.
    demanded : int array of the same shape
        The answer that an undecided rule must have to agree with what is known of its cell: TRUE
        or FALSE; UNDECIDED if nothing is known of the cell.
    rule_values : array of the same shape
        Coded values for rules: NaN where missing, ``UNSEEN_LEVEL`` for levels not seen in fit.
    n_levels : array of shape (n_modelled,)
        Number of levels of each column; 0 for numbers.
    rules : tuple of Rule
    doubts : tuple of str
        Contradictions between rules and cells.
    checkboxes : bool array of shape (n_rows, n_modelled)
        Missing cells of checkboxes. Unless they were lost their value is known (not ticked), and
        they are meaningful.
    """

    meaningful: Mask
    lost: Mask
    labelled: Mask
    undecided: Mask
    demanded: Answers
    rule_values: Values
    n_levels: NDArray[np.int64]
    rules: tuple[Rule, ...] = ()
    doubts: tuple[str, ...] = ()
    checkboxes: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    def __post_init__(self) -> None:
        if self.checkboxes.size == 0:
            object.__setattr__(self, "checkboxes", np.zeros(self.meaningful.shape, dtype=bool))

    def fill_certain(self, probability: Values) -> Values:
        """Set P(meaningful) to 1 at checkboxes that are not ticked."""
        return np.where(self.checkboxes & ~self.lost, 1.0, probability)

    def mark_known(self, values: Values) -> Values:
        """Mark known cells in values that row keys are made from: +inf meaningful, -inf lost."""
        if not (self.meaningful.any() or self.lost.any()):
            return values
        marked = np.where(self.meaningful, np.inf, values)
        return np.where(self.lost, -np.inf, marked)

    def settle(self, state: JointState) -> JointState:
        """Return a state that obeys the rules and has unticked checkboxes as meaningful."""
        settled = self._by_rules(state)
        if not self.checkboxes.any():
            return settled
        unticked = self.checkboxes & (settled.values == NOT_TICKED)
        return JointState(settled.values, settled.meaningful | unticked)

    def _by_rules(self, state: JointState) -> JointState:
        """Return a state that obeys the rules: filled gates decide the undecided cells.

        If a gate was filled so that a rule contradicts a known cell, the gate changes: a category
        takes the first level for which the rules agree with what is known, a number the first
        threshold of a rule.
        """
        if not self.rules:
            return state
        settled = JointState(state.values, self._decided(state, slice(None)))
        broken = np.flatnonzero(self._n_broken(settled, state.meaningful, slice(None)))
        if not len(broken):
            return settled
        mended = self._mended(JointState(state.values[broken], state.meaningful[broken]), broken)
        values, meaningful = settled.values.copy(), settled.meaningful
        values[broken], meaningful[broken] = mended.values, mended.meaningful
        return JointState(values, meaningful)

    def _decided(self, state: JointState, rows: Rows | slice) -> Mask:
        """Return the mask with undecided cells decided by their rules, gates first."""
        meaningful = state.meaningful.copy()
        for rule in self.rules:
            answers = self._answers(rule, JointState(state.values, meaningful), rows)
            says = answers == FALSE if rule.only_if else answers != UNDECIDED
            waited = self.undecided[rows, rule.target] & says
            meaningful[waited, rule.target] = answers[waited] == FALSE
        return meaningful

    def _answers(self, rule: Rule, state: JointState, rows: Rows | slice) -> Answers:
        asked = self.rule_values[rows]
        return rule.answers(np.where(np.isnan(asked), state.values, asked), state.meaningful)

    def _n_broken(self, settled: JointState, called: Mask, rows: Rows | slice) -> NDArray[np.int64]:
        """Return how many rules the known cells of each row break.

        Cells that a rule decides against their call count as well, though any number of them less
        than one known cell. They do so for rules that were found: the call considers that the cell
        is missing, and a gate's filled value does not.
        """
        n_broken = np.zeros(len(settled.values), dtype=np.int64)
        for rule in self.rules:
            j = rule.target
            demanded = self.demanded[rows, j]
            answers = self._answers(rule, settled, rows)
            n_broken += KNOWN * ((demanded != UNDECIDED) & (answers == TRUE - demanded))
            if rule.is_found:
                n_broken += self.undecided[rows, j] & (settled.meaningful[:, j] != called[:, j])
        return n_broken

    def _mended(self, state: JointState, rows: Rows) -> JointState:
        """Change filled gates where that leaves fewer rules broken: one by one, then together."""
        decided = self._decided(state, rows)
        settled = JointState(state.values, decided)
        mending = _Mending(state, decided, self._n_broken(settled, state.meaningful, rows))
        choices = self._choices()
        for gate, values in choices.items():
            for value in values:
                self._try(mending, {gate: value}, rows)
        if not mending.fewest.any():
            return JointState(mending.values, mending.meaningful)
        for rule in self.rules:
            gates = [gate for gate in sorted(rule.gates) if choices[gate]]
            settings = list(islice(product(*(choices[gate] for gate in gates)), MOST_TRIALS))
            for setting in settings if len(gates) > 1 else []:
                self._try(mending, dict(zip(gates, setting, strict=True)), rows)
        return JointState(mending.values, mending.meaningful)

    def _choices(self) -> dict[int, list[float]]:
        """Return the values that each gate may change to."""
        choices: dict[int, list[float]] = {
            gate: [float(code) for code in range(self.n_levels[gate])]
            for gate in sorted(frozenset().union(*(rule.gates for rule in self.rules)))
        }
        for gate, value in (trial for rule in self.rules for trial in rule.trials):
            if value not in choices[gate]:
                choices[gate].append(value)
        return choices

    def _gates_of_found_rules(self) -> frozenset[int]:
        """Return the gates of found rules alone that have no rule themselves."""
        known: frozenset[int] = frozenset().union(
            *({rule.target} if rule.is_found else {rule.target, *rule.gates} for rule in self.rules)
        )
        return frozenset().union(*(rule.gates for rule in self.rules)) - known

    def _try(self, mending: "_Mending", setting: Mapping[int, float], rows: Rows) -> None:
        """Set gates that were filled to some values in the rows where fewer rules then break.

        Found rules were learnt where their gates are there, and say nothing of gates that are not
        applicable: such a call stays, unless the gate has a rule of its own.
        """
        still, left_alone = np.flatnonzero(mending.fewest), self._gates_of_found_rules()
        some = rows[still]
        trial = JointState(mending.values[still], mending.drawn[still])
        for gate, value in setting.items():
            free = np.isnan(self.rule_values[some, gate]) & ~self.meaningful[some, gate]
            if gate in left_alone:
                free &= ~mending.called[still, gate]
            trial.values[free, gate], trial.meaningful[free, gate] = value, False
        settled = JointState(trial.values, self._decided(trial, some))
        n_broken = self._n_broken(settled, mending.called[still], some)
        better = n_broken < mending.fewest[still]
        place = still[better]
        mending.values[place], mending.drawn[place] = trial.values[better], trial.meaningful[better]
        mending.meaningful[place] = settled.meaningful[better]
        mending.fewest[place] = n_broken[better]


class _Mending:
    """Rows whose filled gates are being changed.

    Attributes
    ----------
    values, drawn : arrays of shape (n_rows, n_columns)
        As filled, and changed since.
    meaningful : bool array of the same shape
        With what the rules decide.
    called : bool array of the same shape
        The mask as it was.
    fewest : int array of shape (n_rows,)
        How many rules each row breaks.
    """

    def __init__(self, state: JointState, meaningful: Mask, n_broken: NDArray[np.int64]) -> None:
        self.values, self.drawn = state.values.copy(), state.meaningful.copy()
        self.meaningful, self.called, self.fewest = meaningful, state.meaningful, n_broken


def resolve_knowledge(
    values: Values,
    missing: Mask,
    schema: Schema,
    labels: Labels,
    coded: Labels,
    rules: tuple[Rule, ...] = (),
) -> Knowledge:
    """Apply all rules to a table; the label of a cell overrides its rule.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        Coded cells, NaN where missing or not seen in fit.
    missing : bool array of the same shape
        Missing cells.
    labels, coded : Labels
        All labels, and those of them that come from reason codes, in the whole table's shape.
    """
    modelled = schema.modelled_positions
    checkboxes = missing & schema.checkboxes
    by_hand = (labels.meaningful & ~coded.meaningful) | (labels.lost & ~coded.lost)
    labelled = Labels(
        labels.meaningful[:, modelled] & missing & ~checkboxes, labels.lost[:, modelled] & missing
    )
    said = _Said(
        labelled.meaningful.copy(),
        labelled.lost.copy(),
        np.zeros(missing.shape, dtype=bool),
        np.full(missing.shape, UNDECIDED, dtype=np.int8),
    )
    unseen = np.isnan(values) & ~missing
    asked = np.where(unseen, UNSEEN_LEVEL, values) if unseen.any() else values
    against = [(rule, _apply_rule(rule, asked, missing, labelled, said)) for rule in rules]
    for rule in reversed(rules):
        _open_gates(rule, rules, asked, said)
    return Knowledge(
        said.meaningful,
        said.lost,
        by_hand[:, modelled] & missing & ~checkboxes,
        said.undecided,
        said.demanded,
        asked,
        schema.n_levels,
        rules,
        _doubts([(rule, cells) for rule, cells in against if not rule.is_found], schema),
        checkboxes,
    )


@dataclass(frozen=True)
class _Said:
    """What labels and the rules so far say of missing cells, as in :class:`Knowledge`."""

    meaningful: Mask
    lost: Mask
    undecided: Mask
    demanded: Answers


def _apply_rule(rule: Rule, asked: Values, missing: Mask, labelled: Labels, said: _Said) -> Mask:
    """Add to ``said`` what a rule says of its column; return the rows that contradict it.

    Parameters
    ----------
    asked, missing : arrays of shape (n_rows, n_modelled)
        Values for rules, and the missing cells.
    labelled : Labels
        Of those cells.
    """
    j = rule.target
    answers = rule.answers(asked, said.meaningful)
    is_regular = ~missing[:, j] | labelled.lost[:, j]
    is_open = missing[:, j] & ~labelled.meaningful[:, j] & ~labelled.lost[:, j]
    is_undecided = answers == UNDECIDED
    said.demanded[is_undecided & is_regular, j] = TRUE
    said.undecided[:, j] = is_open & is_undecided
    contradicts: Mask = is_regular & (answers == FALSE)
    said.meaningful[:, j] |= is_open & (answers == FALSE)
    if not rule.only_if:
        said.demanded[is_undecided & labelled.meaningful[:, j], j] = FALSE
        if rule.settles:
            said.lost[:, j] |= is_open & (answers == TRUE)
        contradicts |= labelled.meaningful[:, j] & (answers == TRUE)
    return contradicts


def _open_gates(rule: Rule, rules: Sequence[Rule], asked: Values, said: _Said) -> None:
    """Add to ``said`` which undecided gates must have a value, since what they open is there.

    What opens such a gate must then hold as well, and so on: rules are to be gone through with the
    gates last.
    """
    for gate in sorted(rule.gates & {one.target for one in rules}):
        rows = np.flatnonzero((said.demanded[:, rule.target] == TRUE) & said.undecided[:, gate])
        if len(rows):
            closed = said.meaningful[rows]
            closed[:, gate] = True
            must = rows[rule.answers(asked[rows], closed) == FALSE]
            said.lost[must, gate], said.undecided[must, gate] = True, False
            said.demanded[must, gate] = TRUE


def without_lost_checkboxes(values: Values, labels: Labels, schema: Schema) -> Values:
    """Set lost checkboxes to missing: it is not known whether they were ticked."""
    lost = labels.lost[:, schema.modelled_positions] & schema.checkboxes
    return np.where(lost, np.nan, values) if lost.any() else values


def check_labels(
    labels: Labels, coded: Labels, table: Table, schema: Schema, space: JointSpace
) -> None:
    """Raise if a column with cells labelled meaningful is not searched, or lost, not modelled."""
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
    for lost in np.flatnonzero((labels.lost & ~coded.lost).any(axis=0)).tolist():
        if lost not in modelled:
            column = table.column(lost)
            raise InputError(
                f"{option('known_lost')} has cells of '{table.names[lost]}', which is passed "
                f"through unmodelled ({why_passed_through(column)}) and cannot be filled. Leave "
                f"those cells out, or {how_to_model(column, table.labels[lost])}.",
                parameter="known_lost",
            )


def _doubts(against: Sequence[tuple[Rule, Mask]], schema: Schema) -> tuple[str, ...]:
    """Return one doubt about all cells that contradict their rule, or none."""
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
