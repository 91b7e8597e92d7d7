"""Are regressions on draws right? Worlds with known coefficients, some of whose cells get lost.

Seven columns: five numbers, one of them skewed, and two categories, each related to the others. A
fifth of the cells gets lost at random (mcar), or in five columns by what the other two hold (mar),
or at random where the truth has an interaction that no one is told of (interaction). The
regression is made on the table before anything was lost, on complete rows, and on draws by trees,
by chained equations with the defaults of R's mice (benchmarks.chained) and by miceforest, pooled.

    python -m benchmarks.regressions                          # 40 worlds of 1,000 rows; an hour
    python -m benchmarks.regressions --ways trees --worlds 10
    python -m benchmarks.regressions --quick                  # seconds, for tests

Results that are there are kept, so that a run that was interrupted goes on.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import t as student

from benchmarks.chained import chain
from benchmarks.kept import measure_missing
from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show
from diffjoint import SelectiveImputer, pool

RESULTS = Path(__file__).parent / "results" / "regressions.csv"
VARIANTS = ("mcar", "mar", "interaction")
KEYS = ("variant", "way", "seed")
N_WORLDS, N_ROWS, N_DRAWS, LOST, LOST_BY_OTHERS = 40, 1_000, 10, 0.2, 0.28
MIX = np.array([[1, 0, 0, 0], [0.5, 0.8, 0, 0], [0.4, 0.3, 0.8, 0], [0.3, 0.3, 0.2, 0.85]])
TRUTH = {
    "constant": 1.0,
    "x1": 0.5,
    "x2": -0.4,
    "x3": 0.4,
    "x4": 0.3,
    "b": 0.6,
    "c = B": 0.5,
    "c = C": -0.5,
}
INTERACTION = 0.5
"""Of x1 and x3, in the third variant."""
Numbers = NDArray[np.float64]


def truth_of(variant: str) -> dict[str, float]:
    """Return the coefficients of a variant."""
    return TRUTH | ({"x1 x3": INTERACTION} if variant == "interaction" else {})


def make_table(variant: str, seed: int, n_rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a table as it is and as observed."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4)) @ MIX.T
    x[:, 1] = np.exp(0.5 * x[:, 1])
    b = rng.random(n_rows) < expit(x[:, 0] - 0.3 * x[:, 2])
    scores = np.column_stack([np.zeros(n_rows), 0.8 * x[:, 1] - 0.8, 0.7 * x[:, 2]])
    c = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    table = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4"])
    table["b"], table["c"] = np.where(b, "yes", "no"), np.array(["A", "B", "C"])[c]
    table["y"] = design(table, variant) @ np.array([*truth_of(variant).values()])
    table["y"] += rng.normal(size=n_rows)
    if variant != "mar":
        return table, table.mask(rng.random(table.shape) < LOST)
    lost = np.zeros(table.shape, dtype=bool)
    for name in ("y", "x2", "x3", "b", "c"):
        weights = rng.normal(size=2)
        by_others = 1.2 * x[:, [0, 3]] @ weights / np.linalg.norm(weights)
        rate = expit(by_others + _shift(by_others))
        lost[:, table.columns.get_loc(name)] = rng.random(n_rows) < rate
    return table, table.mask(lost)


def _shift(scores: Numbers) -> float:
    """Return what to add to log odds so that the wanted share is lost."""
    shifts = np.linspace(-6, 4, 1_001)
    rates = np.array([expit(scores + shift).mean() for shift in shifts])
    return float(shifts[np.abs(rates - LOST_BY_OTHERS).argmin()])


def design(table: pd.DataFrame, variant: str) -> Numbers:
    """Return the regressors of a complete table."""
    columns: list[Any] = [
        np.ones(len(table)),
        *(table[name].to_numpy(float) for name in ("x1", "x2", "x3", "x4")),
        table["b"] == "yes",
        table["c"] == "B",
        table["c"] == "C",
    ]
    if variant == "interaction":
        columns.append(columns[1] * columns[3])
    return np.column_stack(columns).astype(float)


def regress(table: pd.DataFrame, variant: str) -> tuple[Numbers, Numbers]:
    """Return coefficients and their variances by least squares."""
    regressors, y = design(table, variant), table["y"].to_numpy(float)
    inverse = np.linalg.inv(regressors.T @ regressors)
    found = inverse @ regressors.T @ y
    left = y - regressors @ found
    return found, np.diag(inverse) * (left @ left) / (len(y) - len(found))


def by_trees(observed: pd.DataFrame, n_draws: int, seed: int) -> list[pd.DataFrame]:
    """Draw tables by the default."""
    drawn: list[pd.DataFrame] = (
        SelectiveImputer([], random_state=seed).fit(observed).sample(observed, n_draws)
    )
    return drawn


def by_miceforest(observed: pd.DataFrame, n_draws: int, seed: int) -> list[pd.DataFrame]:
    """Draw tables by miceforest at its defaults, five rounds."""
    miceforest = import_module("miceforest")
    coded = observed.astype({"b": "category", "c": "category"})
    kernel = miceforest.ImputationKernel(coded, num_datasets=n_draws, random_state=seed)
    kernel.mice(5)
    return [kernel.complete_data(k) for k in range(n_draws)]


DRAWS: dict[str, Callable[[pd.DataFrame, int, int], list[pd.DataFrame]]] = {
    "trees": by_trees,
    "chained equations": chain,
    "miceforest": by_miceforest,
}
WAYS = ("whole table", "complete rows", *DRAWS)


def measure(
    variant: str, way: str, seed: int, *, n_rows: int = N_ROWS, n_draws: int = N_DRAWS
) -> list[dict[str, Any]]:
    """Return estimate, standard error and interval of each coefficient in one world."""
    whole, observed = make_table(variant, seed, n_rows)
    names, start = truth_of(variant), time.process_time()
    if way in DRAWS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small tables give cause for doubts
            drawn = DRAWS[way](observed, n_draws, seed)
        fits = [regress(table, variant) for table in drawn]
        pooled = pool(*map(list, zip(*fits, strict=True)), dof_complete=n_rows - len(names))
        found, error, ends = pooled.estimate, pooled.standard_error, pooled.interval()
    else:
        table = whole if way == "whole table" else observed.dropna()
        found, variances = regress(table, variant)
        error = np.sqrt(variances)
        reach = student.ppf(0.975, len(table) - len(names)) * error
        ends = found - reach, found + reach
    parts = (np.asarray(part) for part in (found, error, *ends))
    seconds = time.process_time() - start
    return [
        {
            "coefficient": name,
            "truth": truth,
            "estimate": estimate,
            "standard_error": standard_error,
            "low": low,
            "high": high,
            "seconds": seconds,
        }
        for (name, truth), estimate, standard_error, low, high in zip(
            names.items(), *parts, strict=True
        )
    ]


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, mean absolute bias in standard errors, width and time of each way."""
    lines = results.assign(
        covered=results["low"].le(results["truth"]) & results["truth"].le(results["high"]),
        error=results["estimate"] - results["truth"],
        width=results["high"] - results["low"],
    )
    by = ["variant", "way", "coefficient"]
    each = lines.groupby(by, sort=False)[
        ["covered", "error", "standard_error", "width", "seconds"]
    ].mean()
    each["bias"] = each["error"].abs() / each["standard_error"]
    n_worlds = results.groupby(["variant", "way"], sort=False)["seed"].nunique()
    means = each.groupby(["variant", "way"], sort=False)[["covered", "bias", "width", "seconds"]]
    return means.mean().assign(n_worlds=n_worlds)


