"""Search for the shortest rule that explains where a column is missing.

A rule is grown condition by condition. "And" splits the rows where it holds so far, "or" those
where it fails, as long as there are observed cells among them. A further condition must correct
what the rule says of rows that it answers already; that it answers more rows is no reason, or every
lost gate would be papered over by other columns.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from diffjoint._types import Mask
from diffjoint.skip_rules.atoms import (
    Atom,
    Choice,
    Tally,
    best_atoms,
    count_slots,
    tally,
)
from diffjoint.skip_rules.formula import MOST_ATOMS, Formula
from diffjoint.skip_rules.gates import Codes, Gates
from diffjoint.state.rules import FALSE, TRUE, UNDECIDED, Answers

WIDTH = 6
"""Formulas that are grown further, of each length."""
N_BEST = 8
"""Conditions that each is joined with: those that split best, and of those the sharp ones."""
N_AHEAD = 4
"""Conditions that are tried as the first, and as the second, of two that are joined at once."""
N_SHORTENED = 12
"""Sharp formulas that are shortened and compared."""
MARGIN = 7.0
"""Log-likelihood that a condition must gain beyond the cost of having been searched for."""
LEAST_SHARE = 0.25
"""Share of a longer formula's score that a shorter one has if it can stand in for it."""
NONE = Tally(np.array(0.0), np.array(0.0))


@dataclass(frozen=True)
class Target:
    """A column whose rule is sought, and the rows to seek it in.

    Attributes
    ----------
    gates : Gates
    slots : int array of shape (n_rows, n_columns)
        Slots of the rows.
    is_missing : bool array of shape (n_rows,)
        The column's missing cells.
    """

    gates: Gates
    slots: Codes
    is_missing: Mask

    def judge(self, formula: Formula) -> "Candidate":
        """Return a formula with what it says of the column's cells."""
        answers = formula.answers(self.gates, self.slots)
        fails, holds = (tally(self.is_missing, answers == answer) for answer in (FALSE, TRUE))
        return Candidate(formula, answers, fails, holds)


@dataclass(frozen=True)
class Candidate:
    """A formula, and what it says of a column's cells.

    Attributes
    ----------
    formula : Formula
    answers : int array of shape (n_rows,)
    fails, holds : Tally
        The column's cells where it fails, and where it holds.
    """

    formula: Formula
    answers: Answers
    fails: Tally
    holds: Tally

    @property
    def sharpness(self) -> int:
        """2 if (nearly) no cell is observed where it fails, 1 if only mistakes are, else 0."""
        return int(self.fails.is_sharp) + int(self.fails.is_nearly_sharp)

    @property
    def gain(self) -> float:
        """Log-likelihood gained by telling the two groups apart."""
        return float(self.fails.fit + self.holds.fit - (self.fails + self.holds).fit)

    @property
    def score(self) -> float:
        """The gain, less the cost of the search."""
        return self.gain - self.formula.cost - MARGIN * len(self.formula.by_or)


def search_rule(target: Target, usable: Mask) -> list[Candidate]:
    """Return sharp rules for when a column has something to record, shortened.

    A rule that mistakes in the data break is one of them, and grown further as if it were not:
    what looks like a mistake may follow another condition.

    Parameters
    ----------
    usable : bool array of shape (n_columns,)
        Columns that the rule may ask.
    """
    choice = Choice(target.gates, usable)
    grown = list(_grow(choice, target, None))
    seen = {one.answers.tobytes(): one for one in grown}
    for _ in range(MOST_ATOMS - 1):
        widest = sorted(grown, key=lambda one: -one.score)[:WIDTH]
        grown = []
        for one in widest:
            further = list(_grow(choice, target, one))
            new = {c.answers.tobytes(): c for c in further if c.answers.tobytes() not in seen}
            seen |= new
            grown += new.values()
            if one is widest[0] and one.fails.is_sharp and not further:
                grown = []
                break
    sharp = [one for one in seen.values() if one.fails.is_nearly_sharp]
    sharp.sort(key=lambda one: -one.score)
    short: dict[bytes, Candidate] = {}
    for one in sharp[:N_SHORTENED]:
        shorter = shorten(one, target)
        if shorter.fails.is_nearly_sharp and shorter.fails.n > 0:
            short.setdefault(shorter.answers.tobytes(), shorter)
    return list(short.values())


def best_explained(candidates: list[Candidate], target: Target) -> Candidate | None:
    """Return the candidate that no other explains away, the one with the best score first."""
    unbeaten = [
        one
        for one in candidates
        if not any(_beats(other, one, target) for other in candidates if other is not one)
    ]
    return max(unbeaten or candidates, key=lambda one: one.score, default=None)


def _beats(one: Candidate, other: Candidate, target: Target) -> bool:
    """Return whether a formula explains the rows that both answer better, its length considered.

    A column that answers more rows, since fewer of its cells are lost, does not beat a true gate.
    """
    if one.score < LEAST_SHARE * other.score:
        return False
    gained = _gained(one, other, target)
    costs = one.formula.cost - other.formula.cost
    if len(one.formula.atoms) < len(other.formula.atoms):
        return gained > costs - MARGIN
    return gained > max(costs, 0.0) + MARGIN


