"""Rules that are found in the table of ``fit``, beside those that the user gives."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.fitting.options import Options
from diffjoint.knowledge.conditions import Rule
from diffjoint.knowledge.labels import Labels
from diffjoint.knowledge.rules import read_rules
from diffjoint.settings import DEFAULT_DETECTOR
from diffjoint.skip_rules.find import FoundRule, find_rules
from diffjoint.state import JointSpace
from diffjoint.table import Schema, Table


def find_in_fit(
    values: Values,
    missing: Mask,
    space: JointSpace,
    labels: Labels,
    given: Sequence[Rule],
    options: Options,
) -> tuple[FoundRule, ...]:
    """Find the rules of the searched columns; none where draws decide, as in the paper.

    Parameters
    ----------
    values, missing : arrays of shape (n_rows, n_modelled)
    labels : Labels
        In the whole table's shape: a cell known to be lost had something to record.
    given : sequence of Rule
        The user's.
    """
    if not space.mm or options.detector != DEFAULT_DETECTOR:
        return ()
    lost = labels.lost[:, space.schema.modelled_positions]
    return find_rules(values, missing & ~lost, space.schema, space.mm, given)


def all_rules(
    given: tuple[Rule, ...],
    table: Table,
    schema: Schema,
    options: Options,
    found: Sequence[FoundRule],
) -> tuple[Rule, ...]:
    """Return the user's rules, which are given, and those that were found; gates first.

    Of a column that loses nothing, as the user says, no missing cell is lost, whatever a rule says.
    """
    places = schema.modelled_positions
    own = {table.labels[places[rule.target]]: rule.as_rule for rule in found}
    if not own:
        return given
    targets, settles = {rule.target for rule in found}, options.use_found_rules
    rules = read_rules({**(options.rules or {}), **own}, table, schema)
    lossless = {j for j in targets if _given_rate(options, table.labels[places[j]]) == 0}
    return tuple(
        replace(
            rule, is_found=True, settles=settles, only_if=rule.only_if or rule.target in lossless
        )
        if rule.target in targets
        else rule
        for rule in rules
    )


def _given_rate(options: Options, label: Hashable) -> float | None:
    """Return the loss rate that the user gives for a column, if any."""
    given = options.loss_rate
    return given.get(label) if isinstance(given, Mapping) else given


def plain_rules(found: Sequence[FoundRule]) -> list[dict[str, Any]]:
    """Return found rules as data that JSON can hold."""
    return [asdict(rule) for rule in found]


def rules_from(plain: Sequence[dict[str, Any]], n_columns: int) -> tuple[FoundRule, ...]:
    """Return the rules that :func:`plain_rules` wrote; raise if they are not such rules.

    Parameters
    ----------
    n_columns : int
        Number of modelled columns.
    """
    found = tuple(FoundRule(**{**one, "gates": tuple(one["gates"])}) for one in plain)
    for rule in found:
        texts = (rule.column, rule.text, *rule.gates)
        if not all(isinstance(text, str) for text in texts) or type(rule.target) is not int:
            raise TypeError("its rules are no texts")
        if not 0 <= rule.target < n_columns or not np.isfinite(rule.most_broken):
            raise ValueError("it has rules for columns that it does not model")
    return found
