"""A first look at a table: what is missing, what it may mean, before anything is imputed."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from diffjoint._checks import check
from diffjoint._choices import Checkboxes
from diffjoint._progress import Progress, Silence
from diffjoint.fitting.auto_columns import TOO_FEW, search
from diffjoint.inspection.disguised import Suspicion, find_disguised
from diffjoint.inspection.spelling import TextDates, Variants, find_text_dates, find_variants
from diffjoint.settings import INSPECTED_ROWS
from diffjoint.table import (
    Kind,
    Table,
    doubts_on_kept,
    infer_schema,
    numbers,
    open_table,
    scarce_columns,
    without_cells,
)

FEWEST_ROWS, MOST_CELLS = 1_000, 100_000
"""Fewer rows than usual are looked at in wide tables: so many cells, and at least so many rows."""
TOGETHER = 0.7
"""Correlation of being empty, from which columns belong to one block."""
FEWEST_TOGETHER = 5
"""Empty cells that a column must have to belong to a block."""

SCARCE = "too few observed cells to judge or fill it: kept"

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnFound:
    """One column at first sight.

    Attributes
    ----------
    label : label
        As the table has it.
    name, kind, values : str
        Its name, what it is to the model, and its levels or range in words.
    n_missing : int
    missing_rate : float
    is_candidate : bool
        Whether losses alone cannot explain what it misses.
    reason : str
        Why it is one, or is not; empty for columns that are carried along.
    excess, auc, p_value : float or None
        The evidence, as :func:`diffjoint.find_mm_columns` says it.
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
    """Columns that are empty in the same rows.

    Attributes
    ----------
    columns : tuple of str
    n_rows : int
        Rows in which all of them are empty.
    n_any : int
        Rows in which one of them is.
    """

    columns: tuple[str, ...]
    n_rows: int
    n_any: int


@dataclass(frozen=True)
class Infinite:
    """Infinite numbers of one column. They are refused in ``fit``, and counted as empty here.

    Attributes
    ----------
    column : str
    value : str
        "inf" or "-inf".
    n_cells : int
    first_row : int
        The position of the first of them.
    """

    column: str
    value: str
    n_cells: int
    first_row: int


