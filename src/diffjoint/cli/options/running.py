"""How a command runs, and what it does with a model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.panels import OUTPUT, READING, RUNNING
from diffjoint.settings import DEFAULT_MEMORY_LIMIT

Unseen = Annotated[
    str,
    typer.Option(
        help="Levels not seen in fit: warn (left as is, and said), keep (left as is), missing "
        "(imputed) or error.",
        rich_help_panel=READING,
    ),
]
UnseenLater = Annotated[
    str | None,
    typer.Option(
        "--unseen", help="As in fit; what fit was told if not given.", rich_help_panel=READING
    ),
]
DrawsOption = Annotated[
    bool,
    typer.Option(
        "--draws/--no-draws",
        help="Learn to draw as well and save it, so that Python's sample can draw from the model.",
        rich_help_panel=OUTPUT,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File that holds a key of 16 characters or more: models are signed with it when they "
        "are saved, and only models signed with it are read.",
        rich_help_panel=OUTPUT,
    ),
]
RowMarks = Annotated[
    bool,
    typer.Option(
        "--row-marks/--no-row-marks",
        help="Save marks by which the model knows rows of the table again. Without them nobody can "
        "ask it whether a row was there, and it judges those rows as new ones.",
        rich_help_panel=OUTPUT,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=2**32 - 1, help="Same seed, same result.", rich_help_panel=RUNNING),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that the run may take, such as 2GB. A text file that is too long for it is "
        "learnt from some of its rows. Where draws, a report or another format are asked for, it "
        f"bounds draws alone: {DEFAULT_MEMORY_LIMIT} if not given.",
        rich_help_panel=RUNNING,
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.", rich_help_panel=RUNNING)]
Threads = Annotated[int | None, typer.Option(help="Threads to use.", rich_help_panel=RUNNING)]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        metavar="",
        help="Say nothing unless something is wrong.",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print JSON.", rich_help_panel=OUTPUT)
]


@dataclass(frozen=True)
class Saving:
    """How a model is saved."""

    key_file: KeyFile = None
    row_marks: RowMarks = True


@dataclass(frozen=True)
class Running:
    """Memory, processors, and how much is said."""

    memory_limit: MemoryLimit = None
    device: Device = "auto"
    threads: Threads = None
    quiet: Quiet = False
