"""What is lost by learning from some rows of a large dataset: fits compared on rows that none saw.

    python -m benchmarks.scale_fit --rows 1000000 --seeds 2

The stand-in for emergency stays. One fit has a table of as many rows as the paper's in memory; the
other chooses its rows from a folder of Parquet files. Both are scored on the same further tables:
how far these differ from each other is the noise that differences are to be seen against.
Seeds whose scores on as many rows are in the results already are not run again.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from benchmarks import pages
from benchmarks.scale import FOLDER, SCALE_PAGE, make_table
from diffjoint import SelectiveImputer
from diffjoint.engines import fit_dataset
from diffjoint.metrics import lost_accuracy, lost_errors, mm_scores
from diffjoint.simulate import World, mimic_like

RESULTS = Path(__file__).parent / "results" / "scale_fit.csv"
PAPER_ROWS = 353_150
"""Rows of the paper's largest table."""
HELD_OUT_ROWS, HELD_OUT = 20_000, (900_000_001, 900_000_002, 900_000_003)
"""Tables to score on: their rows and seeds."""
IN_MEMORY, DATASET = "a table in memory", "a folder of files"
SCORES = {
    "f1": "F1 of calls",
    "auc": "AUC of calls",
    "brier": "Brier score",
    "right": "lost levels right",
    "standardised_rmse": "RMSE of lost numbers, in standard deviations",
}


Fit = Callable[[], SelectiveImputer]


def new_imputer(world: World, seed: int) -> SelectiveImputer:
    return SelectiveImputer(
        world.mm_columns, column_kinds=world.column_kinds, random_state=seed, unseen="keep"
    )


def fits(folder: Path, n_rows: int, n_few: int, seed: int) -> Iterator[tuple[str, int, Fit]]:
    """Yield where is learnt from, of how many rows, and what fits an imputer."""
    world = mimic_like(n_few, seed=1_000 + seed)
    yield IN_MEMORY, n_few, lambda: new_imputer(world, seed).fit(world.observed_table)
    source = make_table(folder, n_rows)
    yield DATASET, n_rows, lambda: fit_dataset(new_imputer(world, seed), source)


def score(imputer: SelectiveImputer, world: World) -> dict[str, float]:
    """Score calls and values on a table."""
    result = imputer.impute(world.observed_table)
    calls = mm_scores(world, result.meaningful, result.probability)
    values = {"right": lost_accuracy(world, result.table), **lost_errors(world, result.table)}
    scores = {**calls, **values}
    return {name: scores[name] for name in SCORES}


def measure(folder: Path, n_rows: int, n_few: int, seeds: range) -> Iterator[dict[str, object]]:
    """Fit in both ways, and score each fit on each of the further tables."""
    worlds = {seed: mimic_like(HELD_OUT_ROWS, seed=seed) for seed in HELD_OUT}
    for seed in seeds:
        for learnt, of_rows, fit in fits(folder, n_rows, n_few, seed):
            start = time.perf_counter(), time.process_time()
            imputer = fit()
            seconds, processor = time.perf_counter() - start[0], time.process_time() - start[1]
            used = {"seconds": seconds, "processor": processor}
            for held_out, world in worlds.items():
                about = {"learnt": learnt, "rows": of_rows, "seed": seed, "held_out": held_out}
                yield {**about, **used, **score(imputer, world)}


def show_fits(lines: pd.DataFrame) -> str:
    """Return the table of scores, and how they differ."""
    names = list(SCORES)
    text = f"| learnt from | rows | {' | '.join(SCORES.values())} | fit, processor |\n"
    text += f"|---|---|{'---|' * len(SCORES)}---|\n"
    for (learnt, n_rows), own in lines.groupby(["learnt", "rows"], sort=False):
        shown = " | ".join(f"{value:.4f}" for value in own[names].mean())
        text += f"| {learnt} | {n_rows:,} | {shown} | {own['processor'].mean():,.0f} s |\n"
    places = ["seed", "held_out"]
    few, many = (lines[lines["learnt"] == one].set_index(places) for one in (IN_MEMORY, DATASET))
    gaps = (many[names] - few[names]).mean()
    spread = few.groupby("seed")[names].std().mean()
    said = [
        f"{SCORES[name]} {gaps[name]:+.4f} (tables differ by {spread[name]:.4f})" for name in names
    ]
    return f"{text}\n" + pages.paragraph(
        f"Means over {len(few)} scores on {HELD_OUT_ROWS:,} rows that no fit saw. Differences of "
        f"the second line from the first, and the standard deviation from one such table to the "
        f"next: {'; '.join(said)}."
    )


BLOCKS: pages.Blocks = {(SCALE_PAGE, "scale fit"): pages.from_csv(RESULTS, show_fits)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--few-rows", type=int, default=PAPER_ROWS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    earlier = kept_scores(given.rows, given.few_rows)
    for seed in range(given.seeds):
        if seed in earlier["seed"].to_numpy():
            continue
        lines = pd.DataFrame(
            measure(given.folder, given.rows, given.few_rows, range(seed, seed + 1))
        )
        print(lines.to_string(), flush=True)
        earlier = pd.concat([earlier, lines])
        pages.write(RESULTS, earlier.to_csv(index=False))
    pages.show(BLOCKS)


def kept_scores(n_rows: int, n_few: int) -> pd.DataFrame:
    """Return the scores in the results that are of tables of these sizes."""
    if not RESULTS.exists():
        return pd.DataFrame({"seed": []})
    scores = pd.read_csv(RESULTS)
    return scores[scores["rows"].isin({n_rows, n_few})]


if __name__ == "__main__":
    main()
