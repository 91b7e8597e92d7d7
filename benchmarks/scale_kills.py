"""Runs on folders of files that are killed at random moments, and started again.

    python -m benchmarks.scale_kills

A small table in many pieces is completed on each engine: by the command line with two workers, and
in one process that has its libraries already, which is quick, so that most kills are there. While a
run goes on, at moments drawn at random, a worker is killed, or the process that leads the run, or
all of its processes, by their numbers. Runs that ended are started again with the same arguments
until they are complete. Then every file must have the bytes that a run without kills gives it, and
so must the sums that the report is made from.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks import pages
from benchmarks.scale import (
    FOLDER,
    SCALE_PAGE,
    add,
    command,
    make_model,
    make_table,
    session_of,
)
from diffjoint.engines import transform_dataset, verify

RESULTS = Path(__file__).parent / "results" / "scale_kills.csv"
ROWS, PIECE_ROWS = 4_000, 100
ALONE = "local, one process"
KILLS = {ALONE: 30, "dask": 7, "spark": 7, "local": 7}
"""How many kills there are on each engine."""
SUMMARIES = Path("_diffjoint", "summaries")
"""Where pieces note what the report is made from."""
KINDS = ("worker", "driver", "all")
"""What is killed: a process that works, the one that leads the run, or all of the run."""
MOST_KILLS = 3
"""Kills of a run at most, with those after it was started again; then it is let end."""
MOMENTS = (0.05, 0.6)
"""When the next kill comes: a share of the time that a run takes, drawn between these."""
SECONDS_TO_END = 60
"""How long processes may outlive the one that leads them."""


def contents(out: Path) -> list[tuple[str, str]]:
    """Return the digests of all files of a completed table, and of what its report is made from."""
    verify(out)
    folders = (out, out.with_name(f"{out.name}.proba"), out / SUMMARIES)
    return sorted(
        (f"{folder.relative_to(out.parent)}"[len(out.name) :] + f"/{path.name}", digest(path))
        for folder in folders
        for path in folder.iterdir()
        if path.is_file()
    )


def digest(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Forked:
    """A run in a process that was forked with its libraries, with what is used of ``Popen``."""

    def __init__(self, *paths: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["benchmarks.scale_kills", "sklearn.ensemble"])
        self._process = context.Process(target=complete_alone, args=paths)
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        """Return the exit code; None if the process has not ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end; return its exit code."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("complete_alone", timeout or 0.0)
        return code


def complete_alone(model: Path, source: Path, out: Path) -> None:
    """Complete a table in this process, in a session of its own."""
    os.setsid()
    transform_dataset(model, source, out, piece_rows=PIECE_ROWS, proba_out=f"{out}.proba")


Started = Forked | subprocess.Popen[bytes]


def start(model: Path, source: Path, out: Path, engine: str) -> Started:
    """Start a run in a session of its own."""
    if engine == ALONE:
        return Forked(model, source, out)
    more = ("--piece-rows", str(PIECE_ROWS), "--proba-out", f"{out}.proba")
    return subprocess.Popen(
        command(model, source, out, engine, *more), cwd=pages.ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill(run: Started, chance: random.Random) -> str:
    """Kill something of a run; return what."""
    kind = chance.choice(KINDS)
    workers = [number for number in session_of(run.pid) if number != run.pid]
    chosen = {
        "worker": [chance.choice(workers)] if workers else [],
        "driver": [run.pid],
        "all": [*workers, run.pid],
    }[kind]
    n_killed = sum(killed(number) for number in chosen)
    return kind if n_killed else "nobody"


def killed(number: int) -> bool:
    """Kill a process; return whether it was there."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def outlived(session: int) -> int:
    """Wait for the processes of a session to end; kill and count those that do not."""
    last = time.monotonic() + SECONDS_TO_END
    while session_of(session) and time.monotonic() < last:
        time.sleep(0.2)
    return sum(killed(number) for number in session_of(session))


def kill_runs(
    folder: Path, engine: str, n_kills: int, chance: random.Random
) -> Iterator[dict[str, object]]:
    """Kill runs on an engine, start them again, and compare what they end with."""
    source, model = make_table(folder, ROWS), make_model(folder)
    if engine == ALONE:
        Forked(model, source, folder / f"warm-{os.getpid()}").wait()  # libraries are loaded once
    before = time.monotonic()
    expected = folder / f"expected-{engine[-5:]}-{os.getpid()}"
    if start(model, source, expected, engine).wait():
        raise RuntimeError(f"a run on {engine} fails without being killed")
    usual, whole = time.monotonic() - before, contents(expected)
    n_left, n_runs = n_kills, 0
    while n_left > 0:
        out = folder / f"killed-{engine[-5:]}-{n_runs}-{os.getpid()}"
        n_starts, n_outlived, sessions = 0, 0, []
        told: list[str] = []
        n_runs, code = n_runs + 1, -1
        while code != 0:
            run, n_starts = start(model, source, out, engine), n_starts + 1
            sessions.append(run.pid)
            while len(told) < MOST_KILLS and n_left > 0 and run.poll() is None:
                try:
                    run.wait(chance.uniform(*MOMENTS) * usual)
                except subprocess.TimeoutExpired:
                    told.append(kill(run, chance))
                    n_left -= told[-1] != "nobody"
            code = run.wait()
        n_outlived = sum(outlived(session) for session in sessions)
        counts = {kind: told.count(kind) for kind in KINDS}
        same = contents(out) == whole
        yield {
            "engine": engine,
            "run": n_runs,
            **counts,
            "starts": n_starts,
            "outlived": n_outlived,
            "same_bytes": same,
        }


def show_kills(lines: pd.DataFrame) -> str:
    """Return the table of kills."""
    text = (
        "| engine | runs | workers | leading process | all | started | ended in the same bytes |\n"
    )
    text += "|---|---|---|---|---|---|---|\n"
    for engine, own in lines.groupby("engine", sort=False):
        numbers = [len(own), *(own[kind].sum() for kind in (*KINDS, "starts"))]
        shown = " | ".join(f"{number:,}" for number in numbers)
        text += f"| {engine} | {shown} | {own['same_bytes'].sum()} of {len(own)} |\n"
    n_kills, n_outlived = lines[list(KINDS)].to_numpy().sum(), lines["outlived"].sum()
    said = (
        f"{n_kills} kills at random moments, {len(lines)} runs of {ROWS:,} rows in pieces of "
        f"{PIECE_ROWS}, with P(meaningful) beside. Compared are the digests of all files, and of "
        "what the report is made from. Processes that outlived theirs by "
        f"{SECONDS_TO_END} seconds: {n_outlived}."
    )
    return f"{text}\n{pages.paragraph(said)}"


BLOCKS: pages.Blocks = {(SCALE_PAGE, "scale kills"): pages.from_csv(RESULTS, show_kills)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--engine", action="append", choices=KILLS, help="all if not given")
    parser.add_argument("--kills", type=int, help="on each engine")
    parser.add_argument("--add", action="store_true", help="keep earlier runs of these engines")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chance, engines = random.Random(given.seed), given.engine or list(KILLS)
    if RESULTS.exists() and not given.add:
        earlier = pd.read_csv(RESULTS)
        pages.write(RESULTS, earlier[~earlier["engine"].isin(engines)].to_csv(index=False))
    all_same = True
    for engine in engines:
        for line in kill_runs(given.folder, engine, given.kills or KILLS[engine], chance):
            add(RESULTS, line)
            all_same &= bool(line["same_bytes"])
    pages.show(BLOCKS)
    return 0 if all_same else 1


if __name__ == "__main__":
    sys.exit(main())
