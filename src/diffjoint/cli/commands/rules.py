"""``diffjoint rules``."""

from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.files import In, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import Known
from diffjoint.cli.options.panels import MEANINGFUL, OUTPUT
from diffjoint.cli.options.running import Json, Quiet

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint rules survey.csv[/bold]\n\n"
    "[bold]diffjoint rules survey.csv --out rules.toml --svg gates.svg[/bold]\n\n"
    "Then: [bold]diffjoint impute survey.csv completed.csv --rules rules.toml[/bold]"
)


@by_groups
def rules(
    source: In,
    *,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Columns whose rules are sought; all with missing cells if not given.",
            rich_help_panel=MEANINGFUL,
        ),
    ] = None,
    known: Known,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the rules to a TOML file, to change and to give back with --rules.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    mermaid: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write gates and what they open as a Mermaid flowchart.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write gates and what they open as a picture.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Find the skip rules that a table follows: when each column has something to record."""
    from diffjoint.cli.run.clashes import check_files
    from diffjoint.cli.run.ruling import seek_rules

    check_files(
        {"IN": source, "--rules": known.rule_file},
        {"--out": out, "--mermaid": mermaid, "--svg": svg},
    )
    files = {"out": out, "mermaid": mermaid, "svg": svg}
    seek_rules(source, columns, known, reading, files, as_json=as_json, quiet=quiet)
