"""The paper's tables of emergency stays: MAE, RMSE and ACC; recall and precision."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published_with_spread
from benchmarks.tables.downstream_tables import ON_ALL_ROWS, ON_SOME_ROWS
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.table import (
    RATIOS,
    STAY_NAMES,
    Size,
    Table,
    label,
    stays_to_run,
    stays_to_show,
)

TABLE, MM = "mimic_comparison", "mimic_recall_precision"
SELECTIVE = ("diffjoint_paper", "diffjoint")
COLUMNS = {
    "mae": Column("MAE", "lower", 2),
    "rmse": Column("RMSE", "lower", 2),
    "acc": Column("ACC"),
}


def cells(size: Size) -> list[Cell]:
    """Quick methods on all rows, all methods on some."""
    return [
        cell
        for world, ratio in product(stays_to_run(), RATIOS)
        for methods, cells_of in ((ON_ALL_ROWS, size.all_stays), (ON_SOME_ROWS, size.some_stays))
        for method in methods
        for cell in cells_of(method, ratio, world)
    ]


def _grid(
    title: str,
    methods: Sequence[str],
    cells_of: Callable[[str, int], list[Cell]],
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
                **published_with_spread(table, m, **where),
            )
            for m in columns
        )
        rows.append(Row((str(ratio), label(method)), shown, group=str(ratio)))
    return Grid(title, ("ratio", "method"), tuple(columns.values()), tuple(rows))


def comparison(size: Size, folder: Path) -> list[Grid]:
    """Published numbers are of the real stays: those of the stand-in are of another table."""
    parts = (
        ("all rows", ON_ALL_ROWS, size.all_stays),
        (f"{size.sample_rows:,} rows", ON_SOME_ROWS, size.some_stays),
    )
    return [
        _grid(f"{STAY_NAMES[world]}, {rows}", m, partial(of, world=world), COLUMNS, TABLE, folder)
        for world in stays_to_show(folder)
        for rows, m, of in parts
    ]


def cells_meaningful(size: Size) -> list[Cell]:
    """The default on all rows, both ways on some."""
    return [cell for cell in cells(size) if cell.method in SELECTIVE]


def meaningful(size: Size, folder: Path) -> list[Grid]:
    """Recall and precision."""
    columns = {"recall": Column("recall"), "precision": Column("precision"), "f1": Column("F1")}
    parts = (
        ("all rows", ("diffjoint",), size.all_stays),
        (f"{size.sample_rows:,} rows", SELECTIVE, size.some_stays),
    )
    return [
        _grid(f"{STAY_NAMES[world]}, {rows}", m, partial(of, world=world), columns, MM, folder)
        for world in stays_to_show(folder)
        for rows, m, of in parts
    ]


COMPARISON = Table(TABLE, cells, comparison)
RECALL_PRECISION = Table(MM, cells_meaningful, meaningful)
