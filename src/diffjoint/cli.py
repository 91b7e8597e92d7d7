"""The command line: arguments and files; the work is done elsewhere."""

import difflib
import functools
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Annotated, Any, NoReturn, ParamSpec

# Before torch is loaded: threads that wait must not spin, or a busy neighbour slows them tenfold.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import narwhals as nw
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typer.core import TyperGroup

from diffjoint import __version__
from diffjoint.config import (
    DEFAULT_MEMORY_LIMIT,
    DEFAULT_PRESET,
    PRESETS,
    check_choice,
    parse_bytes,
    settings_for,
    settings_types,
)
from diffjoint.decisions import read_decisions
from diffjoint.demo import run_demo
from diffjoint.detect import DEFAULT_DETECTOR, DETECTORS
from diffjoint.errors import DiffJointError, InputError
from diffjoint.files import (
    NA_VALUES,
    STANDARD_STREAM,
    TableFile,
    check_ending,
    is_text,
    read_file,
    text_writer,
    write_file,
)
from diffjoint.imputer import (
    Imputation,
    SelectiveImputer,
    impute_blocks,
    learn_only,
    load,
    understand,
)
from diffjoint.inspection import MOST_ROWS, inspect
from diffjoint.inspection_view import next_commands, show_inspection
from diffjoint.memory import check_room, rows_within
from diffjoint.metrics import lost_accuracy, lost_errors, mm_scores_by_column, token_accuracy
from diffjoint.persist import check_writable
from diffjoint.progress import ProgressBar, Silence
from diffjoint.search import AUTO
from diffjoint.self_check import SelfCheck
from diffjoint.simulate import MECHANISM_NAMES, WORLDS, World, make_world
from diffjoint.table import Schema, open_table, read_reasons, searched_by_codes
from diffjoint.trees import MOST_AT_ONCE
from diffjoint.world_files import (
    check_new,
    na_values_of,
    observed_changed,
    read_calls,
    read_completed,
    read_probabilities,
    read_world,
    save_world,
)

P = ParamSpec("P")

TABLE_FORMATS = ("csv", "tsv", "parquet", "feather")
BARE = r"(?<![\w'\"`.=-])"
"""Not within a word or quotes: a column may be called like a parameter."""


def _kinds(said: re.Match[str]) -> str:
    """Kinds of columns, each by an option of its own."""
    pairs = re.findall(r"'([^']*)': '([^']*)'", said[1])
    options = " ".join(f"--kind '{name}={kind}'" for name, kind in pairs)
    return f"{options} and so on" if said[2] else options


BY_OPTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (BARE + r"column_kinds=\{((?:'[^']*': '[^']*'(?:, )?)+)(\.\.\.)?\}", _kinds),
    (BARE + r"reason_codes=\{'([^':]*)': \{'([^']*)': '(\w+)'\}\}", r"--code '\1: \2=\3'"),
    (BARE + r"reason_codes=\{'([^']*)': \{'([^']*)': '(\w+)'\}\}", r"--code '`\1`: \2=\3'"),
    (BARE + r"(mm_columns|detector|preset|unseen|mm_output|checkboxes)='(\w+)'", r"--\1 \2"),
    (BARE + r"(sampler)='(\w+)'", r"--set \1=\2"),
    (BARE + r"column_kinds\b", "--kind"),
    (BARE + r"reason_codes\b", "--code"),
    (BARE + r"(loss_rate|mm_columns|memory_limit|mm_output|mm_fill)\b", r"--\1"),
    (BARE + r"bounds(?=\[| names)", r"--bounds"),
    (BARE + r"checkboxes(?= must)", "--checkboxes"),
    (BARE + r"n_threads\b", "--threads"),
    (r"(?<=--)(\w+)_(\w+)", r"\1-\2"),
    (r"\bPass names from X\.columns\.", "Take names from its header."),
    (r"\b(of|in) X\b", r"\1 the table"),
    (r"\bX (must|has)\b", r"The table \1"),
)
"""What the library calls a thing, and what the command line does; read in this order."""
COUNTED = ("n_observed", "n_kept", "n_imputed", "n_left", "n_review", "n_unticked")
"""Numbers of cells that an imputation tells."""
RUN_FAILED = 1
WRONG_USE = 2


