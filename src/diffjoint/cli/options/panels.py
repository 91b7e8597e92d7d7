"""The groups that ``--help`` shows options in; those of tables are the estimator's."""

from typing import Any

import typer

MEANINGFUL = "Which columns and losses"
KNOWLEDGE = "What you know"
OUTPUT = "What comes out"
READING = "Reading the file"
METHOD = "The method"
RUNNING = "Running"
WORLD = "The world"
COMPARED = "What is compared"


def repeated(option: str, metavar: str, about: str, panel: str) -> Any:
    """Return an option that may be given more than once."""
    return typer.Option(
        option, metavar=metavar, help=f"{about}; may be repeated.", rich_help_panel=panel
    )