def markdown(results: pd.DataFrame) -> str:
    """Return the summary as a table of a page."""
    rows = [
        "| variant | regression on | worlds | intervals that hold the truth | mean bias, in "
        "standard errors | width | CPU seconds |\n",
        "| --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for row in summary(results).reset_index().to_dict("records"):
        way = row["way"] if row["way"] not in DRAWS else f"draws by {row['way']}"
        rows.append(
            f"| {row['variant']} | {way} | {row['n_worlds']} | {100 * row['covered']:.1f}% | "
            f"{row['bias']:.2f} | {row['width']:.3f} | {row['seconds']:.1f} |\n"
        )
    return "".join(rows)


BLOCKS: Blocks = {(result_page("draws"), "regressions"): from_csv(RESULTS, markdown)}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="two small worlds, for tests")
    parser.add_argument("--worlds", type=int, default=N_WORLDS)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    path, n_worlds, one = asked.results, asked.worlds, measure
    if asked.quick:
        path, n_worlds, one = quick_path(path), 2, partial(measure, n_rows=200, n_draws=3)
    wanted = [
        (variant, way, seed)
        for seed in range(n_worlds)
        for variant in asked.variants
        for way in asked.ways
    ]
    results = measure_missing(wanted, KEYS, path, one, digits=6, jobs=asked.jobs)
    if path == RESULTS:
        show(BLOCKS)
    print(markdown(results))


if __name__ == "__main__":
    main()
