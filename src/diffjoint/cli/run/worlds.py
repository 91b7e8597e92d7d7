"""What the commands do with worlds: make, list and score."""

import json
import math
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.cli.console import Screen, say, say_warning
from diffjoint.cli.options.files import Reading
from diffjoint.cli.options.simulating import Drawn
from diffjoint.errors import InputError
from diffjoint.io.world_files import (
    check_new,
    na_values_of,
    observed_changed,
    read_calls,
    read_completed,
    read_probabilities,
    read_world,
    save_world,
)
from diffjoint.metrics import lost_accuracy, lost_errors, mm_scores_by_column, token_accuracy
from diffjoint.settings import NA_VALUES
from diffjoint.simulate import WORLDS, World, make_world


def write_world(name: str, drawn: Drawn, folder: Path, ending: str, quiet: bool) -> None:
    """Make a world, write its files, and say how to go on."""
    check_new(folder)
    world = _world_asked_for(name, drawn)
    paths = save_world(world, folder, f".{ending}")
    n_rows, n_columns = world.truth.shape
    say(
        f"{n_rows:,} rows, {n_columns} columns; {_share_of(world.meaningful)} of the cells are "
        f"meaningful, {_share_of(world.lost & ~world.meaningful)} lost.\n"
        f"Wrote {', '.join(path.name for path in paths)} to {folder}.",
        quiet,
    )
    say(_next_command(world, folder, ending), quiet)


def score_completed(
    folder: Path,
    completed: str,
    split: str,
    mask: str | None,
    proba: str | None,
    reading: Reading,
    *,
    as_json: bool,
) -> None:
    """Show how a completed table compares with a world's truth."""
    world = read_world(folder)
    world = world if split == "all" else getattr(world, split)
    tokens = None if reading.na_values is None else reading.na_values.split(",")
    table = read_completed(world, completed, tokens, reading.encoding, reading.decimal)
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
        say_warning(f"Observed cells that are not as they were: {listed}.")
    if as_json:
        scores = {"world": world.name, "meaningful": by_column.to_dict("index"), **measures}
        typer.echo(json.dumps(_without_nan(scores), indent=2))
    else:
        _show_scores(by_column, measures)


def show_worlds() -> None:
    """Print every world and what it is."""
    shown = RichTable("world", "what it is", box=None, pad_edge=False)
    for entry in WORLDS.values():
        shown.add_row(entry.name, entry.about)
    Screen().print(shown)


def _world_asked_for(name: str, drawn: Drawn) -> World:
    mechanism, ratio = drawn.mechanism, drawn.ratio
    if mechanism == "none" and ratio is not None:
        raise InputError("--mechanism none loses nothing; leave out --ratio, or the mechanism.")
    if name in WORLDS and WORLDS[name].own_losses and (mechanism, ratio) != (None, None):
        without = name.removesuffix("-allocated")
        instead = "" if without == name else f", or take {without}"
        raise InputError(
            f"{name} has losses of its own; leave out --mechanism and --ratio{instead}."
        )
    chosen, percent = (mechanism or "mcar").lower(), 10.0 if ratio is None else ratio
    if not 0 < percent < 100:
        raise InputError(f"--ratio is a percentage between 0 and 100; got {percent:g}.")
    return make_world(
        name,
        rows=drawn.rows,
        mechanism=None if chosen == "none" else chosen,  # type: ignore[arg-type]
        loss_rate=percent / 100,
        seed=drawn.seed,
        data=drawn.data,
    )


def _share_of(cells: pd.DataFrame) -> str:
    return f"{cells.to_numpy().mean():.1%}"


def _next_command(world: World, folder: Path, ending: str) -> str:
    """How to go on from here; values that look like missing cells are told apart."""
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
    screen = Screen()
    screen.print(shown)
    for name, value in measures.items():
        screen.print(f"{name.replace('_', ' ')}: {value:.4g}", highlight=False)


def _without_nan(scores: Any) -> Any:
    """Return the same with None for NaN, which JSON does not have."""
    if isinstance(scores, dict):
        return {key: _without_nan(value) for key, value in scores.items()}
    return None if isinstance(scores, float) and math.isnan(scores) else scores
