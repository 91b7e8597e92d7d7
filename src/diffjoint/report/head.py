"""Take some rows of the table as it was completed, with the state of each cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint.report.findings import Findings
from diffjoint.report.states import IMPUTED, KEPT, OBSERVED, States
from diffjoint.report.words import shorten
from diffjoint.results.explain import plain_text
from diffjoint.table import UNTICKED, cells_of, fill_column

HEAD_ROWS, MOST_COLUMNS = 8, 20
"""Number of rows to show, unless it is given, and largest number of columns."""
LONGEST = 32
"""Longest text of a cell."""
NA = "NA"


@dataclass(frozen=True)
class HeadCell:
    """A cell.

    Attributes
    ----------
    text : str
        Its value in the completed table.
    state : int
        0 observed, 1 imputed, 2 kept.
    probability : float or None
        P(meaningful), or a score; None unless the call depends on it.
    is_doubtful : bool
    """

    text: str
    state: int
    probability: float | None = None
    is_doubtful: bool = False


@dataclass(frozen=True)
class Head:
    """Some rows of the completed table.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of int
        Positions of the rows.
    cells : tuple of tuple of HeadCell
        For each row.
    n_passed, n_others : int
        Number of columns that are not shown: those that are passed through, since they may hold
        names or free text, and those for which there is no room.
    """

    columns: tuple[str, ...]
    rows: tuple[int, ...]
    cells: tuple[tuple[HeadCell, ...], ...]
    n_passed: int
    n_others: int

    @property
    def has_doubtful(self) -> bool:
        """Whether any of the cells is doubtful."""
        return any(cell.is_doubtful for row in self.cells for cell in row)


def take_head(findings: Findings, states: States, n_rows: int) -> Head:
    """Take some of the first rows, if there are any with missing cells.

    Parameters
    ----------
    states : int array of shape (n_table_rows, n_columns)
        What became of each cell.
    n_rows : int
        Number of rows to take.
    """
    schema = findings.schema
    places = schema.modelled_positions
    rows = _telling_rows(states[:, places], n_rows)
    is_missing = (states[rows][:, places] != OBSERVED).any(axis=0)
    order = np.argsort(~is_missing, kind="stable")[:MOST_COLUMNS]
    shown = np.sort(order).tolist() if len(rows) else []
    cells = [_cells(findings, rows, j) for j in shown]
    return Head(
        tuple(schema.modelled[j].name for j in shown),
        tuple(rows.tolist()),
        tuple(zip(*cells, strict=True)),
        len(schema.columns) - len(places),
        len(places) - len(shown),
    )


def _telling_rows(states: States, n_rows: int) -> NDArray[np.intp]:
    """Return the first rows in which cells were filled in, were kept, or both."""
    filled, kept = ((states == state).any(axis=1) for state in (IMPUTED, KEPT))
    kinds = [np.flatnonzero(kind) for kind in (filled & kept, filled & ~kept, kept & ~filled)]
    rows = np.concatenate([*(kind[: -(-n_rows // 3)] for kind in kinds), *kinds])
    _, first = np.unique(rows, return_index=True)
    rows = rows[np.sort(first)][:n_rows]
    return np.sort(rows) if len(rows) else np.arange(min(n_rows, len(states)))


def _cells(findings: Findings, rows: NDArray[np.intp], j: int) -> list[HeadCell]:
    """Return the cells of one column."""
    column = findings.schema.modelled[j]
    is_missing, called = findings.is_missing[rows, j], findings.called[rows, j]
    series = findings.table.column(int(findings.schema.modelled_positions[j]))[rows.tolist()]
    filled = np.flatnonzero(is_missing & ~called)
    series = fill_column(series, column, filled, findings.values[rows[filled], j])
    texts = [plain_text(value) for value in cells_of(series, np.arange(len(rows)))]
    return [
        HeadCell(
            (UNTICKED if column.is_checkbox else NA) if kept else shorten(texts[i], LONGEST),
            KEPT if kept else IMPUTED if is_missing[i] else OBSERVED,
            float(findings.probability[row, j]) if findings.judged[row, j] else None,
            bool(findings.review[row, j]),
        )
        for i, (row, kept) in enumerate(zip(rows, is_missing & called, strict=True))
    ]
