"""Emergency stays, the stand-in and the real ones: which methods see how many of their rows."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.cells import STAND_IN, STAYS, Cell, is_here
from benchmarks.tables.table import RATIOS, Size

NAMES = {STAND_IN: "MIMIC stand-in", STAYS: "MIMIC-IV-ED"}
"""What tables call them."""
ON_ALL_ROWS = ("mean_mode", "boosted_gaps", "diffjoint")
ON_SOME_ROWS = (
    "mean_mode",
    "missforest",
    "boosted",
    "cacti",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
PAGE = "emergency-stays"
"""Their page among the results."""
CellsOf = Callable[[str, int], list[Cell]]
"""From a method and a ratio."""


def cells(size: Size) -> list[Cell]:
    """Quick methods on all rows, all methods on some; of the real stays where they are at hand."""
    return [
        cell
        for world in NAMES
        if is_here(world)
        for methods, cells_of in ((ON_ALL_ROWS, size.all_stays), (ON_SOME_ROWS, size.some_stays))
        for method, ratio in product(methods, RATIOS)
        for cell in cells_of(method, ratio, world)
    ]


def parts(
    size: Size,
    folder: Path,
    on_all_rows: Sequence[str] = ON_ALL_ROWS,
    on_some_rows: Sequence[str] = ON_SOME_ROWS,
) -> list[tuple[str, Sequence[str], CellsOf]]:
    """Title, methods and cells of each table: of the real stays where something of them was run."""
    shown = [w for w in NAMES if w == STAND_IN or any(folder.glob(f"{w}*/*/*.json"))]
    return [
        (f"{NAMES[world]}, {rows}", methods, partial(cells_of, world=world))
        for world in shown
        for rows, methods, cells_of in (
            ("all rows", on_all_rows, size.all_stays),
            (f"{size.sample_rows:,} rows", on_some_rows, size.some_stays),
        )
    ]
