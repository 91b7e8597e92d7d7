"""Methods on larger budgets than in the other tables, up to the paper's own."""

from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.limits import limit
from benchmarks.tables.table import RATIOS, Size, Table, label

METHODS = {
    "cmae": "cmae",
    "cmae_paper": "cmae",
    "diffjoint_paper": "diffjoint_paper",
    "diffjoint_paper_fast": "diffjoint_paper",
    "diffjoint_as_published": "diffjoint_paper",
}
"""By name, and under which name the paper has it."""
AT_ONE_RATIO = ("cmae", "cmae_paper", "diffjoint_as_published")
"""The last two take an hour, and days."""
PLACES = tuple(
    (ratio, method)
    for ratio, method in product(RATIOS, METHODS)
    if ratio == RATIOS[0] or method not in AT_ONE_RATIO
)
MEASURES = {
    "acc": (Column("ACC of D2 and D3"), "method_comparison", "acc"),
    "acc_discrete": (Column("ACC of D1, D2 and D3"), "method_comparison", "acc"),
    "recall": (Column("recall"), "mm_recall_precision", "recall"),
    "precision": (Column("precision"), "mm_recall_precision", "precision"),
    "rmse": (Column("RMSE of C2", "lower", 2), "method_comparison", "rmse"),
}
SELECTIVE = "diffjoint"
"""What the names of methods begin with that have recall and precision."""


def _cells(size: Size, ratio: int, method: str) -> list[Cell]:
    return size.network(method, "mcar", ratio)[:1]


def cells(size: Size) -> list[Cell]:
    """Return the first seed of every method."""
    return [cell for place in PLACES for cell in _cells(size, *place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """Return a line for each method and budget."""
    rows = []
    for ratio, method in PLACES:
        where = {"method": METHODS[method], "mechanism": "mcar", "ratio": ratio}
        cell = _cells(size, ratio, method)
        shown = tuple(
            gather(
                cell if method.startswith(SELECTIVE) or table == "method_comparison" else [],
                score(name),
                folder,
                published(table, known, **where),
                limit(name, cell),
            )
            for name, (_, table, known) in MEASURES.items()
        )
        rows.append(Row((str(ratio), label(method)), shown, group=f"{ratio} {METHODS[method]}"))
    columns = tuple(column for column, *_ in MEASURES.values())
    title = "Bayesian network, other budgets, MCAR, one seed"
    return [Grid(title, ("ratio", "method"), columns, tuple(rows))]


TABLE = Table("budgets", "paper", cells, grids)
