"""The paper's method comparison on its Bayesian network: ACC and RMSE."""

from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published
from benchmarks.tables.grid import Column, Grid, Row, Shown, gather, score
from benchmarks.tables.limits import drivers, limit
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table, label

METHODS = (
    "mean_mode",
    "iterative",
    "boosted",
    "boosted_gaps",
    "miceforest",
    "knn",
    "missforest",
    "cmae",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
"""Quick ones first: they are run in this order."""
NUMBERS = (("acc", Column("ACC")), ("rmse", Column("RMSE", "lower", 2)))
CHECKED = (
    ("acc", Column("ACC of D2 and D3", "")),
    ("acc_discrete", Column("ACC of D1, D2 and D3", "")),
    ("rmse", Column("RMSE of C2", "", 2)),
)


def cells(size: Size) -> list[Cell]:
    """All methods under all mechanisms and ratios."""
    wanted = product(METHODS, MECHANISMS, RATIOS)
    return [cell for place in wanted for cell in size.network(*place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """One table per measure and way of counting, then the check of the worlds."""
    counted = [
        ("acc", "acc", "ACC, D2 and D3", Column("", "higher", 1), "ACC"),
        ("acc_discrete", "acc", "ACC, D1, D2 and D3", Column("", "higher", 1), None),
        ("rmse", "rmse", "RMSE of lost cells of C2", Column("", "lower", 2), "RMSE"),
    ]
    by_measure = [_grid(size, folder, *parts) for parts in counted]
    whole = [_by_driver(size, folder)] if not size.network_rows else []
    return [*by_measure, _check(size, folder), *whole]


def _grid(
    size: Size, folder: Path, ours: str, theirs: str, title: str, column: Column, best: str | None
) -> Grid:
    columns = tuple(
        Column(f"{m.upper()} {r}", column.better, column.digits)
        for m, r in product(MECHANISMS, RATIOS)
    )
    rows = [
        Row(
            (label(method),),
            tuple(
                gather(
                    size.network(method, m, r),
                    score(ours),
                    folder,
                    published("method_comparison", theirs, method=method, mechanism=m, ratio=r),
                )
                for m, r in product(MECHANISMS, RATIOS)
            ),
        )
        for method in METHODS
    ]
    if best:
        known = tuple(Shown((limit(best, m, r),), 1) for m, r in product(MECHANISMS, RATIOS))
        rows.append(Row(("Bayes limit",), known, competes=False))
    return Grid(f"Bayesian network, {title}", ("method",), columns, tuple(rows))


def _check(size: Size, folder: Path) -> Grid:
    """Mean and mode know nothing of the method: they tell whether the worlds are the paper's."""
    rows = []
    for m, r in product(MECHANISMS, RATIOS):
        where = {"method": "mean_mode", "mechanism": m, "ratio": r}
        shown = tuple(
            gather(
                size.network("mean_mode", m, r),
                score(name),
                folder,
                published("method_comparison", "rmse" if name == "rmse" else "acc", **where),
            )
            for name, _ in CHECKED
        )
        rows.append(Row((m.upper(), str(r)), shown))
    return Grid(
        "Mean/Mode on the network: are these the paper's worlds?",
        ("mechanism", "ratio"),
        tuple(column for _, column in CHECKED),
        tuple(rows),
    )


def _by_driver(size: Size, folder: Path) -> Grid:
    """The same by the column that drives the losses, which hangs on seed and number of rows."""
    found = {m: drivers(m) for m in MECHANISMS if any(drivers(m).values())}
    names = sorted({name for by_seed in found.values() for name in by_seed.values()})
    rows = []
    for m, r in product(found, RATIOS):
        known = published("method_comparison", "acc", method="mean_mode", mechanism=m, ratio=r)
        cells = size.network("mean_mode", m, r)
        shown = tuple(
            gather([c for c in cells if found[m].get(c.seed) == name], score("acc"), folder, known)
            for name in names
        )
        rows.append(Row((m.upper(), str(r)), shown))
    columns = tuple(Column(f"{name} drives", "") for name in names)
    title = "Mean/Mode on the network, ACC of D2 and D3, by what drives the losses"
    return Grid(title, ("mechanism", "ratio"), columns, tuple(rows))


TABLE = Table("method_comparison", cells, grids)
