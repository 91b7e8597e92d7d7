"""Is the Bayes limit the limit? Calibrated on a million rows, and beaten by nothing.

    python -m benchmarks.check_limit            # every mechanism and ratio
    python -m benchmarks.check_limit --quick    # few rows

The opponent is boosted trees that learn from true states, which no imputer gets to see: if the
limit were too low, they would pass it.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.bayes_limit import MECHANISMS, RATIOS
from benchmarks.pages import Blocks, from_csv, result_page, show, write
from diffjoint.simulate import Posterior, World, bayes_posterior, bayesian_network

RESULTS = Path(__file__).parent / "results" / "check_limit.csv"
SEED = 100
N_BANDS = 20
FEWEST = 500
Array = NDArray[np.float64]


def calibration(world: World, posterior: Posterior) -> dict[str, float]:
    """Return the largest distance of said and found shares, in standard errors."""
    scores = []
    for name in world.mm_columns:
        missing = world.observed_table[name].isna()
        said = posterior.meaningful.loc[missing, name].to_numpy()
        truly = world.meaningful.loc[missing, name].to_numpy(dtype=float)
        bands = np.minimum((said * N_BANDS).astype(int), N_BANDS - 1)
        for band in np.unique(bands):
            inside = bands == band
            spread = np.sqrt((said[inside] * (1 - said[inside])).sum())
            if inside.sum() >= FEWEST and spread > 1:
                scores.append(abs((truly[inside] - said[inside]).sum()) / spread)
    by_chance = norm.ppf(0.5 + 0.5 * 0.95 ** (1 / max(1, len(scores))))
    return {"bands": len(scores), "largest_z": max(scores, default=np.nan), "by_chance": by_chance}


def against_trees(train: World, test: World, posterior: Posterior) -> dict[str, float]:
    """Trees minus limit, with standard errors: ACC (points), Brier score, RMSE."""
    found: dict[str, float] = {}
    right, brier = [], []
    for name in ("D2", "D3"):
        missing = test.observed_table[name].isna()
        guess, p_na = _trees_on_states(train, test, name)
        state = test.truth.loc[missing, name].fillna(-1).to_numpy()
        limit = posterior.completed.loc[missing, name].fillna(-1).to_numpy()
        right.append((guess == state).astype(float) - (limit == state))
        truly = state == -1
        said = posterior.meaningful.loc[missing, name].to_numpy()
        brier.append((p_na - truly) ** 2 - (said - truly) ** 2)
    found |= _with_error("ACC", 100 * np.concatenate(right))
    found |= _with_error("Brier", np.concatenate(brier))
    lost = test.lost["C2"].to_numpy()
    if lost.any():
        truth = test.truth.loc[lost, "C2"].to_numpy()
        trees = _trees_on_c2(train, test) - truth
        best = posterior.mean.loc[lost, "C2"].to_numpy() - truth
        scale = 2 * np.sqrt((best**2).mean())
        found |= _with_error("RMSE", (trees**2 - best**2) / scale)
    return found


def _trees_on_states(train: World, test: World, name: str) -> tuple[Array, Array]:
    """Learn from true states the likeliest state of each missing test cell, and P(NA)."""
    seen, states = train.observed_table, train.truth[name].fillna(-1)
    missing = seen[name].isna()
    trees = HistGradientBoostingClassifier(learning_rate=0.05, max_iter=300, random_state=0)
    trees.fit(seen[missing].drop(columns=name), states[missing])
    rows = test.observed_table[test.observed_table[name].isna()].drop(columns=name)
    probability = trees.predict_proba(rows)
    return trees.classes_[probability.argmax(axis=1)], probability[:, 0]


def _trees_on_c2(train: World, test: World) -> Array:
    trees = HistGradientBoostingRegressor(learning_rate=0.05, max_iter=300, random_state=0)
    lost = train.lost["C2"]
    trees.fit(train.observed_table[lost].drop(columns="C2"), train.truth.loc[lost, "C2"])
    guess: Array = trees.predict(test.observed_table[test.lost["C2"]].drop(columns="C2"))
    return guess


def _with_error(name: str, differences: Array) -> dict[str, float]:
    error = differences.std() / np.sqrt(len(differences))
    return {name: differences.mean(), f"{name}_error": error}


def check(mechanism: str, ratio: int, sizes: tuple[int, int]) -> dict[str, Any]:
    """Both checks under one mechanism and ratio."""
    world = bayesian_network(
        *sizes,
        mechanism=mechanism,  # type: ignore[arg-type]
        loss_rate=ratio / 100,
        seed=SEED,
    )
    test = world.test
    posterior = bayes_posterior(test)
    calibrated = calibration(test, posterior)
    return {
        "mechanism": mechanism,
        "ratio": ratio,
        **calibrated,
        **against_trees(world.train, test, posterior),
    }


def markdown(results: pd.DataFrame) -> str:
    lines = [
        "| mechanism | ratio | bands | largest z | by chance | ACC | Brier | RMSE |\n",
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for row in results.to_dict("records"):
        gaps = " | ".join(
            f"{row[name]:+.{digits}f} ± {row[f'{name}_error']:.{digits}f}"
            if pd.notna(row[name])
            else "C2 is never lost"
            for name, digits in (("ACC", 2), ("Brier", 5), ("RMSE", 4))
        )
        lines.append(
            f"| {row['mechanism'].upper()} | {row['ratio']} | {row['bands']} | "
            f"{row['largest_z']:.2f} | {row['by_chance']:.2f} | {gaps} |\n"
        )
    return "".join(lines)


BLOCKS: Blocks = {(result_page("limit"), "check_limit"): from_csv(RESULTS, markdown)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results go")
    options = parser.parse_args(arguments)
    sizes = (1_000, 2_000) if options.quick else (200_000, 1_000_000)
    results = pd.DataFrame([check(*cell, sizes) for cell in product(MECHANISMS, RATIOS)])
    write(options.results, results.round(6).to_csv(index=False))
    made = markdown(pd.read_csv(options.results))
    if options.results == RESULTS:
        show(BLOCKS)
    print(made)


if __name__ == "__main__":
    main()
