"""Find the rules that a table follows, and the cells of a table that break rules."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.knowledge.labels import Labels
from diffjoint.knowledge.reason_codes import read_reasons
from diffjoint.knowledge.resolve import resolve_knowledge
from diffjoint.knowledge.rules import read_rules
from diffjoint.parameters.choices import Checkboxes
from diffjoint.skip_rules.breaks import find_breaks
from diffjoint.skip_rules.find import FoundRule
from diffjoint.skip_rules.find import find_rules as find_in_values
from diffjoint.table import Schema, Table, cells_of, code_table, infer_schema, open_table


@dataclass(frozen=True)
class _Coded:
    """A table coded for rules: its reason codes are read as missing cells."""

    table: Table
    schema: Schema
    values: Values
    missing: Mask
    labels: Labels


def find_rules(
    X: Any,
    columns: Sequence[Hashable] | None = None,
    *,
    rules: Mapping[Any, str] | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
    column_kinds: Mapping[Any, str] | None = None,
    checkboxes: Checkboxes = "keep",
) -> tuple[FoundRule, ...]:
    """Find when columns of a table have something to record, such as ``married == "yes"``.

    Nothing is fitted: the rules are read off which cells are missing beside which values.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array
    columns : list of labels, optional
        Columns whose rules are sought. If not given: all that have missing cells.
    rules, reason_codes, column_kinds, checkboxes
        As in :class:`diffjoint.SelectiveImputer`. No rule is sought for columns in ``rules``.

    Returns
    -------
    tuple of FoundRule
        Gates before the columns that they open.

    Examples
    --------
    >>> from diffjoint import find_rules
    >>> from diffjoint.simulate import household_survey
    >>> for rule in find_rules(household_survey(1_000).observed_table):
    ...     print(rule)
    spouse_age: married == "yes"
    weekly_hours: employed == "yes"
    commute: employed == "yes"
    """
    coded = _coded(X, rules, reason_codes, column_kinds, checkboxes, columns or ())
    places = coded.schema.modelled_positions
    if columns is None:
        to_seek = coded.missing.any(axis=0) & ~coded.schema.checkboxes
    else:
        named = [coded.table.require(label, "columns") for label in columns]
        to_seek = np.isin(places, named)
    given = read_rules(rules, coded.table, coded.schema)
    missing = coded.missing & ~coded.labels.lost[:, places]
    return find_in_values(coded.values, missing, coded.schema, np.flatnonzero(to_seek), given)


def check_rules(
    X: Any,
    rules: Mapping[Any, str],
    *,
    reason_codes: Mapping[Any, Any] | None = None,
    column_kinds: Mapping[Any, str] | None = None,
    checkboxes: Checkboxes = "keep",
) -> list[dict[str, Any]]:
    """Return the cells that are observed where their rule says that there is nothing to record.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array
    rules : mapping
        By column, as in :class:`diffjoint.SelectiveImputer`.
    reason_codes, column_kinds, checkboxes
        As there.

    Returns
    -------
    list of dict
        One per cell: ``row`` (a position), ``column``, ``value``, ``rule``, ``gates`` (what they
        hold), and ``likely_wrong``: the column whose cell in this row is likely wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint import check_rules
    >>> X = pd.DataFrame({"married": ["yes", "no", "no"] * 9, "spouse_age": [41, None, 38] * 9})
    >>> found = check_rules(X, {"spouse_age": 'married == "yes"'})
    >>> len(found), found[0]["row"], found[0]["gates"], found[0]["likely_wrong"]
    (9, 2, 'married = no', 'spouse_age')
    """
    coded = _coded(X, rules, reason_codes, column_kinds, checkboxes, ())
    read = read_rules(rules, coded.table, coded.schema)
    places, table = coded.schema.modelled_positions, coded.table
    listed = []
    for found in find_breaks(coded.values, coded.missing, read):
        row = np.array([found.row])
        shown = {
            place: cells_of(table.column(int(places[place])), row)[0]
            for place in (found.rule.target, *sorted(found.rule.gates))
        }
        gates = [(table.names[places[g]], shown[g]) for g in sorted(found.rule.gates)]
        listed.append(
            {
                "row": found.row,
                "column": table.names[places[found.rule.target]],
                "value": shown[found.rule.target],
                "rule": found.rule.text,
                "gates": ", ".join(f"{g} = {'missing' if v is None else v}" for g, v in gates),
                "likely_wrong": table.names[places[found.likely_wrong]],
            }
        )
    return listed


def apply_rules(
    X: Any,
    rules: Mapping[Any, str],
    *,
    reason_codes: Mapping[Any, Any] | None = None,
    column_kinds: Mapping[Any, str] | None = None,
    checkboxes: Checkboxes = "keep",
) -> dict[str, Any]:
    """Return what rules say of the missing cells of a table, by themselves.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array
    rules, reason_codes, column_kinds, checkboxes
        As in :func:`check_rules`.

    Returns
    -------
    dict
        Bool tables of X's shape: ``known_meaningful`` where a rule fails, ``known_lost`` where it
        holds. Cells whose rule asks for a missing cell are in neither.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint import apply_rules
    >>> X = pd.DataFrame({"married": ["yes", "no", None] * 9, "spouse_age": [None, None, 38] * 9})
    >>> known = apply_rules(X, {"spouse_age": 'married == "yes"'})
    >>> {name: cells["spouse_age"].tolist()[:3] for name, cells in known.items()}
    {'known_meaningful': [False, True, False], 'known_lost': [True, False, False]}
    """
    coded = _coded(X, rules, reason_codes, column_kinds, checkboxes, ())
    read = read_rules(rules, coded.table, coded.schema)
    known = resolve_knowledge(
        coded.values, coded.missing, coded.schema, coded.labels, coded.labels, read
    )
    cells = {}
    for name, said in (("known_meaningful", known.meaningful), ("known_lost", known.lost)):
        whole = np.zeros((coded.table.n_rows, coded.table.n_columns), dtype=bool)
        whole[:, coded.schema.modelled_positions] = said
        cells[name] = coded.table.wrap(whole)
    return cells


def _coded(
    X: Any,
    rules: Mapping[Any, str] | None,
    reason_codes: Mapping[Any, Any] | None,
    column_kinds: Mapping[Any, str] | None,
    checkboxes: Checkboxes,
    columns: Sequence[Hashable],
) -> _Coded:
    """Open and code a table; columns that something is said of are modelled in any case."""
    table = open_table(X)
    without_codes, _ = read_reasons(table, reason_codes)
    said = (table.position(label) for label in (*columns, *(rules or {})))
    named = {place for place in said if place is not None}
    schema = infer_schema(without_codes, column_kinds, checkboxes=checkboxes, named=named)
    table, labels = read_reasons(table, reason_codes, schema)
    values = code_table(table, schema, "error")
    places = schema.modelled_positions
    missing = np.column_stack([table.missing(place) for place in places])
    return _Coded(table, schema, values, missing, labels)
