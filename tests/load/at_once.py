"""Complete many small tables at the same time, by threads and by processes."""

import multiprocessing
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from diffjoint import SelectiveImputer, load
from tests.load.uses import digest, fitted, table

N_TABLES, N_ROWS = 20, 15
"""Different small tables, and the rows of each."""
_LOADED: dict[str, SelectiveImputer] = {}


def run(n: int, folder: Path, *, n_threads: int = 16, n_processes: int = 4) -> dict[str, Any]:
    """Complete so many tables at once; return, for threads and processes, what is to be recorded."""
    imputer, path = fitted(0), folder / "model"
    imputer.save(path)
    expected = [digest(imputer.transform(_small(number))) for number in range(N_TABLES)]
    by_threads = partial(_complete, imputer)
    by_processes = partial(_load_and_complete, str(path))
    spawned = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(n_threads) as pool:
        threads = _counts(pool, by_threads, n, expected)
    with ProcessPoolExecutor(n_processes, mp_context=spawned, initializer=_be_quiet) as processes:
        counted = _counts(processes, by_processes, n, expected)
    return {f"{n_threads} threads": threads, f"{n_processes} processes": counted}


def _counts(
    pool: Executor, complete: Callable[[int], str], n: int, expected: list[str]
) -> dict[str, Any]:
    start = time.monotonic()
    asked = [pool.submit(complete, i % N_TABLES) for i in range(n)]
    failed = sum(one.exception() is not None for one in asked)
    wrong = sum(
        one.exception() is None and one.result() != expected[i % N_TABLES]
        for i, one in enumerate(asked)
    )
    return {
        "transforms": n,
        "errors": failed,
        "different_answers": wrong,
        "seconds": round(time.monotonic() - start, 1),
    }


def _small(number: int) -> Any:
    return table(number + 200).head(N_ROWS)


def _complete(imputer: SelectiveImputer, number: int) -> str:
    return digest(imputer.transform(_small(number)))


def _load_and_complete(path: str, number: int) -> str:
    if path not in _LOADED:
        _LOADED[path] = load(path)
    return _complete(_LOADED[path], number)


def _be_quiet() -> None:
    warnings.simplefilter("ignore")
