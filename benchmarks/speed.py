"""How long it takes and how much memory, beside the paper's sampler and forests.

    python -m benchmarks.speed              # the network: ours, the paper's sampler, forests
    python -m benchmarks.speed --mimic      # the stand-in for emergency stays, full size
    python -m benchmarks.speed --scaling    # time and memory against rows and against draws
    python -m benchmarks.speed --quick      # any of these in a small version

Each measurement is made in a process of its own and is one JSON file in benchmarks/results/speed,
with versions and machine kind; those that are there are kept, those that fail are said to. The
paper's sampler would take days: its training is measured for a few epochs and its drawing on a few
rows, and both are scaled up.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import torch
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

from benchmarks.bayes_limit import RESULTS as LIMITS
from benchmarks.imputers import new_imputer
from benchmarks.pages import DOCS, NOT_RUN, RESULTS_PAGE, ROOT, Blocks, result_page, show, write
from diffjoint import SelectiveImputer, __version__
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import World, make_world

RESULTS = Path(__file__).parent / "results" / "speed"
PICTURES = DOCS / "results"
PAPER: dict[str, Any] = {"preset": "paper", "detector": "paper"}
PAPERS_PASSES = 10
N_WHOLE = 50
"""Rows without a gap that go with those drawn, so that every column holds something."""
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DRAWS = (1, 3, 10, 30, 100)
FITTED_ROWS = 10_000
"""Rows of the network that draws are timed on."""
MIMIC_ROWS = "353,150 + 88,287"
SHORT = (1_000, 100_000, 1_000_000)
"""Rows that the short table has."""
MIB = 2**20
Measured = dict[str, Any]


def ours(world: World, **settings: Any) -> Measured:
    """Fit on the train rows and complete the test rows, timed and scored."""
    start = time.perf_counter()
    imputer = new_imputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        random_state=0,
        unseen="keep",
        **settings,
    ).fit(world.train.observed_table)
    fitted = time.perf_counter()
    result = imputer.impute(world.test.observed_table)
    seconds = {"fit": fitted - start, "transform": time.perf_counter() - fitted}
    scores = mm_scores(world.test, result.meaningful)
    return {
        **seconds,
        "ACC": 100 * token_accuracy(world.test, result.table),
        "F1": 100 * scores["f1"],
        "RMSE": lost_errors(world.test, result.table)["rmse"],
    }


def papers(world: World, sample_rows: int, **settings: Any) -> Measured:
    """Estimate what the paper's sampler would take, from short runs on a few rows.

    A pass has as many epochs as its patience lets it have at least; most have more.
    """
    train, test = world.train.observed_table, world.test.observed_table

    def timed(table: pd.DataFrame, **short: Any) -> tuple[float, SelectiveImputer]:
        start = time.perf_counter()
        imputer = new_imputer(
            [name for name in world.mm_columns if table[name].isna().any()],
            column_kinds=world.column_kinds,
            random_state=0,
            **{**PAPER, **settings, "n_iterations": 1, **short},
        ).fit(table)
        return time.perf_counter() - start, imputer

    hardly = {"n_draws": 1, "n_steps": 2, "n_inpaint_repeats": 1}
    epoch = (timed(train, max_epochs=3, **hardly)[0] - timed(train, max_epochs=1, **hardly)[0]) / 2
    has_gap = train.isna().any(axis=1)
    few = pd.concat([train[has_gap][:sample_rows], train[~has_gap][:N_WHOLE]])
    drawing, imputer = timed(few, max_epochs=1)
    n_passes, patience = PAPERS_PASSES, imputer.settings_.patience
    n_train, n_test = (int(table.isna().any(axis=1).sum()) for table in (train, test))
    per_row = drawing / sample_rows
    return {
        "seconds_per_epoch": epoch,
        "seconds_per_drawn_row": per_row,
        "rows_drawn": sample_rows,
        "epochs_counted": patience,
        "passes_counted": n_passes,
        "fit": n_passes * (patience * epoch + n_train * per_row),
        "transform": n_test * per_row,
    }


def miss_forest(world: World, n_trees: int, n_rounds: int, threads: int) -> Measured:
    """MissForest as scikit-learn has it: rounds of a forest for each column."""
    forest = RandomForestRegressor(n_trees, n_jobs=threads, random_state=0)
    imputer = IterativeImputer(forest, max_iter=n_rounds, random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it has not converged, as intended
        imputer.fit(world.train.observed_table)
        fitted = time.perf_counter()
        completed = imputer.transform(world.test.observed_table)
    seconds = {"fit": fitted - start, "transform": time.perf_counter() - fitted}
    filled = pd.DataFrame(completed, columns=world.truth.columns, index=world.test.truth.index)
    return {**seconds, "RMSE": lost_errors(world.test, filled)["rmse"]}


def compare(job: Measured) -> Measured:
    """Ours, the paper's, ours, forests, ours: one after the other in one run."""
    world = _world("bayesian-network", job)
    rounds = [ours(world, **job.get("settings", {}))]
    paper = papers(world, job["sample_rows"], **job.get("paper_settings", {}))
    rounds.append(ours(world, **job.get("settings", {})))
    forest = miss_forest(world, job["n_trees"], job["n_rounds"], job["threads"])
    rounds.append(ours(world, **job.get("settings", {})))
    return {"ours": rounds, "paper": paper, "missForest": forest}


