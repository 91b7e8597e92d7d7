"""What is read and what is written: arguments, and options that name files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.panels import KNOWLEDGE, OUTPUT, READING
from diffjoint.settings import NA_VALUES

In = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="The table: a CSV, TSV, Parquet, Feather, Arrow, SPSS, Stata or SAS file; one in a "
        "database, such as survey.duckdb::people or postgresql://me@host/db::people; - for CSV on "
        "standard input.",
    ),
]
Out = Annotated[
    str,
    typer.Argument(
        metavar="OUT",
        help="Where to write the completed table: a file, in the format that its ending names, or "
        "a table in a database; - for CSV on standard output.",
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="File that fit or --model-out wrote.")
]
NewModel = Annotated[Path, typer.Argument(metavar="MODEL", help="Where to save the fitted model.")]
MaskOut = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write which cells are kept as NA: True or False per cell.",
        rich_help_panel=OUTPUT,
    ),
]
ProbaOut = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write how likely each cell is meaningful.", rich_help_panel=OUTPUT
    ),
]
UncertaintyOut = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write how uncertain each imputed value is.", rich_help_panel=OUTPUT
    ),
]
ReviewOut = Annotated[
    str | None,
    typer.Option(
        "--review",
        metavar="FILE",
        help="Write the cells that a person should look at, and why: a row for each, with a column "
        "'decision' to fill in.",
        rich_help_panel=OUTPUT,
    ),
]
GuardOption = Annotated[
    bool,
    typer.Option(
        "--guard/--no-guard",
        metavar="",
        help="In a CSV list of --review, put an apostrophe before text that a spreadsheet would "
        "run as a formula; --decisions takes it off again.",
        rich_help_panel=OUTPUT,
    ),
]
ReportOut = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write what became of the table as a page: one HTML file.",
        rich_help_panel=OUTPUT,
    ),
]
ModelOut = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save the fitted model.", rich_help_panel=OUTPUT),
]
SelfCheckOption = Annotated[
    bool,
    typer.Option(
        "--self-check",
        metavar="",
        help="Estimate how many calls are wrong and how good filled-in values are, here and in the "
        "report. Takes about as long as the fit.",
        rich_help_panel=OUTPUT,
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force",
        metavar="",
        help="Let an output replace the table that is read, or a table in a database.",
        rich_help_panel=OUTPUT,
    ),
]
DecisionsIn = Annotated[
    str | None,
    typer.Option(
        "--decisions",
        metavar="FILE",
        help="What you decided on single cells: the list that --review or the report wrote. Its "
        "column 'decision' says meaningful or lost, or nothing where you do not know.",
        rich_help_panel=KNOWLEDGE,
    ),
]
NaValues = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=f"Text that stands for a missing cell, instead of {', '.join(NA_VALUES)}.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.", rich_help_panel=READING)]


Decimal = Annotated[
    str | None,
    typer.Option(
        metavar=".|,",
        help="Decimal mark of numbers in text files; if not given, found where cells are not "
        "separated by commas, a point elsewhere.",
        rich_help_panel=READING,
    ),
]


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    na_values: NaValues = None
    encoding: Encoding = "utf-8"
    decimal: Decimal = None


@dataclass(frozen=True)
class Outputs:
    """What is written beside the completed table."""

    mask_out: MaskOut = None
    proba_out: ProbaOut = None
    uncertainty_out: UncertaintyOut = None
    review: ReviewOut = None
    guard: GuardOption = True
    report: ReportOut = None
    self_check: SelfCheckOption = False
    force: ForceOption = False

    @property
    def sides(self) -> dict[str, str | None]:
        """Where tables of the input's shape go, by the part of the imputation that they are."""
        return {
            "meaningful": self.mask_out,
            "probability": self.proba_out,
            "uncertainty": self.uncertainty_out,
        }
