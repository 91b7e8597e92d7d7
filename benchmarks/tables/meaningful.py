"""How well meaningful cells are found: the paper's recall and precision tables."""

from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published, published_with_spread
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.limits import LIMIT, limit_row
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table, label

METHODS = ("diffjoint_paper", "diffjoint")
NAME = "mm_recall_precision"


def cells_mcar(size: Size) -> list[Cell]:
    """Both methods, lost completely at random."""
    return [c for m, r in product(METHODS, RATIOS) for c in size.network(m, "mcar", r)]


def recall_and_precision(size: Size, folder: Path) -> list[Grid]:
    """Recall and precision with their spread, and F1."""
    names = ("recall", "precision", "f1")
    rows = []
    for ratio in RATIOS:
        for method in METHODS:
            cells = size.network(method, "mcar", ratio)
            where = {"method": method, "mechanism": "mcar", "ratio": ratio}
            shown = tuple(
                gather(cells, score(n), folder, **published_with_spread(NAME, n, **where))
                for n in names
            )
            rows.append(Row((str(ratio), label(method)), shown, group=str(ratio)))
        worlds = size.network(METHODS[-1], "mcar", ratio)
        rows.append(limit_row((str(ratio), LIMIT), names, [worlds]))
    columns = (Column("recall"), Column("precision"), Column("F1"))
    title = "Bayesian network, meaningful cells, MCAR"
    return [Grid(title, ("ratio", "method"), columns, tuple(rows))]


def cells_all(size: Size) -> list[Cell]:
    """Both methods under all mechanisms."""
    places = product(METHODS, MECHANISMS, RATIOS)
    return [cell for place in places for cell in size.network(*place)]


def all_mechanisms(size: Size, folder: Path) -> list[Grid]:
    """Recall, precision and ACC under every mechanism."""
    names = ("recall", "precision", "acc")
    rows = []
    for m, r in product(MECHANISMS, RATIOS):
        for method in METHODS:
            cells = size.network(method, m, r)
            where = {"method": method, "mechanism": m, "ratio": r}
            shown = tuple(
                gather(cells, score(n), folder, published("all_mechanisms", n, **where))
                for n in names
            )
            rows.append(Row((m.upper(), str(r), label(method)), shown, group=f"{m}{r}"))
        worlds = size.network(METHODS[-1], m, r)
        rows.append(limit_row((m.upper(), str(r), LIMIT), names, [worlds]))
    columns = (Column("recall"), Column("precision"), Column("ACC"))
    title = "Bayesian network, all mechanisms"
    return [Grid(title, ("mechanism", "ratio", "method"), columns, tuple(rows))]


RECALL_PRECISION = Table(NAME, "method-comparison", cells_mcar, recall_and_precision)
ALL_MECHANISMS = Table("all_mechanisms", "method-comparison", cells_all, all_mechanisms)