def once(job: Measured) -> Measured:
    """One fit and transform."""
    return ours(_world(job["world"], job), **job.get("settings", {}))


def calls_only(job: Measured) -> Measured:
    """Which cells are meaningful, and next to nothing else: lost ones get the usual value."""
    world = _world(job["world"], job)
    plain = SimpleImputer(strategy="most_frequent")
    start = time.perf_counter()
    imputer = SelectiveImputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        imputer=plain,
        random_state=0,
        unseen="keep",
    ).fit(world.train.observed_table)
    fitted = time.perf_counter()
    imputer.transform(world.test.observed_table)
    return {"fit": fitted - start, "transform": time.perf_counter() - fitted}


def draw(job: Measured) -> Measured:
    """Tables drawn by an imputer that is fitted, and has learnt to draw, already."""
    world = _world("bayesian-network", job)
    imputer = new_imputer(
        world.mm_columns,
        column_kinds=world.column_kinds,
        random_state=0,
        **job.get("settings", {}),
    ).fit(world.train.observed_table)
    start = time.perf_counter()
    imputer.sample(world.test.observed_table[:1], 1)
    learnt = time.perf_counter()
    imputer.sample(world.test.observed_table, job["n_draws"])
    return {"learning to draw": learnt - start, "sample": time.perf_counter() - learnt}


JOBS: dict[str, Callable[[Measured], Measured]] = {
    "compare": compare,
    "once": once,
    "calls": calls_only,
    "draw": draw,
}


def measured(kind: str, name: str, job: Measured, folder: Path) -> Measured:
    """Return a measurement by its name: from its file, or made now in an own process."""
    path = folder / f"{name}.json"
    if path.exists():
        found: Measured = json.loads(path.read_text(encoding="utf-8"))
        return found
    threads = str(job["threads"])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed", "--job", kind, json.dumps(job)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return {"failed": f"exit code {done.returncode}: {last}"}
    folder.mkdir(parents=True, exist_ok=True)
    write(path, done.stdout)
    print(f"{name}: measured", file=sys.stderr, flush=True)
    result: Measured = json.loads(done.stdout)
    return result


