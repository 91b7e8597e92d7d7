"""What the commands do with tables: read, learn, complete, write and show."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint._atomic import check_writable
from diffjoint._memory import check_room, rows_within
from diffjoint._progress import ProgressBar, Silence
from diffjoint.cli.console import by_options, console, say
from diffjoint.cli.parsing import (
    parse_codes,
    parse_rate,
    parse_rules,
    parse_setting,
    parse_value,
    split_pair,
)
from diffjoint.errors import InputError
from diffjoint.fitting.auto_columns import AUTO
from diffjoint.fitting.prepare import Understood
from diffjoint.imputer import SelectiveImputer, load
from diffjoint.inspection.inspect import inspect
from diffjoint.inspection.view import next_commands, show_inspection
from diffjoint.io.decisions import read_decisions
from diffjoint.io.files import (
    STANDARD_STREAM,
    TableFile,
    check_ending,
    is_text,
    read_file,
    text_writer,
    write_file,
)
from diffjoint.knowledge.reason_codes import searched_by_codes
from diffjoint.results.imputation import Imputation
from diffjoint.results.self_check import SelfCheck
from diffjoint.settings import NA_VALUES, estimator_params, parse_bytes
from diffjoint.steps import fit_understood, impute_blocks, learn_only, understand
from diffjoint.table import Schema, open_table
from diffjoint.trees import MANY_ROWS, MOST_AT_ONCE

__all__ = [
    "bound",
    "check_bound",
    "check_itself",
    "check_outputs",
    "decided",
    "fitted",
    "goes_in_blocks",
    "load",
    "look_at",
    "parse_mm_fill",
    "read",
    "save_model",
    "write_blocks",
    "write_report",
    "write_results",
    "write_review",
]

COUNTED = ("n_observed", "n_kept", "n_imputed", "n_left", "n_review", "n_unticked")
"""Numbers of cells that an imputation tells."""


def look_at(
    source: str,
    kinds: Mapping[str, str],
    *,
    checkboxes: str,
    na_values: str | None,
    encoding: str,
    rows: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show a table at first sight, and what to run next."""
    file = read(source, na_values, encoding)
    carried = dict.fromkeys(file.carried, "pass-through")
    with nullcontext(Silence()) if quiet or as_json else ProgressBar(console) as progress:
        found = inspect(
            file.table,
            {**carried, **kinds},
            checkboxes=checkboxes,  # type: ignore[arg-type]
            most_rows=rows,
            progress=progress,
        )
    given = [part for name, kind in kinds.items() for part in ("--kind", f"{name}={kind}")]
    given += ["--checkboxes", checkboxes] if checkboxes != "keep" else []
    given += ["--encoding", encoding] if encoding != "utf-8" else []
    tokens = NA_VALUES if na_values is None else tuple(na_values.split(","))
    commands = next_commands(found, file, source, given, tokens)
    if as_json:
        following = [{"why": why, "command": command} for why, command in commands]
        typer.echo(json.dumps({**found.to_dict(), "next": following}, indent=2))
        return
    screen = Console()
    show_inspection(found, screen, by_options)
    for why, command in commands:
        screen.print(f"\n{why}:", style="bold", markup=False, highlight=False)
        screen.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)


def read(
    source: str,
    na_values: str | None,
    encoding: str,
    schema: Schema | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
) -> TableFile:
    """Read a table, with the tokens for an empty cell that were named."""
    tokens = NA_VALUES if na_values is None else na_values.split(",")
    return read_file(source, tokens, encoding, schema, reason_codes)


def fitted(
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
        parse_columns(file, mm_columns),
        rules=parse_rules(rules),
        reason_codes=with_codes_of(file, parse_codes(codes)),
        loss_rate=parse_loss_rate(file, loss_rate),
        verbose=not quiet,
        column_kinds={
            **dict.fromkeys(file.carried, "pass-through"),
            **file.kinds,
            **dict(split_pair("--kind", text) for text in kinds or []),
        },
        **estimator_params(**dict(parse_setting(text) for text in settings or []), **params),
    )
    understood = understand(imputer, file.table, **known)
    show_schema(imputer, understood, quiet)
    show_codes(file, quiet)
    if in_blocks:
        del understood
        learn_only(imputer, file.take)
    else:
        fit_understood(imputer, understood)
    show_evidence(imputer, quiet)
    return imputer


def parse_columns(file: TableFile, mm_columns: list[str] | None) -> list[str] | str:
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


def parse_loss_rate(file: TableFile, texts: list[str] | None) -> float | dict[str, float] | None:
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
        return parse_rate(parts[0])
    if not all("=" in part for part in parts):
        raise InputError(
            "--loss-rate takes one rate for all searched columns, or a rate for each column that "
            f"is named, such as income=0.2,age=0.1; got {', '.join(texts)}."
        )
    pairs = (split_pair("--loss-rate", part) for part in parts)
    return {name if name in names else name.strip(): parse_rate(value) for name, value in pairs}


def with_codes_of(file: TableFile, given: dict[str, Any] | None) -> dict[str, Any] | None:
    """The codes given, and those whose reason the file itself tells."""
    merged: dict[str, Any] = {**(given or {})}
    for name, codes in file.reason_codes.items():
        merged[name] = {**codes, **merged.get(name, {})}
    return merged or None


def parse_mm_fill(file: TableFile, texts: list[str] | None) -> dict[str, Any] | None:
    """Constants by column: numbers and truth values where the column holds those."""
    table, read = open_table(file.table), {}
    for name, value in (split_pair("--mm-fill", text) for text in texts or []):
        dtype = table.column(table.require(name, "mm_fill")).dtype
        read[name] = parse_value(value) if dtype.is_numeric() or dtype == nw.Boolean else value
    return read or None


