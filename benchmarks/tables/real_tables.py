"""Beyond the paper: real tables whose lost and meaningful cells are known."""

from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.tables.grid import (
    NOTHING,
    Column,
    Grid,
    Row,
    gather,
    over_shared_seeds,
    score,
    shared_seeds,
)
from benchmarks.tables.table import Size, Table, label

CENSUS = "kdd-census-1994"
WORLDS = (
    "telco-churn-no-gates",
    "ames-housing-no-gates",
    "thyroid-disease",
    "acs-2018-wyoming",
    CENSUS,
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
OURS = ("diffjoint_filled", "diffjoint")
RATIOS = (10, 30)
MEASURES = {
    "lost_acc": ("lost levels that got their value back, percent", Column("", "higher", 1)),
    "standardised_rmse": ("RMSE of lost numbers, standardised", Column("", "lower", 3)),
    "acc": ("ACC: missing cells whose state, value or NA, is right", Column("", "higher", 1)),
}


def real_cells(size: Size, method: str, world: str, ratio: int) -> list[Cell]:
    """A method on a table, one cell per seed."""
    rows = size.census_rows if world == CENSUS else size.real_rows
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


def readme_table(size: Size, folder: Path) -> str:
    """For each table: the default, and the best of the others with its name."""
    lines = [
        "| table | right state, best other | diffjoint | lost levels got back, best other "
        "| diffjoint | told to fill every cell | seeds |\n",
        "|---|---|---|---|---|---|---|\n",
    ]
    for world in WORLDS:
        by_seed = {name: _by_method(size, world, name, folder) for name in ("acc", "lost_acc")}
        seeds = ", ".join(map(str, sorted(shared_seeds(by_seed["lost_acc"]))))
        state, back = (over_shared_seeds(numbers) for numbers in by_seed.values())
        parts = [
            _best_other(state),
            _percent(state, "diffjoint"),
            _best_other(back),
            _percent(back, "diffjoint"),
            _percent(back, "diffjoint_filled"),
        ]
        lines.append(f"| {world} | {' | '.join(parts)} | {seeds or NOTHING} |\n")
    return "".join(lines)


def _by_method(size: Size, world: str, name: str, folder: Path) -> dict[str, dict[int, float]]:
    """At the higher ratio, by method and seed."""
    get, ratio = score(name), RATIOS[-1]
    return {m: gather(real_cells(size, m, world, ratio), get, folder).by_seed for m in METHODS}


def _best_other(means: dict[str, float]) -> str:
    others = [method for method in means if method not in OURS]
    if not others:
        return NOTHING
    best = max(others, key=lambda method: means[method])
    return f"{means[best]:.1f} ({label(best)})"


def _percent(means: dict[str, float], method: str) -> str:
    return f"{means[method]:.1f}" if method in means else NOTHING


TABLE = Table("real_tables", cells, grids)
