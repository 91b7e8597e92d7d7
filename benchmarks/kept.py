"""Results by line, in one file: what is there is not measured again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.pages import write

Line = dict[str, Any]
Place = tuple[Any, ...]


def measure_missing(
    wanted: Iterable[Place],
    keys: Sequence[str],
    path: Path,
    measure: Callable[..., list[Line]],
    *,
    digits: int = 4,
    has_empty_texts: bool = False,
    jobs: int = 1,
) -> pd.DataFrame:
    """Measure every place that is not in the file yet, and write each as it is done.

    Parameters
    ----------
    wanted : iterable of tuple
        What ``measure`` is called with, one place at a time.
    keys : sequence of str
        What the parts of a place are called.
    measure : callable
        Gives the lines of a place.
    has_empty_texts : bool
        Whether an empty field is an empty text, and not a number that is missing.
    jobs : int
        How many places to measure at once, each in a process of its own if more than one;
        ``measure`` must then be a function of a module.
    """
    kept = read_kept(path, keys, has_empty_texts)
    measured = set(kept[[*keys]].itertuples(index=False, name=None))
    places = [place for place in dict.fromkeys(wanted) if place not in measured]
    for place, lines in _measured(places, measure, jobs):
        about = dict(zip(keys, place, strict=True))
        fresh = pd.DataFrame([about | line for line in lines]).round(digits)
        kept = pd.concat([kept, fresh], ignore_index=True) if len(kept) else fresh
        write(path, kept.to_csv(index=False))
    return kept


def _measured(
    places: Sequence[Place], measure: Callable[..., list[Line]], jobs: int
) -> Iterator[tuple[Place, list[Line]]]:
    """Go through the places with their lines, each as soon as it is measured."""
    if jobs == 1:
        yield from ((place, measure(*place)) for place in places)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        running = {pool.submit(measure, *place): place for place in places}
        yield from ((running[done], done.result()) for done in as_completed(running))


def read_kept(path: Path, keys: Sequence[str], has_empty_texts: bool = False) -> pd.DataFrame:
    """Read the results that are there; no lines if there is no file yet."""
    if not path.exists():
        return pd.DataFrame(columns=[*keys])
    kept = pd.read_csv(path, keep_default_na=not has_empty_texts)
    if absent := [key for key in keys if key not in kept]:
        raise SystemExit(
            f"{path}: expected the columns {', '.join(keys)}; there is no {', '.join(absent)}. "
            "It holds results of another version: move it away to measure afresh."
        )
    return kept
