"""Diff-Joint as published, on a reduced budget: the paper's network, MCAR, pass by pass.

    python -m benchmarks.reduced_paper            # every run that has no result yet
    python -m benchmarks.reduced_paper --quick    # a small version in seconds
    python -m benchmarks.reduced_paper --only small-or

Each run is one JSON file in benchmarks/results/reduced_paper; the table is made from those
files alone. A run that was not made says so.
"""

import argparse
import json
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.bayes_limit import RESULTS as LIMITS
from benchmarks.imputers import new_imputer
from benchmarks.pages import RESULTS_PAGE, Blocks, result_page, show, write
from benchmarks.published import published
from diffjoint import SelectiveImputer, __version__
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import World, bayesian_network

RESULTS = Path(__file__).parent / "results" / "reduced_paper"
_MCAR_10 = {"method": "diffjoint_paper", "mechanism": "mcar", "ratio": 10}
PAPER = {
    "recall": published("mm_recall_precision", "recall", **_MCAR_10),
    "precision": published("mm_recall_precision", "precision", **_MCAR_10),
    "ACC": published("method_comparison", "acc", **_MCAR_10),
    "RMSE": published("method_comparison", "rmse", **_MCAR_10),
}
PAPER_BUDGET = {"width": 1024, "n_draws": 30, "n_steps": 50, "n_inpaint_repeats": 10}
"""As published."""
TRAINING = {"batch_size": 1024, "learning_rate": 1e-3, "max_epochs": 200, "patience": 200}
REDUCED = {"preset": "paper", "width": 128, **TRAINING}
BUDGETS: dict[str, dict[str, Any]] = {
    "small": {**REDUCED, "n_draws": 10, "n_steps": 10, "n_inpaint_repeats": 3},
    "medium": {**REDUCED, "n_draws": 20, "n_steps": 15, "n_inpaint_repeats": 10},
    "fast": {"preset": "fast"},
}


@dataclass(frozen=True)
class Run:
    """One line of the table: a budget, a fusion rule, and how many passes."""

    budget: str
    fusion: str
    n_iterations: int
    seed: int = 0

    @property
    def name(self) -> str:
        """The result file's name."""
        return f"{self.budget}-{self.fusion}"


RUNS = (
    Run("small", "or", 5),
    Run("medium", "or", 5),
    Run("fast", "or", 2),
    Run("small", "uncertainty", 3),
    Run("small", "vote", 3),
    Run("small", "and", 3),
)


def measure(run: Run, world: World, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit pass by pass; after each, the paper's measures on the test rows."""
    passes: list[dict[str, Any]] = []
    start = time.perf_counter()

    def watch(imputer: SelectiveImputer) -> None:
        fit_seconds = time.perf_counter() - start
        passes.append(
            {**imputer.history_[-1], **score(imputer, world.test), "seconds": fit_seconds}
        )
        print(run.name, json.dumps(passes[-1]), flush=True)

    imputer = new_imputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        detector="paper",
        fusion=run.fusion,
        n_iterations=run.n_iterations,
        callback=watch,
        random_state=run.seed,
        **settings,
    )
    imputer.fit(world.train.observed_table)
    return {
        "run": asdict(run),
        "settings": asdict(imputer.settings_),
        "rows": {"train": len(world.train.truth), "test": len(world.test.truth)},
        "passes": passes,
        "versions": {"diffjoint": __version__, "torch": torch.__version__, "numpy": np.__version__},
        "machine": {"processor": platform.machine(), "threads": torch.get_num_threads()},
    }


def score(imputer: SelectiveImputer, world: World) -> dict[str, float]:
    result = imputer.impute(world.observed_table)
    return {
        **{name: 100 * value for name, value in mm_scores(world, result.meaningful).items()},
        "ACC": 100 * token_accuracy(world, result.table),
        "RMSE": lost_errors(world, result.table)["rmse"],
    }


