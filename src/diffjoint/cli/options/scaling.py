"""How a dataset of many files is completed."""

from dataclasses import dataclass
from typing import Annotated

import typer

from diffjoint.cli.options.panels import OUTPUT

DATASET = "Folders of files"

EngineOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where the work is done: local, dask or spark. The result is the same.",
        rich_help_panel=DATASET,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Processes that work side by side.", rich_help_panel=DATASET),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a running cluster, such as tcp://head:8786 of Dask or the master "
        "spark://head:7077 of Spark; if not given, a small one is started on this machine.",
        rich_help_panel=DATASET,
    ),
]
PieceRows = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Rows that a worker holds at a time, at most; as --memory-limit allows if not given.",
        rich_help_panel=DATASET,
    ),
]
Draws = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="K",
        help="Draw K completed tables as well, from a model that can draw; they go beside OUT, to "
        "OUT.draw-1 and so on.",
        rich_help_panel=OUTPUT,
    ),
]


FitRows = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Learn from N rows of a folder of files, chosen by what they hold, and from those "
        "that hold a rare level or the end of a range; 100,000 if not given.",
        rich_help_panel=DATASET,
    ),
]


@dataclass(frozen=True)
class Sampling:
    """How rows of a dataset are chosen to learn from."""

    fit_rows: FitRows = None
    engine: EngineOption = "local"
    workers: Workers = None
    scheduler: Scheduler = None


@dataclass(frozen=True)
class Scaling:
    """How a dataset is completed."""

    engine: EngineOption = "local"
    workers: Workers = None
    scheduler: Scheduler = None
    piece_rows: PieceRows = None
    draws: Draws = 0
