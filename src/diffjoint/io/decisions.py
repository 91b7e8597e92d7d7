"""Decisions that come back: a reviewed list of cells as what is known of a table."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._numbers import whole_number_of
from diffjoint.errors import InputError
from diffjoint.io.files import read_file
from diffjoint.io.formulas import unguard
from diffjoint.table import Table, cells_of, open_table

Mask = NDArray[np.bool_]
CALLS = ("meaningful", "lost")
NEEDED = ("row", "column", "decision")


def read_decisions(decisions: Any, X: Any) -> dict[str, Any]:
    """Reviewed cells as ``known_meaningful`` and ``known_lost``.

    Parameters
    ----------
    decisions : table or path
        What :meth:`SelectiveImputer.review` gives, what ``--review`` writes or what the report
        exports, with a column ``decision``: "meaningful", "lost", or empty where nothing was
        decided. ``row`` is a position in X, the first row being 0, and ``column`` a name. Other
        columns are not read.
    X : table
        The table that the cells belong to.

    Returns
    -------
    dict
        Bool tables of X's shape, to be passed on: ``fit(X, **read_decisions(decisions, X))``.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31.0, None, None], "town": ["Ulm", None, "Bonn"]})
    >>> reviewed = pd.DataFrame(
    ...     {"row": [1, 2, 1], "column": ["age", "age", "town"], "decision": ["lost", None, "lost"]}
    ... )
    >>> known = read_decisions(reviewed, X)
    >>> known["known_lost"]["age"].tolist(), int(known["known_meaningful"].to_numpy().sum())
    ([False, True, False], 0)
    """
    table = open_table(X)
    where = "decisions"
    if isinstance(decisions, str | os.PathLike):
        where = str(decisions)
        file = read_file(where)
        decisions = file.text.cells if file.text else file.table
    rows, columns, calls = _columns_of(open_table(decisions), where)
    known = {call: np.zeros((table.n_rows, table.n_columns), dtype=bool) for call in CALLS}
    for line, (row, column, call) in enumerate(zip(rows, columns, calls, strict=True)):
        decided = _call(call, where, line)
        if decided is not None:
            name = column if table.position(unguard(column)) is None else unguard(column)
            place = _row(row, table, where, line), table.require(name, where)
            known[decided][place] = True
    _check_cells(table, known["meaningful"], known["lost"], where)
    return {f"known_{call}": table.wrap(cells) for call, cells in known.items()}


def _columns_of(given: Table, where: str) -> tuple[list[Any], ...]:
    absent = [name for name in NEEDED if name not in given.names]
    if absent:
        raise InputError(
            f"{where} must have the columns {', '.join(NEEDED)}; it has "
            f"{', '.join(given.names)}. Take the list that --review or the report writes, and "
            "fill in a column 'decision' with 'meaningful' or 'lost'."
        )
    everything = np.arange(given.n_rows)
    return tuple(cells_of(given.column(given.names.index(name)), everything) for name in NEEDED)


def _call(call: Any, where: str, line: int) -> str | None:
    """Return the decision; None if there is none."""
    text = "" if call is None else str(call).strip().lower()
    if not text:
        return None
    if text not in CALLS:
        raise InputError(
            f"{where} must say 'meaningful' or 'lost' in its column 'decision', or nothing; its "
            f"entry {line + 1} says {call!r}."
        )
    return text


def _row(row: Any, table: Table, where: str, line: int) -> int:
    position = whole_number_of(str(row).strip().removesuffix(".0"))
    if position is None or not 0 <= position < table.n_rows:
        raise InputError(
            f"{where} names row {row!r} in its entry {line + 1}; X has rows 0 to "
            f"{table.n_rows - 1:,}, counted from its first. Was the list made from another table?"
        )
    return position


def _check_cells(table: Table, meaningful: Mask, lost: Mask, where: str) -> None:
    for position in np.flatnonzero((meaningful | lost).any(axis=0)).tolist():
        decided = meaningful[:, position] | lost[:, position]
        filled = np.flatnonzero(decided & ~table.missing(position))
        if len(filled):
            value = cells_of(table.column(position), filled[:1])[0]
            raise InputError(
                f"{where} decides on {_cells(filled, table, position)}, which is not missing: it "
                f"holds {value!r}. Only missing cells can be decided on. Was the list made from "
                "another table?"
            )
        both = np.flatnonzero(meaningful[:, position] & lost[:, position])
        if len(both):
            raise InputError(
                f"{where} decides twice, and differently, on {_cells(both, table, position)}. "
                "Leave one of the entries."
            )


def _cells(rows: Sequence[int] | NDArray[np.intp], table: Table, position: int) -> str:
    return f"row {int(rows[0])} of column '{table.names[position]}'"
