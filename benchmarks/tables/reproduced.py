"""How near our numbers come to the published ones, method by method: all cells taken together."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.cells import NETWORK, TARGETS, Cell
from benchmarks.published import published
from benchmarks.tables.downstream_tables import downstream_score
from benchmarks.tables.grid import Column, Get, Grid, Row, Shown, gather, score
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table, label

METHODS = ("mean_mode", "missforest", "cmae", "diffputer", "diffjoint_paper")
MEASURES = {
    "acc": "ACC, D2 and D3",
    "acc_discrete": "ACC, D1, D2 and D3",
    "rmse": "RMSE",
    "recall": "recall",
    "precision": "precision",
    "macro_f1": "downstream macro-F1",
}
COLUMNS = (
    Column("cells", "", 0),
    Column("published", "", 2),
    Column("ours", "", 2),
    Column("ours less published", "", 2),
    Column("least", "", 2),
    Column("most", "", 2),
)
Place = tuple[list[Cell], Get, float | None]


def _places(size: Size, method: str, measure: str) -> Iterator[Place]:
    """Cells, what is read from them, and what the paper says of it."""
    if measure == "macro_f1":
        for target, ratio in product(TARGETS[NETWORK], RATIOS):
            known = published(
                "downstream_network", measure, method=method, target=target, ratio=ratio
            )
            cells = size.network(method, "mcar", ratio)
            yield cells, downstream_score(target, measure), known
        return
    table = "all_mechanisms" if measure in ("recall", "precision") else "method_comparison"
    name = "acc" if measure == "acc_discrete" else measure
    for mechanism, ratio in product(MECHANISMS, RATIOS):
        known = published(table, name, method=method, mechanism=mechanism, ratio=ratio)
        yield size.network(method, mechanism, ratio), score(measure), known


def _compared(size: Size, folder: Path, method: str, measure: str) -> tuple[Shown, ...]:
    """How many cells have both numbers, their means, and how far they are apart."""
    pairs = [
        (known, ours)
        for cells, get, known in _places(size, method, measure)
        if known is not None and (ours := gather(cells, get, folder).mean) is not None
    ]
    if not pairs:
        return tuple(Shown(n_wanted=1) for _ in COLUMNS)
    theirs, ours = np.array(pairs).T
    apart = ours - theirs
    numbers = (len(pairs), theirs.mean(), ours.mean(), apart.mean(), apart.min(), apart.max())
    return tuple(Shown((float(number),), 1) for number in numbers)


def grids(size: Size, folder: Path) -> list[Grid]:
    """A line per method and measure of which the paper says something."""
    rows = tuple(
        Row((label(method), text), _compared(size, folder, method, measure))
        for method, (measure, text) in product(METHODS, MEASURES.items())
        if any(known is not None for *_, known in _places(size, method, measure))
    )
    title, legend = "Bayesian network, published and ours", "means over mechanisms and ratios"
    return [Grid(title, ("method", "measure"), COLUMNS, rows, legend)]


TABLE = Table("reproduced", lambda size: [], grids)
"""What other tables measure anyway."""
