"""Whether calls help in every column: beside "all are meaningful" and "none is".

    python -m benchmarks.calls_columns                   # real tables, 10 and 30% lost at random
    python -m benchmarks.calls_columns --only thyroid-disease
    python -m benchmarks.calls_columns --quick           # the network alone, few rows

One line per world and searched column, on test rows; results that are there are kept. As in
benchmarks.calls, the diffusion model is trained as little as it can be. Tables whose cells got lost
in life are in benchmarks.real_losses.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.calls import FOLDER, PAGE, TABLES, calls_on_test
from benchmarks.kept import measure_missing
from benchmarks.pages import Blocks, from_csv, show
from diffjoint.simulate import World, make_world

KEYS = ["world", "ratio"]
CELLS = list(product((name for name, _ in TABLES), (10, 30)))
CLEARLY = -3.0
"""Standard errors below which a column is clearly worse off than with one answer for all."""
N_WORST = 5
RESULTS = FOLDER / "calls_columns.csv"


def compare(world: World) -> list[dict[str, Any]]:
    """Each searched column's calls beside one answer for all."""
    test, result = world.test, calls_on_test(world)
    missing = test.meaningful | test.lost
    return [
        {
            "column": name,
            **beside_one_answer(test.meaningful[name][at], result.meaningful[name][at]),
        }
        for name, at in ((name, missing[name]) for name in world.mm_columns)
    ]


def beside_one_answer(truly: pd.Series, called: pd.Series) -> dict[str, float]:
    """Accuracy in percent of the calls, of both single answers; z of calls less the better one.

    z is of the paired difference: cells that one has right and the other wrong, McNemar's test.
    """
    truth, calls = truly.to_numpy(dtype=bool), called.to_numpy(dtype=bool)
    right = calls == truth
    best = truth if truth.mean() >= 0.5 else ~truth
    won, lost = int((right & ~best).sum()), int((~right & best).sum())
    return {
        "n_missing": len(truth),
        "calls": 100 * right.mean(),
        "all_meaningful": 100 * truth.mean(),
        "none_meaningful": 100 * (~truth).mean(),
        "z": (won - lost) / np.sqrt(won + lost) if won + lost else 0.0,
    }


def run(cells: list[tuple[str, int]], folder: Path, rows: int | None) -> pd.DataFrame:
    """Measure every world that is not in the file yet."""

    def lines(name: str, ratio: int) -> list[dict[str, Any]]:
        return compare(make_world(name, rows=rows, loss_rate=ratio / 100))

    return measure_missing(cells, KEYS, folder / "calls_columns.csv", lines)


def columns_table(results: pd.DataFrame) -> str:
    """How many columns are below one answer for all; then the worst of them."""
    lines = [
        "| table | ratio | columns | below the better answer | clearly below | mean gain |\n",
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    for name, ratio in CELLS:
        at = (results[KEYS] == [name, ratio]).all(axis=1)
        start = f"| {name} | {ratio} |"
        if not at.any():
            lines.append(f"{start} not run | | | |\n")
            continue
        here = results[at]
        lines.append(
            f"{start} {len(here)} | {(here['z'] < 0).sum()} | {(here['z'] < CLEARLY).sum()} | "
            f"{_gain(here).mean():+.1f} |\n"
        )
    n_clearly = int((results["z"] < CLEARLY).sum())
    total = f"\nClearly below the better answer: {n_clearly} of {len(results)} columns.\n"
    return "".join([*lines, total, _worst_table(results[results["z"] < 0])])


def _worst_table(below: pd.DataFrame) -> str:
    if below.empty:
        return "\nNo column is below.\n"
    lines = [
        "\nThe columns farthest below, by z:\n\n",
        "| table | ratio | column | missing cells | calls | all | none | z |\n",
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for row in below.nsmallest(N_WORST, "z").to_dict("records"):
        lines.append(
            f"| {row['world']} | {row['ratio']} | {row['column']} | "
            f"{row['n_missing']:,} | {row['calls']:.1f} | {row['all_meaningful']:.1f} | "
            f"{row['none_meaningful']:.1f} | {row['z']:.1f} |\n"
        )
    return "".join(lines)


def _gain(results: pd.DataFrame) -> pd.Series:
    """Accuracy beyond the better of the two single answers, in points."""
    return results["calls"] - results[["all_meaningful", "none_meaningful"]].max(axis=1)


BLOCKS: Blocks = {(PAGE, "calls_columns"): from_csv(RESULTS, columns_table)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the network alone, few rows")
    parser.add_argument("--only", help="one world")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the results")
    options = parser.parse_args(arguments)
    cells = [("bayesian-network", 10)] if options.quick else CELLS
    chosen = [cell for cell in cells if options.only in (None, cell[0])]
    results = run(chosen, options.results, 3_000 if options.quick else None)
    if options.results == FOLDER:
        show(BLOCKS)
    print(columns_table(results))


if __name__ == "__main__":
    main()
