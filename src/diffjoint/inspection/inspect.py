"""Inspect a table before imputing it: what is missing, and what that may mean."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from diffjoint._progress import NoProgress, Progress
from diffjoint.errors import in_python
from diffjoint.fitting.auto_columns import BY_CODES, EXPLAINED, TOO_FEW, search
from diffjoint.inspection.disguised import (
    Suspicion,
    find_disguised,
    suspected_everywhere,
)
from diffjoint.inspection.spelling import TextDates, Variants, find_text_dates, find_variants
from diffjoint.knowledge.reason_codes import (
    columns_named_by_codes,
    columns_searched_by_codes,
    read_reasons,
)
from diffjoint.parameters.checks import check
from diffjoint.parameters.choices import Checkboxes
from diffjoint.settings import INSPECTED_ROWS
from diffjoint.table import (
    Kind,
    Schema,
    Table,
    infer_schema,
    numbers,
    open_table,
    scarce_columns,
    unjudged_doubts,
    without_cells,
)

FEWEST_ROWS, MOST_CELLS = 1_000, 100_000
"""Of wide tables fewer rows are used: at least so many, and otherwise at most so many cells."""
TOGETHER = 0.7
"""Smallest correlation between missing cells of columns that belong to one block."""
FEWEST_TOGETHER = 5
"""Smallest number of missing cells of a column that belongs to a block."""

SCARCE = "too few observed cells to judge or fill it: kept"

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnFound:
    """Findings on one column.

    Attributes
    ----------
    label : label
        Label of the column in the table.
    name, kind, values : str
        Name of the column, its kind, and its levels or range in words.
    n_missing : int
    missing_rate : float
    is_candidate : bool
        Whether losses alone do not explain its missing cells.
    reason : str
        Why it is a candidate or not; empty for columns that are passed through.
    excess, auc, p_value : float or None
        Evidence, as in :func:`diffjoint.find_mm_columns`.
    """

    label: Hashable
    name: str
    kind: str
    values: str
    n_missing: int
    missing_rate: float
    is_candidate: bool = False
    reason: str = ""
    excess: float | None = None
    auc: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Block:
    """Columns that are missing in the same rows.

    Attributes
    ----------
    columns : tuple of str
    n_rows : int
        Number of rows in which all of them are missing.
    n_any : int
        Number of rows in which at least one of them is missing.
    """

    columns: tuple[str, ...]
    n_rows: int
    n_any: int


@dataclass(frozen=True)
class Infinite:
    """Infinite numbers of one column, which ``fit`` refuses; they are counted as missing here.

    Attributes
    ----------
    column : str
    value : str
        "inf" or "-inf".
    n_cells : int
    first_row : int
        Position of the first row that holds one.
    """

    column: str
    value: str
    n_cells: int
    first_row: int


@dataclass(frozen=True)
class Inspection:
    """Result of :func:`inspect`.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
    columns : tuple of ColumnFound
    disguised : tuple of Suspicion
        Values that may stand for a missing cell.
    blocks : tuple of Block
        Columns that are missing in the same rows, the largest block first.
    n_rows_judged : int
        Number of rows that the evidence is based on.
    not_judged : str
        Reason if there is no evidence; otherwise empty.
    infinite : tuple of Infinite
        Infinite numbers, which ``fit`` would refuse.
    variants : tuple of Variants
        Levels that differ only in capitals and spaces.
    text_dates : tuple of TextDates
        Columns of text that look like dates.
    doubts : tuple of str
        Warnings that ``fit`` will give about columns whose missing cells are kept without being
        judged: checkboxes, and columns with too few observed cells.
    suspected_everywhere : tuple of str
        Values that may stand for a missing cell in each column that holds them.
    """

    n_rows: int
    n_columns: int
    n_missing: int
    columns: tuple[ColumnFound, ...]
    disguised: tuple[Suspicion, ...]
    blocks: tuple[Block, ...]
    n_rows_judged: int
    not_judged: str = ""
    infinite: tuple[Infinite, ...] = ()
    variants: tuple[Variants, ...] = ()
    text_dates: tuple[TextDates, ...] = ()
    doubts: tuple[str, ...] = ()
    suspected_everywhere: tuple[str, ...] = ()

    @property
    def mm_columns(self) -> list[Hashable]:
        """Columns in which a missing cell can be meaningful, for ``SelectiveImputer``."""
        return [column.label for column in self.columns if column.is_candidate]

    @property
    def unjudged(self) -> list[Hashable]:
        """Columns with missing cells of which there are too few, or too few others, to tell."""
        return [
            column.label
            for column in self.columns
            if column.reason == SCARCE or column.reason.startswith(TOO_FEW)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per column."""
        return pd.DataFrame([asdict(column) for column in self.columns]).drop(columns="label")

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, for JSON."""
        plain = asdict(self)
        for column in plain["columns"]:
            del column["label"]
        plain["mm_columns"] = [column.name for column in self.columns if column.is_candidate]
        return plain


def inspect(
    X: Any,
    column_kinds: Mapping[Any, str] | None = None,
    *,
    reason_codes: Mapping[Any, Any] | None = None,
    checkboxes: Checkboxes = "keep",
    most_rows: int | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Inspect a table before imputing it: kinds of columns, missing cells, and their meaning.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array of shape (n_rows, n_columns)
    column_kinds : dict, optional
        Kind by column label, where the inferred one is wrong.
    reason_codes : dict, optional
        Codes that say why a cell is missing, as in :class:`diffjoint.SelectiveImputer`. Their cells
        are counted as missing.
    checkboxes : {"keep", "fill"}
        As in :class:`diffjoint.SelectiveImputer`.
    most_rows : int, optional
        Largest number of rows to search for columns with meaningful cells. By default 5,000, and
        fewer in tables of more than 20 columns, so that it takes seconds.
    progress : Progress, optional
        Receives how far the work is.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> from diffjoint import inspect
    >>> from diffjoint.simulate import household_survey
    >>> found = inspect(household_survey(1000).observed_table)
    >>> found.mm_columns
    ['spouse_age', 'weekly_hours', 'commute']
    >>> [block.columns for block in found.blocks]
    [('weekly_hours', 'commute')]
    """
    check("checkboxes", checkboxes)
    table, coded = read_reasons(open_table(X), reason_codes)
    table, infinite = _finite(table)
    missing = np.column_stack([table.missing(i) for i in range(table.n_columns)])
    named = columns_named_by_codes(table, reason_codes)
    schema = infer_schema(table, column_kinds, checkboxes=checkboxes, named=named)
    most_rows = _rows_to_search(schema) if most_rows is None else most_rows
    not_judged = _why_not_judged(schema, missing)
    progress = progress or NoProgress()
    found = [] if not_judged else search(table, schema, progress, most_rows, coded)
    judged = {record.pop("column"): record for record in found}
    for position in columns_searched_by_codes(table, reason_codes, coded):
        record = judged.get(table.labels[position])
        if record and missing[:, position].any() and not schema.columns[position].is_checkbox:
            record |= {} if record["is_named"] else {"is_named": True, "reason": BY_CODES}
    disguised = tuple(find_disguised(table))
    return Inspection(
        table.n_rows,
        table.n_columns,
        int(missing.sum()),
        _columns(table, schema, missing, judged, scarce_columns(table, schema, column_kinds)),
        disguised,
        find_blocks(missing, table.names),
        min(table.n_rows, most_rows) if judged else 0,
        not_judged,
        infinite,
        _drop_suspected(find_variants(table, schema), disguised),
        tuple(find_text_dates(table, schema, column_kinds)),
        tuple(map(in_python, unjudged_doubts(table, schema, column_kinds))),
        suspected_everywhere(table, disguised),
    )


