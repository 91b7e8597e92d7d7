"""Find when each searched column has something to record, gates before what they open."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.evidence.loss_rates import Prior, rate_prior, rates_of
from diffjoint.knowledge.conditions import Rule
from diffjoint.skip_rules.gates import Gates, open_gates
from diffjoint.skip_rules.quiet import quiet_rows
from diffjoint.skip_rules.search import Candidate, Target, best_explained, search_rule
from diffjoint.skip_rules.trust import is_rule, is_whole, lose_too_much, most_broken, shows_reason
from diffjoint.skip_rules.words import in_rule_language
from diffjoint.state.keys import row_keys
from diffjoint.state.rules import FALSE, TRUE
from diffjoint.table import Schema

MOST_ROWS = 20_000
"""Rows to search in at most."""
MOST_PASSES = 5
"""Passes over all columns: gates within gates are found one after the other."""
FEWEST_QUIET = 5
"""Rows that a rule must have where losses are seldom: fewer may share something else."""


@dataclass(frozen=True)
class FoundRule:
    """A rule that was found in a table.

    Attributes
    ----------
    column : str
        The column that it is about.
    target : int
        Its position among the modelled columns.
    text : str
        When the column has something to record, as ``rules=`` reads it.
    gates : tuple of str
        The columns that it asks.
    is_whole : bool
        Whether losses explain the cells that are missing where the rule holds. If not, there is
        another reason beside it, and those cells are left to be judged one by one.
    n_fails, n_exceptions : int
        Cells where it fails: missing, and observed against it.
    n_holds, n_missing : int
        Cells where it holds: observed, and missing.
    most_broken : float
        Upper bound of the share of cells that would be observed where it fails, with all
        formulas that were searched taken into account.
    """

    column: str
    target: int
    text: str
    gates: tuple[str, ...]
    is_whole: bool
    n_fails: int
    n_exceptions: int
    n_holds: int
    n_missing: int
    most_broken: float

    @property
    def as_rule(self) -> str:
        """The rule as it is kept to: "only if" says that it is not the whole story."""
        return self.text if self.is_whole else f"only if {self.text}"

    def __str__(self) -> str:
        return f"{self.column}: {self.as_rule}"


def find_rules(
    values: Values,
    missing: Mask,
    schema: Schema,
    searched: Iterable[int],
    given: Collection[Rule] = (),
) -> tuple[FoundRule, ...]:
    """Find the skip rules of a table.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    missing : bool array of the same shape
        Missing cells.
    schema : Schema
    searched : iterable of int
        Positions of the columns whose rules are sought, among the modelled ones.
    given : collection of Rule
        Rules that the user gave: they are kept to, and none is sought for their columns.

    Returns
    -------
    tuple of FoundRule
        Gates before the columns that they open.

    Examples
    --------
    >>> from diffjoint.simulate import household_survey
    >>> from diffjoint.table import code_table, infer_schema, open_table
    >>> world = household_survey(1_000)
    >>> table = open_table(world.observed_table)
    >>> schema = infer_schema(table, world.column_kinds)
    >>> values = code_table(table, schema, "error")
    >>> for rule in find_rules(values, np.isnan(values), schema, [2, 4, 5]):
    ...     print(rule)
    spouse_age: married == "yes"
    weekly_hours: employed == "yes"
    commute: employed == "yes"
    """
    rows = _sample(values)
    to_search = sorted(map(int, searched))
    finder = _Finder(open_gates(values[rows], schema), values[rows], missing[rows], tuple(given))
    finder.note_losses(to_search)
    targets = [j for j in to_search if missing[:, j].any() and j not in finder.opened_by]
    for _ in range(MOST_PASSES):
        if not finder.pass_over(targets):
            break
    if finder.look_again(targets):
        finder.pass_over(targets)
    finder.leave_open()
    return finder.in_order(schema)


def _sample(values: Values) -> np.ndarray | slice:
    """Return the rows to search in: the same ones in whatever order they come."""
    if len(values) <= MOST_ROWS:
        return slice(None)
    return np.sort(np.argsort(row_keys(values, 0), kind="stable")[:MOST_ROWS])


def _best_rule(target: Target, usable: Mask) -> Candidate | None:
    """Return the rule that explains a target best, if there is one."""
    rules = [one for one in search_rule(target, usable) if is_rule(one, target)]
    return best_explained(rules, target)


class _Finder:
    """Rules found so far, and what they say of missing cells."""

    def __init__(
        self, gates: Gates, values: Values, missing: Mask, given: tuple[Rule, ...]
    ) -> None:
        self.gates, self.missing = gates, missing
        self.found: dict[int, Candidate] = {}
        self.whole: dict[int, bool] = {}
        self.opened_by: dict[int, frozenset[int]] = {rule.target: rule.gates for rule in given}
        self.losses: Prior | None = None
        self.rates: dict[int, float] = {}
        meaningful = np.zeros(values.shape, dtype=bool)
        for rule in given:
            answers = rule.answers(values, meaningful)
            meaningful[:, rule.target] = missing[:, rule.target] & (answers == FALSE)
            gates.mark(rule.target, answers == TRUE, answers == FALSE)

    def note_losses(self, searched: list[int]) -> None:
        """Note how much columns lose that are not searched and show no other reason."""
        everything = np.ones(len(self.missing), dtype=bool)
        columns = np.arange(self.missing.shape[1])
        others = np.setdiff1d(columns, [*searched, *self.opened_by])
        only_lost = [
            j
            for j in others.tolist()
            if self.missing[:, j].any()
            and not shows_reason(self.target(j), everything, columns != j)
        ]
        self.rates = rates_of(self.missing, only_lost)
        self.losses = rate_prior(self.rates, only_lost)

    def target(self, column: int) -> Target:
        """Return a column as one whose rule is sought."""
        return Target(self.gates, self.gates.slots, self.missing[:, column])

    def pass_over(self, targets: list[int]) -> bool:
        """Seek a rule for each target; return whether any rule changed."""
        changed = False
        for j in targets:
            usable, target = self._usable(j), self.target(j)
            best = _best_rule(target, usable)
            before = self.found.get(j)
            if best is None:
                continue
            if before is None or before.answers.tobytes() != best.answers.tobytes():
                changed = True
                self._note(j, best)
            self.whole[j] = is_whole(best, target, usable, self.losses)
        return changed

    def look_again(self, targets: list[int]) -> bool:
        """Seek rules where losses are seldom, for targets without one; return whether any is found.

        Such a rule must hold in the other rows as well.
        """
        gaps = self.gates.slots == self.gates.starts[1:] - 1
        n_before = len(self.found)
        for j in targets:
            if j in self.found:
                continue
            usable, target = self._usable(j), self.target(j)
            others = np.arange(gaps.shape[1]) != j
            rows = quiet_rows(gaps[:, others], target.is_missing)
            if rows is None:
                continue
            quiet = Target(self.gates, self.gates.slots[rows], target.is_missing[rows])
            seen = _best_rule(quiet, usable)
            if seen is None or seen.fails.n < FEWEST_QUIET:
                continue
            best = target.judge(seen.formula)
            if best.fails.is_nearly_sharp:
                self._note(j, best)
                self.whole[j] = is_whole(seen, quiet, usable, self.losses)
        return len(self.found) > n_before

    def leave_open(self) -> None:
        """Take rules for a part of the story where far more is missing than other columns lose."""
        holds = {j: one.holds for j, one in self.found.items() if self.whole[j]}
        rates = {j: float((cells.missing + 0.5) / (cells.n + 1)) for j, cells in holds.items()}
        for j in lose_too_much({**self.rates, **rates}):
            if j in rates:
                self.whole[j] = False

    def _usable(self, column: int) -> Mask:
        """Return the columns that a column's rule may ask: none that it opens itself."""
        usable: Mask = ~np.isin(np.arange(self.missing.shape[1]), list(self._behind(column)))
        return usable

    def _note(self, column: int, rule: Candidate) -> None:
        """Note a column's rule, and where the column has nothing to record by it."""
        self.found[column], self.opened_by[column] = rule, rule.formula.columns
        self.gates.mark(column, rule.answers == TRUE, rule.answers == FALSE)

    def _behind(self, column: int) -> set[int]:
        """Return a column and those that its rule opens, directly or through others."""
        behind = {column}
        while more := {j for j, gates in self.opened_by.items() if gates & behind} - behind:
            behind |= more
        return behind

    def in_order(self, schema: Schema) -> tuple[FoundRule, ...]:
        """Return the rules, gates before what they open."""
        names = [column.name for column in schema.modelled]
        waiting, ordered = dict(sorted(self.found.items())), []
        while waiting:
            ready = [j for j in waiting if not self.opened_by[j] & waiting.keys()]
            for j in ready:
                one = waiting.pop(j)
                ordered.append(
                    FoundRule(
                        names[j],
                        j,
                        in_rule_language(one.formula, self.gates),
                        tuple(names[g] for g in sorted(one.formula.columns)),
                        self.whole[j],
                        int(one.fails.missing),
                        int(one.fails.observed),
                        int(one.holds.observed),
                        int(one.holds.missing),
                        most_broken(one),
                    )
                )
        return tuple(ordered)
