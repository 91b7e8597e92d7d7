"""Beyond the paper: how long each method takes, to fit train rows and complete test rows."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.cells import Cell, Result
from benchmarks.tables.grid import Column, Grid, Row, gather
from benchmarks.tables.method_comparison import METHODS as COMPARED
from benchmarks.tables.real_tables import WORLDS, real_cells
from benchmarks.tables.table import Size, Table, label

RATIO = 30
ALONE = ("forest_on_codes",)
"""Here for their time: forests on codes."""


def _panels(size: Size) -> dict[str, Callable[[str], list[Cell]]]:
    def on_network(method: str) -> list[Cell]:
        cells = size.network(method, "mcar", RATIO)
        return cells[:1] if method in ALONE else cells

    def on(world: str) -> Callable[[str], list[Cell]]:
        return lambda method: [] if method in ALONE else real_cells(size, method, world, RATIO)

    return {"network": on_network} | {world: on(world) for world in WORLDS}


def cells(size: Size) -> list[Cell]:
    """What other tables measure anyway, and two methods on the network."""
    return [cell for method in ALONE for cell in _panels(size)["network"](method)]


def _seconds(result: Result) -> float:
    """Processor time of fit and transform: the clock also runs while other cells have the core."""
    share_of_core = result["cpu_seconds"] / result["total_seconds"]
    return float(sum(result["seconds"].values()) * share_of_core)


def grids(size: Size, folder: Path) -> list[Grid]:
    """Seconds of one core."""
    panels = _panels(size)
    rows = tuple(
        Row(
            (label(method),),
            tuple(gather(cells_of(method), _seconds, folder) for cells_of in panels.values()),
        )
        for method in (*COMPARED, *ALONE)
    )
    columns = tuple(Column(name, "", 1) for name in panels)
    return [Grid(f"Seconds of one core, MCAR {RATIO}", ("method",), columns, rows)]


def draw(size: Size, folder: Path, path: Path) -> None:
    """Seconds on the network, on a logarithmic scale."""
    of = _panels(size)["network"]
    found = {m: gather(of(m), _seconds, folder).mean for m in (*COMPARED, *ALONE)}
    known = sorted((s, label(m)) for m, s in found.items() if s is not None)
    figure = Figure(figsize=(7, 0.6 + 0.32 * max(1, len(known))), layout="constrained")
    axes = figure.add_subplot()
    axes.barh([name for _, name in known], [max(s, 0.01) for s, _ in known], color="#2f6fd0")
    axes.set_xscale("log")
    axes.set_xlabel(f"seconds of one core: network, MCAR {RATIO}")
    figure.savefig(path, dpi=110, metadata={"Software": None})


TABLE = Table("times", cells, grids, draw)
