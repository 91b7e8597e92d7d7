"""Columns in which a missing cell may be meaningful, found without being named."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from diffjoint._progress import NoProgress, Progress
from diffjoint._types import Mask, Values
from diffjoint.errors import option
from diffjoint.evidence import TOO_FEW, Candidate, find_candidates
from diffjoint.evidence.candidates import (
    CONTEXTS,
    EXCESS,
    LOSSES,
    NEVER_THERE,
    NOTHING_MISSING,
    TOGETHER,
    UNTOLD,
)
from diffjoint.knowledge.labels import Labels
from diffjoint.parameters.checks import AUTO, check
from diffjoint.parameters.choices import Checkboxes
from diffjoint.state import row_keys
from diffjoint.table import (
    UNTICKED,
    Schema,
    Table,
    code_table,
    infer_schema,
    open_table,
)

__all__ = [
    "AUTO",
    "BY_CODES",
    "BY_RULES",
    "CHECKBOX",
    "TOO_FEW",
    "find_mm_columns",
    "find_unexplained",
    "found_in_words",
    "not_judged",
    "search",
    "search_coded",
]

CHECKBOX = f"a checkbox: missing is {UNTICKED}"
BY_CODES, BY_RULES = "its codes say so", "its rule says so"
"""Why a column is searched whatever its missing cells show."""
EXPLAINED = "its codes say why each cell is missing"
REMEDIES = {
    TOO_FEW: "Name those that may be meaningful.",
    UNTOLD: "If there may be nothing to fill in, name them beside the columns that were found.",
}
"""What to do about columns that cannot be judged, by the reason in their evidence."""
MATTERS = 0.02
"""Share of its cells that a column misses at least for a warning that it could not be judged."""
MOST_NAMED = 8
"""Columns to name in a line; the others are counted."""
IN_WORDS = {
    CONTEXTS: "the rest of the row tells which cells are missing",
    NEVER_THERE: "all its cells are missing beside some value of another column",
    EXCESS: "missing more often than other columns, and not at random",
    LOSSES: "missing as cells are that get lost",
    TOGETHER: "missing together with other cells, as cells are that get lost together",
    TOO_FEW: "too few to tell",
    UNTOLD: "missing far more often than other columns, and equally often in all rows, so that the "
    "table cannot tell whether they are lost",
    EXPLAINED: "their codes say why",
    BY_CODES: "their codes say so",
    BY_RULES: "their rules say so",
}
"""What is said of a column, by the reason in its evidence."""


def find_mm_columns(
    X: Any, column_kinds: Mapping[Any, str] | None = None, *, checkboxes: Checkboxes = "keep"
) -> list[dict[str, Any]]:
    """Say of every column whether losses alone explain what it misses.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array of shape (n_rows, n_columns)
    column_kinds : dict, optional
        Kind by column label, where the inferred one is wrong.
    checkboxes : {"keep", "fill"}
        As :class:`diffjoint.SelectiveImputer` takes it.

    Returns
    -------
    list of dict
        One for each modelled column, ``pandas.DataFrame`` makes a table of them. Columns with more
        missing than observed cells, and fewer than 20 of these, are not modelled. ``column`` is its
        label; ``is_named`` whether missing cells may be meaningful, and ``reason`` why;
        ``missing_rate``; ``excess``, how much more it misses than the rate that other columns
        agree on (None if they do not); ``auc``, how well the rest of the row says who is
        missing; ``gain``, the share of what is uncertain about that which the rest says beyond
        what losses could; ``p_value``, how likely columns that only lose cells show as much,
        corrected for all columns.

    Examples
    --------
    >>> from diffjoint.simulate import household_survey
    >>> survey = household_survey(1000).observed_table
    >>> [found["column"] for found in find_mm_columns(survey) if found["is_named"]]
    ['spouse_age', 'weekly_hours', 'commute']
    """
    check("checkboxes", checkboxes)
    table = open_table(X)
    return search(table, infer_schema(table, column_kinds, checkboxes=checkboxes), NoProgress())


def search(
    table: Table,
    schema: Schema,
    progress: Progress,
    most_rows: int | None = None,
    explained: Labels | None = None,
) -> list[dict[str, Any]]:
    """Return the records of :func:`find_mm_columns` for a table whose columns are understood.

    Parameters
    ----------
    most_rows : int, optional
        Rows to look at, at most, chosen by what they hold.
    explained : Labels, optional
        What is known of missing cells, in the table's shape.
    """
    values = code_table(table, schema, "error")
    unexplained = find_unexplained(values, schema, explained)
    if most_rows is not None and len(values) > most_rows:
        rows = np.argsort(row_keys(values, seed=0), kind="stable")[:most_rows]
        values, unexplained = values[rows], unexplained[rows]
    return search_coded(values, unexplained, table, schema, progress)


def find_unexplained(values: Values, schema: Schema, explained: Labels | None) -> Mask:
    """Return the missing cells of which nobody knows why they are.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        Coded cells, NaN where missing.
    explained : Labels or None
        What is known of missing cells, in the whole table's shape.
    """
    missing = np.isnan(values)
    if explained is None:
        return missing
    known = (explained.meaningful | explained.lost)[:, schema.modelled_positions]
    return missing & ~known


def search_coded(
    values: Values, unexplained: Mask, table: Table, schema: Schema, progress: Progress
) -> list[dict[str, Any]]:
    """Return the records of :func:`find_mm_columns` for a table that is coded.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        The table's coded cells, or some of its rows.
    unexplained : bool array of the same shape
        Missing cells of which nobody knows why they are.
    """
    progress.begin(len(schema.modelled))
    progress.phase("which columns can be meaningful")
    found = find_candidates(
        values,
        unexplained,
        schema.n_levels,
        tick=lambda: progress.advance(1),
    )
    incomplete = set(np.flatnonzero(np.isnan(values).any(axis=0)).tolist())
    found = [
        replace(one, reason=EXPLAINED) if one.reason == NOTHING_MISSING and j in incomplete else one
        for j, one in enumerate(found)
    ]
    return [
        {"column": table.labels[position], **_record(candidate, table, schema, position)}
        for position, candidate in zip(schema.modelled_positions.tolist(), found, strict=True)
    ]


def _record(found: Candidate, table: Table, schema: Schema, position: int) -> dict[str, Any]:
    """Return the evidence on a column as plain data; of a checkbox there is none."""
    if schema.columns[position].is_checkbox:
        found = replace(found, missing_rate=float(table.missing(position).mean()), reason=CHECKBOX)
    return asdict(found)


def not_judged(evidence: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Name the columns that miss too few cells to be judged, and enough for it to matter."""
    return tuple(
        f"{option('mm_columns', AUTO)} could not judge {', '.join(map(repr, few))}: {reason}. "
        f"Missing cells there are taken for lost. {remedy}"
        for reason, remedy in REMEDIES.items()
        if (few := _of_reason(evidence, reason))
    )


