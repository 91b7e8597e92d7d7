"""Beyond the paper: real tables whose lost and meaningful cells are known."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.tables.grid import NOTHING, Column, Grid, Row, gather, number_text, score
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
    """Return a method on a table, one cell per seed."""
    rows = size.census_rows if world == CENSUS else size.real_rows
    return [Cell(method, world, "mcar", ratio, seed, rows) for seed in size.few_seeds]


def cells(size: Size) -> list[Cell]:
    """All methods on all tables."""
    places = product(METHODS, WORLDS, RATIOS)
    return [cell for place in places for cell in real_cells(size, *place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """Return a table per measure, a column per table and ratio."""
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


def _means(size: Size, world: str, name: str, folder: Path) -> dict[str, float]:
    """At the higher ratio, of the methods that have every seed but the first, which was in view."""
    later = replace(size, few_seeds=size.few_seeds[1:] or size.few_seeds)
    found = {
        m: gather(real_cells(later, m, world, RATIOS[-1]), score(name), folder) for m in METHODS
    }
    return {
        method: shown.mean
        for method, shown in found.items()
        if shown.mean is not None and len(shown.by_seed) == shown.n_wanted
    }


def _best(means: dict[str, float], of: Callable[..., str], digits: int) -> str:
    """Return the best of the other methods with its name; ``of`` is max or min."""
    others = [method for method in means if method not in OURS]
    if not others:
        return NOTHING
    best = of(others, key=lambda method: means[method])
    return f"{means[best]:.{digits}f} ({label(best)})"


def summary(size: Size, folder: Path) -> str:
    """Return what values are worth: levels and numbers, beside the best of the others.

    Over seeds on which no setting was chosen; of the others, those that have all of these.
    """
    lines = [
        "| table | lost levels filled with the right one, best other | diffjoint, every cell "
        "filled | diffjoint | RMSE of lost numbers, best other | diffjoint |\n",
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    for world in WORLDS:
        levels, numbers = (
            _means(size, world, name, folder) for name in ("lost_acc", "standardised_rmse")
        )
        parts = [
            world,
            _best(levels, max, 1),
            number_text(levels.get("diffjoint_filled"), 1),
            number_text(levels.get("diffjoint"), 1),
            _best(numbers, min, 3),
            number_text(numbers.get("diffjoint"), 3),
        ]
        lines.append(f"| {' | '.join(parts)} |\n")
    return "".join(lines)


TABLE = Table("real_tables", "real-tables", cells, grids)
