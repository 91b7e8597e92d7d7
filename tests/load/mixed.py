"""Use the library in one process, by several threads, for a time; watch what it holds on to."""

import os
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.load.uses import N_TABLES, Uses, digest

N_WINDOWS = 10
"""Parts of the time after warming up, of each of which the median counts."""
KEPT_EVERY = 300
"""Seconds."""
WORKER = "worker"
"""What the names of threads, and so of their files, begin with."""
MEGABYTE = 1 << 20


@dataclass
class Held:
    """What a process held at some moments after it warmed up.

    Attributes
    ----------
    memory, files, threads : list of int
        Bytes in memory; open files; threads.
    """

    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)

    def look(self) -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.memory.append(pages * os.sysconf("SC_PAGE_SIZE"))
        self.files.append(len(os.listdir("/proc/self/fd")))  # noqa: PTH208
        self.threads.append(threading.active_count())

    def windows(self) -> list[float]:
        """Return the median memory of each part of the time."""
        n = len(self.memory)
        ends = [round(i * n / N_WINDOWS) for i in range(N_WINDOWS + 1)]
        parts = [self.memory[a:b] for a, b in pairwise(ends) if b > a]
        return [statistics.median(part) for part in parts]


@dataclass
class Seen:
    """What all threads saw.

    Attributes
    ----------
    uses : Counter
        How often each use was made.
    digests : dict
        Of the first answer to each question.
    different, errors : list of str
        Uses with another answer than the first time, and those that failed.
    """

    uses: Counter[str] = field(default_factory=Counter)
    digests: dict[tuple[str, int], str] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, number: int, found: str) -> None:
        with self.lock:
            self.uses[name] += 1
            if self.digests.setdefault((name, number), found) != found:
                self.different.append(f"{name} of table {number}")


def run(
    minutes: float,
    warm_minutes: float,
    folder: Path,
    *,
    n_threads: int = 3,
    keep: Callable[[dict[str, Any]], object] = lambda counts: None,
) -> dict[str, Any]:
    """Use the library for so many minutes; return what is to be recorded.

    Parameters
    ----------
    warm_minutes : float
        After which memory and files are watched.
    folder : Path
        For all files, temporary ones included.
    keep : callable
        Is given the counts so far every few minutes, in case that the run is cut short.
    """
    seen, held, uses = Seen(), Held(), Uses(folder)
    stop = threading.Event()
    threads = [
        threading.Thread(target=_work, args=(uses, seen, stop, i), name=f"{WORKER} {i}")
        for i in range(n_threads)
    ]
    start = kept = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        while (passed := time.monotonic() - start) < 60 * minutes:
            if passed >= 60 * warm_minutes:
                held.look()
            if len(held.memory) > N_WINDOWS and time.monotonic() - kept > KEPT_EVERY:
                kept = time.monotonic()
                keep(_counts(passed / 60, warm_minutes, n_threads, seen, held))
            time.sleep(min(1.0, 60 * minutes / 200))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    left_over = [path.name for path in folder.iterdir() if not path.name.startswith(WORKER)]
    counts = _counts(minutes, warm_minutes, n_threads, seen, held)
    return {**counts, "left_over_files": len(left_over)}


def _work(uses: Uses, seen: Seen, stop: threading.Event, seed: int) -> None:
    rng = random.Random(seed)
    while not stop.is_set():
        names = list(uses.by_name)
        rng.shuffle(names)
        for name in names:
            if stop.is_set():
                return
            number = rng.randrange(N_TABLES)
            try:
                seen.add(name, number, digest(uses.by_name[name](number)))
            except Exception as error:
                seen.errors.append(f"{name}: {error!r}")


def _counts(
    minutes: float, warm_minutes: float, n_threads: int, seen: Seen, held: Held
) -> dict[str, Any]:
    windows = held.windows()
    return {
        "minutes": round(minutes, 2),
        "of_them_to_warm_up": round(warm_minutes, 2),
        "threads": n_threads,
        "uses": seen.uses.total(),
        "errors": len(seen.errors),
        "different_answers": len(seen.different),
        "MB_when_warm": round(windows[0] / MEGABYTE),
        "MB_at_the_end": round(windows[-1] / MEGABYTE),
        "most_growth_%": round(100 * (max(windows) / windows[0] - 1), 1),
        "open_files_more": _more(held.files),
        "threads_more": _more(held.threads),
        "first_faults": [*seen.errors[:3], *seen.different[:3]],
    }


def _more(counts: list[int]) -> int:
    """Return by how much the lowest count of the second half exceeds that of the first."""
    half = len(counts) // 2
    return max(0, min(counts[half:]) - min(counts[:half]))
