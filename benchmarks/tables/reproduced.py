"""How near our numbers come to the published ones, method by method."""

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
    Column("published", "", 2),
    Column("ours", "", 2),
    Column("ours minus published", "", 2),
    Column("lowest difference", "", 2),
    Column("highest", "", 2),
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


def _row(size: Size, folder: Path, method: str, measure: str) -> Row | None:
    """Means over places that have both numbers, and how far these are apart; None if none can."""
    places = [place for place in _places(size, method, measure) if place[-1] is not None]
    if not places:
        return None
    shown = [gather(cells, get, folder, known) for cells, get, known in places]
    both = [s for s in shown if s.mean is not None]
    seeds = f"{sum(len(s.ours) for s in both)} of {sum(s.n_wanted for s in shown)}"
    heads = (label(method), MEASURES[measure], f"{len(both)} of {len(places)}", seeds)
    if not both:
        return Row(heads, tuple(Shown(n_wanted=1) for _ in COLUMNS))
    theirs = np.array([s.published for s in both], dtype=float)
    ours = np.array([s.mean for s in both], dtype=float)
    apart = ours - theirs
    numbers = (theirs.mean(), ours.mean(), apart.mean(), apart.min(), apart.max())
    return Row(heads, tuple(Shown((float(number),), 1) for number in numbers))


def grids(size: Size, folder: Path) -> list[Grid]:
    """Return a line per method and measure of which the paper says something."""
    rows = [_row(size, folder, *place) for place in product(METHODS, MEASURES)]
    return [
        Grid(
            "Bayesian network, published and ours",
            ("method", "measure", "places", "runs"),
            COLUMNS,
            tuple(row for row in rows if row is not None),
            legend="means over places: a mechanism or target at a ratio; a run is one seed there",
        )
    ]


TABLE = Table("reproduced", "paper", lambda size: [], grids)
"""Of cells that other tables measure, and say there if they failed."""
