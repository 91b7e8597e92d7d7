"""``diffjoint score``."""

from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.files import Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.panels import COMPARED
from diffjoint.cli.options.running import Json
from diffjoint.parameters.checks import check_choice

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint score world completed.csv[/bold]\n\n"
    "[bold]diffjoint score world completed_test.csv --split test --proba p.csv --json[/bold]"
)


@by_groups
def score(
    folder: Annotated[Path, typer.Argument(metavar="WORLD", help="Folder that simulate wrote.")],
    completed: Annotated[
        str,
        typer.Argument(
            metavar="COMPLETED", help="The completed table, by diffjoint or any other tool."
        ),
    ],
    *,
    split: Annotated[
        str,
        typer.Option(
            help="Which rows the table has: all, train or test.", rich_help_panel=COMPARED
        ),
    ] = "all",
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Which cells are called meaningful, if not those left missing.",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    proba: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="How likely each cell is meaningful.",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Judge a completed table against a world's truth."""
    check_choice("--split", split, ("all", "train", "test"))
    from diffjoint.cli.run.worlds import score_completed

    score_completed(folder, completed, split, mask, proba, reading, as_json=as_json)
