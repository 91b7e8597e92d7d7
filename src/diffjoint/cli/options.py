"""The options of the commands, each with its help. Nothing is loaded for them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from diffjoint.settings import DEFAULT_MEMORY_LIMIT, DETECTOR_NAMES, NA_VALUES, PRESETS


def repeated(option: str, metavar: str, about: str) -> Any:
    """An option that may be given more than once."""
    return typer.Option(option, metavar=metavar, help=f"{about}; may be repeated.")


In = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="The table: a CSV, TSV, Parquet, Feather, SPSS, Stata or SAS file; - for CSV on "
        "standard input.",
    ),
]
Out = Annotated[
    str,
    typer.Argument(
        metavar="OUT",
        help="Where to write the completed table, in the format that its ending names; - for CSV "
        "on standard output.",
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="File that fit or --model-out wrote.")
]
MMColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--mm-columns",
        "-m",
        metavar="A,B",
        help="Columns in which an empty cell may be meaningful; auto to have them found ('auto,' "
        "for a column of that name); '' for none.",
    ),
]
MaskOut = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write which cells are kept as NA: True or False per cell."),
]
ProbaOut = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write how likely each cell is meaningful.")
]
UncertaintyOut = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the spread of each imputed cell.")
]
ReviewOut = Annotated[
    str | None,
    typer.Option(
        "--review",
        metavar="FILE",
        help="Write the cells that a person should look at, and why: a row for each, with a column "
        "'decision' to fill in.",
    ),
]
DecisionsIn = Annotated[
    str | None,
    typer.Option(
        "--decisions",
        metavar="FILE",
        help="What you decided on single cells: the list that --review or the report wrote. Its "
        "column 'decision' says meaningful or lost, or nothing where you do not know.",
    ),
]
ReportOut = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a page to look at: one HTML file."),
]
ModelOut = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the fitted model.")]
DrawsOption = Annotated[
    bool,
    typer.Option(
        "--draws/--no-draws",
        help="Train the diffusion model as well and save it, so that Python's sample can draw from "
        "the model; takes longer than the rest.",
    ),
]
Preset = Annotated[str, typer.Option(help=f"How much effort: {', '.join(PRESETS)}.")]
DetectorOption = Annotated[
    str, typer.Option("--detector", help=f"How to tell them apart: {', '.join(DETECTOR_NAMES)}.")
]
LossRateOption = Annotated[
    list[str] | None,
    repeated(
        "--loss-rate",
        "RATE|A=RATE,B=RATE",
        "Share of cells lost where there was something to record, in all searched columns or by "
        "column, such as 0.1 or income=0.2,age=0.1; estimated if not given",
    ),
]
Rules = Annotated[
    list[str] | None,
    repeated(
        "--rule",
        "COLUMN: CONDITION",
        "When a column has something to record, such as 'spouse_age: married == \"yes\"'",
    ),
]
Codes = Annotated[
    list[str] | None,
    repeated(
        "--code",
        "[COLUMN:] CODE=REASON",
        "What stands in an empty cell and why it is empty, meaningful or lost, such as "
        "'income: refused=lost'; without a column, in all of them",
    ),
]
MMFill = Annotated[
    list[str] | None,
    repeated(
        "--mm-fill",
        "COLUMN=VALUE",
        "What meaningful cells of a column get instead of NA, such as pack_years=0",
    ),
]
Bounds = Annotated[
    list[str] | None,
    repeated(
        "--bounds",
        "COLUMN=LOW:HIGH",
        "Lowest and highest value to fill in, such as age=0:120; either may be left out",
    ),
]
SelfCheckOption = Annotated[
    bool,
    typer.Option(
        "--self-check",
        metavar="",
        help="Say what to trust, here and in the report: how many calls would be wrong; hide cells "
        "that are there and fill them again, and call cells under other assumptions. Takes no "
        "longer than the fit.",
    ),
]
Set = Annotated[
    list[str] | None,
    repeated("--set", "NAME=VALUE", "Set one number of the method, such as max_epochs=100"),
]
Kinds = Annotated[
    list[str] | None,
    repeated(
        "--kind",
        "COLUMN=KIND",
        "Correct a column's kind: continuous, integer, categorical, checkbox, datetime or "
        "pass-through",
    ),
]
CheckboxesOption = Annotated[
    str,
    typer.Option(
        "--checkboxes",
        help="Columns that hold one value or nothing: keep (an empty cell is a box not ticked, and "
        "stays empty) or fill.",
    ),
]
NaValues = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help=f"Text that stands for an empty cell, instead of {', '.join(NA_VALUES)}.",
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.")]
MMOutputOption = Annotated[
    str, typer.Option("--mm-output", help="Meaningful cells become: na, category or indicator.")
]
Unseen = Annotated[
    str,
    typer.Option(help="Levels not seen in fit: error, missing (imputed) or keep (left as is)."),
]
UnseenLater = Annotated[
    str | None, typer.Option("--unseen", help="As in fit; what fit was told if not given.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same result.")]
CheckpointOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Save each pass there, and go on from there.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that the run may take, such as 2GB. A text file that is too long for it is "
        "learnt from some of its rows. Where draws, a report or another format are asked for, it "
        f"bounds draws alone: {DEFAULT_MEMORY_LIMIT} if not given.",
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Threads = Annotated[int | None, typer.Option(help="Threads to use.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", metavar="", help="Say nothing unless something is wrong."),
]
