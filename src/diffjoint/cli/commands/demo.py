"""``diffjoint demo``."""

from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.panels import OUTPUT, RUNNING
from diffjoint.cli.options.running import Quiet


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where to write the files.", rich_help_panel=OUTPUT)
    ] = Path("demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="Which survey to draw.", rich_help_panel=RUNNING)
    ] = 0,
    quiet: Quiet = False,
) -> None:
    """Complete a small built-in survey and show what happened."""
    from diffjoint.cli.run.demo import run_demo

    run_demo(folder, seed=seed, verbose=not quiet)