@dataclass(frozen=True)
class Inspection:
    """What :func:`inspect` found.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
    columns : tuple of ColumnFound
    disguised : tuple of Suspicion
        Values that may stand for an empty cell.
    blocks : tuple of Block
        Columns that are empty in the same rows, the largest block first.
    n_rows_judged : int
        Rows that the evidence comes from.
    not_judged : str
        Why there is no evidence; empty if there is.
    infinite : tuple of Infinite
        Numbers that ``fit`` would refuse.
    variants : tuple of Variants
        Levels that differ in capitals and spaces alone.
    text_dates : tuple of TextDates
        Columns of text that look like dates.
    doubts : tuple of str
        What ``fit`` will say of columns whose empty cells it keeps without judging them:
        checkboxes, and those with too few observed cells.
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

    @property
    def mm_columns(self) -> list[Hashable]:
        """Columns in which an empty cell may be meaningful, as ``SelectiveImputer`` takes them."""
        return [column.label for column in self.columns if column.is_candidate]

    def to_frame(self) -> pd.DataFrame:
        """One row per column."""
        return pd.DataFrame([asdict(column) for column in self.columns]).drop(columns="label")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = asdict(self)
        for column in plain["columns"]:
            del column["label"]
        plain["mm_columns"] = [column.name for column in self.columns if column.is_candidate]
        return plain


def inspect(
    X: Any,
    column_kinds: Mapping[Any, str] | None = None,
    *,
    checkboxes: Checkboxes = "keep",
    most_rows: int | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Look at a table before imputing it: kinds, gaps, disguised gaps, what gaps may mean.

    Parameters
    ----------
    X : pandas or polars DataFrame, or array of shape (n_rows, n_columns)
    column_kinds : dict, optional
        Kind by column label, where the inferred one is wrong.
    checkboxes : {"keep", "fill"}
        As :class:`diffjoint.SelectiveImputer` takes it.
    most_rows : int, optional
        Rows that the evidence for meaningful cells is taken from, at most. If not given: 5,000,
        and fewer in tables of more than 20 columns, so that a look takes seconds.
    progress : Progress, optional
        Told how far it is.

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
    table, infinite = _finite(open_table(X))
    missing = np.column_stack([table.missing(i) for i in range(table.n_columns)])
    schema = infer_schema(table, column_kinds, checkboxes=checkboxes)
    if most_rows is None:
        most_rows = min(
            INSPECTED_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(1, len(schema.modelled)))
        )
    judged: dict[Hashable, dict[str, Any]] = {}
    not_judged = ""
    if not schema.modelled:
        not_judged = "no column can be modelled"
    elif not missing.any():
        not_judged = "no cell is empty"
    else:
        found = search(table, schema, progress or Silence(), most_rows)
        judged = {record.pop("column"): record for record in found}
    disguised = tuple(find_disguised(table))
    scarce = scarce_columns(table, schema, column_kinds)
    return Inspection(
        table.n_rows,
        table.n_columns,
        int(missing.sum()),
        tuple(
            _column(table, position, words, missing[:, position], judged, scarce)
            for position, words in enumerate(schema.rows())
        ),
        disguised,
        find_blocks(missing, table.names),
        min(table.n_rows, most_rows) if judged else 0,
        not_judged,
        infinite,
        _beside(disguised, find_variants(table, schema)),
        tuple(find_text_dates(table, schema, column_kinds)),
        doubts_on_kept(table, schema, column_kinds),
    )


def _beside(disguised: Sequence[Suspicion], variants: Sequence[Variants]) -> tuple[Variants, ...]:
    """Variants but for those of a word that may stand for an empty cell: one finding is enough."""
    suspected = {(one.column, one.value) for one in disguised}
    return tuple(
        one for one in variants if suspected.isdisjoint((one.column, s) for s in one.spellings)
    )


def _finite(table: Table) -> tuple[Table, tuple[Infinite, ...]]:
    """The table with infinite numbers made empty, and which these were."""
    found, without = [], {}
    for position, name in enumerate(table.names):
        series = table.column(position)
        of_objects = series.dtype == nw.Object and series.implementation.is_pandas_like()
        if not series.dtype.is_float() and not of_objects:
            continue
        try:
            column = numbers(series)
        except TypeError:  # objects that are not all numbers are not taken for numbers
            continue
        if np.isinf(column).any():
            without[position] = without_cells(series, np.flatnonzero(np.isinf(column)))
        for value in (np.inf, -np.inf):
            rows = np.flatnonzero(column == value)
            if len(rows):
                found.append(Infinite(name, f"{value:g}", len(rows), int(rows[0])))
    return (open_table(table.rebuilt(without)) if without else table), tuple(found)


def _column(
    table: Table,
    position: int,
    words: tuple[str, str, str],
    is_missing: Mask,
    judged: Mapping[Hashable, Mapping[str, Any]],
    scarce: Collection[Hashable],
) -> ColumnFound:
    name, kind, values = words
    values = "nothing: every cell is empty" if is_missing.all() else values
    label = table.labels[position]
    record = judged.get(label, {})
    reason = record.get("reason", "")
    if kind != Kind.CHECKBOX and record and is_missing.any() and record["auc"] is None:
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
    """Groups of columns that are empty in the same rows, far more than by chance.

    Examples
    --------
    >>> a = np.arange(20) < 8
    >>> find_blocks(np.column_stack([a, a, ~a]), ["hours", "commute", "pension"])
    (Block(columns=('hours', 'commute'), n_rows=8, n_any=8),)
    """
    n_missing = missing.sum(axis=0)
    open_ones = np.flatnonzero((n_missing >= FEWEST_TOGETHER) & (n_missing < len(missing)))
    if len(open_ones) < 2:
        return ()
    together = np.corrcoef(missing[:, open_ones].astype(np.float32), rowvar=False)
    apart = np.clip(1 - together, 0.0, 2.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), method="complete")
    groups = fcluster(tree, 1 - TOGETHER, criterion="distance")
    blocks = []
    for group in np.unique(groups):
        members = open_ones[groups == group]
        if len(members) > 1:
            cells = missing[:, members]
            both, either = int(cells.all(axis=1).sum()), int(cells.any(axis=1).sum())
            blocks.append(Block(tuple(names[j] for j in members), both, either))
    return tuple(sorted(blocks, key=lambda block: (-len(block.columns), -block.n_rows)))
