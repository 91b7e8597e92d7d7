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
    done: list[Line] = []
    if path.exists():
        kept = pd.read_csv(path, keep_default_na=not has_empty_texts)
        names = [str(name) for name in kept]
        done = [dict(zip(names, line, strict=True)) for line in kept.itertuples(index=False)]
    measured = {tuple(line[key] for key in keys) for line in done}
    for place in wanted:
        if place in measured:
            continue
        about = dict(zip(keys, place, strict=True))
        done += [about | line for line in measure(*place)]
        write(path, pd.DataFrame(done).round(digits).to_csv(index=False))
    return pd.DataFrame(done)
