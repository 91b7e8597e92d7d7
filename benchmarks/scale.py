"""Folders of files on each engine: time, memory, the same bytes; and runs that are killed.

    python -m benchmarks.scale --rows 100000 --rows 1000000    # time and memory on each engine
    python -m benchmarks.scale --kills 50                      # kills at random moments

Tables are the stand-in for emergency stays, 30 columns, as Parquet. Every run is the command line's
``transform`` with two workers, in a process of its own. ``read and write`` reads the same pieces,
writes them and does nothing else, in one process. Files go to --folder and are left there. Other
work on the machine makes seconds longer, hence the processor's time beside them.
"""

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from benchmarks.pages import ROOT
from diffjoint import SelectiveImputer, load
from diffjoint.engines import find_dataset, verify
from diffjoint.simulate import mimic_like

RESULTS = Path(__file__).parent / "results" / "scale.csv"
KILLS = RESULTS.with_stem("scale-kills")
FITTED_ROWS = 20_000
FILE_ROWS, GROUP_ROWS = 250_000, 50_000
SMALL_ROWS, SMALL_PIECES = 4_000, 100
"""Rows, and rows of a piece, of runs that are killed."""
IN_MEMORY = 100_000
"""Rows up to which the result is compared with that in memory."""
ENGINES = ("local", "dask", "spark")
WORKERS = 2
MIB = 2**20


def make_table(folder: Path, n_rows: int) -> Path:
    """Write a table of so many rows as Parquet files, unless it is there."""
    path = folder / f"rows-{n_rows}"
    if path.exists():
        return path
    unfinished = folder / f"rows-{n_rows}.unfinished"
    unfinished.mkdir(parents=True, exist_ok=True)
    for first in range(0, n_rows, FILE_ROWS):
        last = min(first + FILE_ROWS, n_rows)
        writer = None
        for start in range(first, last, GROUP_ROWS):
            rows = mimic_like(min(GROUP_ROWS, last - start), seed=1 + start).observed_table
            table = pa.Table.from_pandas(rows, preserve_index=False)
            if writer is None:
                name = unfinished / f"part-{first:010d}.parquet"
                writer = pa_parquet.ParquetWriter(name, table.schema)
            writer.write_table(table.cast(writer.schema))
        if writer is not None:
            writer.close()
    return unfinished.rename(path)


def make_model(folder: Path) -> Path:
    """Fit the model that completes all tables, unless it is there."""
    path = folder / "model"
    if not path.exists():
        world = mimic_like(FITTED_ROWS, seed=0)
        imputer = SelectiveImputer(
            world.mm_columns, column_kinds=world.column_kinds, random_state=0, unseen="keep"
        )
        imputer.fit(world.observed_table).save(path)
    return path


def command(model: Path, source: Path, out: Path, engine: str, *more: str) -> list[str]:
    """Return the command that completes a table."""
    options = ["--engine", engine, "--workers", str(WORKERS), "--quiet", *more]
    transform = ["transform", str(model), str(source), str(out), *options]
    return [sys.executable, "-m", "diffjoint", *transform]


def timed(words: Sequence[str], folder: Path) -> dict[str, float]:
    """Run a command; return its seconds, those of the processor, and its largest process."""
    watch = (
        "import resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", watch, *words],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, processor, kib = map(float, done.stdout.split()[-3:])
    return {"seconds": seconds, "processor": processor, "largest_mib": kib * 1024 / MIB}


def read_and_write(source: Path, out: Path) -> dict[str, float]:
    """Read all pieces and write them, in this process."""
    out.mkdir(parents=True)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    for file in find_dataset(source).files:
        with pa_parquet.ParquetFile(file) as opened:
            for group in range(opened.num_row_groups):
                rows = opened.read_row_group(group, use_threads=False)
                pa_parquet.write_table(rows, out / f"{file.stem}-{group}.parquet")
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - start, "processor": processor, "largest_mib": 0.0}


def digest(out: Path) -> str:
    """Return a digest of all files of a completed table."""
    found = hashlib.sha256()
    for piece in verify(out).pieces:
        found.update(f"{piece.name} {piece.files['table']['sha256']}".encode())
    return found.hexdigest()[:16]


def measure(folder: Path, n_rows: int, limit: str) -> Iterator[dict[str, object]]:
    """Complete a table on each engine."""
    source, model = make_table(folder, n_rows), make_model(folder)
    run = f"{n_rows}-{os.getpid()}"
    yield {"rows": n_rows, "engine": "read and write", **read_and_write(source, folder / run)}
    for engine in ENGINES:
        out = folder / f"{engine}-{run}"
        measured = timed(command(model, source, out, engine, "--memory-limit", limit), folder)
        same = ""
        if n_rows <= IN_MEMORY:
            in_memory = load(model).transform(pa_parquet.read_table(source))
            same = str(pa_parquet.read_table(out).equals(in_memory))
        facts = {"digest": digest(out), "as_in_memory": same, "limit": limit}
        yield {"rows": n_rows, "engine": engine, **measured, **facts}


def children(process: int) -> list[int]:
    """Return the processes below a process."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []
    own = [int(number) for number in listed.split()]
    return own + [below for one in own for below in children(one)]


def kill_one(run: "subprocess.Popen[bytes]", chance: random.Random) -> str:
    """Kill the process that leads a run, or one of those below it."""
    workers = children(run.pid)
    if workers and chance.random() < 0.5:
        try:
            os.kill(chance.choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return "nobody"
        return "worker"
    for number in (*workers, run.pid):
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return "all"


def kills(folder: Path, n_kills: int) -> Iterator[dict[str, object]]:
    """Kill runs at random moments, start them again, and compare what they end with."""
    source, model = make_table(folder, SMALL_ROWS), make_model(folder)
    pieces = ("--piece-rows", str(SMALL_PIECES))
    expected = folder / f"expected-{os.getpid()}"
    subprocess.run(command(model, source, expected, "local", *pieces), cwd=ROOT, check=True)
    chance = random.Random(0)
    for engine, share in zip(ENGINES, (0.6, 0.2, 0.2), strict=True):
        n_left, n_runs = round(n_kills * share), 0
        while n_left > 0:
            out = folder / f"killed-{engine}-{n_runs}-{os.getpid()}"
            n_runs += 1
            told, code = [], -1
            while code != 0:
                run = subprocess.Popen(
                    command(model, source, out, engine, *pieces), cwd=ROOT, start_new_session=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                while n_left > 0 and run.poll() is None:
                    try:
                        code = run.wait(chance.uniform(2, 20))
                    except subprocess.TimeoutExpired:
                        told.append(kill_one(run, chance))
                        n_left -= told[-1] != "nobody"
                code = run.wait()
            same = digest(out) == digest(expected)
            counts = {name: told.count(name) for name in ("worker", "all")}
            yield {"engine": engine, "run": n_runs, **counts, "same_bytes": same}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, action="append", default=[])
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--limit", default="1GB", help="memory of each worker")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "scale")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for n_rows in given.rows:
        for row in measure(given.folder, n_rows, given.limit):
            add(RESULTS, row)
    if given.kills:
        for row in kills(given.folder, given.kills):
            add(KILLS, row)


def add(path: Path, row: dict[str, object]) -> None:
    """Add a row to a file of results."""
    before = [pd.read_csv(path)] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.concat([*before, pd.DataFrame([row])]).to_csv(path, index=False)
    print(row, flush=True)


if __name__ == "__main__":
    main()