def table(results: Path) -> pd.DataFrame:
    """Every pass of every run, the paper's figures first."""
    rows: list[dict[str, Any]] = [{"run": "paper (GPU, 10 passes, 5 seeds)", **PAPER}]
    for run in RUNS:
        path = results / f"{run.name}.json"
        if not path.exists():
            rows.append({"run": f"{run.name}: not run"})
            continue
        for done in json.loads(path.read_text())["passes"]:
            rows.append({"run": run.name, "pass": done["iteration"], **done})
    columns = ["run", "pass", "recall", "precision", "f1", "ACC", "RMSE", "loss", "seconds"]
    return pd.DataFrame(rows, columns=columns).astype({"pass": "Int64"}).round(2)


def markdown(made: pd.DataFrame) -> str:
    """Return the table as the documentation shows it."""
    shown = made.drop(columns=["loss", "seconds"])
    lines = [list(shown.columns), ["---"] * shown.shape[1]]
    lines += [[_cell(value) for value in row] for row in shown.to_numpy(dtype=object)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def paragraph(results: Path) -> str:
    """Return what the results in short say of the runs."""
    fast, medium = (
        [done["ACC"] for done in json.loads((results / f"{name}.json").read_text())["passes"]]
        for name in ("fast-or", "medium-or")
    )
    limits = pd.read_csv(LIMITS)
    limit = limits[(limits["mechanism"] == "mcar") & (limits["ratio"] == 10)]["ACC"].mean()
    return (
        f"With the paper's own detector and sampler, preset `fast` gives {fast[-1]:.1f}% of the "
        f"missing test cells in D2 and D3\ntheir right state, value or NA, after {len(fast)} "
        f"passes without a GPU. The paper reports {PAPER['ACC']:.1f}% after 10 passes with\n"
        "one. With the paper's own noise schedule, a fifth of its network passes and an eighth of "
        f"its width\nit is {medium[-1]:.1f}% after {len(medium)} passes ({max(medium):.1f}% at "
        f"best, after pass {medium.index(max(medium)) + 1}). One seed; what can be known at\nall "
        f"is {limit:.1f}%.\n"
    )


def _cell(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def budgets_table(results: Path) -> str:
    """Return the settings that the budgets differ in, the paper's first; from the result files."""
    names = ("width", "n_draws", "n_steps", "n_inpaint_repeats")
    lines = [
        "| budget | width | draws | steps | repeats | network passes per row and pass |\n",
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    by_budget = {"paper": PAPER_BUDGET} | {
        run.budget: json.loads((results / f"{run.name}.json").read_text())["settings"]
        for run in RUNS
        if run.fusion == "or"
    }
    for budget, settings in by_budget.items():
        width, n_draws, n_steps, n_repeats = (settings[name] for name in names)
        n_passes = n_draws * n_repeats * (2 * n_steps - 1)  # Heun takes two, the last step one
        lines.append(
            f"| {budget} | {width} | {n_draws} | {n_steps} | {n_repeats} | {n_passes:,} |\n"
        )
    return "".join(lines)


BLOCKS: Blocks = {
    (result_page("paper"), "reduced_paper"): lambda: markdown(table(RESULTS)),
    (result_page("paper"), "reduced_budgets"): lambda: budgets_table(RESULTS),
    (RESULTS_PAGE, "reduced_paper"): lambda: paragraph(RESULTS),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rows and passes, in seconds")
    parser.add_argument("--only", help="one run, such as small-or")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results go")
    options = parser.parse_args(arguments)
    world = bayesian_network(300, 100) if options.quick else bayesian_network()
    options.results.mkdir(parents=True, exist_ok=True)
    for run in RUNS:
        path = options.results / f"{run.name}.json"
        if path.exists() or (options.only and options.only != run.name):
            continue
        settings = dict(BUDGETS[run.budget])
        if options.quick:
            settings.update(width=16, n_draws=3, n_steps=3, n_inpaint_repeats=1, max_epochs=2)
        result = measure(run, world, settings)
        write(path, json.dumps(result, indent=1))
    made = table(options.results)
    if options.results == RESULTS:
        show(BLOCKS)
    write(options.results / "table.csv", made.to_csv(index=False))
    print(made.to_string(index=False, na_rep=""))


if __name__ == "__main__":
    main()
