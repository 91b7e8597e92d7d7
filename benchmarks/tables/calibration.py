"""Beyond the paper: whether probabilities can be taken at their word."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, read
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.limits import limit
from benchmarks.tables.real_tables import WORLDS, real_cells
from benchmarks.tables.table import MECHANISMS, Size, Table

METHOD = "diffjoint"
RATIO = 30
COLUMNS = {
    "auc": Column("AUC", ""),
    "brier": Column("Brier score", "", 3),
    "calibration_error": Column("calibration error", "", 3),
}


def _panels(size: Size) -> dict[str, list[Cell]]:
    network = {f"network, {m.upper()}": size.network(METHOD, m, RATIO) for m in MECHANISMS}
    return network | {world: real_cells(size, METHOD, world, RATIO) for world in WORLDS}


def cells(size: Size) -> list[Cell]:
    """Return the default on the network and on real tables."""
    return [cell for panel in _panels(size).values() for cell in panel]


def grids(size: Size, folder: Path) -> list[Grid]:
    """Scores of the probabilities."""
    rows = tuple(
        Row(
            (name,),
            tuple(gather(panel, score(n), folder, limit=limit(n, panel)) for n in COLUMNS),
        )
        for name, panel in _panels(size).items()
    )
    title = f"Probabilities of the default, {RATIO}% lost"
    return [Grid(title, ("table",), tuple(COLUMNS.values()), rows)]


def draw(size: Size, folder: Path, path: Path) -> None:
    """Found share by said share; the area of a dot is its number of cells."""
    panels = _panels(size)
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    for place, (name, panel) in zip(figure.subplots(2, 4).flat, panels.items(), strict=True):
        place.plot([0, 1], [0, 1], color="#b9c2cc", linewidth=1)
        done = [r["calibration"] for c in panel if (r := read(c, folder)) and "calibration" in r]
        place.set_title(name if done else f"{name}: not run", fontsize=8)
        place.set_xlabel("said", fontsize=8)
        place.set_ylabel("found", fontsize=8)
        if not done:
            continue
        n, said, found = (np.array([d[key] for d in done]) for key in ("n", "said", "found"))
        total = np.maximum(n.sum(axis=0), 1)
        x, y = (said * n).sum(axis=0) / total, (found * n).sum(axis=0) / total
        some = n.sum(axis=0) > 0
        place.scatter(x[some], y[some], s=8 + 120 * (total / total.sum())[some], color="#2f6fd0")
    figure.savefig(path, dpi=110, metadata={"Software": None})


TABLE = Table("calibration", "calls", cells, grids, draw)
