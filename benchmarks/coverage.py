"""Do 95% intervals of pooled draws cover the truth? Many small worlds with known coefficients.

In each world a regression is made three times: on the table before anything was lost, on the rows
that are still complete, and on drawn tables, pooled. What is left out in the complete rows, or too
sure in the draws, shows in how often the interval holds the truth, and in how wide it is.

    python -m benchmarks.coverage            # some minutes
    python -m benchmarks.coverage --quick    # a few seconds, for tests
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

from benchmarks.imputers import new_imputer
from benchmarks.pages import RESULTS_PAGE, USING, Blocks, from_csv, result_page, show, write
from diffjoint import Pooled, pool

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
N_WORLDS, N_ROWS, N_DRAWS, LOST = 30, 300, 10, 0.2
MECHANISMS = ("mcar", "mar")
TRUTH = {"intercept": 2.0, "age": 0.5, "smoker": 1.0, "pack_years": 0.8}
"""Of the illness score; pack_years counts for smokers alone."""


def make_table(n_rows: int, seed: int, mechanism: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a table as it is and as observed: lost at random, or by what is seen of age.

    ``pack_years`` is meaningful for those who never smoked.
    """
    rng = np.random.default_rng(seed)
    age = rng.normal(0, 1, n_rows)
    smoker = rng.random(n_rows) < 1 / (1 + np.exp(-0.5 * age))
    pack_years = np.where(smoker, 1 + 0.5 * age + rng.normal(0, 1, n_rows), np.nan)
    score = (
        TRUTH["intercept"]
        + TRUTH["age"] * age
        + TRUTH["smoker"] * smoker
        + TRUTH["pack_years"] * np.nan_to_num(pack_years)
        + rng.normal(0, 1, n_rows)
    )
    whole = pd.DataFrame(
        {
            "age": age,
            "smoker": np.where(smoker, "yes", "no"),
            "pack_years": pack_years,
            "score": score,
        }
    )
    lost = rng.random(whole.shape) < LOST
    if mechanism == "mar":
        rate = 2 * LOST / (1 + np.exp(-1.5 * age))
        lost = rng.random(whole.shape) < rate[:, None]
        lost[:, 0] = False
    return whole, whole.mask(lost)


def regress(table: pd.DataFrame) -> Any:
    """Return the score by age, smoking and pack years: zero for those who never smoked."""
    design = pd.DataFrame(
        {
            "intercept": 1.0,
            "age": table["age"],
            "smoker": (table["smoker"] == "yes").astype(float),
            "pack_years": table["pack_years"].where(table["smoker"] == "yes", 0.0),
        }
    )
    rows = design.notna().all(axis=1) & table["score"].notna() & table["smoker"].notna()
    return sm.OLS(table.loc[rows, "score"], design[rows]).fit()


def pooled(observed: pd.DataFrame, n_draws: int, seed: int, **settings: Any) -> Pooled:
    """Fit the regression on drawn tables and pool by Rubin's rules."""
    imputer = new_imputer(["pack_years"], random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a small table gives cause for doubts
        tables = imputer.fit(observed).sample(observed, n_draws)
    fits = [regress(table) for table in tables]
    estimates = np.array([fit.params.to_numpy() for fit in fits])
    variances = np.array([fit.bse.to_numpy() ** 2 for fit in fits])
    return pool(estimates, variances, dof_complete=len(observed) - len(TRUTH))


def measure(
    n_worlds: int, n_rows: int, n_draws: int, mechanisms: Sequence[str], **settings: Any
) -> Iterator[dict[str, Any]]:
    """Estimate, standard error and interval of each coefficient, in each world and each way."""
    for seed in range(n_worlds):
        for mechanism in mechanisms:
            whole, observed = make_table(n_rows, seed, mechanism)
            drawn = pooled(observed, n_draws, seed, **settings)
            ways = {"complete table": regress(whole), "complete rows": regress(observed)}
            parts = {
                way: (fit.params.to_numpy(), fit.bse.to_numpy(), fit.conf_int().to_numpy().T)
                for way, fit in ways.items()
            }
            parts["drawn tables"] = (drawn.estimate, drawn.standard_error, drawn.interval())
            for way, (estimate, error, (low, high)) in parts.items():
                for k, (name, truth) in enumerate(TRUTH.items()):
                    yield {
                        "mechanism": mechanism,
                        "way": way,
                        "coefficient": name,
                        "seed": seed,
                        "truth": truth,
                        "estimate": estimate[k],
                        "standard_error": error[k],
                        "low": low[k],
                        "high": high[k],
                        "covers": bool(low[k] <= truth <= high[k]),
                    }


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """By mechanism, way and coefficient: coverage, bias, said and found standard error."""
    groups = results.groupby(["mechanism", "way", "coefficient"], sort=False)
    return pd.DataFrame(
        {
            "coverage": groups["covers"].mean(),
            "bias": groups["estimate"].mean() - groups["truth"].mean(),
            "said_error": groups["standard_error"].mean(),
            "found_error": groups["estimate"].std(),
            "n_worlds": groups.size(),
        }
    )


def markdown(results: pd.DataFrame) -> str:
    """Return the summary as a table of a page."""
    lines = [
        "| losses | regression on | coefficient | covered | bias | standard error, claimed "
        "| found |\n",
        "| --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for row in summary(results).reset_index().to_dict("records"):
        lines.append(
            f"| {row['mechanism'].upper()} | {row['way']} | {row['coefficient']} | "
            f"{row['coverage']:.0%} | {row['bias']:+.3f} | {row['said_error']:.3f} | "
            f"{row['found_error']:.3f} |\n"
        )
    return "".join(lines)


def sentence(results: pd.DataFrame) -> str:
    """How often intervals of pooled draws hold the truth, by coefficient."""
    covered = summary(results).xs("drawn tables", level="way")["coverage"]
    return (
        f"Intervals at 95% hold it in {covered.min():.0%} to {covered.max():.0%} of the worlds, by "
        "coefficient.\n"
    )


BLOCKS: Blocks = {
    (result_page("draws"), "coverage"): from_csv(RESULTS, markdown),
    (RESULTS_PAGE, "coverage"): from_csv(RESULTS, sentence),
    (USING, "coverage"): from_csv(RESULTS, sentence),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="two worlds, for tests")
    parser.add_argument("--worlds", type=int, default=N_WORLDS)
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, default=["mcar"])
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    if asked.quick:
        records = measure(2, 150, 3, asked.mechanisms, max_epochs=2, width=16, n_steps=4)
    else:
        records = measure(asked.worlds, N_ROWS, N_DRAWS, asked.mechanisms)
    results = pd.DataFrame(records)
    write(asked.results, results.round(6).to_csv(index=False))
    if asked.results == RESULTS:
        show(BLOCKS)
    print(markdown(pd.read_csv(asked.results)))


if __name__ == "__main__":
    main()
