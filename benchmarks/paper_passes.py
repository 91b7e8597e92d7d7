"""Run Diff-Joint and DiffPuter pass by pass on a third of the rows, with many draws and repeats.

    python -m benchmarks.paper_passes                               # hours on one core
    python -m benchmarks.paper_passes --methods DiffPuter --ratios 10 --seeds 0
    python -m benchmarks.paper_passes --quick                       # few rows, for tests

The paper's network, 4,900 train and 2,100 test rows, MCAR. A narrow network is trained often enough
and asked as often as the paper's: 10 repeats of each noise level and 20 draws, for DiffPuter 20 and
10. A line is written after each pass that is scored; passes are saved, so that a run that was
interrupted goes on.
"""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.kept import read_kept
from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show, write
from benchmarks.published import published
from diffjoint import Diffusion, SelectiveImputer
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import World, bayesian_network

RESULTS = Path(__file__).parent / "results" / "paper_passes.csv"
KEYS = ("method", "ratio", "seed", "pass")
RATIOS, SEEDS = (10, 20, 30, 40), (0, 1, 2)
N_TRAIN, N_TEST = 4_900, 2_100
NARROW: dict[str, Any] = {
    "width": 64,
    "max_epochs": 150,
    "patience": 150,
    "batch_size": 256,
    "learning_rate": 1e-3,
    "n_steps": 10,
    "sigma_max": 10.0,
    "sigma_min": 0.01,
}
"""A network of a sixteenth of the paper's width and a fifth of its noise levels."""
METHODS: dict[str, Diffusion] = {
    "Diff-Joint": Diffusion(n_draws=20, n_inpaint_repeats=10, n_iterations=5, **NARROW),
    "DiffPuter": Diffusion.diffputer(n_iterations=3, **NARROW),
}
PUBLISHED = {"Diff-Joint": "diffjoint_paper", "DiffPuter": "diffputer"}
MEASURES = {"acc": "ACC", "recall": "recall", "precision": "precision", "rmse": "RMSE"}


def measure(
    method: str, ratio: int, seed: int, path: Path, folder: Path, world: World, settings: Diffusion
) -> None:
    """Run the passes that are left, and write a line after each."""

    def watch(imputer: SelectiveImputer) -> None:
        entry = imputer.history_[-1]
        line = {
            "method": method,
            "ratio": ratio,
            "seed": seed,
            "pass": entry["iteration"],
            "loss": entry["loss"],
            **score(world.test, imputer.impute(world.test.observed_table)),
        }
        kept = read_kept(path, KEYS)
        fresh = pd.DataFrame([line]).round(4)
        kept = pd.concat([kept, fresh], ignore_index=True) if len(kept) else fresh
        write(path, kept.drop_duplicates([*KEYS], keep="last").to_csv(index=False))
        print(line, flush=True)

    is_joint = method == "Diff-Joint"
    imputer = SelectiveImputer(
        world.mm_columns if is_joint else [],
        detector="paper",
        preset="paper",
        column_kinds=world.column_kinds,
        random_state=seed,
        callback=watch,
        diffusion=settings.with_params(checkpoint=str(folder / f"{method}-{ratio}-{seed}")),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        imputer.fit(world.train.observed_table)


def score(world: World, result: Any) -> dict[str, float]:
    """Score calls and values of the test rows."""
    found = mm_scores(world, result.meaningful)
    return {
        "acc": 100 * token_accuracy(world, result.table),
        "recall": 100 * found["recall"],
        "precision": 100 * found["precision"],
        "rmse": lost_errors(world, result.table)["rmse"],
    }


def markdown(results: pd.DataFrame) -> str:
    """Return what is published and each pass, means over seeds."""
    n_passes = int(results["pass"].max())
    shown = " | ".join(f"pass {number}" for number in range(1, n_passes + 1))
    lines = [
        f"| method | ratio | seeds | measure | published | {shown} |\n",
        "| --- " * (5 + n_passes) + "|\n",
    ]
    for (method, ratio), here in results.groupby(["method", "ratio"]):
        where = {"method": PUBLISHED[str(method)], "mechanism": "mcar", "ratio": ratio}
        for name, label in MEASURES.items():
            if method == "DiffPuter" and name in ("recall", "precision"):
                continue
            table = (
                "mm_recall_precision" if name in ("recall", "precision") else "method_comparison"
            )
            digits = 2 if name == "rmse" else 1
            means = here.groupby("pass")[name].mean()
            cells = [
                f"{means[k]:.{digits}f}" if k in means.index else "" for k in range(1, n_passes + 1)
            ]
            lines.append(
                f"| {method} | {ratio} | {here['seed'].nunique()} | {label} | "
                f"{published(table, name, **where):.{digits}f} | {' | '.join(cells)} |\n"
            )
    return "".join(lines)


BLOCKS: Blocks = {(result_page("paper"), "paper_passes"): from_csv(RESULTS, markdown)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="few rows and draws, for tests")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--ratios", nargs="+", type=int, choices=RATIOS, default=RATIOS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--checkpoints", type=Path, default=Path("build/paper_passes"))
    asked = parser.parse_args(arguments)
    path = quick_path(asked.results) if asked.quick else asked.results
    size = (200, 100) if asked.quick else (N_TRAIN, N_TEST)
    torch.set_num_threads(1)
    for seed in asked.seeds:
        for ratio in asked.ratios:
            for method in asked.methods:
                settings = METHODS[method]
                if asked.quick:
                    tiny = {"width": 8, "max_epochs": 2, "n_steps": 3, "n_inpaint_repeats": 2}
                    settings = settings.with_params(n_draws=3, n_iterations=2, **tiny)
                kept = read_kept(path, KEYS)
                done = (kept[[*KEYS]] == [method, ratio, seed, settings.n_iterations]).all(axis=1)
                if not np.any(done):
                    world = bayesian_network(*size, loss_rate=ratio / 100, seed=seed)
                    measure(method, ratio, seed, path, asked.checkpoints, world, settings)
    if path == RESULTS:
        show(BLOCKS)
    print(markdown(read_kept(path, KEYS)))


if __name__ == "__main__":
    main()
