"""``diffjoint verify``."""

from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.running import Quiet

EXAMPLES = "Example: [bold]diffjoint verify completed/[/bold]"


def verify(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="Folder that transform wrote for a folder of files."),
    ],
    quiet: Quiet = False,
) -> None:
    """Check that a completed folder of files is whole: every file there and unaltered."""
    from diffjoint.cli.run.datasets import verify_dataset

    verify_dataset(out, quiet=quiet)