def _of_reason(evidence: Sequence[Mapping[str, Any]], reason: str) -> list[Any]:
    """Return the columns with a reason that miss enough for it to matter."""
    return [
        found["column"]
        for found in evidence
        if found["reason"] == reason and found["missing_rate"] >= MATTERS
    ]


def found_in_words(evidence: Sequence[Mapping[str, Any]]) -> str:
    """Say in a few lines which columns are searched and why, and what overrides it.

    Parameters
    ----------
    evidence : sequence of mapping
        What :func:`find_mm_columns` returns; empty if nothing was searched for.

    Examples
    --------
    >>> from diffjoint.errors import in_python
    >>> from diffjoint.simulate import household_survey
    >>> found = find_mm_columns(household_survey(1000).observed_table)
    >>> print(in_python(found_in_words(found)))  # doctest: +ELLIPSIS
    Columns in which a missing cell may be meaningful: spouse_age, weekly_hours, commute.
      spouse_age, weekly_hours, commute: the rest of the row tells which cells are missing.
    Missing cells of other columns are filled in.
      age, ...: missing as cells are that get lost.
    mm_columns names the columns instead; mm_columns=[] has every missing cell filled in.
    """
    named = [str(found["column"]) for found in evidence if found["is_named"]]
    lines = [
        f"Columns in which a missing cell may be meaningful: {_few(named) or 'none found'}.",
        *_lines([found for found in evidence if found["is_named"]]),
    ]
    others = _lines([found for found in evidence if not found["is_named"]])
    if others:
        lines += [
            f"Missing cells of {'other columns' if named else 'these'} are filled in.",
            *others,
        ]
    lines.append(
        f"{option('mm_columns')} names the columns instead; {option('mm_columns', [])} has every "
        "missing cell filled in."
    )
    return "\n".join(lines)


def _lines(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each reason, with the columns that it holds for."""
    by_reason: dict[str, list[str]] = {}
    for found in evidence:
        if found["reason"] in IN_WORDS:
            by_reason.setdefault(found["reason"], []).append(str(found["column"]))
    lines = []
    for reason, names in by_reason.items():
        lines.append(f"  {_few(names)}: {IN_WORDS[reason]}.")
    return lines


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