def _drop_suspected(
    variants: Sequence[Variants], disguised: Sequence[Suspicion]
) -> tuple[Variants, ...]:
    """Leave out variants of words that may stand for a missing cell and are listed already."""
    suspected = {(one.column, one.value) for one in disguised}
    return tuple(
        one for one in variants if suspected.isdisjoint((one.column, s) for s in one.spellings)
    )


def _finite(table: Table) -> tuple[Table, tuple[Infinite, ...]]:
    """Return the table with infinite numbers made missing, and a list of them."""
    found, without = [], {}
    for position, name in enumerate(table.names):
        series = table.column(position)
        of_objects = series.dtype == nw.Object and series.implementation.is_pandas_like()
        if not series.dtype.is_float() and not of_objects:
            continue
        try:
            column = numbers(series)
        except TypeError:  # objects that are not all numbers
            continue
        if np.isinf(column).any():
            without[position] = without_cells(series, np.flatnonzero(np.isinf(column)))
        for value in (np.inf, -np.inf):
            rows = np.flatnonzero(column == value)
            if len(rows):
                found.append(Infinite(name, f"{value:g}", len(rows), int(rows[0])))
    return (open_table(table.replace_columns(without)) if without else table), tuple(found)


def _rows_to_search(schema: Schema) -> int:
    """Return the largest number of rows to search by default: fewer in wide tables."""
    return min(INSPECTED_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(1, len(schema.modelled))))


