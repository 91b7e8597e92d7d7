"""What completed tables are worth: the paper's downstream tasks."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.cells import NETWORK, OUTCOMES, TARGETS, TRUTH, Cell, Result
from benchmarks.published import published
from benchmarks.tables.grid import Column, Grid, Row, gather
from benchmarks.tables.table import (
    RATIOS,
    STAY_NAMES,
    Size,
    Table,
    label,
    stays_to_run,
    stays_to_show,
)

METHODS = (
    "mean_mode",
    "missforest",
    "boosted",
    "boosted_gaps",
    "cmae",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
ON_ALL_ROWS = ("mean_mode", "boosted_gaps", "diffjoint")
ON_SOME_ROWS = (
    "mean_mode",
    "missforest",
    "boosted",
    "cacti",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
MEASURES = {
    "macro_f1": "macro-F1",
    "roc_auc": "ROC-AUC",
    "rarity_weighted_f1": "weighted-F1",
    "accuracy": "accuracy",
}
CellsOf = Callable[[str, int], list[Cell]]


def downstream_score(target: str, measure: str) -> Callable[[Result], float]:
    """Gets one of a result's scores downstream."""
    return lambda result: float(result["downstream"][target][measure])


def grid_of(
    title: str,
    target: str,
    methods: Sequence[str],
    cells_of: CellsOf,
    table: str,
    folder: Path,
) -> Grid:
    """One target: methods by ratio, and the true table for comparison."""
    rows = []
    for ratio, method in product(RATIOS, (TRUTH, *methods)):
        # The true rows do not depend on what is lost of them.
        cells = cells_of(method, RATIOS[0] if method == TRUTH else ratio)
        where = {"method": method, "target": target, "ratio": ratio}
        shown = tuple(
            gather(cells, downstream_score(target, m), folder, published(table, m, **where))
            for m in MEASURES
        )
        name = "true table" if method == TRUTH else label(method)
        rows.append(Row((str(ratio), name), shown, str(ratio), competes=method != TRUTH))
    columns = tuple(map(Column, MEASURES.values()))
    return Grid(f"{title}, {target}", ("ratio", "train on"), columns, tuple(rows))


def _network_cells(size: Size) -> CellsOf:
    return lambda method, ratio: size.network(method, "mcar", ratio)


def cells_network(size: Size) -> list[Cell]:
    """Methods at every ratio, the truth once."""
    of = _network_cells(size)
    wanted = [*of(TRUTH, RATIOS[0])]
    return wanted + [c for m, r in product(METHODS, RATIOS) for c in of(m, r)]


def network(size: Size, folder: Path) -> list[Grid]:
    """D2 and D3."""
    of, title = _network_cells(size), "Bayesian network"
    return [grid_of(title, t, METHODS, of, "downstream_network", folder) for t in TARGETS[NETWORK]]


def cells_stays(size: Size) -> list[Cell]:
    """Quick methods on all rows, all methods on some; the truth once each."""
    return [
        cell
        for world in stays_to_run()
        for methods, of in ((ON_ALL_ROWS, size.all_stays), (ON_SOME_ROWS, size.some_stays))
        for method, ratio in [(TRUTH, RATIOS[0]), *product(methods, RATIOS)]
        for cell in of(method, ratio, world)
    ]


def stays(size: Size, folder: Path) -> list[Grid]:
    """Four outcomes, on all rows and on some."""
    parts: list[tuple[str, Sequence[str], CellsOf]] = []
    for world in stays_to_show(folder):
        name = STAY_NAMES[world]
        parts += [
            (f"{name}, all rows", ON_ALL_ROWS, partial(size.all_stays, world=world)),
            (
                f"{name}, {size.sample_rows:,} rows",
                ON_SOME_ROWS,
                partial(size.some_stays, world=world),
            ),
        ]
    return [
        grid_of(title, target, methods, of, "downstream_mimic", folder)
        for (title, methods, of), target in product(parts, OUTCOMES)
    ]


NETWORK_TABLE = Table("downstream_network", cells_network, network)
STAYS_TABLE = Table("downstream_mimic", cells_stays, stays)