def in_this_process(kind: str, job: Measured) -> Measured:
    """Make a measurement here; with it, memory at its peak and what it was made with."""
    warnings.simplefilter("ignore")  # what a world makes the imputer doubt is no news here
    before = _peak()
    result = JOBS[kind](job)
    return {
        "job": job,
        "result": result,
        "peak_mib": _peak(),
        "peak_mib_before": before,
        "versions": {
            "diffjoint": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
    }


def compare_table(found: Measured) -> str:
    """Seconds, ratios and quality on the network."""
    head = (
        "| | fit, seconds | transform, seconds | times ours | ACC | F1 | RMSE |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    if "failed" in found:
        return f"{head}| failed ({found['failed']}) | | | | | | |\n"
    result, job = found["result"], found["job"]
    rounds = pd.DataFrame(result["ours"]).mean()
    total = rounds["fit"] + rounds["transform"]
    lines = [_line("diffjoint, `fast`, mean of three runs", rounds, total)]
    lines.append(_line("paper's sampler, its settings (scaled up)", result["paper"], total))
    lines.append(_line("IterativeImputer, forest", result["missForest"], total))
    paper = result["paper"]
    note = (
        f"\n{job['threads']} threads each, one run, taken in turns. The paper's sampler: "
        f"{paper['seconds_per_epoch']:.2f} s per epoch and {paper['seconds_per_drawn_row']:.2f} s "
        f"per pass and row with a missing cell, measured on {paper['rows_drawn']} rows and scaled "
        f"up to {paper['passes_counted']} passes of at least {paper['epochs_counted']} epochs. "
        f"Scores are of missing test cells; the limit of RMSE is {_limit():.3f}.\n"
    )
    return head + "".join(lines) + note


def size_table(found: Iterable[tuple[str, Measured | None]], with_draws: bool = True) -> str:
    """One line per table: seconds and memory."""
    parts = {"fit": "fit", "transform": "transform"} | ({"sample": "draws"} if with_draws else {})
    heads = ["table", *(f"{head}, seconds" for head in parts.values()), "peak memory, MiB"]
    lines = [f"| {' | '.join(heads)} |\n", f"|{' --- |' * len(heads)}\n"]
    for name, one in found:
        if one is None or "failed" in one:
            said = "not run" if one is None else f"failed ({one['failed']})"
            lines.append(f"| {name} | {said} |{' |' * len(parts)}\n")
            continue
        seconds = [f"{one['result'][part]:.1f}" if part in one["result"] else "" for part in parts]
        lines.append(f"| {name} | {' | '.join(seconds)} | {one['peak_mib']:,.0f} |\n")
    return "".join(lines)


def plot(x: list[int], found: list[Measured], label: str, path: Path) -> None:
    """Seconds and peak memory against ``x``, in powers of ten; failed ones left out."""
    pairs = [(n, one) for n, one in zip(x, found, strict=True) if "failed" not in one]
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = [n for n, _ in pairs]
    for part in ("fit", "transform", "sample"):
        seconds = [one["result"].get(part) for _, one in pairs]
        if pairs and seconds[0] is not None:
            left.loglog(sizes, seconds, "o-", label=part)
    if pairs:
        left.legend()
    right.semilogx(sizes, [one["peak_mib"] for _, one in pairs], "o-", color="tab:green")
    right.set_ylim(bottom=0)
    left.set(xlabel=label, ylabel="seconds")
    right.set(xlabel=label, ylabel="peak memory, MiB")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def network(options: argparse.Namespace) -> str:
    job: Measured = {"threads": options.threads, "rows": None, "sample_rows": options.sample_rows}
    job |= {"n_trees": 100, "n_rounds": 10}
    if options.quick:
        job |= {"rows": 120, "sample_rows": 2, "n_trees": 5, "n_rounds": 1}
        job["settings"] = {"max_epochs": 1}
        job["paper_settings"] = {"width": 8, "n_steps": 3, "n_inpaint_repeats": 1, "n_draws": 2}
    return compare_table(measured("compare", "network", job, options.results))


def mimic(options: argparse.Namespace) -> str:
    rows = 200 if options.quick else options.rows
    job = {"threads": options.threads, "rows": rows, "world": "mimic-like-stand-in"}
    if options.quick:
        job["settings"] = {"max_epochs": 1}
    name = "mimic" if rows is None else f"mimic-{rows}"
    shown = MIMIC_ROWS if rows is None else f"{rows:,}"
    found = [
        measured(kind, file, job, options.results)
        for file, kind in ((name, "once"), (f"{name}-calls", "calls"))
    ]
    return size_table(zip(_mimic_names(shown, options.threads), found, strict=True))


def _mimic_names(rows: str, threads: int) -> tuple[str, str]:
    """Return what tables call the stand-in for emergency stays: everything, then calls alone."""
    return (
        f"MIMIC stand-in, {rows} x 30, {threads} threads",
        "the same, calls alone (values by mode)",
    )


def scaling(options: argparse.Namespace) -> str:
    most = options.rows or ROWS[-1]
    rows = (60, 120) if options.quick else [n for n in ROWS if n <= most]
    draws = (2,) if options.quick else DRAWS
    base: Measured = {"threads": options.threads}
    if options.quick:
        base["settings"] = {"max_epochs": 1}
    by_rows = [
        measured(
            "once",
            f"rows-{n}",
            base | {"rows": n, "world": "bayesian-network"},
            options.results,
        )
        for n in rows
    ]
    fitted_rows = 120 if options.quick else FITTED_ROWS
    by_draws = [
        measured("draw", f"draws-{n}", base | {"rows": fitted_rows, "n_draws": n}, options.results)
        for n in draws
    ]
    plot(list(rows), by_rows, "rows", options.pictures / "speed_rows.svg")
    plot(list(draws), by_draws, "draws", options.pictures / "speed_draws.svg")
    n_test = _n_test(fitted_rows)
    names = [_rows_name(n) for n in rows] + [_draws_name(n, n_test) for n in draws]
    return size_table(zip(names, by_rows + by_draws, strict=True))


def _rows_name(n_rows: int) -> str:
    return f"network, {n_rows:,} rows (7 of 10 for fit)"


def _draws_name(n_draws: int, n_test: int) -> str:
    return f"network, {n_draws} draws of {n_test:,} rows"


def _n_test(n_rows: int) -> int:
    return n_rows - round(0.7 * n_rows)


def _kept(name: str) -> Measured | None:
    """Return a measurement of the full version; None if it was not made, or failed."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _kept_mimic() -> dict[str, Measured | None]:
    """Return the stand-in, by the names of a table's lines."""
    found = [_kept("mimic"), _kept("mimic-calls")]
    threads = next((one["job"]["threads"] for one in found if one), 1)
    return dict(zip(_mimic_names(MIMIC_ROWS, threads), found, strict=True))


def _kept_scaling(rows: Sequence[int], draws: Sequence[int]) -> dict[str, Measured | None]:
    """Return the network by rows and by draws, by the names of a table's lines."""
    by_rows = {_rows_name(n): _kept(f"rows-{n}") for n in rows}
    n_test = _n_test(FITTED_ROWS)
    return by_rows | {_draws_name(n, n_test): _kept(f"draws-{n}") for n in draws}


def _kept_network() -> str:
    found = _kept("network")
    return NOT_RUN if found is None else compare_table(found)


BLOCKS: Blocks = {
    (result_page("speed"), "speed"): _kept_network,
    (result_page("speed"), "speed_mimic"): lambda: size_table(_kept_mimic().items()),
    (result_page("speed"), "speed_scaling"): lambda: size_table(_kept_scaling(ROWS, DRAWS).items()),
    (RESULTS_PAGE, "speed"): _kept_network,
    (RESULTS_PAGE, "speed_sizes"): lambda: size_table(
        (_kept_scaling(SHORT, ()) | _kept_mimic()).items(), with_draws=False
    ),
}


def _line(name: str, seconds: Any, ours_total: float) -> str:
    ratio = (seconds["fit"] + seconds["transform"]) / ours_total
    scores = [
        f"{seconds[score]:.{digits}f}" if score in seconds else ""
        for score, digits in (("ACC", 1), ("F1", 1), ("RMSE", 3))
    ]
    times = f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"
    return (
        f"| {name} | {seconds['fit']:,.1f} | {seconds['transform']:,.1f} | {times} | "
        f"{' | '.join(scores)} |\n"
    )


def _limit() -> float:
    """RMSE of the best that can be known, on the world that is timed."""
    limits = pd.read_csv(LIMITS)
    here = (limits["mechanism"] == "mcar") & (limits["ratio"] == 10) & (limits["seed"] == 0)
    return float(limits[here]["RMSE"].iloc[0])


def _world(name: str, job: Measured) -> World:
    return make_world(name, rows=job["rows"], mechanism="mcar", loss_rate=0.1, seed=0)


def _peak() -> float:
    """Memory of this process at its peak so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small version in seconds")
    parser.add_argument("--mimic", action="store_true", help="the stand-in for emergency stays")
    parser.add_argument("--scaling", action="store_true", help="against rows and draws")
    parser.add_argument("--rows", type=int, help="rows of --mimic, or most rows of --scaling")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for every method")
    parser.add_argument(
        "--sample-rows", type=int, default=20, help="rows that the paper's sampler is timed on"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder of the plots")
    parser.add_argument("--job", nargs=2, metavar=("KIND", "JSON"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        print(json.dumps(in_this_process(options.job[0], json.loads(options.job[1])), indent=1))
        return
    make = network
    if options.mimic or options.scaling:
        make = mimic if options.mimic else scaling
    table = make(options)
    if options.results == RESULTS and not options.quick:
        show(BLOCKS)
    print(table)


if __name__ == "__main__":
    main()