def _grow(choice: Choice, target: Target, one: Candidate | None) -> Iterator[Candidate]:
    """Yield formulas with one condition more that corrects the formula enough."""
    for region, keep_false, keep_true, grown in _places_to_grow(target, one):
        counts = count_slots(target.gates, target.slots[region], target.is_missing[region])
        for gain, atom in best_atoms(choice, counts, keep_false, keep_true, N_BEST):
            if gain >= atom.cost + MARGIN:
                yield target.judge(grown(atom))
    if one is not None and len(one.formula.atoms) == 1:
        yield from _grow_by_two(choice, target, one)


def _grow_by_two(choice: Choice, target: Target, one: Candidate) -> Iterator[Candidate]:
    """Yield a condition joined with two more that correct it together, and not one by one.

    The first is the one that tells best where the condition is wrong, as if its rows had a group of
    their own; the second splits these.
    """
    for by_or in (False, True):
        if by_or and one.fails.is_sharp:
            continue
        inner, outer = (TRUE, FALSE) if by_or else (FALSE, TRUE)
        region = one.answers == outer
        counts = count_slots(target.gates, target.slots[region], target.is_missing[region])
        for _, first in best_atoms(choice, counts, NONE, NONE, N_AHEAD):
            said = first.answers(target.gates, target.slots)
            rest = tally(target.is_missing, region & (said == outer))
            keeps = (rest, one.holds) if by_or else (one.fails, rest)
            rows = region & (said == inner)
            counts = count_slots(target.gates, target.slots[rows], target.is_missing[rows])
            for _, second in best_atoms(choice, counts, *keeps, N_AHEAD):
                pair = Formula((first, second, *one.formula.atoms), (not by_or, by_or))
                grown = target.judge(pair)
                if _gained(grown, one, target) >= first.cost + second.cost + MARGIN:
                    yield grown


def _places_to_grow(
    target: Target, one: Candidate | None
) -> Iterator[tuple[Mask, Tally, Tally, Callable[[Atom], Formula]]]:
    """Yield the rows whose answer a further condition decides, and what keeps its answer.

    A condition is joined with the whole formula, or with one of two conditions: ``a or c`` becomes
    ``(a and b) or c``.
    """
    if one is None:
        yield np.ones(len(target.slots), dtype=bool), NONE, NONE, lambda atom: Formula((atom,))
        return
    formula = one.formula
    yield one.answers == TRUE, one.fails, NONE, partial(formula.with_atom, by_or=False)
    if not one.fails.is_sharp:
        yield one.answers == FALSE, NONE, one.holds, partial(formula.with_atom, by_or=True)
    if len(formula.atoms) != 2:
        return
    by_or = not formula.by_or[0]
    answer, kept = (FALSE, TRUE) if by_or else (TRUE, FALSE)
    parts = [atom.answers(target.gates, target.slots) for atom in formula.atoms]
    for place in (0, 1):
        region = (parts[place] == answer) & (parts[1 - place] == kept)
        outside = tally(target.is_missing, (one.answers == answer) & ~region)
        keeps = (outside, one.holds) if by_or else (one.fails, outside)
        yield region, *keeps, partial(formula.with_atom_at, place, by_or=by_or)


def shorten(one: Candidate, target: Target) -> Candidate:
    """Return the formula without conditions that correct too little, and the others set anew."""
    while True:
        one = refit(one, target)
        for place in range(len(one.formula.atoms) if one.formula.by_or else 0):
            shorter = target.judge(one.formula.without(place))
            least = one.formula.atoms[place].cost + MARGIN
            if shorter.fails.n and _gained(one, shorter, target) < least:
                one = shorter
                break
        else:
            return one


def _gained(one: Candidate, other: Candidate, target: Target) -> float:
    """Return the log-likelihood that a formula gains on another, of rows that both answer."""
    both = (one.answers != UNDECIDED) & (other.answers != UNDECIDED)

    def fit(answers: Answers) -> float:
        groups = [tally(target.is_missing, both & (answers == a)) for a in (FALSE, TRUE)]
        return float(groups[0].fit + groups[1].fit)

    return fit(one.answers) - fit(other.answers)


def refit(one: Candidate, target: Target) -> Candidate:
    """Return the formula with each threshold and set chosen anew, given its other conditions."""
    for place, atom in enumerate(one.formula.atoms):
        parts = [a.answers(target.gates, target.slots) for a in one.formula.atoms]
        always, never = (
            one.formula.join(
                [*parts[:place], np.full_like(parts[place], said), *parts[place + 1 :]]
            )
            for said in (FALSE, TRUE)
        )
        open_rows = (always == FALSE) & (never == TRUE)
        keep_false = tally(target.is_missing, never == FALSE)
        keep_true = tally(target.is_missing, always == TRUE)
        counts = count_slots(target.gates, target.slots[open_rows], target.is_missing[open_rows])
        usable = np.arange(len(target.gates.columns)) == atom.column
        for gain, other in best_atoms(
            Choice(target.gates, usable), counts, keep_false, keep_true, 3
        ):
            again = target.judge(one.formula.replace(place, _costing(other, atom)))
            if gain > 0 and again.sharpness >= one.sharpness and again.score > one.score:
                one = again
                break
    return one


def _costing(atom: Atom, like: Atom) -> Atom:
    """Return a condition that was chosen among as many columns as another."""
    return Atom(atom.column, atom.holds, atom.by_order, max(atom.cost, like.cost))
