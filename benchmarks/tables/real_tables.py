"""Beyond the paper: real tables whose lost and meaningful cells are known."""

from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.table import Size, Table, label

WORLDS = (
    "telco-churn-no-gates",
    "ames-housing-no-gates",
    "thyroid-disease",
    "acs-2018-wyoming",
    "kdd-census-1994",
)
METHODS = (
    "mean_mode",
    "iterative",
    "knn",
    "boosted",
    "boosted_gaps",
    "miceforest",
    "missforest",
    "cmae",
    "cacti",
    "diffputer",
    "diffjoint_paper",
    "diffjoint_filled",
    "diffjoint",
)
RATIOS = (10, 30)
MEASURES = {
    "lost_acc": ("lost levels that got their value back, percent", Column("", "higher", 1)),
    "standardised_rmse": ("RMSE of lost numbers, standardised", Column("", "lower", 3)),
    "acc": ("ACC: missing cells whose state, value or NA, is right", Column("", "higher", 1)),
}


def real_cells(size: Size, method: str, world: str, ratio: int) -> list[Cell]:
    """A method on a table, one cell per seed; some rows of a table that has more than others."""
    rows = size.real_rows if world == "kdd-census-1994" or size.real_rows < 1_000 else 0
    return [Cell(method, world, "mcar", ratio, seed, rows) for seed in size.few_seeds]


def cells(size: Size) -> list[Cell]:
    """All methods on all tables."""
    places = product(METHODS, WORLDS, RATIOS)
    return [cell for place in places for cell in real_cells(size, *place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """A table per measure, a column per table and ratio."""
    made = []
    for name, (title, column) in MEASURES.items():
        columns = tuple(
            Column(f"{w.split('-')[0]} {r}", column.better, column.digits)
            for w, r in product(WORLDS, RATIOS)
        )
        rows = tuple(
            Row(
                (label(method),),
                tuple(
                    gather(real_cells(size, method, w, r), score(name), folder)
                    for w, r in product(WORLDS, RATIOS)
                ),
            )
            for method in METHODS
        )
        made.append(Grid(f"Real tables, {title}", ("method",), columns, rows))
    return made


TABLE = Table("real_tables", cells, grids)
