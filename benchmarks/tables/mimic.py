"""The paper's tables of emergency stays: MAE, RMSE and ACC; recall and precision."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from benchmarks.cells import Cell
from benchmarks.published import published_with_spread
from benchmarks.tables.downstream_tables import ON_ALL_ROWS, ON_SOME_ROWS
from benchmarks.tables.grid import Column, Grid, Row, gather, score
from benchmarks.tables.table import RATIOS, Size, Table, label

SELECTIVE = ("diffjoint_paper", "diffjoint")
COLUMNS = {
    "mae": Column("MAE", "lower", 2),
    "rmse": Column("RMSE", "lower", 2),
    "acc": Column("ACC"),
}


def cells(size: Size) -> list[Cell]:
    """Quick methods on all rows, all methods on some."""
    wanted = [c for m, r in product(ON_ALL_ROWS, RATIOS) for c in size.all_stays(m, r)]
    return wanted + [c for m, r in product(ON_SOME_ROWS, RATIOS) for c in size.some_stays(m, r)]


def _grid(
    title: str,
    methods: Sequence[str],
    cells_of: Callable[[str, int], list[Cell]],
    columns: dict[str, Column],
    table: str,
    folder: Path,
) -> Grid:
    rows = []
    for ratio, method in product(RATIOS, methods):
        where = {"method": method, "mechanism": "mcar", "ratio": ratio}
        shown = tuple(
            gather(
                cells_of(method, ratio),
                score(m),
                folder,
                **published_with_spread(table, m, **where),
            )
            for m in columns
        )
        rows.append(Row((str(ratio), label(method)), shown, group=str(ratio)))
    return Grid(title, ("ratio", "method"), tuple(columns.values()), tuple(rows))


def comparison(size: Size, folder: Path) -> list[Grid]:
    """Published numbers are of the real stays, ours of the stand-in: not the same table."""
    some = f"{size.stays_name}, {size.sample_rows:,} rows"
    return [
        _grid(title, methods, of, COLUMNS, "mimic_comparison", folder)
        for title, methods, of in (
            (f"{size.stays_name}, all rows", ON_ALL_ROWS, size.all_stays),
            (some, ON_SOME_ROWS, size.some_stays),
        )
    ]


def cells_meaningful(size: Size) -> list[Cell]:
    """The default on all rows, both ways on some."""
    wanted = [c for r in RATIOS for c in size.all_stays("diffjoint", r)]
    return wanted + [c for m, r in product(SELECTIVE, RATIOS) for c in size.some_stays(m, r)]


def meaningful(size: Size, folder: Path) -> list[Grid]:
    """Recall and precision."""
    columns = {"recall": Column("recall"), "precision": Column("precision"), "f1": Column("F1")}
    parts = (
        ("all rows", ("diffjoint",), size.all_stays),
        (f"{size.sample_rows:,} rows", SELECTIVE, size.some_stays),
    )
    return [
        _grid(f"{size.stays_name}, {rows}", methods, of, columns, "mimic_recall_precision", folder)
        for rows, methods, of in parts
    ]


COMPARISON = Table("mimic_comparison", cells, comparison)
RECALL_PRECISION = Table("mimic_recall_precision", cells_meaningful, meaningful)
