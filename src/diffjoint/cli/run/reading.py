"""Read tables, what was decided on their cells, and keys; bound how much of a file is held."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffjoint._memory import check_room, rows_within
from diffjoint.cli.console import say
from diffjoint.cli.options.files import Outputs, Reading
from diffjoint.cli.options.running import Running
from diffjoint.errors import FileError
from diffjoint.io.decisions import read_decisions
from diffjoint.io.files import TableFile, is_text, read_file
from diffjoint.io.places import place_of
from diffjoint.parameters.checks import check_choice
from diffjoint.settings import NA_VALUES, parse_bytes
from diffjoint.storage.bundles import check_key
from diffjoint.storage.placing import tidy
from diffjoint.table import Schema
from diffjoint.trees import MANY_ROWS, MOST_AT_ONCE

MOST_KEY = 1 << 16
"""Bytes of a key's file that are read."""


def read(
    source: str,
    reading: Reading,
    schema: Schema | None = None,
    reason_codes: Mapping[Any, Any] | None = None,
) -> TableFile:
    """Read a table, with the tokens for a missing cell that were named.

    If a run that wrote it was killed half-way, it is put back as it was first.
    """
    place = place_of(source)
    tidy(source if place is None else place.where)
    if reading.decimal is not None:
        check_choice("--decimal", reading.decimal, (".", ","))
    how = (reading.encoding, schema, reason_codes, reading.decimal)
    return read_file(source, tokens_of(reading), *how)


def tokens_of(reading: Reading) -> tuple[str, ...]:
    """Return the text that stands for a missing cell."""
    return NA_VALUES if reading.na_values is None else tuple(reading.na_values.split(","))


def decided(decisions: str | None, file: TableFile) -> dict[str, Any]:
    """Return what a list of decisions makes known of a table; nothing without one."""
    return {} if decisions is None else read_decisions(decisions, file.opened)


def key_in(path: Path | None) -> bytes | None:
    """Return the key in a file, without the line break at its end; None without a file."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            key = file.read(MOST_KEY)
    except OSError as error:
        raise FileError(
            f"Cannot read {path}: {error.strerror}. Name the file of the key.", parameter="key"
        ) from error
    return bytes(check_key(key.rstrip(b"\r\n")))  # type: ignore[arg-type]


def goes_in_blocks(file: TableFile, out: str, outputs: Outputs) -> bool:
    """Whether a file can be completed, and what is asked for written, some rows at a time."""
    if outputs.review or outputs.report or outputs.self_check or file.text is None:
        return False
    return all(is_text(path) for path in (out, *outputs.sides.values()) if path is not None)


def bound(file: TableFile, running: Running, seed: int) -> int | None:
    """Hold no more rows of a file to learn from than a limit leaves room for, if one is given.

    Returns
    -------
    int or None
        Threads to use: one where several would be processes, which no limit of this one bounds.
    """
    threads, limit = running.threads, running.memory_limit
    if limit is None or file.text is None:
        return threads
    n_rows, n_columns = file.text.n_rows, len(file.text.source.names)
    n_threads = threads or int(os.environ.get("OMP_NUM_THREADS", "0")) or os.cpu_count() or 1
    n_learnt = rows_within(parse_bytes(limit), n_rows, n_columns, min(n_threads, MOST_AT_ONCE))
    if n_learnt < n_rows:
        say(
            f"--memory-limit {limit} has room to learn from {n_learnt:,} of the {n_rows:,} rows; "
            "all of them are completed.",
            running.quiet,
        )
        file.hold_some(n_learnt, seed)
    return 1 if n_learnt < MANY_ROWS else threads


def check_bound(file: TableFile, memory_limit: str | None) -> None:
    """Raise if a file cannot be completed in blocks within a limit, if one is given."""
    if memory_limit is not None and file.text is not None:
        check_room(parse_bytes(memory_limit), file.text.n_rows)