class _Commands(TyperGroup):
    """The commands; a file, or a part of another command, in their place gets a word on it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            _fail(_not_a_command(name, list(self.commands)), WRONG_USE)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="diffjoint",
    cls=_Commands,
    help=(
        "Selective imputation: fill the cells that were lost, keep those that are missing for a "
        "reason."
    ),
    epilog=(
        "Start with: [bold]diffjoint inspect survey.csv[/bold]\n\n"
        "It says what to run next, such as: [bold]diffjoint impute survey.csv completed.csv "
        "--mm-columns spouse_age,commute --report report.html[/bold]"
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
console = Console(stderr=True)


def _repeated(option: str, metavar: str, about: str) -> Any:
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
Preset = Annotated[str, typer.Option(help=f"How much effort: {', '.join(PRESETS)}.")]
DetectorOption = Annotated[
    str, typer.Option("--detector", help=f"How to tell them apart: {', '.join(DETECTORS)}.")
]
LossRateOption = Annotated[
    list[str] | None,
    _repeated(
        "--loss-rate",
        "RATE|A=RATE,B=RATE",
        "Share of cells lost where there was something to record, in all searched columns or by "
        "column, such as 0.1 or income=0.2,age=0.1; estimated if not given",
    ),
]
Rules = Annotated[
    list[str] | None,
    _repeated(
        "--rule",
        "COLUMN: CONDITION",
        "When a column has something to record, such as 'spouse_age: married == \"yes\"'",
    ),
]
Codes = Annotated[
    list[str] | None,
    _repeated(
        "--code",
        "[COLUMN:] CODE=REASON",
        "What stands in an empty cell and why it is empty, meaningful or lost, such as "
        "'income: refused=lost'; without a column, in all of them",
    ),
]
MMFill = Annotated[
    list[str] | None,
    _repeated(
        "--mm-fill",
        "COLUMN=VALUE",
        "What meaningful cells of a column get instead of NA, such as pack_years=0",
    ),
]
Bounds = Annotated[
    list[str] | None,
    _repeated(
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
    _repeated("--set", "NAME=VALUE", "Set one number of the method, such as max_epochs=100"),
]
Kinds = Annotated[
    list[str] | None,
    _repeated(
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


def _not_a_command(name: str, commands: list[str]) -> str:
    """What was meant, as far as that can be told."""
    if Path(name).suffix or Path(name).exists():
        return f"A command comes before the file. Start with: diffjoint inspect {shlex.quote(name)}"
    if name in ("report", "review", "self-check"):
        return (
            f"The {name} is an option of impute: diffjoint impute survey.csv completed.csv -m auto "
            f"--{name}{' FILE' if name != 'self-check' else ''}"
        )
    near = difflib.get_close_matches(name, commands, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"No such command {name!r}.{meant} There are {', '.join(commands)}."


def _explaining_errors(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors are told in a sentence and an exit code."""

    @functools.wraps(command)
    def explained(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            _fail(_by_options(str(error)), WRONG_USE)
        except DiffJointError as error:
            _fail(_by_options(str(error)), RUN_FAILED)
        except KeyboardInterrupt as error:
            _fail(str(error) or "Interrupted; no file was left half written.", RUN_FAILED)

    return explained


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"diffjoint {__version__}")
        raise typer.Exit


