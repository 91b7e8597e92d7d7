"""The searched columns: those named, those found, and those that rules and codes speak of."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from diffjoint._progress import Progress
from diffjoint._types import Values
from diffjoint.errors import InputError, option, warn_user
from diffjoint.fitting.auto_columns import (
    BY_CODES,
    BY_RULES,
    find_unexplained,
    not_judged,
    search_coded,
)
from diffjoint.fitting.options import Options
from diffjoint.knowledge.conditions import Rule
from diffjoint.knowledge.labels import Labels
from diffjoint.knowledge.reason_codes import columns_searched_by_codes
from diffjoint.settings import Settings
from diffjoint.state import JointSpace
from diffjoint.table import Schema, Table, how_to_model, why_passed_through


@dataclass(frozen=True)
class Searched:
    """Columns in which a missing cell may be meaningful.

    Attributes
    ----------
    labels : list
        Those named or found.
    evidence : list of dict
        What speaks for and against each column, if they were to be found.
    """

    labels: list[Hashable]
    evidence: list[dict[str, Any]]


def choose_searched(
    options: Options,
    table: Table,
    values: Values,
    schema: Schema,
    settings: Settings,
    progress: Progress,
    labels: Labels,
    settled: Collection[int],
) -> Searched:
    """Return the columns named in ``mm_columns``, or find them by cells that nothing explains.

    Parameters
    ----------
    labels : Labels
        What is known of missing cells.
    settled : collection of int
        Positions of columns that are searched because of rules or codes.
    """
    if options.were_found:
        unexplained = find_unexplained(values, schema, labels)
        evidence = (
            search_coded(values, unexplained, table, schema, progress) if settings.joint else []
        )
        known = {table.labels[position]: position for position in settled}
        ruled = {table.require(label, "rules") for label in options.rules or {}}
        for found in evidence:
            if found["column"] in known and not found["is_named"]:
                by = BY_RULES if known[found["column"]] in ruled else BY_CODES
                found |= {"is_named": True, "reason": by}
        for doubt in not_judged(evidence):
            warn_user(doubt)
        named = [found["column"] for found in evidence if found["is_named"]]
        return Searched([label for label in named if label not in known], evidence)
    return Searched(list(options.mm_columns or []), [])


def settled_columns(
    options: Options,
    table: Table,
    schema: Schema,
    coded: Labels,
    rules: tuple[Rule, ...],
    settings: Settings,
) -> list[int]:
    """Return the positions of the columns that rules and reason codes make searched."""
    ruled = [int(schema.modelled_positions[rule.target]) for rule in rules]
    by_codes = columns_searched_by_codes(table, options.reason_codes, coded)
    to_judge = [i for i in by_codes if not schema.columns[i].is_checkbox]
    positions = sorted({*ruled, *to_judge})
    if positions and not settings.joint:
        raise InputError(
            f"{option('joint', False)} imputes every missing cell; rules and codes that mean "
            "'meaningful' keep some. Leave out one or the other.",
            parameter="joint",
        )
    for position in positions:
        if not schema.columns[position].is_modelled:
            raise InputError(
                f"'{table.names[position]}' has codes that mean 'meaningful', but is passed "
                f"through unmodelled ({why_passed_through(table.column(position))}). Leave it out "
                f"of {option('reason_codes')}, or "
                f"{how_to_model(table.column(position), table.labels[position])}.",
                parameter="reason_codes",
            )
    return positions


def joint_space(
    table: Table,
    schema: Schema,
    mm_columns: Sequence[Hashable],
    settings: Settings,
    settled: Sequence[int] = (),
) -> JointSpace:
    """Return the model space of a table, with the searched columns found and checked.

    Parameters
    ----------
    settled : sequence of int
        Places of columns in which something else says what is meaningful; these are searched
        whether they miss a cell or not.
    """
    if not schema.modelled:
        raise InputError(
            "X must have a column to model; all of its columns are pass-through (ids or free "
            f"text). Set {option('column_kinds')} for those that are not.",
            parameter="column_kinds",
        )
    modelled = schema.modelled_positions.tolist()
    positions = [*(_mm_position(table, schema, label) for label in mm_columns), *settled]
    mm = tuple(sorted({modelled.index(position) for position in positions}))
    searched = mm if settings.joint else ()
    return JointSpace.of(schema, searched, settings)


def _mm_position(table: Table, schema: Schema, label: Hashable) -> int:
    position = table.require(label, "mm_columns")
    names = f"{option('mm_columns')} names {label!r}"
    if not schema.columns[position].is_modelled:
        column = table.column(position)
        raise InputError(
            f"{names}, which is passed through unmodelled ({why_passed_through(column)}). Drop it "
            f"from {option('mm_columns')}, or {how_to_model(column, label)}.",
            parameter="mm_columns",
        )
    if not table.missing(position).any():
        raise InputError(
            f"{names}, which has no missing cell in X: there is nothing to tell apart. Drop it "
            f"from {option('mm_columns')}.",
            parameter="mm_columns",
        )
    return position
