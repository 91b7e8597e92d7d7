"""Check a table against rules: the cells that break them, and which cell is likely wrong."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.knowledge.conditions import Rule
from diffjoint.state.rules import FALSE


@dataclass(frozen=True)
class Break:
    """An observed cell where its rule says that there is nothing to record.

    Attributes
    ----------
    row : int
    rule : Rule
    likely_wrong : int
        Position of the cell that is likely wrong. To take the cell out contradicts those that it
        opens in turn and that are there; to change a gate contradicts the columns that it keeps
        closed and that are missing. A gate is likely wrong if it is contradicted more than once.
    """

    row: int
    rule: Rule
    likely_wrong: int


def find_breaks(values: Values, missing: Mask, rules: Sequence[Rule]) -> list[Break]:
    """Return the observed cells that break their rules, row by row.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        Coded cells, NaN where missing.
    missing : bool array of the same shape
    rules : sequence of Rule
        Gates before the columns that they open.
    """
    meaningful = np.zeros(missing.shape, dtype=bool)
    answers = {}
    for rule in rules:
        answers[rule.target] = rule.answers(values, meaningful)
        meaningful[:, rule.target] = missing[:, rule.target] & (answers[rule.target] == FALSE)
    by_row: dict[int, list[Rule]] = {}
    for rule in rules:
        broken = ~missing[:, rule.target] & (answers[rule.target] == FALSE)
        for row in np.flatnonzero(broken).tolist():
            by_row.setdefault(row, []).append(rule)
    breaks = []
    for row, broken_rules in sorted(by_row.items()):
        against = Counter(gate for rule in broken_rules for gate in rule.gates)
        for gate in list(against):
            obeyed = [r for r in rules if gate in r.gates and r not in broken_rules]
            against[gate] -= sum(bool(meaningful[row, r.target]) for r in obeyed)
        for rule in broken_rules:
            opens = [r for r in rules if rule.target in r.gates and r not in broken_rules]
            n_opened = sum(not missing[row, r.target] for r in opens)
            against.update(dict.fromkeys(rule.gates, n_opened))
        for rule in broken_rules:
            gate = max(sorted(rule.gates), key=lambda place: against[place])
            breaks.append(Break(row, rule, gate if against[gate] > 1 else rule.target))
    return breaks
