"""What a model is learnt by: the same groups as the estimator's parameters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from diffjoint.cli.options.panels import KNOWLEDGE, MEANINGFUL, METHOD, OUTPUT, repeated
from diffjoint.settings import DEFAULT_DETECTOR, DEFAULT_PRESET, DETECTOR_NAMES, PRESETS

MMColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--mm-columns",
        "-m",
        metavar="A,B",
        help="Columns in which a missing cell may be meaningful, '' for none. If not given, or "
        "auto, they are found ('auto,' names a column called auto).",
        rich_help_panel=MEANINGFUL,
    ),
]
LossRateOption = Annotated[
    list[str] | None,
    repeated(
        "--loss-rate",
        "RATE|A=RATE,B=RATE",
        "Share of cells lost where there was something to record, in all searched columns or by "
        "column, such as 0.1 or income=0.2,age=0.1; estimated if not given",
        MEANINGFUL,
    ),
]
FoundRules = Annotated[
    bool,
    typer.Option(
        "--found-rules",
        metavar="",
        help="Keep to the rules that the table follows, as diffjoint rules finds them.",
        rich_help_panel=MEANINGFUL,
    ),
]
RuleFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Such rules in a TOML file, as diffjoint rules --out writes it, or in the column "
        "'universe' of a codebook (CSV).",
        rich_help_panel=KNOWLEDGE,
    ),
]
Rules = Annotated[
    list[str] | None,
    repeated(
        "--rule",
        "COLUMN: CONDITION",
        "When a column has something to record, such as 'spouse_age: married == \"yes\"'",
        KNOWLEDGE,
    ),
]
Codes = Annotated[
    list[str] | None,
    repeated(
        "--code",
        "[COLUMN:] CODE=REASON",
        "A code that stands in missing cells and what it says of them, meaningful, lost or no more "
        "than missing, such as 'income: refused=lost'; without a column it holds for all of them",
        KNOWLEDGE,
    ),
]
Kinds = Annotated[
    list[str] | None,
    repeated(
        "--kind",
        "COLUMN=KIND",
        "Correct a column's kind: continuous, integer, categorical, checkbox, datetime or "
        "pass-through",
        KNOWLEDGE,
    ),
]
CheckboxesOption = Annotated[
    str,
    typer.Option(
        "--checkboxes",
        help="Columns that hold one value or nothing: keep (a missing cell is a box not ticked, "
        "and stays missing) or fill.",
        rich_help_panel=KNOWLEDGE,
    ),
]
MMOutputOption = Annotated[
    str,
    typer.Option(
        "--mm-output",
        help="Meaningful cells become: na, category or indicator.",
        rich_help_panel=OUTPUT,
    ),
]
MMFill = Annotated[
    list[str] | None,
    repeated(
        "--mm-fill",
        "COLUMN=VALUE",
        "What meaningful cells of a column get instead of NA, such as pack_years=0",
        OUTPUT,
    ),
]
MMLabel = Annotated[
    list[str] | None,
    repeated(
        "--mm-label",
        "[COLUMN=]TEXT",
        "What a meaningful cell means, in all columns or in one, such as 'deck=never recorded': "
        "said in the report, and the level of --mm-output category",
        OUTPUT,
    ),
]
Bounds = Annotated[
    list[str] | None,
    repeated(
        "--bounds",
        "COLUMN=LOW:HIGH",
        "Lowest and highest value to fill in, such as age=0:120; either may be left out",
        OUTPUT,
    ),
]
Preset = Annotated[
    str, typer.Option(help=f"How much effort: {', '.join(PRESETS)}.", rich_help_panel=METHOD)
]
DetectorOption = Annotated[
    str,
    typer.Option(
        "--detector",
        help=f"How meaningful cells are told from lost ones: {', '.join(DETECTOR_NAMES)}.",
        rich_help_panel=METHOD,
    ),
]
Set = Annotated[
    list[str] | None,
    repeated("--set", "NAME=VALUE", "Set one number of the method, such as max_epochs=100", METHOD),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Save each pass of sampler=inpaint to this folder, and resume from it.",
        rich_help_panel=METHOD,
    ),
]


@dataclass(frozen=True)
class Searched:
    """Which columns are searched, and how often cells get lost."""

    mm_columns: MMColumns = None
    loss_rate: LossRateOption = None
    found_rules: FoundRules = False


@dataclass(frozen=True)
class Known:
    """What is known of the table."""

    rules: Rules = None
    rule_file: RuleFile = None
    codes: Codes = None
    kinds: Kinds = None
    checkboxes: CheckboxesOption = "keep"


@dataclass(frozen=True)
class Filled:
    """What comes out in place of a missing cell."""

    mm_output: MMOutputOption = "na"
    mm_label: MMLabel = None
    mm_fill: MMFill = None
    bounds: Bounds = None


@dataclass(frozen=True)
class Method:
    """How cells are told apart and filled."""

    preset: Preset = DEFAULT_PRESET
    detector: DetectorOption = DEFAULT_DETECTOR
    settings: Set = None
    checkpoint: CheckpointOption = None
