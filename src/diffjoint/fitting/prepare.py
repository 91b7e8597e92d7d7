"""A table checked and coded once: what fit learns from, and what questions are asked about."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.detectors import LossRate
from diffjoint.errors import InputError, option, warn_user
from diffjoint.fitting.found import all_rules, find_in_fit
from diffjoint.fitting.loss_rates import doubts_on_rates, place_loss_rates
from diffjoint.fitting.options import Options
from diffjoint.fitting.running import running
from diffjoint.fitting.searched import choose_searched, joint_space, settled_columns
from diffjoint.knowledge.conditions import Rule
from diffjoint.knowledge.labels import Labels, open_labels
from diffjoint.knowledge.reason_codes import read_reasons, unused_code_doubts
from diffjoint.knowledge.resolve import (
    Knowledge,
    check_labels,
    resolve_knowledge,
    without_lost_checkboxes,
)
from diffjoint.knowledge.rules import read_rules
from diffjoint.settings import Settings, fitted_to
from diffjoint.skip_rules.find import FoundRule
from diffjoint.state import JointSpace, JointState, Observation, canonical_order, row_keys
from diffjoint.table import (
    NOT_TICKED,
    Schema,
    Table,
    check_observed,
    check_unticked,
    code_table,
    infer_schema,
    pass_through_doubts,
    unjudged_doubts,
    with_bounds,
)

MIN_ROWS, MOST_COLUMNS = 2, 2_000
"""Rows that can be learnt from at least; columns that can be in minutes, at most."""


@dataclass(frozen=True)
class Given:
    """A table as the user gave it, and the cells whose kind they know."""

    X: Any
    known_meaningful: Any = None
    known_lost: Any = None

    def is_same(self, other: "Given") -> bool:
        """Return whether both are the same objects, not only alike."""
        return (
            self.X is other.X
            and self.known_meaningful is other.known_meaningful
            and self.known_lost is other.known_lost
        )


@dataclass(frozen=True)
class Understood:
    """A table opened, before it is coded.

    Attributes
    ----------
    table : Table
        As it was given.
    without_codes : Table
        Its reason codes read as missing cells.
    coded : Labels
        What the reason codes say of those.
    schema : Schema
        What its columns are taken for.
    given : Given
    settings : Settings
        The numbers of the method, not fitted to the table yet.
    options : Options
        What is asked for.
    """

    table: Table
    without_codes: Table
    coded: Labels
    schema: Schema
    given: Given
    settings: Settings
    options: Options


@dataclass(frozen=True)
class CodedTable:
    """A table checked and coded.

    Attributes
    ----------
    table : Table
        Its reason codes read as missing cells.
    values : array of shape (n_rows, n_modelled)
        Coded cells.
    missing : bool array of the same shape
        Cells to be filled or kept.
    known : Knowledge
        What the user knows of those.
    given : Given
        What was opened.
    settling : Knowledge or None
        The same with rules that were found: nothing is filled in where they fail, and filled gates
        agree with what is behind them. None: there are none beside those that are known.
    rules : tuple of Rule
        Rules that are given and rules that the table of ``fit`` follows: evidence of what is
        meaningful, whether they are kept to or not.
    """

    table: Table
    values: Values
    missing: Mask
    known: Knowledge
    given: Given
    settling: Knowledge | None = None
    rules: tuple[Rule, ...] = ()
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def settle(self, state: JointState) -> JointState:
        """Return a state that obeys the rules, also those that were found."""
        if self.settling is None:
            return self.known.settle(state)
        meaningful = state.meaningful | self.settling.meaningful
        return self.settling.settle(JointState(state.values, meaningful))

    def settle_score(self, score: Values, threshold: float, meaningful: Mask) -> Values:
        """Return P(meaningful) that agrees with calls: the threshold where a found rule turned one.

        Parameters
        ----------
        score : array of shape (n_rows, n_modelled)
            Above ``threshold`` where cells were called meaningful before they were settled.
        meaningful : bool array of the same shape
            The calls.
        """
        if self.settling is None:
            return score
        turned = np.zeros(score.shape, dtype=bool)
        for rule in self.settling.rules:
            column = rule.target
            called = score[:, column] > threshold
            turned[:, column] = rule.is_found & self.missing[:, column]
            turned[:, column] &= called != meaningful[:, column]
        above = np.nextafter(threshold, np.inf)
        return np.where(turned, np.where(meaningful, above, threshold), score)

    @property
    def digest(self) -> str:
        """What identifies the table: its cells, which are missing, and what is known of them."""
        if "digest" not in self._kept:
            marked = np.ascontiguousarray(self.known.mark_known(self.values))
            digest = hashlib.sha256(marked.tobytes())
            digest.update(np.packbits(self.missing).tobytes())
            self._kept["digest"] = digest.hexdigest()
        return str(self._kept["digest"])

    @property
    def order(self) -> NDArray[np.intp]:
        """The canonical order of the rows."""
        if "order" not in self._kept:
            self._kept["order"] = canonical_order(self.known.mark_known(self.values))
        order: NDArray[np.intp] = self._kept["order"]
        return order

    def observe(self, space: JointSpace, seed: int) -> Observation:
        """Return what is known of the table: values, candidates for meaningful cells, noise keys.

        Parameters
        ----------
        seed : int
            The model's: noise of another seed is unrelated.
        """
        if (space.mm, seed) not in self._kept:
            searched = np.isin(np.arange(self.values.shape[1]), space.mm)
            candidates = self.missing & searched & ~self.known.meaningful & ~self.known.lost
            keys = row_keys(self.known.mark_known(self.values), seed)
            self._kept[space.mm, seed] = Observation(
                self.values,
                candidates,
                keys,
                self.known.meaningful,
                self.known.labelled,
                self.rules,
            )
        observation: Observation = self._kept[space.mm, seed]
        return observation


@dataclass(frozen=True)
class Plan:
    """How a table is to be learnt; it does not hold the table.

    Attributes
    ----------
    imputer : estimator or None
        Another imputer that gives the values.
    loss_rate : float, mapping or None
        By position among the modelled columns.
    mm_evidence : list of dict
        What speaks for and against each column, if the searched ones were to be found.
    kept_unjudged : tuple of str
        Doubts on columns whose missing cells are kept without being judged.
    found_rules : tuple of FoundRule
        Rules that the table follows.
    """

    space: JointSpace
    settings: Settings
    detector: str
    imputer: Any
    loss_rate: LossRate
    mm_columns: list[Any]
    mm_evidence: list[dict[str, Any]]
    kept_unjudged: tuple[str, ...]
    found_rules: tuple[FoundRule, ...] = ()

    @property
    def makes_passes(self) -> bool:
        """Whether training and drawing alternate, as in the paper."""
        return self.imputer is None and not self.settings.is_amortised


@dataclass(frozen=True)
class Task:
    """A table to learn, and how."""

    plan: Plan
    coded: CodedTable

    def observe(self, seed: int) -> Observation:
        """Return what is known of the table, in its canonical order."""
        return self.coded.observe(self.plan.space, seed).take(self.coded.order)

    @property
    def identity(self) -> list[Any]:
        """What tells a run from others on the same table with the same settings."""
        known = self.coded.known
        rules = [(rule.target, rule.text) for rule in known.rules]
        labelled = np.packbits(known.labelled[self.coded.order]).tobytes()
        digest = hashlib.sha256(labelled).hexdigest()
        return [self.plan.detector, self.plan.loss_rate, rules, digest]


def understand(table: Table, given: Given, settings: Settings, options: Options) -> Understood:
    """Read a table's reason codes, and infer what ``fit`` takes its columns for.

    Parameters
    ----------
    table : Table
        What was given, opened.
    """
    if table.n_rows < MIN_ROWS:
        raise InputError(
            f"fit needs at least {MIN_ROWS} rows; X has n_samples = {table.n_rows}. Pass more rows."
        )
    without_codes, coded = read_reasons(table, options.reason_codes)
    labels = open_labels(without_codes, coded, given.known_meaningful, given.known_lost)
    by_hand = (labels.meaningful & ~coded.meaningful) | (labels.lost & ~coded.lost)
    named = options.named_columns
    codes = options.reason_codes or {}
    named["codes"] = [c for c in named["reason_codes"] if "meaningful" in codes[c].values()]
    places = {
        name: {place for label in columns if (place := table.position(label)) is not None}
        for name, columns in named.items()
    }
    searched = {j for name in ("mm_columns", "rules", "codes") for j in places.get(name, ())}
    labelled = {j for part in places.values() for j in part}
    labelled |= set(np.flatnonzero(by_hand.any(axis=0)).tolist())
    if options.diffusion.joint is False:  # everything is to be imputed
        searched |= set(range(table.n_columns))
    schema = infer_schema(
        without_codes,
        options.column_kinds,
        checkboxes=options.checkboxes,
        named=searched,
        labelled=labelled,
    )
    return Understood(table, without_codes, coded, schema, given, settings, options)


def prepare_fit(understood: Understood) -> Task:
    """Check and code the table of ``fit``: all that can be wrong is found before any long work."""
    table, given, settings = understood.table, understood.given, understood.settings
    options = understood.options
    _warn(unused_code_doubts(table, options.reason_codes))
    schema, kept_unjudged = _checked_schema(understood)
    table, coded = read_reasons(table, options.reason_codes, schema)
    labels = open_labels(table, coded, given.known_meaningful, given.known_lost)
    rules = read_rules(options.rules, table, schema)
    settled = settled_columns(options, table, schema, coded, rules, settings)
    values = code_table(table, schema, "error")
    with running(options.n_threads, verbose=options.verbose and options.were_found) as progress:
        searched = choose_searched(
            options, table, values, schema, settings, progress, labels, settled
        )
    space = joint_space(table, schema, searched.labels, settings, settled)
    check_labels(labels, coded, table, schema, space)
    loss_rate = place_loss_rates(options, table, space)
    values = without_lost_checkboxes(values, labels, schema)
    missing = find_missing(table, values, schema, "error")
    found = find_in_fit(values, missing, space, labels, rules, options)
    every = all_rules(rules, table, schema, options, found)
    known, settling = _know(values, missing, schema, (labels, coded), rules, every, options)
    _warn((*known.doubts, *doubts_on_rates(loss_rate, missing, space)))
    plan = Plan(
        space,
        fitted_to(
            settings,
            n_rows=table.n_rows,
            n_coordinates=space.n_coordinates,
            by_hand=[name for name, value in options.numbers.items() if value is not None],
        ),
        options.detector,
        options.imputer,
        loss_rate,
        [table.labels[schema.modelled_positions[j]] for j in space.mm],
        searched.evidence,
        kept_unjudged,
        found,
    )
    return Task(plan, CodedTable(table, values, missing, known, given, settling, every))


def prepare(
    table: Table,
    given: Given,
    space: JointSpace,
    options: Options,
    found: tuple[FoundRule, ...] = (),
) -> CodedTable:
    """Check and code a table of the columns of ``fit``.

    Parameters
    ----------
    found : tuple of FoundRule
        Rules that the table of ``fit`` follows.
    """
    schema = space.schema
    table, coded = read_reasons(table, options.reason_codes, schema)
    labels = open_labels(table, coded, given.known_meaningful, given.known_lost)
    check_labels(labels, coded, table, schema, space)
    values = without_lost_checkboxes(code_table(table, schema, options.unseen), labels, schema)
    missing = find_missing(table, values, schema, options.unseen)
    given_rules = read_rules(options.rules, table, schema)
    every = all_rules(given_rules, table, schema, options, found)
    known, settling = _know(values, missing, schema, (labels, coded), given_rules, every, options)
    return CodedTable(table, values, missing, known, given, settling, every)


def _know(
    values: Values,
    missing: Mask,
    schema: Schema,
    labels: tuple[Labels, Labels],
    given: tuple[Rule, ...],
    every: tuple[Rule, ...],
    options: Options,
) -> tuple[Knowledge, Knowledge | None]:
    """Return what is known, and the same with found rules where these are to have gates agree."""
    rules = every if options.use_found_rules else given
    known = resolve_knowledge(values, missing, schema, *labels, rules)
    if rules == every:
        return known, None
    return known, resolve_knowledge(values, missing, schema, *labels, every)


def find_missing(table: Table, values: Values, schema: Schema, unseen: str) -> Mask:
    """Return which modelled cells are missing; with ``unseen="missing"`` those of unseen levels."""
    if unseen == "missing":
        unticked: Mask = schema.checkboxes & (values == NOT_TICKED)
        return np.isnan(values) | unticked
    return np.column_stack([table.missing(position) for position in schema.modelled_positions])


def _checked_schema(understood: Understood) -> tuple[Schema, tuple[str, ...]]:
    """Return the schema with its bounds, and doubts on columns kept without being judged."""
    table, schema, options = understood.without_codes, understood.schema, understood.options
    n_columns = len(schema.modelled)
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"X must have at most {MOST_COLUMNS:,} columns to model; it has {n_columns:,}. Leave "
            "out columns that say nothing about others, or carry them along as they are: "
            f"{option('column_kinds', {'name': 'pass-through'})}.",
            parameter="column_kinds",
        )
    named = options.named_columns
    check_observed(table, named)
    check_unticked(table, schema, named)
    kept_unjudged = unjudged_doubts(table, schema, options.column_kinds)
    _warn((*pass_through_doubts(table, schema, options.column_kinds), *kept_unjudged))
    return with_bounds(schema, table, options.bounds), kept_unjudged


def _warn(doubts: Iterable[str]) -> None:
    for doubt in doubts:
        warn_user(doubt)
