"""Beyond the paper: how long each method takes, to fit train rows and complete test rows.

On the network, where completed train rows are learnt from, their completion counts as well.
"""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.cells import Cell, Result
from benchmarks.methods import METHODS as REGISTRY
from benchmarks.tables.grid import Column, Grid, Row, gather
from benchmarks.tables.method_comparison import METHODS as COMPARED
from benchmarks.tables.real_tables import METHODS as ON_REAL_TABLES
from benchmarks.tables.real_tables import WORLDS, real_cells
from benchmarks.tables.table import Size, Table, label

RATIO = 30
METHODS = tuple(dict.fromkeys((*COMPARED, *ON_REAL_TABLES)))
ALONE = ("forest_on_codes",)
"""Here for their time: forests on codes."""


def _panels(size: Size) -> dict[str, Callable[[str], list[Cell]]]:
    def on_network(method: str) -> list[Cell]:
        cells = size.network(method, "mcar", RATIO)
        if method in ALONE:
            return cells[:1]
        return cells if method in COMPARED else []

    def on(world: str) -> Callable[[str], list[Cell]]:
        return lambda method: (
            real_cells(size, method, world, RATIO) if method in ON_REAL_TABLES else []
        )

    return {"network": on_network} | {world: on(world) for world in WORLDS}


def cells(size: Size) -> list[Cell]:
    """Return what other tables do not measure anyway."""
    return [cell for method in ALONE for cell in _panels(size)["network"](method)]


def _seconds(result: Result) -> float:
    """About the processor time of fit and transform: of the clock, the share that the cell had."""
    share_of_core = result["cpu_seconds"] / max(result["total_seconds"], 0.01)
    return float(sum(result["seconds"].values()) * share_of_core)


def grids(size: Size, folder: Path) -> list[Grid]:
    """Seconds of one core."""
    panels = _panels(size)
    rows = tuple(
        Row(
            (_starred(method),),
            tuple(gather(cells_of(method), _seconds, folder) for cells_of in panels.values()),
        )
        for method in (*METHODS, *ALONE)
    )
    columns = tuple(Column(name, "", 1) for name in panels)
    title = f"Seconds of one core, MCAR {RATIO}; * on a reduced budget"
    return [Grid(title, ("method",), columns, rows)]


def _starred(method: str) -> str:
    """Its name, with a star where it does less than in the paper."""
    return label(method) + " *" * REGISTRY[method].reduced


def draw(size: Size, folder: Path, path: Path) -> None:
    """Seconds on the network, on a logarithmic scale."""
    of = _panels(size)["network"]
    found = {m: gather(of(m), _seconds, folder).mean for m in (*METHODS, *ALONE)}
    known = sorted((s, _starred(m)) for m, s in found.items() if s is not None)
    figure = Figure(figsize=(7, 0.6 + 0.32 * max(1, len(known))), layout="constrained")
    axes = figure.add_subplot(xscale="log")
    colours = ["#2f6fd0" if name == _starred("diffjoint") else "#9aa5b1" for _, name in known]
    seconds = [max(s, 0.01) for s, _ in known]
    bars = axes.barh([name for _, name in known], seconds, color=colours)
    axes.bar_label(bars, [f"{s:.0f}" if s >= 10 else f"{s:.1g}" for s in seconds], padding=3)
    axes.set_xlim(right=4 * max(seconds, default=1.0))
    axes.set_xlabel(f"seconds of one core: network, MCAR {RATIO}; * on a reduced budget")
    figure.savefig(path, dpi=110, metadata={"Software": None})


TABLE = Table("times", "speed", cells, grids, draw)