@app.command(
    "inspect",
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint inspect survey.csv[/bold]\n\n"
        "[bold]diffjoint inspect survey.csv --na-values '?,-99' --json[/bold]"
    ),
)
@_explaining_errors
def inspect_file(
    source: In,
    kinds: Kinds = None,
    checkboxes: CheckboxesOption = "keep",
    na_values: NaValues = None,
    encoding: Encoding = "utf-8",
    rows: Annotated[
        int | None,
        typer.Option(
            min=100,
            help=f"Rows that the evidence is taken from, at most; {MOST_ROWS:,} if not given, and "
            "fewer in wide tables.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Look at a table first: what is missing, what it may mean, and what to run next."""
    file = _read(source, na_values, encoding)
    chosen = dict(_pair("--kind", text) for text in kinds or [])
    carried = dict.fromkeys(file.carried, "pass-through")
    with nullcontext(Silence()) if quiet or as_json else ProgressBar(console) as progress:
        found = inspect(
            file.table,
            {**carried, **chosen},
            checkboxes=checkboxes,  # type: ignore[arg-type]
            most_rows=rows,
            progress=progress,
        )
    given = [part for text in kinds or [] for part in ("--kind", text)]
    given += ["--checkboxes", checkboxes] if checkboxes != "keep" else []
    given += ["--encoding", encoding] if encoding != "utf-8" else []
    tokens = NA_VALUES if na_values is None else tuple(na_values.split(","))
    commands = next_commands(found, file, source, given, tokens)
    if as_json:
        following = [{"why": why, "command": command} for why, command in commands]
        typer.echo(json.dumps({**found.to_dict(), "next": following}, indent=2))
        return
    screen = Console()
    show_inspection(found, screen, _by_options)
    for why, command in commands:
        screen.print(f"\n{why}:", style="bold", markup=False, highlight=False)
        screen.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint impute survey.csv completed.csv -m spouse_age,commute[/bold]\n\n"
        "[bold]diffjoint impute survey.csv completed.csv -m auto --report report.html[/bold]\n\n"
        "[bold]diffjoint impute lab.parquet out.parquet -m tsh --proba-out p.csv[/bold]\n\n"
        "[bold]cat s.csv | diffjoint impute - - -m spouse_age > out.csv[/bold]"
    )
)
@_explaining_errors
def impute(
    source: In,
    out: Out,
    mm_columns: MMColumns = None,
    mask_out: MaskOut = None,
    proba_out: ProbaOut = None,
    uncertainty_out: UncertaintyOut = None,
    review: ReviewOut = None,
    report: ReportOut = None,
    decisions: DecisionsIn = None,
    model_out: ModelOut = None,
    preset: Preset = DEFAULT_PRESET,
    detector: DetectorOption = DEFAULT_DETECTOR,
    loss_rate: LossRateOption = None,
    rules: Rules = None,
    codes: Codes = None,
    settings: Set = None,
    kinds: Kinds = None,
    checkboxes: CheckboxesOption = "keep",
    na_values: NaValues = None,
    encoding: Encoding = "utf-8",
    mm_output: MMOutputOption = "na",
    mm_fill: MMFill = None,
    bounds: Bounds = None,
    self_check: SelfCheckOption = False,
    seed: Seed = 0,
    checkpoint: CheckpointOption = None,
    memory_limit: MemoryLimit = None,
    device: Device = "auto",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Learn a table and complete it in one go, with a report if asked for."""
    if self_check:
        _check_checkable(preset, detector, settings)
    _check_outputs(out, mask_out, proba_out, uncertainty_out, review, model_out, report=report)
    file = _read(source, na_values, encoding, reason_codes=_reason_codes(codes))
    sides = (mask_out, proba_out, uncertainty_out)
    in_blocks = (
        _goes_in_blocks(file, out, *sides)
        and not any((review, report, decisions, model_out, self_check))
        and _needs_no_draws(preset, detector, settings)
    )
    _bound(file, memory_limit, threads, seed, quiet, in_blocks=in_blocks)
    known = _decided(decisions, file)
    imputer = _fitted(
        file,
        known,
        quiet,
        mm_columns,
        rules,
        codes,
        settings,
        kinds,
        loss_rate,
        in_blocks=in_blocks,
        preset=preset,
        detector=detector,
        checkboxes=checkboxes,
        mm_output=mm_output,
        mm_fill=_mm_fill(file, mm_fill),
        bounds=_bounds(bounds),
        random_state=seed,
        checkpoint=checkpoint,
        memory_limit=memory_limit or DEFAULT_MEMORY_LIMIT,
        device=device,
        n_threads=threads,
    )
    if in_blocks:
        _write_blocks(imputer, file, out, *sides, quiet)
        return
    result = imputer.impute(file.table, **known)
    if model_out is not None:
        imputer.save(model_out)
    _write_review(imputer, result, file, review, known)
    _write_results(result, file, out, *sides, review, quiet)
    check = _self_check(imputer, file, known, quiet and report is not None) if self_check else None
    _write_report(imputer, source, file, report, result, check, known, quiet)


@app.command(epilog="Example: [bold]diffjoint fit survey.csv survey.diffjoint -m spouse_age[/bold]")
@_explaining_errors
def fit(
    source: In,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Where to save the fitted model.")],
    mm_columns: MMColumns = None,
    decisions: DecisionsIn = None,
    preset: Preset = DEFAULT_PRESET,
    detector: DetectorOption = DEFAULT_DETECTOR,
    loss_rate: LossRateOption = None,
    rules: Rules = None,
    codes: Codes = None,
    settings: Set = None,
    kinds: Kinds = None,
    checkboxes: CheckboxesOption = "keep",
    na_values: NaValues = None,
    encoding: Encoding = "utf-8",
    mm_output: MMOutputOption = "na",
    mm_fill: MMFill = None,
    bounds: Bounds = None,
    unseen: Unseen = "error",
    seed: Seed = 0,
    checkpoint: CheckpointOption = None,
    memory_limit: MemoryLimit = None,
    device: Device = "auto",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Learn a table and save the model, to complete other tables later."""
    check_writable(model)
    file = _read(source, na_values, encoding, reason_codes=_reason_codes(codes))
    known = _decided(decisions, file)
    imputer = _fitted(
        file,
        known,
        quiet,
        mm_columns,
        rules,
        codes,
        settings,
        kinds,
        loss_rate,
        preset=preset,
        detector=detector,
        checkboxes=checkboxes,
        mm_output=mm_output,
        mm_fill=_mm_fill(file, mm_fill),
        bounds=_bounds(bounds),
        unseen=unseen,
        random_state=seed,
        checkpoint=checkpoint,
        memory_limit=memory_limit or DEFAULT_MEMORY_LIMIT,
        device=device,
        n_threads=threads,
    )
    imputer.save(model)
    _say(f"Saved the model to {model}.", quiet)


@app.command(
    epilog="Example: [bold]diffjoint transform survey.diffjoint new.csv completed.csv[/bold]"
)
@_explaining_errors
def transform(
    model: ModelPath,
    source: In,
    out: Out,
    mask_out: MaskOut = None,
    proba_out: ProbaOut = None,
    uncertainty_out: UncertaintyOut = None,
    review: ReviewOut = None,
    report: ReportOut = None,
    decisions: DecisionsIn = None,
    self_check: SelfCheckOption = False,
    na_values: NaValues = None,
    encoding: Encoding = "utf-8",
    unseen: UnseenLater = None,
    memory_limit: MemoryLimit = None,
    device: Device = "auto",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Complete a table with a model that fit saved."""
    _check_outputs(out, mask_out, proba_out, uncertainty_out, review, None, report=report)
    imputer = load(model, device=device)
    if self_check and not imputer.settings_.is_amortised:
        raise InputError(
            f"--self-check is for values that need no draws; {model} was fitted with "
            "sampler=inpaint, which draws them. Leave --self-check out."
        )
    limit = memory_limit or DEFAULT_MEMORY_LIMIT
    imputer.set_params(memory_limit=limit, n_threads=threads, verbose=not quiet)
    if unseen is not None:
        imputer.set_params(unseen=unseen)
    file = _read(source, na_values, encoding, imputer.schema_, imputer.reason_codes)
    for doubt in imputer.doubts_:
        _say(f"Doubt that fit had: {_by_options(doubt)}", quiet)
    sides = (mask_out, proba_out, uncertainty_out)
    asks_for_all = any((review, report, decisions, self_check, imputer.rules))
    is_by_row = imputer.settings_.is_amortised and imputer.detector == DEFAULT_DETECTOR
    if is_by_row and not asks_for_all and _goes_in_blocks(file, out, *sides):
        if file.text is not None and memory_limit is not None:
            check_room(parse_bytes(memory_limit), file.text.n_rows)
        _write_blocks(imputer, file, out, *sides, quiet)
        return
    known = _decided(decisions, file)
    result = imputer.impute(file.table, **known)
    _write_review(imputer, result, file, review, known)
    _write_results(result, file, out, *sides, review, quiet)
    check = _self_check(imputer, file, known, quiet and report is not None) if self_check else None
    _write_report(imputer, source, file, report, result, check, known, quiet)


@app.command()
@_explaining_errors
def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Which survey to draw.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Complete a small built-in survey and show what happened."""
    run_demo(folder, seed=seed, verbose=not quiet)


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint simulate --list[/bold]\n\n"
        "[bold]diffjoint simulate bayesian-network --rows 20000 --mechanism mar --ratio 20 "
        "--out world[/bold]"
    )
)
@_explaining_errors
def simulate(
    name: Annotated[
        str | None, typer.Argument(metavar="WORLD", help="Which world; --list shows them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write the files.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows to draw; real tables have their own.")
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help=f"How cells get lost: {', '.join(MECHANISM_NAMES)} or none.  [default: mcar]"
        ),
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(help="Percent of the cells to lose.  [default: 10]")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same world.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the real tables, instead of $DIFFJOINT_DATA."),
    ] = None,
    ending: Annotated[str, typer.Option("--format", help="csv, tsv, parquet or feather.")] = "csv",
    list_worlds: Annotated[
        bool, typer.Option("--list", metavar="", help="Show all worlds.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Make a table whose truth is known: what was observed, what is true, which cells are what."""
    if list_worlds:
        _show_worlds()
        return
    if name is None or out is None:
        raise InputError(
            "A world and --out are needed: diffjoint simulate bayesian-network --out DIR. "
            "--list shows the worlds."
        )
    check_choice("--format", ending, TABLE_FORMATS)
    check_new(out)
    world = _world_asked_for(name, rows, mechanism, ratio, seed, data)
    paths = save_world(world, out, f".{ending}")
    n_rows, n_columns = world.truth.shape
    _say(
        f"{n_rows:,} rows, {n_columns} columns; {_share(world.meaningful)} of the cells are "
        f"meaningful, {_share(world.lost & ~world.meaningful)} lost.\n"
        f"Wrote {', '.join(path.name for path in paths)} to {out}.",
        quiet,
    )
    _say(_next_command(world, out, ending), quiet)


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint score world completed.csv[/bold]\n\n"
        "[bold]diffjoint score world completed_test.csv --split test --proba p.csv --json[/bold]"
    )
)
@_explaining_errors
def score(
    folder: Annotated[Path, typer.Argument(metavar="WORLD", help="Folder that simulate wrote.")],
    completed: Annotated[
        str,
        typer.Argument(
            metavar="COMPLETED", help="The completed table, by diffjoint or any other tool."
        ),
    ],
    split: Annotated[
        str, typer.Option(help="Which rows the table has: all, train or test.")
    ] = "all",
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Which cells are called meaningful, if not those left empty."
        ),
    ] = None,
    proba: Annotated[
        str | None, typer.Option(metavar="FILE", help="How likely each cell is meaningful.")
    ] = None,
    na_values: NaValues = None,
    encoding: Encoding = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """Judge a completed table against a world's truth."""
    check_choice("--split", split, ("all", "train", "test"))
    world = read_world(folder)
    world = world if split == "all" else getattr(world, split)
    tokens = None if na_values is None else na_values.split(",")
    table = read_completed(world, completed, tokens, encoding)
    changed = observed_changed(world, table)
    calls = table.isna() if mask is None else read_calls(world, mask)
    table = table.mask(calls)
    likely = None if proba is None else read_probabilities(world, proba)
    by_column = mm_scores_by_column(world, calls, likely)
    measures = {
        "token_accuracy": token_accuracy(world, table),
        "lost_accuracy": lost_accuracy(world, table),
        **lost_errors(world, table),
        "observed_cells_changed": int(changed.sum()),
    }
    if changed.any():
        listed = ", ".join(f"{name} ({n:,})" for name, n in changed[changed > 0].items())
        _say(f"Observed cells that are not as they were: {listed}.", quiet=False)
    if as_json:
        scores = {"world": world.name, "meaningful": by_column.to_dict("index"), **measures}
        typer.echo(json.dumps(_without_nan(scores), indent=2))
    else:
        _show_scores(by_column, measures)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line. Exit code 0: done; 1: the run failed; 2: wrong use."""
    warnings.showwarning = _told_once()
    app(arguments)
    sys.exit(0)


def _read(
    source: str,
    na_values: str | None,
    encoding: str,
    schema: Schema | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
) -> TableFile:
    tokens = NA_VALUES if na_values is None else na_values.split(",")
    return read_file(source, tokens, encoding, schema, reason_codes)


def _fitted(
    file: TableFile,
    known: dict[str, Any],
    quiet: bool,
    mm_columns: list[str] | None,
    rules: list[str] | None,
    codes: list[str] | None,
    settings: list[str] | None,
    kinds: list[str] | None,
    loss_rate: list[str] | None,
    *,
    in_blocks: bool = False,
    **params: Any,
) -> SelectiveImputer:
    """An imputer that has learnt a file; what it made of the columns is shown.

    Parameters
    ----------
    in_blocks : bool
        Whether the file will be completed in blocks, so that its table need not be held.
    """
    if mm_columns is None and (rules or codes):
        mm_columns = []
    imputer = SelectiveImputer(
        _columns_meant(file, mm_columns),
        rules=_rules(rules),
        reason_codes=_with_codes_of(file, _reason_codes(codes)),
        loss_rate=_loss_rate(file, loss_rate),
        verbose=not quiet,
        column_kinds={
            **dict.fromkeys(file.carried, "pass-through"),
            **file.kinds,
            **dict(_pair("--kind", text) for text in kinds or []),
        },
        **dict(_setting(text) for text in settings or []),
        **params,
    )
    _show_schema(imputer, file, known, quiet)
    _show_codes(file, quiet)
    if in_blocks:
        learn_only(imputer, file.take)
    else:
        imputer.fit(file.table, **known)
    _show_evidence(imputer, quiet)
    return imputer


def _columns_meant(file: TableFile, mm_columns: list[str] | None) -> list[str] | str:
    """Names given one by one or with commas; a name may itself have a comma."""
    table = open_table(file.table)
    if mm_columns == [AUTO]:
        return AUTO
    if mm_columns is None:
        rates = {name: table.missing(i).mean() for i, name in enumerate(table.names)}
        listed = ", ".join(f"{name} ({rate:.0%})" for name, rate in rates.items() if rate > 0)
        raise InputError(
            "--mm-columns is needed: name the columns in which an empty cell may be meaningful, "
            "or pass auto to have them found, or '' for none. Columns with empty cells: "
            f"{listed or 'none'}."
        )
    found = [[text] if text in table.names else text.split(",") for text in mm_columns]
    names = [name if name in table.names else name.strip() for part in found for name in part]
    if AUTO in names and AUTO not in table.names:
        raise InputError(
            f"--mm-columns auto stands alone, and has all columns searched; got "
            f"{', '.join(mm_columns)}, and no column is called auto. Pass auto by itself, or name "
            "the columns."
        )
    return [name for name in names if name]


def _loss_rate(file: TableFile, texts: list[str] | None) -> float | dict[str, float] | None:
    """One rate for all searched columns, or rates by column; a name may itself have a comma."""
    if not texts:
        return None
    names = open_table(file.table).names
    parts = [
        part
        for text in texts
        for part in ([text] if text.rpartition("=")[0] in names else text.split(","))
    ]
    if len(parts) == 1 and "=" not in parts[0]:
        return _rate(parts[0])
    if not all("=" in part for part in parts):
        raise InputError(
            "--loss-rate takes one rate for all searched columns, or a rate for each column that "
            f"is named, such as income=0.2,age=0.1; got {', '.join(texts)}."
        )
    pairs = (_pair("--loss-rate", part) for part in parts)
    return {name if name in names else name.strip(): _rate(value) for name, value in pairs}


def _rate(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"--loss-rate takes a rate such as 0.1, or a column and its rate such as income=0.1; "
            f"got {text!r}."
        ) from error


def _rules(rules: list[str] | None) -> dict[str, str] | None:
    read: dict[str, str] = {}
    for text in rules or []:
        column, rule = _about_column(text)
        if not column:
            raise InputError(
                "--rule takes a column, a colon and its condition, such as 'spouse_age: married "
                f'== "yes"\'; got {text!r}.'
            )
        if column in read:
            raise InputError(
                f"--rule is given twice for {column!r}. Join the two by and, or by or."
            )
        read[column] = rule
    return read or None


def _reason_codes(codes: list[str] | None) -> dict[str, Any] | None:
    """Codes by column; those without a column, which hold in all, beside them."""
    read: dict[str, Any] = {}
    for text in codes or []:
        column, pair = _about_column(text)
        code, reason = _pair("--code", pair)
        check_choice(f"The reason in --code {text!r}", reason.strip(), ("meaningful", "lost"))
        place = read.setdefault(column, {}) if column else read
        place[code.strip()] = reason.strip()
    return read or None


def _with_codes_of(file: TableFile, given: dict[str, Any] | None) -> dict[str, Any] | None:
    """The codes given, and those whose reason the file itself tells."""
    merged: dict[str, Any] = {**(given or {})}
    for name, codes in file.reason_codes.items():
        merged[name] = {**codes, **merged.get(name, {})}
    return merged or None


def _mm_fill(file: TableFile, texts: list[str] | None) -> dict[str, Any] | None:
    """Constants by column: numbers and truth values where the column holds those."""
    table, read = open_table(file.table), {}
    for name, value in (_pair("--mm-fill", text) for text in texts or []):
        dtype = table.column(table.require(name, "mm_fill")).dtype
        read[name] = _parsed(value) if dtype.is_numeric() or dtype == nw.Boolean else value
    return read or None


def _bounds(texts: list[str] | None) -> dict[str, tuple[Any, Any]] | None:
    """Limits by column; an empty side is open."""
    read = {}
    for text in texts or []:
        name, limits = _pair("--bounds", text)
        low, colon, high = limits.partition(":")
        if not colon:
            raise InputError(
                f"--bounds takes a column and its limits, such as age=0:120, age=0: or age=:120; "
                f"got {text!r}."
            )
        sides = [_parsed(side.strip()) if side.strip() else None for side in (low, high)]
        read[name] = (sides[0], sides[1])
    return read or None


def _about_column(text: str) -> tuple[str, str]:
    """What stands before and after the first colon; a name with a colon is in backticks."""
    quoted = re.fullmatch(r"\s*`([^`]*)`\s*:(.*)", text, re.DOTALL)
    column, colon, rest = (quoted[1], ":", quoted[2]) if quoted else text.partition(":")
    return (column.strip(), rest.strip()) if colon else ("", text.strip())


def _setting(text: str) -> tuple[str, Any]:
    name, value = _pair("--set", text)
    kinds = settings_types()
    if name not in kinds:
        raise InputError(f"--set names {name!r}; there is {', '.join(kinds)}.")
    return name, _parsed(value)


def _parsed(text: str) -> Any:
    words: dict[str, bool] = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    readers: tuple[Callable[[str], Any], ...] = (int, float)
    for reader in readers:
        try:
            return reader(text)
        except ValueError:
            continue
    return text


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{option} takes NAME=VALUE; got {text!r}.")
    return name, value


def _check_outputs(*paths: str | Path | None, report: Path | None) -> None:
    """Find out now, not after the work, what cannot be written."""
    *tables, model = paths
    named = [str(path) for path in (*paths, report) if path is not None]
    twice = sorted({path for path in named if named.count(path) > 1})
    if twice:
        raise InputError(f"Two outputs are to be written to {twice[0]}. Name a file for each.")
    for path in tables:
        if path is not None and path != STANDARD_STREAM:
            check_ending(str(path), to_write=True)
            check_writable(path)
    for path in (model, report):
        if path is not None:
            check_writable(path)


def _decided(decisions: str | None, file: TableFile) -> dict[str, Any]:
    """What a list of decisions makes known of a table; nothing without one."""
    return {} if decisions is None else read_decisions(decisions, file.table)


def _bound(
    file: TableFile,
    memory_limit: str | None,
    threads: int | None,
    seed: int,
    quiet: bool,
    *,
    in_blocks: bool,
) -> None:
    """Hold no more rows of a file to learn from than a limit leaves room for, if one is given."""
    if memory_limit is None or file.text is None or not in_blocks:
        return
    n_rows, n_columns = file.text.n_rows, len(file.text.source.names)
    n_threads = threads or int(os.environ.get("OMP_NUM_THREADS", "0")) or os.cpu_count() or 1
    n_learnt = rows_within(
        parse_bytes(memory_limit), n_rows, n_columns, min(n_threads, MOST_AT_ONCE)
    )
    if n_learnt < n_rows:
        _say(
            f"--memory-limit {memory_limit} has room to learn from {n_learnt:,} of the {n_rows:,} "
            "rows; all of them are completed.",
            quiet,
        )
        file.hold_some(n_learnt, seed)


def _goes_in_blocks(file: TableFile, *outputs: str | None) -> bool:
    """Whether a file can be completed, and its outputs written, some rows at a time."""
    return file.text is not None and all(is_text(path) for path in outputs if path is not None)


def _write_blocks(
    imputer: SelectiveImputer,
    file: TableFile,
    out: str,
    mask_out: str | None,
    proba_out: str | None,
    uncertainty_out: str | None,
    quiet: bool,
) -> None:
    """Complete a text file and write what was asked for, some rows at a time."""
    if file.text is None:
        raise TypeError("blocks are read from text files")
    text, counts = file.text, Counter[str]()
    sides = {"meaningful": mask_out, "probability": proba_out, "uncertainty": uncertainty_out}
    with ExitStack() as files:
        writer = files.enter_context(text_writer(out, file))
        beside = {
            part: files.enter_context(text_writer(path))
            for part, path in sides.items()
            if path is not None
        }
        results = impute_blocks(imputer, lambda: (block.table for block in text.blocks()))
        for block, result in zip(text.blocks(), results, strict=True):
            writer.write(result.table, block)
            for part, other in beside.items():
                other.write(getattr(result, part))
            counts.update({name: getattr(result, name) for name in COUNTED})
    _say_counts(counts, out, None, quiet)


def _write_results(
    result: Imputation,
    file: TableFile,
    out: str,
    mask_out: str | None,
    proba_out: str | None,
    uncertainty_out: str | None,
    review: str | None,
    quiet: bool,
) -> None:
    write_file(out, result.table, file)
    sides = [
        (mask_out, result.meaningful),
        (proba_out, result.probability),
        (uncertainty_out, result.uncertainty),
    ]
    for path, table in sides:
        if path is not None:
            write_file(path, table)
    _say_counts({name: getattr(result, name) for name in COUNTED}, out, review, quiet)


def _say_counts(counts: Mapping[str, int], out: str, review: str | None, quiet: bool) -> None:
    """How many cells became what, and where they were written."""
    n_unticked, n_left, n_review = (counts[name] for name in ("n_unticked", "n_left", "n_review"))
    boxes = f" ({n_unticked:,} of these not ticked)" if n_unticked else ""
    left = f", {n_left:,} left in columns carried along" if n_left else ""
    where = "--review FILE lists them" if review is None else f"see {review}"
    doubtful = f" {n_review:,} of these are doubtful: {where}." if n_review else ""
    _say(
        f"{counts['n_observed']:,} cells observed, {counts['n_kept']:,} kept as NA{boxes}, "
        f"{counts['n_imputed']:,} imputed{left}.{doubtful} Wrote {out}.",
        quiet,
    )


def _write_report(
    imputer: SelectiveImputer,
    source: str,
    file: TableFile,
    path: Path | None,
    result: Imputation,
    check: SelfCheck | None,
    known: Mapping[str, Any],
    quiet: bool,
) -> None:
    """The report, from what was inferred and checked already."""
    if path is None:
        return
    title = "Standard input" if source == STANDARD_STREAM else Path(source).name
    checked = False if check is None else check
    imputer.report(file.table, result, title=title, self_check=checked, **known).save(path)
    _say(f"Wrote the report to {path}: open it in a browser.", quiet)


def _needs_no_draws(preset: str, detector: str, settings: list[str] | None) -> bool:
    """Whether values and calls are told of each row by itself, without draws."""
    chosen = settings_for(preset, **dict(_setting(text) for text in settings or []))
    return detector == DEFAULT_DETECTOR and chosen.is_amortised


def _check_checkable(preset: str, detector: str, settings: list[str] | None) -> None:
    """Find out now, not after the work, that there are no values to check."""
    if not _needs_no_draws(preset, detector, settings):
        raise InputError(
            "--self-check is for values that need no draws. --detector paper, --preset paper and "
            "--set sampler=inpaint draw them: leave out one or the other."
        )


def _self_check(
    imputer: SelectiveImputer, file: TableFile, known: Mapping[str, Any], quiet: bool
) -> SelfCheck:
    """What to trust, said here and, if there is one, in the report."""
    check = imputer.self_check(file.table, **known)
    warning = f"Warning: {_by_options(check.alarm)}" if check.alarm else ""
    _say(f"{warning}{str(check).removeprefix(check.alarm)}", quiet)
    _say(warning, not quiet or not warning)  # a report that nobody has opened warns of nothing
    return check


def _write_review(
    imputer: SelectiveImputer,
    result: Imputation,
    file: TableFile,
    path: str | None,
    known: Mapping[str, Any],
) -> None:
    """The cells to review; the index of a frame read from a file says no more than the row."""
    if path is None:
        return
    table = imputer.review(file.table, result, **known)
    write_file(path, table.drop(columns="index") if isinstance(table, pd.DataFrame) else table)


def _show_schema(
    imputer: SelectiveImputer, file: TableFile, known: Mapping[str, Any], quiet: bool
) -> None:
    """The columns as understood, before the work: a wrong kind is cheap to correct now."""
    if quiet:
        return
    table, schema = understand(imputer, open_table(file.table), **known)
    _, labels = read_reasons(open_table(file.table), imputer.reason_codes)
    by_code = searched_by_codes(table, imputer.reason_codes, labels)
    searched = {
        *([] if imputer.mm_columns == AUTO else imputer.mm_columns or []),
        *(imputer.rules or {}),
        *(table.names[i] for i in by_code if not schema.columns[i].is_checkbox),
    }
    shown = RichTable("column", "kind", "values", "empty", "searched", box=None, pad_edge=False)
    for i, (name, kind, values) in enumerate(schema.rows()):
        empty = f"{table.missing(i).mean():.0%}"
        shown.add_row(Text(name), kind, Text(values), empty, "yes" if name in searched else "")
    console.print(shown)


def _show_codes(file: TableFile, quiet: bool) -> None:
    """What a statistical file's codes for empty cells were taken for."""
    told = [f"{n}: {c}={why}" for n, own in file.reason_codes.items() for c, why in own.items()]
    if told:
        _say(f"By their labels: {', '.join(told)}. --code says otherwise.", quiet)
    silent = [f"{n} ({', '.join(map(str, own))})" for n, own in file.without_reason.items()]
    if silent:
        _say(
            f"Codes read as empty, without a reason: {', '.join(silent)}. --code gives one.", quiet
        )


