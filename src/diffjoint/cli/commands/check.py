"""``diffjoint check``."""

from typing import Annotated

import typer

from diffjoint.cli.options.files import In, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import Known
from diffjoint.cli.options.panels import OUTPUT
from diffjoint.cli.options.running import Json, Quiet

EXAMPLES = "Example: [bold]diffjoint check survey.csv --rules rules.toml[/bold]"


@by_groups
def check(
    source: In,
    *,
    known: Known,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the cells that break a rule, a row for each.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Check a table against rules. Exit code 0: no cell breaks one; 1: some do."""
    from diffjoint.cli.run.clashes import check_files
    from diffjoint.cli.run.ruling import check_table

    check_files({"IN": source, "--rules": known.rule_file}, {"--out": out})
    check_table(source, known, reading, out, as_json=as_json, quiet=quiet)
