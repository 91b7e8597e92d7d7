"""``diffjoint inspect``."""

from typing import Annotated

import typer

from diffjoint.cli.options.files import In, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import CheckboxesOption, Codes, Kinds
from diffjoint.cli.options.panels import RUNNING
from diffjoint.cli.options.running import Json, Quiet
from diffjoint.cli.parsing import parse_kinds
from diffjoint.settings import INSPECTED_ROWS

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint inspect survey.csv[/bold]\n\n"
    "[bold]diffjoint inspect survey.csv --na-values '?,-99' --json[/bold]"
)


@by_groups
def inspect(
    source: In,
    *,
    codes: Codes = None,
    kinds: Kinds = None,
    checkboxes: CheckboxesOption = "keep",
    as_json: Json = False,
    reading: Reading,
    rows: Annotated[
        int | None,
        typer.Option(
            min=100,
            help="Rows that the evidence is taken from, at most; "
            f"{INSPECTED_ROWS:,} if not given, and fewer in wide tables.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Look at a table first: what is missing, what it may mean, and what to run next."""
    chosen = parse_kinds(kinds)
    from diffjoint.cli.run.inspecting import look_at

    look_at(
        source, codes or [], chosen, checkboxes, reading, rows=rows, as_json=as_json, quiet=quiet
    )