def _show_evidence(imputer: SelectiveImputer, quiet: bool) -> None:
    """With ``auto``: what was found, and why."""
    if quiet or imputer.mm_columns != AUTO:
        return
    shown = RichTable(
        "column", "empty", "excess", "AUC", "p", "why", box=None, pad_edge=False, highlight=False
    )
    for found in imputer.mm_evidence_:
        if found["missing_rate"] > 0:
            numbers = (found["missing_rate"], found["excess"], found["auc"], found["p_value"])
            marks = ("{:.1%}", "{:+.1%}", "{:.2f}", "{:.1g}")
            cells = [
                "" if x is None else mark.format(x) for x, mark in zip(numbers, marks, strict=True)
            ]
            shown.add_row(Text(str(found["column"])), *cells, found["reason"])
    console.print(shown)
    names = ", ".join(map(str, imputer.mm_columns_)) or "none, so that every empty cell is imputed"
    _say(f"Columns in which an empty cell may be meaningful: {names}.", quiet)


def _show_worlds() -> None:
    shown = RichTable("world", "what it is", box=None, pad_edge=False)
    for entry in WORLDS.values():
        shown.add_row(entry.name, entry.about)
    Console().print(shown)


def _world_asked_for(
    name: str,
    rows: int | None,
    mechanism: str | None,
    ratio: float | None,
    seed: int,
    data: Path | None,
) -> World:
    if mechanism == "none" and ratio is not None:
        raise InputError("--mechanism none loses nothing; leave out --ratio, or the mechanism.")
    if name in WORLDS and WORLDS[name].own_losses and (mechanism, ratio) != (None, None):
        without = name.removesuffix("-allocated")
        instead = "" if without == name else f", or take {without}"
        raise InputError(
            f"{name} has losses of its own; leave out --mechanism and --ratio{instead}."
        )
    chosen, percent = (mechanism or "mcar").lower(), 10.0 if ratio is None else ratio
    check_choice("--mechanism", chosen, (*MECHANISM_NAMES, "none"))
    if not 0 < percent < 100:
        raise InputError(f"--ratio is a percentage between 0 and 100; got {percent:g}.")
    return make_world(
        name,
        rows=rows,
        mechanism=None if chosen == "none" else chosen,  # type: ignore[arg-type]
        loss_rate=percent / 100,
        seed=seed,
        data=data,
    )


