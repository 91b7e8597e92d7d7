"""Results by line, in one file: what is there is not measured again."""

from collections.abc import Callable, Iterable, Sequence
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
    """
    kept = _read(path, keys, has_empty_texts) if path.exists() else pd.DataFrame(columns=[*keys])
    measured = set(kept[[*keys]].itertuples(index=False, name=None))
    for place in wanted:
        if place in measured:
            continue
        measured.add(place)
        about = dict(zip(keys, place, strict=True))
        lines = pd.DataFrame([about | line for line in measure(*place)]).round(digits)
        kept = pd.concat([kept, lines], ignore_index=True) if len(kept) else lines
        write(path, kept.to_csv(index=False))
    return kept


def _read(path: Path, keys: Sequence[str], has_empty_texts: bool) -> pd.DataFrame:
    kept = pd.read_csv(path, keep_default_na=not has_empty_texts)
    if absent := [key for key in keys if key not in kept]:
        raise SystemExit(
            f"{path}: expected the columns {', '.join(keys)}; there is no {', '.join(absent)}. "
            "It holds results of another version: move it away to measure afresh."
        )
    return kept
