"""The best that can be known of the paper's network, beside what the paper reports.

    python -m benchmarks.bayes_limit            # every mechanism and ratio, five seeds
    python -m benchmarks.bayes_limit --life     # under losses of life instead
    python -m benchmarks.bayes_limit --quick    # one seed, few rows

Test rows; the posterior is exact, the network and the mechanism being known. One CSV file with a
line per mechanism, ratio and seed; the table is made from it alone. Five other seeds, on which
nothing was chosen, have a file of their own. Losses of life have one for all their seeds.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show, write
from benchmarks.published import published
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import bayes_posterior, bayesian_network

RESULTS = Path(__file__).parent / "results" / "bayes_limit.csv"
ON_HELD_OUT = RESULTS.with_name("bayes_limit_held_out.csv")
ON_LIFE = RESULTS.with_name("bayes_limit_life.csv")
MECHANISMS = ("mcar", "mar", "mnar")
RATIOS = (10, 20, 30, 40)
LIFE = ("own-rates", "break-off", "blocks", "propensity", "survey")
LIFE_RATIOS = (10, 30)
SEEDS = range(5)
HELD_OUT = range(100, 105)
"""Seeds that were not looked at when settings were chosen."""
MEASURES = {
    "ACC": 1,
    "ACC with D1": 1,
    "F1": 1,
    "best F1": 1,
    "recall": 1,
    "precision": 1,
    "AUC": 1,
    "Brier": 3,
    "RMSE": 2,
}
"""By name, and with how many digits they are shown."""


def limit(mechanism: str, ratio: int, seed: int, sizes: tuple[int, int]) -> dict[str, Any]:
    """Return the limit of one world's test rows."""
    world = bayesian_network(
        *sizes,
        mechanism=mechanism,  # type: ignore[arg-type]
        loss_rate=ratio / 100,
        seed=seed,
    ).test
    posterior = bayes_posterior(world)
    scores = mm_scores(world, posterior.calls, posterior.meaningful)
    best = mm_scores(world, posterior.calls_for_f1)
    discrete = replace(world, mm_columns=["D1", "D2", "D3"])
    return {
        "mechanism": mechanism,
        "ratio": ratio,
        "seed": seed,
        "ACC": 100 * token_accuracy(world, posterior.completed),
        "ACC with D1": 100 * token_accuracy(discrete, posterior.completed),
        "F1": 100 * scores["f1"],
        "best F1": 100 * best["f1"],
        "recall": 100 * best["recall"],
        "precision": 100 * best["precision"],
        "AUC": 100 * scores["auc"],
        "Brier": scores["brier"],
        "RMSE": lost_errors(world, posterior.completed)["rmse"],
        "drivers": " ".join(world.mechanism.drivers) if world.mechanism else "",
    }


def measure_all(worlds: Iterable[tuple[str, int, int]], sizes: tuple[int, int], path: Path) -> None:
    """Write the limits of worlds, each named by mechanism, ratio and seed, to a file."""
    results = pd.DataFrame([limit(*world, sizes) for world in worlds])
    write(path, results.round(4).to_csv(index=False))


def markdown(results: pd.DataFrame) -> str:
    """Means over seeds, with the paper's Diff-Joint beside them."""
    lines = []
    for mechanism, ratio in product(MECHANISMS, RATIOS):
        where = {"method": "diffjoint_paper", "mechanism": mechanism, "ratio": ratio}
        theirs = [published("method_comparison", name, **where) for name in ("acc", "rmse")]
        limits = _means(results, mechanism, ratio)
        lines.append([mechanism.upper(), str(ratio), *limits, *map(str, theirs)])
    return _table(["mechanism", "ratio", *MEASURES, "paper's ACC", "RMSE"], lines)


def life_markdown(results: pd.DataFrame) -> str:
    """Means over the seeds in view, under losses of life."""
    in_view = results[results["seed"].isin(SEEDS)]
    lines = [
        [mechanism, str(ratio), *_means(in_view, mechanism, ratio)]
        for mechanism, ratio in product(LIFE, LIFE_RATIOS)
    ]
    return _table(["mechanism", "ratio", *MEASURES], lines)


def _means(results: pd.DataFrame, mechanism: str, ratio: int) -> list[str]:
    """Every measure over the seeds of one mechanism and ratio, as shown."""
    cell = results[(results["mechanism"] == mechanism) & (results["ratio"] == ratio)]
    means = cell[[*MEASURES]].mean()
    return [
        "not run" if cell.empty else f"{means[name]:.{digits}f}"
        for name, digits in MEASURES.items()
    ]


def _table(heads: list[str], lines: list[list[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


BLOCKS: Blocks = {
    (result_page("limit"), "bayes_limit"): from_csv(RESULTS, markdown),
    (result_page("limit"), "bayes_limit_life"): from_csv(ON_LIFE, life_markdown),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--life", action="store_true", help="losses of life, in their own file")
    parser.add_argument("--quick", action="store_true", help="one seed, few rows")
    parser.add_argument("--results", type=Path, help="where results go")
    options = parser.parse_args(arguments)
    full = ON_LIFE if options.life else RESULTS
    seeds, sizes = (range(1), (70, 300)) if options.quick else (SEEDS, (14_000, 6_000))
    path = options.results or (quick_path(full) if options.quick else full)
    if options.life:
        all_seeds = seeds if options.quick else (*SEEDS, *HELD_OUT)
        measure_all(product(LIFE, LIFE_RATIOS, all_seeds), sizes, path)
        made = life_markdown(pd.read_csv(path))
    else:
        measure_all(product(MECHANISMS, RATIOS, seeds), sizes, path)
        if path == RESULTS:
            measure_all(product(MECHANISMS, RATIOS, HELD_OUT), sizes, ON_HELD_OUT)
        made = markdown(pd.read_csv(path))
    if path == full:
        show(BLOCKS)
    print(made)


if __name__ == "__main__":
    main()