def _share(cells: pd.DataFrame) -> str:
    return f"{cells.to_numpy().mean():.1%}"


def _next_command(world: World, folder: Path, ending: str) -> str:
    """How to go on from here; values that look like empty cells are told apart."""
    ambiguous = ending in ("csv", "tsv") and len(na_values_of(world)) < len(NA_VALUES)
    tokens = " --na-values ''" if ambiguous else ""
    columns = shlex.quote(",".join(world.mm_columns))
    observed, done = folder / f"observed.{ending}", folder / f"completed.{ending}"
    return (
        f"Next: diffjoint impute {observed} {done} -m {columns}{tokens}\n"
        f"Then: diffjoint score {folder} {done}"
    )


def _show_scores(by_column: pd.DataFrame, measures: dict[str, float]) -> None:
    shown = RichTable("meaningful cells", *by_column.columns, box=None, pad_edge=False)
    for name, values in by_column.iterrows():
        shown.add_row(Text(str(name)), *(f"{value:.3f}" for value in values))
    screen = Console()
    screen.print(shown)
    for name, value in measures.items():
        screen.print(f"{name.replace('_', ' ')}: {value:.4g}", highlight=False)


def _without_nan(scores: Any) -> Any:
    """The same with None for NaN, which JSON does not have."""
    if isinstance(scores, dict):
        return {key: _without_nan(value) for key, value in scores.items()}
    return None if isinstance(scores, float) and math.isnan(scores) else scores


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        console.print(text, highlight=False, markup=False, soft_wrap=True)


def _told_once() -> Callable[..., None]:
    """Shows warnings, each once in a run, however often the table is looked at."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = _by_options(str(message))
        if text not in told:
            told.add(text)
            console.print(f"Warning: {text}", markup=False, highlight=False, soft_wrap=True)

    return show


def _by_options(text: str) -> str:
    """A message of the library, with options of the command line for parameters."""
    for pattern, option in BY_OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def _fail(text: str, code: int) -> NoReturn:
    console.print(f"Error: {text}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(code)
