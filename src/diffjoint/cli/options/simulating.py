"""Which world ``simulate`` makes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.panels import RUNNING, WORLD
from diffjoint.settings import MECHANISM_NAMES

WorldName = Annotated[
    str | None, typer.Argument(metavar="WORLD", help="Which world; --list shows them.")
]
Rows = Annotated[
    int | None,
    typer.Option(help="Rows to draw; real tables have their own.", rich_help_panel=WORLD),
]
Mechanism = Annotated[
    str | None,
    typer.Option(
        help=f"How cells get lost: {', '.join(MECHANISM_NAMES)} or none.  \\[default: mcar]",
        rich_help_panel=WORLD,
    ),
]
Ratio = Annotated[
    float | None,
    typer.Option(help="Percent of the cells to lose.  \\[default: 10]", rich_help_panel=WORLD),
]
WorldSeed = Annotated[
    int, typer.Option(min=0, help="Same seed, same world.", rich_help_panel=RUNNING)
]
Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the real tables, instead of $DIFFJOINT_DATA.",
        rich_help_panel=RUNNING,
    ),
]


@dataclass(frozen=True)
class Drawn:
    """The world, and what gets lost in it."""

    name: WorldName = None
    rows: Rows = None
    mechanism: Mechanism = None
    ratio: Ratio = None
    seed: WorldSeed = 0
    data: Data = None
