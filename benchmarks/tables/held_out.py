"""The default on seeds of the network on which none of its settings was chosen."""

from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.limits import limit
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table

METHOD = "diffjoint"
MEASURES = {"acc": ("ACC", 1), "f1": ("F1", 1), "rmse": ("RMSE", 2)}


def _cells(size: Size, mechanism: str, ratio: int) -> list[Cell]:
    return replace(size, seeds=size.held_out).network(METHOD, mechanism, ratio)


def cells(size: Size) -> list[Cell]:
    """Every mechanism and ratio."""
    return [cell for place in product(MECHANISMS, RATIOS) for cell in _cells(size, *place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """Seeds in view and held-out ones, each beside what could be known of them."""
    rows = []
    for place in product(MECHANISMS, RATIOS):
        seen, unseen = size.network(METHOD, *place), _cells(size, *place)
        shown = tuple(
            gather(cells, score(name), folder, limit=limit(name, cells))
            for name, cells in product(MEASURES, (seen, unseen))
        )
        rows.append(Row((place[0].upper(), str(place[1])), shown))
    columns = tuple(
        Column(f"{label}, {which}", "", digits)
        for (label, digits), which in product(MEASURES.values(), ("seeds in view", "held out"))
    )
    title = "Bayesian network, diffjoint on seeds that were not looked at"
    return [Grid(title, ("mechanism", "ratio"), columns, tuple(rows))]


TABLE = Table("held_out", cells, grids)
