"""The commands and their arguments; what they need is imported when they run."""

import difflib
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from diffjoint import __version__
from diffjoint._checks import check_choice
from diffjoint.cli import parsing
from diffjoint.cli.console import WRONG_USE, by_options, explaining_errors, fail, say, told_once
from diffjoint.cli.options import (
    Bounds,
    CheckboxesOption,
    CheckpointOption,
    Codes,
    DecisionsIn,
    DetectorOption,
    Device,
    DrawsOption,
    Encoding,
    In,
    Kinds,
    LossRateOption,
    MaskOut,
    MemoryLimit,
    MMColumns,
    MMFill,
    MMOutputOption,
    ModelOut,
    ModelPath,
    NaValues,
    Out,
    Preset,
    ProbaOut,
    Quiet,
    ReportOut,
    ReviewOut,
    Rules,
    Seed,
    SelfCheckOption,
    Set,
    Threads,
    UncertaintyOut,
    Unseen,
    UnseenLater,
)
from diffjoint.errors import InputError
from diffjoint.settings import (
    DEFAULT_DETECTOR,
    DEFAULT_MEMORY_LIMIT,
    DEFAULT_PRESET,
    INSPECTED_ROWS,
    MECHANISM_NAMES,
)

TABLE_FORMATS = ("csv", "tsv", "parquet", "feather")


class _Commands(TyperGroup):
    """The commands; a file, or a part of another command, in their place gets a word on it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            fail(_not_a_command(name, list(self.commands)), WRONG_USE)
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
@explaining_errors
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
            help="Rows that the evidence is taken from, at most; "
            f"{INSPECTED_ROWS:,} if not given, and fewer in wide tables.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Look at a table first: what is missing, what it may mean, and what to run next."""
    chosen = dict(parsing.split_pair("--kind", text) for text in kinds or [])
    from diffjoint.cli.run import look_at

    look_at(
        source,
        chosen,
        checkboxes=checkboxes,
        na_values=na_values,
        encoding=encoding,
        rows=rows,
        as_json=as_json,
        quiet=quiet,
    )


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint impute survey.csv completed.csv -m spouse_age,commute[/bold]\n\n"
        "[bold]diffjoint impute survey.csv completed.csv -m auto --report report.html[/bold]\n\n"
        "[bold]diffjoint impute lab.parquet out.parquet -m tsh --proba-out p.csv[/bold]\n\n"
        "[bold]cat s.csv | diffjoint impute - - -m spouse_age > out.csv[/bold]"
    )
)
@explaining_errors
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
    parsing.check_method(preset, detector, settings)
    if self_check:
        parsing.check_checkable(preset, detector, settings)
    from diffjoint.cli import run

    run.check_outputs(out, mask_out, proba_out, uncertainty_out, review, model_out, report=report)
    file = run.read(source, na_values, encoding, reason_codes=parsing.parse_codes(codes))
    sides = (mask_out, proba_out, uncertainty_out)
    in_blocks = (
        run.goes_in_blocks(file, out, *sides)
        and not any((review, report, decisions, model_out, self_check))
        and parsing.needs_no_draws(preset, detector, settings)
    )
    if in_blocks:
        threads = run.bound(file, memory_limit, threads, seed, quiet)
    known = run.decided(decisions, file)
    imputer = run.fitted(
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
        mm_fill=run.parse_mm_fill(file, mm_fill),
        bounds=parsing.parse_bounds(bounds),
        random_state=seed,
        checkpoint=checkpoint,
        memory_limit=memory_limit or DEFAULT_MEMORY_LIMIT,
        device=device,
        n_threads=threads,
    )
    if in_blocks:
        run.write_blocks(imputer, file, out, *sides, quiet)
        return
    result = imputer.impute()
    if model_out is not None:
        run.save_model(imputer, model_out, draws=False, quiet=quiet)
    run.write_review(imputer, result, file, review, known)
    run.write_results(result, file, out, *sides, review, quiet)
    check = (
        run.check_itself(imputer, file, result, known, quiet and report is not None)
        if self_check
        else None
    )
    run.write_report(imputer, source, file, report, result, check, known, quiet)


