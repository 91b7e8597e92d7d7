"""How well lost cells are recognised, with and without true labels: one line per world and method.

Shared by :mod:`benchmarks.real_losses`, where cells got lost in life, and
:mod:`benchmarks.life_losses`, where they are lost as in life.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.calls import FOLDER, fit_on_train
from benchmarks.calls_columns import CLEARLY, beside_one_answer
from benchmarks.kept import measure_missing
from benchmarks.pages import Blocks, show
from benchmarks.taught import TaughtClassifier
from diffjoint.metrics import lost_scores, mm_scores, token_accuracy
from diffjoint.simulate import World, make_world

KEYS = ["world", "mechanism", "ratio", "seed", "method"]
ITS_OWN, OWN_RATIO = "its own", 0
"""The mechanism and the ratio that stand for losses that a table came with."""
DIFFJOINT, TAUGHT = "diffjoint", "taught"
QUICK_ROWS = 1_000
NOT_RUN = "not run"

Place = tuple[str, str, int, int, str]


@dataclass(frozen=True)
class Calls:
    """What a method says of the test rows.

    Attributes
    ----------
    meaningful : bool DataFrame
    probability : DataFrame
        P(meaningful).
    table : DataFrame or None
        The completed rows; None if the method has no values.
    fit_seconds : float
        Seconds of processor time that learning from the train rows took.
    """

    meaningful: pd.DataFrame
    probability: pd.DataFrame
    table: pd.DataFrame | None
    fit_seconds: float


def call_by_diffjoint(world: World) -> Calls:
    """Return the default, told which columns may hold meaningful cells."""
    start = time.process_time()
    imputer = fit_on_train(world)
    seconds = time.process_time() - start
    result = imputer.impute(world.test.observed_table)
    return Calls(result.meaningful, result.probability, result.table, seconds)


def call_by_taught(world: World) -> Calls:
    """Return a classifier that is given the true kinds of the train rows' missing cells."""
    start = time.process_time()
    classifier = TaughtClassifier().fit(world)
    seconds = time.process_time() - start
    likely = classifier.probability(world)
    return Calls(likely > 0.5, likely, None, seconds)


METHODS: dict[str, Callable[[World], Calls]] = {
    DIFFJOINT: call_by_diffjoint,
    TAUGHT: call_by_taught,
}


def score(test: World, calls: Calls) -> dict[str, float]:
    """Scores on test rows; all but Brier's, counts and seconds in percent."""
    lost = lost_scores(test, calls.meaningful, calls.probability)
    overall = mm_scores(test, calls.meaningful, calls.probability)
    acc = float("nan") if calls.table is None else token_accuracy(test, calls.table)
    shares = ("lost_found", "lost_precision", "mean_column_auc", "meaningful_recall")
    return {
        **{name: 100 * lost[name] for name in shares},
        "auc": 100 * overall["auc"],
        "acc": 100 * acc,
        "n_columns_scored": lost["n_columns_scored"],
        "n_below": n_clearly_below(test, calls.meaningful),
        "brier": overall["brier"],
        "fit_seconds": calls.fit_seconds,
    }


def n_clearly_below(test: World, meaningful: pd.DataFrame) -> int:
    """How many searched columns are clearly worse off than with one answer for all their cells."""
    scored = test.meaningful | test.lost
    z = [
        beside_one_answer(test.meaningful[name][scored[name]], meaningful[name][scored[name]])["z"]
        for name in test.mm_columns
        if scored[name].any()
    ]
    return int(sum(value < CLEARLY for value in z))


def measure(
    name: str, mechanism: Any, ratio: int, seed: int, method: str, *, rows: int | None = None
) -> list[dict[str, float]]:
    """Make the world of a place and score its test rows."""
    losses = {} if mechanism == ITS_OWN else {"mechanism": mechanism, "loss_rate": ratio / 100}
    world = make_world(name, rows=rows, seed=seed, **losses)
    return [score(world.test, METHODS[method](world))]


def results_at(results: pd.DataFrame, **place: Any) -> pd.DataFrame | None:
    """Return the lines of a place, which need not name every key; None if it was not run."""
    at = (results[list(place)] == list(place.values())).all(axis=1)
    return results[at] if at.any() else None


def make_parser(about: str | None) -> argparse.ArgumentParser:
    """Return the options that both measurements have."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="the network alone, few rows")
    parser.add_argument("--only", help="one world")
    parser.add_argument(
        "--methods", default=",".join(METHODS), help="which methods, with commas between them"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many worlds at once")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the results")
    return parser


def parse(parser: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    """Parse the options; refuse methods that there are not."""
    options = parser.parse_args(arguments)
    options.methods = options.methods.split(",")
    if unknown := [name for name in options.methods if name not in METHODS]:
        parser.error(f"--methods: there is {', '.join(METHODS)}; got {', '.join(unknown)}.")
    return options


def run(
    about: str | None,
    arguments: list[str] | None,
    name: str,
    *,
    places: Callable[[Sequence[str]], Sequence[Place]],
    quick: tuple[str, str, int, int],
    section: Callable[[Path], str],
    blocks: Blocks,
) -> None:
    """Measure what is not in the result file yet, show it on its pages and print it.

    Parameters
    ----------
    about : str
        What the command says of itself.
    name : str
        Of the result file.
    places : callable
        Returns what is measured by some methods.
    quick : tuple
        The one place of a small version.
    section : callable
        Returns the text to print, given the folder of the results.
    """
    options = parse(make_parser(about), arguments)
    wanted, rows = places(options.methods), None
    if options.quick:
        wanted, rows = [(*quick, method) for method in options.methods], QUICK_ROWS
    chosen = [place for place in wanted if options.only in (None, place[0])]
    path = options.results / f"{name}.csv"
    measure_missing(chosen, KEYS, path, partial(measure, rows=rows), jobs=options.jobs)
    shown = section(options.results)
    if options.results == FOLDER and not options.quick:
        show(blocks)
    print(shown)