def check_outputs(*paths: str | Path | None, report: Path | None) -> None:
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


def decided(decisions: str | None, file: TableFile) -> dict[str, Any]:
    """What a list of decisions makes known of a table; nothing without one."""
    return {} if decisions is None else read_decisions(decisions, file.table)


def goes_in_blocks(file: TableFile, *outputs: str | None) -> bool:
    """Whether a file can be completed, and its outputs written, some rows at a time."""
    return file.text is not None and all(is_text(path) for path in outputs if path is not None)


def bound(
    file: TableFile, memory_limit: str | None, threads: int | None, seed: int, quiet: bool
) -> int | None:
    """Hold no more rows of a file to learn from than a limit leaves room for, if one is given.

    Returns
    -------
    int or None
        Threads to use: one where several would be processes, which no limit of this one bounds.
    """
    if memory_limit is None or file.text is None:
        return threads
    n_rows, n_columns = file.text.n_rows, len(file.text.source.names)
    n_threads = threads or int(os.environ.get("OMP_NUM_THREADS", "0")) or os.cpu_count() or 1
    n_learnt = rows_within(
        parse_bytes(memory_limit), n_rows, n_columns, min(n_threads, MOST_AT_ONCE)
    )
    if n_learnt < n_rows:
        say(
            f"--memory-limit {memory_limit} has room to learn from {n_learnt:,} of the {n_rows:,} "
            "rows; all of them are completed.",
            quiet,
        )
        file.hold_some(n_learnt, seed)
    return 1 if n_learnt < MANY_ROWS else threads


def check_bound(file: TableFile, memory_limit: str | None) -> None:
    """Raise if a file cannot be completed in blocks within a limit, if one is given."""
    if memory_limit is not None and file.text is not None:
        check_room(parse_bytes(memory_limit), file.text.n_rows)


def write_blocks(
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
    say_counts(counts, out, None, quiet)


def save_model(imputer: SelectiveImputer, path: Path, *, draws: bool, quiet: bool) -> None:
    """Save a model, and say what it can do."""
    imputer.save(path, draws=draws)
    draws_too = draws or not imputer.settings_.is_amortised
    more = ", and draw them." if draws_too else "; fit --draws saves one that can draw them, too."
    say(f"Saved the model to {path}. It can complete, explain and review tables{more}", quiet)


def write_results(
    result: Imputation,
    file: TableFile,
    out: str,
    mask_out: str | None,
    proba_out: str | None,
    uncertainty_out: str | None,
    review: str | None,
    quiet: bool,
) -> None:
    """Write the completed table and what is asked for beside it; say how many cells became what."""
    write_file(out, result.table, file)
    sides = [
        (mask_out, result.meaningful),
        (proba_out, result.probability),
        (uncertainty_out, result.uncertainty),
    ]
    for path, table in sides:
        if path is not None:
            write_file(path, table)
    say_counts({name: getattr(result, name) for name in COUNTED}, out, review, quiet)


def say_counts(counts: Mapping[str, int], out: str, review: str | None, quiet: bool) -> None:
    """How many cells became what, and where they were written."""
    n_unticked, n_left, n_review = (counts[name] for name in ("n_unticked", "n_left", "n_review"))
    boxes = f" ({n_unticked:,} of these not ticked)" if n_unticked else ""
    left = f", {n_left:,} left in columns carried along" if n_left else ""
    where = "--review FILE lists them" if review is None else f"see {review}"
    doubtful = f" {n_review:,} of these are doubtful: {where}." if n_review else ""
    say(
        f"{counts['n_observed']:,} cells observed, {counts['n_kept']:,} kept as NA{boxes}, "
        f"{counts['n_imputed']:,} imputed{left}.{doubtful} Wrote {out}.",
        quiet,
    )


def write_report(
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
    say(f"Wrote the report to {path}: open it in a browser.", quiet)


def check_itself(
    imputer: SelectiveImputer,
    file: TableFile,
    result: Imputation,
    known: Mapping[str, Any],
    quiet: bool,
) -> SelfCheck:
    """What to trust, said here and, if there is one, in the report."""
    check = imputer.self_check(file.table, result, **known)
    warning = f"Warning: {by_options(check.alarm)}" if check.alarm else ""
    say(f"{warning}{str(check).removeprefix(check.alarm)}", quiet)
    say(warning, not quiet or not warning)  # a report that nobody has opened warns of nothing
    return check


def write_review(
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


def show_schema(imputer: SelectiveImputer, understood: Understood, quiet: bool) -> None:
    """The columns as understood, before the work: a wrong kind is cheap to correct now."""
    if quiet:
        return
    table, schema = understood.without_codes, understood.schema
    by_code = searched_by_codes(table, imputer.reason_codes, understood.coded)
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


def show_codes(file: TableFile, quiet: bool) -> None:
    """What a statistical file's codes for empty cells were taken for."""
    told = [f"{n}: {c}={why}" for n, own in file.reason_codes.items() for c, why in own.items()]
    if told:
        say(f"By their labels: {', '.join(told)}. --code says otherwise.", quiet)
    silent = [f"{n} ({', '.join(map(str, own))})" for n, own in file.without_reason.items()]
    if silent:
        say(f"Codes read as empty, without a reason: {', '.join(silent)}. --code gives one.", quiet)


def show_evidence(imputer: SelectiveImputer, quiet: bool) -> None:
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
    say(f"Columns in which an empty cell may be meaningful: {names}.", quiet)
