"""The paper's tables of emergency stays: MAE, RMSE and ACC; recall and precision."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published_with_spread
from benchmarks.tables import stays
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.table import RATIOS, Size, Table, label

TABLE, MM = "mimic_comparison", "mimic_recall_precision"
SELECTIVE = ("diffjoint_paper", "diffjoint")
COLUMNS = {
    "mae": Column("MAE", "lower", 2),
    "rmse": Column("RMSE", "lower", 2),
    "acc": Column("ACC"),
    "acc_discrete": Column("ACC, all discrete columns"),
}
"""The paper's ACC stands beside both ways of counting, as on the network."""


def _grid(
    title: str,
    methods: Sequence[str],
    cells_of: stays.CellsOf,
    columns: dict[str, Column],
    table: str,
    folder: Path,
) -> Grid:
    rows = []
    for ratio, method in product(RATIOS, methods):
        where = {"method": method, "mechanism": "mcar", "ratio": ratio}
        shown = tuple(
            gather(
                cells_of(method, ratio),
                score(m),
                folder,
                **published_with_spread(table, "acc" if m == "acc_discrete" else m, **where),
            )
            for m in columns
        )
        rows.append(Row((str(ratio), label(method)), shown, group=str(ratio)))
    return Grid(title, ("ratio", "method"), tuple(columns.values()), tuple(rows))


def comparison(size: Size, folder: Path) -> list[Grid]:
    """Return the tables, without published numbers: those are of the real stays."""
    return [_grid(*part, COLUMNS, TABLE, folder) for part in stays.parts(size, folder)]


def cells_meaningful(size: Size) -> list[Cell]:
    """Return the default on all rows, both ways on some."""
    return [cell for cell in stays.cells(size) if cell.method in SELECTIVE]


def meaningful(size: Size, folder: Path) -> list[Grid]:
    """Recall and precision."""
    columns = {"recall": Column("recall"), "precision": Column("precision"), "f1": Column("F1")}
    parts = stays.parts(size, folder, ("diffjoint",), SELECTIVE)
    return [_grid(*part, columns, MM, folder) for part in parts]


COMPARISON = Table(TABLE, stays.PAGE, stays.cells, comparison)
RECALL_PRECISION = Table(MM, stays.PAGE, cells_meaningful, meaningful)