def _why_not_judged(schema: Schema, missing: Mask) -> str:
    """Say why there is no evidence on any column; empty if there can be."""
    if not schema.modelled:
        return "no column can be modelled"
    return "" if missing.any() else "no cell is missing"


def _columns(
    table: Table,
    schema: Schema,
    missing: Mask,
    judged: Mapping[Hashable, Mapping[str, Any]],
    scarce: Collection[Hashable],
) -> tuple[ColumnFound, ...]:
    return tuple(
        _column(table, position, words, missing[:, position], judged, scarce)
        for position, words in enumerate(schema.rows())
    )


def _column(
    table: Table,
    position: int,
    words: tuple[str, str, str],
    is_missing: Mask,
    judged: Mapping[Hashable, Mapping[str, Any]],
    scarce: Collection[Hashable],
) -> ColumnFound:
    name, kind, values = words
    values = "nothing: every cell is missing" if is_missing.all() else values
    label = table.labels[position]
    record = judged.get(label, {})
    reason = record.get("reason", "")
    by_codes = reason in (BY_CODES, EXPLAINED)
    is_judged = kind != Kind.CHECKBOX and record and is_missing.any() and not by_codes
    if is_judged and record["auc"] is None:
        reason = f"{TOO_FEW} among the rows judged"
    elif label in scarce:
        reason = SCARCE
    return ColumnFound(
        label,
        name,
        kind,
        values,
        int(is_missing.sum()),
        float(is_missing.mean()),
        bool(record.get("is_named", False)),
        reason,
        record.get("excess"),
        record.get("auc"),
        record.get("p_value"),
    )


def find_blocks(missing: Mask, names: list[str]) -> tuple[Block, ...]:
    """Find groups of columns that are missing in the same rows far more often than by chance.

    Examples
    --------
    >>> a = np.arange(20) < 8
    >>> find_blocks(np.column_stack([a, a, ~a]), ["hours", "commute", "pension"])
    (Block(columns=('hours', 'commute'), n_rows=8, n_any=8),)
    """
    n_missing = missing.sum(axis=0)
    incomplete = np.flatnonzero((n_missing >= FEWEST_TOGETHER) & (n_missing < len(missing)))
    if len(incomplete) < 2:
        return ()
    correlation = np.corrcoef(missing[:, incomplete].astype(np.float32), rowvar=False)
    distance = np.clip(1 - correlation, 0.0, 2.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="complete")
    groups = fcluster(tree, 1 - TOGETHER, criterion="distance")
    blocks = []
    for group in np.unique(groups):
        members = incomplete[groups == group]
        if len(members) > 1:
            cells = missing[:, members]
            n_all, n_any = int(cells.all(axis=1).sum()), int(cells.any(axis=1).sum())
            blocks.append(Block(tuple(names[j] for j in members), n_all, n_any))
    return tuple(sorted(blocks, key=lambda block: (-len(block.columns), -block.n_rows)))
