"""``diffjoint simulate``."""

from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.panels import OUTPUT, RUNNING
from diffjoint.cli.options.running import Quiet
from diffjoint.cli.options.simulating import Drawn
from diffjoint.errors import InputError
from diffjoint.parameters.checks import check_choice
from diffjoint.settings import MECHANISM_NAMES

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint simulate --list[/bold]\n\n"
    "[bold]diffjoint simulate bayesian-network --rows 20000 --mechanism mar --ratio 20 "
    "--out world[/bold]"
)
TABLE_FORMATS = ("csv", "tsv", "parquet", "feather")


@by_groups
def simulate(
    drawn: Drawn,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to write the files.", rich_help_panel=OUTPUT),
    ] = None,
    ending: Annotated[
        str,
        typer.Option("--format", help="csv, tsv, parquet or feather.", rich_help_panel=OUTPUT),
    ] = "csv",
    list_worlds: Annotated[
        bool,
        typer.Option("--list", metavar="", help="Show all worlds.", rich_help_panel=RUNNING),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Make a table whose truth is known, to try any tool on: observed, true values, labels."""
    if list_worlds:
        from diffjoint.cli.run.worlds import show_worlds

        show_worlds()
        return
    if drawn.name is None or out is None:
        raise InputError(
            "A world and --out are needed: diffjoint simulate bayesian-network --out DIR. "
            "--list shows the worlds."
        )
    check_choice("--format", ending, TABLE_FORMATS)
    if drawn.mechanism is not None:
        check_choice("--mechanism", drawn.mechanism.lower(), (*MECHANISM_NAMES, "none"))
    from diffjoint.cli.run.worlds import write_world

    write_world(drawn.name, drawn, out, ending, quiet)
