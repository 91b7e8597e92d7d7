"""Whether drawn masks agree with the rows: in the network D3 is meaningful wherever D2 is.

    python -m benchmarks.coherence            # every mechanism and ratio, five seeds
    python -m benchmarks.coherence --quick    # one seed, few rows

Ten masks of the test rows each. Shown: of the cells of D2 that are drawn meaningful, those whose D3
is too (in the truth all of them); and how many cells are drawn meaningful in each column, of those
that are so. One line per world; results that are there are kept.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bayes_limit import MECHANISMS, RATIOS
from benchmarks.kept import measure_missing
from benchmarks.pages import RESULTS_PAGE, Blocks, from_csv, paragraph, result_page, show
from diffjoint import SelectiveImputer
from diffjoint.simulate import make_world

RESULTS = Path(__file__).parent / "results" / "coherence.csv"
SEEDS, N_DRAWS = range(5), 10
KEYS = ["mechanism", "ratio", "seed"]


def measure(mechanism: Any, ratio: int, seed: int, rows: int | None) -> dict[str, float]:
    """Of one world: shares in percent. Masks are drawn before values, which need not be good."""
    world = make_world(
        "bayesian-network", rows=rows, mechanism=mechanism, loss_rate=ratio / 100, seed=seed
    )
    imputer = SelectiveImputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a world may give cause for doubts
        tables = imputer.fit(world.train.observed_table).sample(world.test.observed_table, N_DRAWS)
    drawn = {name: np.stack([table[name].isna() for table in tables]) for name in world.mm_columns}
    both = (drawn["D2"] & drawn["D3"]).sum() / drawn["D2"].sum()
    truly = world.test.meaningful.sum()
    of_true = {
        name: 100 * float(cells.sum()) / N_DRAWS / max(int(truly[name]), 1)
        for name, cells in drawn.items()
    }
    return {"d3_where_d2": 100 * float(both), **of_true}


def run(seeds: range, path: Path, rows: int | None) -> pd.DataFrame:
    """Measure every world that is not in the file yet."""

    def lines(mechanism: Any, ratio: int, seed: int) -> list[dict[str, float]]:
        return [measure(mechanism, ratio, seed, rows)]

    return measure_missing(product(MECHANISMS, RATIOS, seeds), KEYS, path, lines, digits=3)


def table_of(results: pd.DataFrame) -> str:
    """One line per mechanism and ratio: over the seeds, the mean; of coherence, the worst too."""
    lines = [
        "| mechanism | ratio | D3 meaningful where D2 is | lowest seed | C1 drawn, of true "
        "| D2 | D3 |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    ]
    for mechanism, ratio in product(MECHANISMS, RATIOS):
        at = results[(results["mechanism"] == mechanism) & (results["ratio"] == ratio)]
        means = at[["C1", "D2", "D3"]].mean()
        lines.append(
            f"| {mechanism.upper()} | {ratio} | {at['d3_where_d2'].mean():.2f}% | "
            f"{at['d3_where_d2'].min():.2f}% | "
            + " | ".join(f"{mean:.0f}%" for mean in means)
            + " |\n"
        )
    return "".join(lines)


def sentence(results: pd.DataFrame) -> str:
    """Return how often drawn masks agree, in a sentence."""
    return paragraph(
        "In the network D3 is meaningful wherever D2 is. Where D2 is drawn meaningful, D3 is drawn "
        f"meaningful too in {results['d3_where_d2'].mean():.2f}% of the cells on average, and in "
        f"{results['d3_where_d2'].min():.2f}% in the lowest of {len(results)} worlds."
    )


BLOCKS: Blocks = {
    (result_page("draws"), "coherence"): from_csv(RESULTS, table_of),
    (RESULTS_PAGE, "coherence"): from_csv(RESULTS, sentence),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, few rows")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the results")
    options = parser.parse_args(arguments)
    seeds, rows = (range(1), 1_500) if options.quick else (SEEDS, None)
    table = table_of(run(seeds, options.results, rows))
    if options.results == RESULTS:
        show(BLOCKS)
    print(table)


if __name__ == "__main__":
    main()
