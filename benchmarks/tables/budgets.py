"""Methods on larger budgets than in the other tables, up to the paper's own."""

from pathlib import Path

from benchmarks.cells import NETWORK, Cell
from benchmarks.published import published
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.limits import limit
from benchmarks.tables.table import Size, Table, label

METHODS = {
    "cmae": "cmae",
    "cmae_paper": "cmae",
    "diffjoint_paper": "diffjoint_paper",
    "diffjoint_paper_fast": "diffjoint_paper",
    "diffjoint_as_published": "diffjoint_paper",
}
"""By name, and under which name the paper has it."""
RATIO = 10
MEASURES = {
    "acc": (Column("ACC of D2 and D3"), "acc", "ACC"),
    "acc_discrete": (Column("ACC of D1, D2 and D3"), "acc", None),
    "rmse": (Column("RMSE of C2", "lower", 2), "rmse", "RMSE"),
}


def _cells(size: Size, method: str) -> list[Cell]:
    """One seed: the largest take an hour, or days."""
    return [Cell(method, NETWORK, "mcar", RATIO, size.seeds[0], size.network_rows)]


def cells(size: Size) -> list[Cell]:
    """The first seed of every method."""
    return [cell for method in METHODS for cell in _cells(size, method)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """A line for each method and budget."""
    rows = []
    for method, theirs in METHODS.items():
        where = {"method": theirs, "mechanism": "mcar", "ratio": RATIO}
        shown = tuple(
            gather(
                _cells(size, method),
                score(name),
                folder,
                published("method_comparison", known, **where),
                limit(best, "mcar", RATIO) if best else None,
            )
            for name, (_, known, best) in MEASURES.items()
        )
        rows.append(Row((label(method),), shown, group=theirs))
    columns = tuple(column for column, *_ in MEASURES.values())
    title = f"Bayesian network, other budgets, MCAR {RATIO}, one seed"
    return [Grid(title, ("method",), columns, tuple(rows))]


TABLE = Table("budgets", cells, grids)
