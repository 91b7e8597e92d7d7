"""Where the time goes: fit, transform and draws, phase by phase.

    python -m benchmarks.profiling              # the network, 5,000 rows
    python -m benchmarks.profiling --world telco-churn --draws 5
    python -m benchmarks.profiling --top 15     # the costliest functions as well

Seconds are measured with a profiler running, which slows small functions down: compare them with
each other.
"""

import argparse
import cProfile
import pstats
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.imputers import new_imputer
from benchmarks.pages import Blocks, from_file, result_page, show, write
from diffjoint.simulate import WORLDS, make_world

RESULTS = Path(__file__).parent / "results" / "profile.md"
PHASES = {
    "columns understood": ("prepare.py", "understand"),
    "columns coded": ("prepare.py", "prepare_fit"),
    "which cells are missing together (evidence)": ("fit.py", "_learn_belief"),
    "what lost cells held (trees)": ("boosted.py", "learn_values"),
    "diffusion training": ("train.py", "model_update"),
    "P(meaningful) of cells": ("evidence.py", "probability"),
    "values filled in": ("boosted.py", "of"),
    "masks of draws": ("detector.py", "draws"),
    "values of draws": ("sample.py", "_draw"),
    "into the table": ("complete.py", "complete"),
}
"""What a phase is called, and the function that it is."""


def profile(world_name: str, rows: int | None, n_draws: int, **settings: Any) -> pstats.Stats:
    """Fit, transform and draw under a profiler."""
    world = make_world(world_name, rows=rows, mechanism="mcar", loss_rate=0.1, seed=0)
    imputer = new_imputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        random_state=0,
        unseen="keep",
        **settings,
    )
    profiler = cProfile.Profile(time.perf_counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profiler.enable()
        imputer.fit(world.train.observed_table)
        imputer.transform(world.test.observed_table)
        imputer.sample(world.test.observed_table, n_draws)
        profiler.disable()
    return pstats.Stats(profiler)


def phases_table(stats: pstats.Stats) -> str:
    """Seconds of each phase, calls below it included, and their share of all."""
    found = stats.stats  # type: ignore[attr-defined]
    total = stats.total_tt  # type: ignore[attr-defined]
    lines = ["| phase | seconds | share |\n| --- | --- | --- |\n"]
    rest = total
    for phase, (file, function) in PHASES.items():
        seconds = max(
            (
                figures[3]
                for (path, _, name), figures in found.items()
                if name == function and Path(path).name == file and "diffjoint" in path
            ),
            default=0.0,
        )
        rest -= seconds
        lines.append(f"| {phase} | {seconds:.2f} | {seconds / total:.0%} |\n")
    lines.append(f"| the rest | {max(rest, 0.0):.2f} | {max(rest, 0.0) / total:.0%} |\n")
    lines.append(f"| all | {total:.2f} | 100% |\n")
    return "".join(lines)


BLOCKS: Blocks = {
    (result_page("speed"), "profile"): from_file(RESULTS, lambda path: path.read_text("utf-8"))
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=tuple(WORLDS), default="bayesian-network")
    parser.add_argument("--rows", type=int, help="rows of a world that is drawn")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--epochs", type=int, help="max_epochs, to train less")
    parser.add_argument("--top", type=int, default=0, help="so many functions, by their own time")
    parser.add_argument("--show", action="store_true", help="put the table into the documentation")
    options = parser.parse_args(arguments)
    rows = options.rows
    if rows is None and WORLDS[options.world].source is None:
        rows = 5_000
    settings = {} if options.epochs is None else {"max_epochs": options.epochs}
    stats = profile(options.world, rows, options.draws, **settings)
    table = phases_table(stats)
    if options.show:
        write(RESULTS, table)
        show(BLOCKS)
    print(table)
    if options.top:
        stats.sort_stats("tottime").print_stats(options.top)


if __name__ == "__main__":
    main()
