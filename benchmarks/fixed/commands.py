"""Calls of the command line: the bytes of the files it writes, and the numbers it prints."""

import json
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.fixed.results import Call, Pieces, under, without_words
from benchmarks.fixed.survey import draw_survey, with_codes

SEARCHED = ("-m", "spouse_age,weekly_hours,commute", "--kind", "person_id=pass-through")
SAID = (
    *("--rule", 'spouse_age: married == "yes"'),
    *("--rule", 'weekly_hours: employed == "yes"'),
    *("--code", "commute: refused=lost", "--code", "commute: none=meaningful"),
    *("--code", "income: -9=lost", "--bounds", "age=0:120", "--mm-fill", "commute=at home"),
)
SMALL = (
    *("max_epochs=3", "n_draws=2", "n_steps=3", "width=16", "n_iterations=2"),
    *("n_inpaint_repeats=2", "batch_size=64", "fusion=vote", "sigma_max=9"),
)
NAMES = {"name", "column", "columns", "mm_columns", "kind", "value", "world"}
"""Keys under which text is a name or a value, and no prose."""


def impute_text(ending: str, folder: Path) -> Pieces:
    """Complete a text file, and write every table beside it."""
    source = _write_survey(folder, ending)
    outputs, options = _sides(folder, ending)
    _run("impute", source, outputs["completed"], *SEARCHED, *options)
    return _contents(outputs)


def impute_auto(folder: Path) -> Pieces:
    """Complete standard input, columns found, on standard output, with indicators."""
    given = Path(_write_survey(folder, "csv")).read_text(encoding="utf-8")
    options = ("-m", "auto", "--mm-output", "indicator")
    return {"completed": _run("impute", "-", "-", *options, given=given)}


def impute_typed(folder: Path) -> Pieces:
    """Complete a Parquet file."""
    source = folder / "survey.parquet"
    draw_survey(450).table.reset_index(drop=True).to_parquet(source)
    outputs, options = _sides(folder, "parquet")
    _run("impute", str(source), outputs["completed"], *SEARCHED, *options)
    return _contents(outputs)


def impute_paper(folder: Path) -> Pieces:
    """Complete a text file in the paper's way, by settings of one's own."""
    source = _write_survey(folder, "csv")
    outputs, options = _sides(folder, "csv")
    paper = ["--detector", "paper", *(part for number in SMALL for part in ("--set", number))]
    _run("impute", source, outputs["completed"], *SEARCHED, *paper, *options)
    return _contents(outputs)


def review_and_decide(folder: Path) -> Pieces:
    """Complete a file of which much is said, decide on cells, complete it again and new rows."""
    source, model = _write_survey(folder, "csv"), str(folder / "model.diffjoint")
    outputs, options = _sides(folder, "csv")
    first, again, new = (str(folder / f"{name}.csv") for name in ("first", "again", "new"))
    review, decided = folder / "review.csv", folder / "decided.csv"
    _run("impute", source, first, *SEARCHED, *SAID, "--review", str(review), "--model-out", model)
    cells = pd.read_csv(review)
    cells.assign(decision=cells["call"]).to_csv(decided, index=False)
    _run("impute", source, again, *SEARCHED, *SAID, "--decisions", str(decided))
    _run("transform", model, source, new, "--decisions", str(decided))
    _run("transform", model, source, outputs["completed"], *options)
    named = {"first": first, "again": again, "new": new}
    return {
        **_contents(named),
        **under("loaded", _contents(outputs)),
        "review": without_words(cells),
    }


def fit_and_transform(folder: Path) -> Pieces:
    """Learn one file, and complete another."""
    source, model = _write_survey(folder, "csv"), str(folder / "model.diffjoint")
    later = _write_survey(folder, "tsv", seed=1)
    outputs, options = _sides(folder, "csv")
    boosters = ("--set", "n_boosters=2", "--set", "threshold=0.6")
    _run("fit", source, model, *SEARCHED, *boosters, "--unseen", "keep", "--seed", "3")
    _run("transform", model, later, outputs["completed"], *options)
    return _contents(outputs)


def inspect_text(folder: Path) -> Pieces:
    """Look at a text file."""
    found = json.loads(_run("inspect", _write_survey(folder, "csv"), "--json"))
    del found["next"]
    return {"numbers": _numbers(found)}


def score_world(folder: Path) -> Pieces:
    """Make a world, complete it, and judge that."""
    world = folder / "world"
    losses = ("--mechanism", "mar", "--ratio", "20", "--seed", "2")
    _run("simulate", "bayesian-network", "--rows", "600", *losses, "--out", str(world))
    outputs, options = _sides(folder, "csv")
    observed, completed = str(world / "observed.csv"), outputs["completed"]
    _run("impute", observed, completed, "-m", "C1,D2,D3", *options)
    sides = ("--mask", outputs["meaningful"], "--proba", outputs["probability"])
    scores = json.loads(_run("score", str(world), completed, *sides, "--json"))
    made = {path.name: path.read_bytes() for path in sorted(world.iterdir())}
    return {**under("world", made), **_contents(outputs), "scores": _numbers(scores)}


def _write_survey(folder: Path, ending: str, seed: int = 0) -> str:
    """Write a survey with reason codes as text."""
    path = folder / f"survey-{seed}.{ending}"
    table = with_codes(draw_survey(450, seed))
    table.to_csv(path, sep="\t" if ending == "tsv" else ",", index=False)
    return str(path)


def _sides(folder: Path, ending: str) -> tuple[dict[str, str], list[str]]:
    """Name the tables to write, and the options that ask for those beside the completed one."""
    options = {"meaningful": "--mask-out", "probability": "--proba-out"}
    options |= {"uncertainty": "--uncertainty-out"}
    outputs = {name: str(folder / f"{name}.{ending}") for name in ("completed", *options)}
    return outputs, [part for name, option in options.items() for part in (option, outputs[name])]


def _run(*arguments: str, given: str | None = None) -> str:
    """Run a command of diffjoint, with a text on standard input; return what it prints."""
    command = [sys.executable, "-m", "diffjoint", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(['diffjoint', *arguments])} failed:\n{done.stderr}")
    return done.stdout


def _contents(paths: dict[str, str]) -> Pieces:
    """Return the bytes of files, by what they hold."""
    return {name: Path(path).read_bytes() for name, path in paths.items()}


def _numbers(found: Any, is_name: bool = False) -> Any:
    """Return what was printed as JSON, with None for prose."""
    if isinstance(found, dict):
        return {key: _numbers(part, key in NAMES) for key, part in found.items()}
    if isinstance(found, list):
        return [_numbers(part, is_name) for part in found]
    return None if isinstance(found, str) and not is_name else found


CALLS: dict[str, Call] = {
    "impute-csv": partial(impute_text, "csv"),
    "impute-tsv": partial(impute_text, "tsv"),
    "impute-auto": impute_auto,
    "impute-parquet": impute_typed,
    "impute-paper": impute_paper,
    "review-and-decide": review_and_decide,
    "fit-and-transform": fit_and_transform,
    "inspect": inspect_text,
    "score": score_world,
}
"""Every call of the command line, by its name."""