@app.command(epilog="Example: [bold]diffjoint fit survey.csv survey.diffjoint -m spouse_age[/bold]")
@explaining_errors
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
    draws: DrawsOption = False,
    seed: Seed = 0,
    checkpoint: CheckpointOption = None,
    memory_limit: MemoryLimit = None,
    device: Device = "auto",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Learn a table and save the model, to complete other tables later."""
    parsing.check_method(preset, detector, settings)
    from diffjoint.cli import run

    run.check_outputs(model, report=None)
    file = run.read(source, na_values, encoding, reason_codes=parsing.parse_codes(codes))
    known = run.decided(decisions, file)
    imputer = run.fitted(
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
        mm_fill=run.parse_mm_fill(file, mm_fill),
        bounds=parsing.parse_bounds(bounds),
        unseen=unseen,
        random_state=seed,
        checkpoint=checkpoint,
        memory_limit=memory_limit or DEFAULT_MEMORY_LIMIT,
        device=device,
        n_threads=threads,
    )
    run.save_model(imputer, model, draws=draws, quiet=quiet)


@app.command(
    epilog="Example: [bold]diffjoint transform survey.diffjoint new.csv completed.csv[/bold]"
)
@explaining_errors
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
    from diffjoint.cli import run

    run.check_outputs(out, mask_out, proba_out, uncertainty_out, review, None, report=report)
    imputer = run.load(model, device=device)
    if self_check and not imputer.settings_.is_amortised:
        raise InputError(
            f"--self-check is for values that need no draws; {model} was fitted with "
            "sampler=inpaint, which draws them. Leave --self-check out."
        )
    limit = memory_limit or DEFAULT_MEMORY_LIMIT
    imputer.set_params(memory_limit=limit, n_threads=threads, verbose=not quiet)
    if unseen is not None:
        imputer.set_params(unseen=unseen)
    file = run.read(source, na_values, encoding, imputer.schema_, imputer.reason_codes)
    for doubt in imputer.doubts_:
        say(f"Doubt that fit had: {by_options(doubt)}", quiet)
    sides = (mask_out, proba_out, uncertainty_out)
    asks_for_all = any((review, report, decisions, self_check, imputer.rules))
    is_by_row = imputer.settings_.is_amortised and imputer.detector == DEFAULT_DETECTOR
    if is_by_row and not asks_for_all and run.goes_in_blocks(file, out, *sides):
        run.check_bound(file, memory_limit)
        run.write_blocks(imputer, file, out, *sides, quiet)
        return
    known = run.decided(decisions, file)
    result = imputer.impute(file.table, **known)
    run.write_review(imputer, result, file, review, known)
    run.write_results(result, file, out, *sides, review, quiet)
    check = (
        run.check_itself(imputer, file, result, known, quiet and report is not None)
        if self_check
        else None
    )
    run.write_report(imputer, source, file, report, result, check, known, quiet)


@app.command()
@explaining_errors
def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the files.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Which survey to draw.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Complete a small built-in survey and show what happened."""
    from diffjoint.cli.demo import run_demo

    run_demo(folder, seed=seed, verbose=not quiet)


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint simulate --list[/bold]\n\n"
        "[bold]diffjoint simulate bayesian-network --rows 20000 --mechanism mar --ratio 20 "
        "--out world[/bold]"
    )
)
@explaining_errors
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
        from diffjoint.cli.worlds import show_worlds

        show_worlds()
        return
    if name is None or out is None:
        raise InputError(
            "A world and --out are needed: diffjoint simulate bayesian-network --out DIR. "
            "--list shows the worlds."
        )
    check_choice("--format", ending, TABLE_FORMATS)
    if mechanism is not None:
        check_choice("--mechanism", mechanism.lower(), (*MECHANISM_NAMES, "none"))
    from diffjoint.cli.worlds import write_world

    write_world(name, out, rows, mechanism, ratio, seed, data, ending, quiet)


@app.command(
    epilog=(
        "Examples:\n\n"
        "[bold]diffjoint score world completed.csv[/bold]\n\n"
        "[bold]diffjoint score world completed_test.csv --split test --proba p.csv --json[/bold]"
    )
)
@explaining_errors
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
    from diffjoint.cli.worlds import score_completed

    score_completed(folder, completed, split, mask, proba, na_values, encoding, as_json=as_json)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line. Exit code 0: done; 1: the run failed; 2: wrong use."""
    # Before threads are started: those that wait must not spin, or a busy neighbour slows them
    # tenfold.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    warnings.showwarning = told_once()
    app(arguments)
    sys.exit(0)
