"""Show a table at first sight, and what to run next."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import typer

from diffjoint._progress import NoProgress, ProgressBar
from diffjoint.cli.console import Screen, by_options, console
from diffjoint.cli.options.files import Reading
from diffjoint.cli.parsing import parse_codes
from diffjoint.cli.run.by_file import with_codes_of
from diffjoint.cli.run.reading import read, tokens_of
from diffjoint.cli.run.showing import reading_in_words
from diffjoint.inspection.inspect import inspect
from diffjoint.inspection.view import next_commands, show_inspection


def look_at(
    source: str,
    codes: Sequence[str],
    kinds: Mapping[str, str],
    checkboxes: str,
    reading: Reading,
    *,
    rows: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show a table at first sight, and what to run next."""
    own_codes = parse_codes(codes)
    file = read(source, reading, reason_codes=own_codes)
    carried = dict.fromkeys(file.passed_through, "pass-through")
    with nullcontext(NoProgress()) if quiet or as_json else ProgressBar(console) as progress:
        found = inspect(
            file.table,
            {**carried, **file.kinds, **kinds},
            reason_codes=with_codes_of(file, own_codes),
            checkboxes=checkboxes,  # type: ignore[arg-type]
            most_rows=rows,
            progress=progress,
        )
    given = [part for code in codes for part in ("--code", code)]
    given += [part for name, kind in kinds.items() for part in ("--kind", f"{name}={kind}")]
    given += ["--checkboxes", checkboxes] if checkboxes != "keep" else []
    given += ["--encoding", reading.encoding] if reading.encoding != "utf-8" else []
    given += ["--decimal", reading.decimal] if reading.decimal is not None else []
    commands = next_commands(found, file, source, given, tokens_of(reading))
    if as_json:
        following = [{"why": why, "command": command} for why, command in commands]
        typer.echo(json.dumps({**found.to_dict(), "next": following}, indent=2))
        return
    screen = Screen()
    for line in reading_in_words(file, reading):
        screen.print(line, markup=False, highlight=False, soft_wrap=True)
    show_inspection(found, screen, by_options)
    for why, command in commands:
        screen.print(f"\n{why}:", style="bold", markup=False, highlight=False)
        screen.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)
