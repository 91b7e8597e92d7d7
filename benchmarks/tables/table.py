"""What a table or figure is: which cells it needs, and how they are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bayes_limit import HELD_OUT
from benchmarks.cells import NETWORK, STAND_IN, TRUTH, Cell
from benchmarks.methods import METHODS
from benchmarks.tables.grid import Grid

MECHANISMS = ("mcar", "mar", "mnar")
RATIOS = (10, 20, 30, 40)


@dataclass(frozen=True)
class Size:
    """How large a version of the tables.

    Attributes
    ----------
    seeds, few_seeds, held_out : tuple of int
        Seeds of the network's main tables, of what takes longer, and those on which no setting was
        chosen.
    network_rows, stand_in_rows : int
        Rows of these worlds; 0: as many as the paper has.
    sample_rows : int
        Rows of the stand-in for methods that are too slow for all.
    real_rows, census_rows : int
        Rows of real tables, 0: all; and of the KDD census, which has many more.
    methods, network_methods : tuple of str
        Those that are run, and those that are run on the network alone; the others show as not run.
    """

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    few_seeds: tuple[int, ...] = (0, 1, 2)
    held_out: tuple[int, ...] = tuple(HELD_OUT)
    network_rows: int = 0
    stand_in_rows: int = 0
    sample_rows: int = 20_000
    real_rows: int = 0
    census_rows: int = 10_000
    methods: tuple[str, ...] = tuple(METHODS)
    network_methods: tuple[str, ...] = ()

    def has(self, cell: Cell) -> bool:
        """Whether a cell is to be run."""
        methods = (*self.methods, *(self.network_methods if cell.world == NETWORK else ()), TRUTH)
        return cell.method in methods

    def network(self, method: str, mechanism: str, ratio: int) -> list[Cell]:
        """Return the network's cells of a method, one per seed."""
        return [
            Cell(method, NETWORK, mechanism, ratio, seed, self.network_rows) for seed in self.seeds
        ]

    def all_stays(self, method: str, ratio: int, world: str = STAND_IN) -> list[Cell]:
        """Return the cell of a method on all emergency stays."""
        return [Cell(method, world, "mcar", ratio, 0, self.stand_in_rows)]

    def some_stays(self, method: str, ratio: int, world: str = STAND_IN) -> list[Cell]:
        """Cells of a method on some of the stays."""
        return [
            Cell(method, world, "mcar", ratio, seed, self.sample_rows) for seed in self.few_seeds
        ]


ABLATED = (
    "diffputer_10",
    "diffjoint_paper_1",
    "diffjoint_paper_5",
    "diffjoint_paper_uncertainty",
    "diffjoint_paper_vote",
    "diffjoint_paper_and",
)
"""Here for the ablations alone."""
FULL = Size()
QUICK = Size(
    seeds=(0,),
    few_seeds=(0,),
    held_out=(HELD_OUT[0],),
    network_rows=1_000,
    stand_in_rows=1_000,
    sample_rows=600,
    real_rows=600,
    census_rows=600,
    methods=("mean_mode", "knn", "diffjoint", *ABLATED),
    network_methods=(
        "iterative",
        "boosted",
        "boosted_gaps",
        "miceforest",
        "missforest",
        "cmae",
        "diffputer",
        "diffjoint_paper",
    ),
)


@dataclass(frozen=True)
class Table:
    """A table or figure.

    Attributes
    ----------
    name : str
        Its mark in the documentation, and the name of its picture.
    page : str
        The page of docs/results that shows it.
    cells : callable
        The cells it needs at a size.
    grids : callable
        From size and folder of results: the tables.
    draw : callable, optional
        From size, folder of results and a path: draws a picture there.
    """

    name: str
    page: str
    cells: Callable[[Size], list[Cell]]
    grids: Callable[[Size, Path], list[Grid]]
    draw: Callable[[Size, Path, Path], None] | None = None

    @property
    def title(self) -> str:
        """Its name in words."""
        return self.name.replace("_", " ")


def label(method: str) -> str:
    """Return a method's name in tables."""
    return METHODS[method].label
