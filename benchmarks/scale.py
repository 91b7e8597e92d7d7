"""Folders of files on each engine: time, memory, and the same bytes.

    python -m benchmarks.scale --rows 100000 --rows 1000000
    python -m benchmarks.scale --rows 10000000 --engine local

Tables are the stand-in for emergency stays, 30 columns, as Parquet. Every run is the command line's
``transform`` with two workers, in a process of its own. ``read and write`` reads the same pieces,
writes them and does nothing else, in one process. Files go to --folder and are left there. Other
work on the machine makes seconds longer, hence the processor's time beside them.
"""

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from benchmarks import pages
from diffjoint import SelectiveImputer, load
from diffjoint.engines import find_dataset, verify
from diffjoint.simulate import mimic_like

RESULTS = Path(__file__).parent / "results" / "scale.csv"
SCALE_PAGE = pages.DOCS / "scale.md"
FOLDER = pages.ROOT / "build" / "scale"
"""Where tables are written to, and left."""
FITTED_ROWS = 20_000
FILE_ROWS, GROUP_ROWS = 250_000, 50_000
COLUMNS = 30
BILLION = 10**9
PRICE = 0.04
"""Dollars for an hour of a processor: no measurement, for readers to replace."""
IN_MEMORY = 100_000
"""Rows up to which the result is compared with that in memory."""
ENGINES = ("local", "dask", "spark")
WORKERS = 2
MIB = 2**20
EVERY = 0.2
"""Seconds between two looks at what a run uses."""


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


def timed(words: Sequence[str]) -> dict[str, float]:
    """Run a command; return its seconds, those of the processor, and the memory it takes.

    All processes of its session count: ``largest_mib`` is the most that one of Python's held,
    ``together_mib`` the most that all held at a time, Spark's own process too.
    """
    start, used, largest, together = time.perf_counter(), {}, 0.0, 0.0
    run = subprocess.Popen(words, cwd=pages.ROOT, start_new_session=True)
    while run.poll() is None:
        seen = [one for number in session_of(run.pid) if (one := look_at(number)) is not None]
        used.update({one.number: one.processor for one in seen})
        largest = max([largest, *(one.peak_mib for one in seen if one.is_python)])
        together = max(together, sum(one.mib for one in seen))
        time.sleep(EVERY)
    if run.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {run.returncode}")
    return {
        "seconds": time.perf_counter() - start,
        "processor": sum(used.values()),
        "largest_mib": largest,
        "together_mib": together,
    }


@dataclass(frozen=True)
class Process:
    """What a process has used so far."""

    number: int
    is_python: bool
    processor: float
    mib: float
    peak_mib: float


def session_of(leader: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            found.append(int(path.name))
    return found


def look_at(number: int) -> Process | None:
    """Return what a process has used so far; None if it has ended."""
    try:
        name, _, rest = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(") ")
        status = Path(f"/proc/{number}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = rest.split()
    kib = {
        line.split(":")[0]: int(line.split()[1])
        for line in status.splitlines()
        if line.startswith(("VmRSS", "VmHWM"))
    }
    processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    mib, peak = (kib.get(key, 0) * 1024 / MIB for key in ("VmRSS", "VmHWM"))
    return Process(number, "python" in name, processor, mib, peak)


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
    return {"seconds": time.perf_counter() - start, "processor": processor}


def digest(out: Path) -> str:
    """Return a digest of all files of a completed table."""
    found = hashlib.sha256()
    for piece in verify(out).pieces:
        found.update(f"{piece.name} {piece.files['table']['sha256']}".encode())
    return found.hexdigest()[:16]


def measure(
    folder: Path, n_rows: int, limit: str, engines: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Complete a table on some engines."""
    source, model = make_table(folder, n_rows), make_model(folder)
    run = f"{n_rows}-{os.getpid()}"
    yield {"rows": n_rows, "engine": "read and write", **read_and_write(source, folder / run)}
    for engine in engines:
        out = folder / f"{engine}-{run}"
        measured = timed(command(model, source, out, engine, "--memory-limit", limit))
        same = ""
        if n_rows <= IN_MEMORY:
            in_memory = load(model).transform(pa_parquet.read_table(source))
            same = str(pa_parquet.read_table(out).equals(in_memory))
        facts = {"digest": digest(out), "as_in_memory": same, "limit": limit}
        yield {"rows": n_rows, "engine": engine, **measured, **facts}


def show_times(lines: pd.DataFrame) -> str:
    """Return the table of times and memory."""
    text = (
        "| rows | engine | seconds | processor | per million rows | largest process | together |\n"
    )
    text += "|---|---|---|---|---|---|---|\n"
    for line in lines.to_dict("records"):
        each = line["processor"] / line["rows"] * 1e6
        sizes = [line["largest_mib"], line["together_mib"]]
        shown = ["" if pd.isna(size) else f"{size:,.0f} MiB" for size in sizes]
        text += (
            f"| {line['rows']:,} | {line['engine']} | {line['seconds']:,.1f} | "
            f"{line['processor']:,.1f} | {each:,.1f} | {' | '.join(shown)} |\n"
        )
    runs = lines[lines["engine"].isin(ENGINES)]
    n_same = int((runs["as_in_memory"].dropna().astype(str) == "True").sum())
    equal = runs.groupby("rows")["digest"].agg(["nunique", "size"])
    several = equal[equal["size"] > 1]
    n_equal = int((several["nunique"] == 1).sum())
    said = (
        f"{WORKERS} workers, memory limit {', '.join(runs['limit'].unique())} for each; "
        '"processor" is the time of all processors together, "seconds" what a clock shows on a '
        "machine that others use at the same time. Files of all engines were equal byte for byte "
        f"for {n_equal} of {len(several)} sizes, and equal to the table completed in memory in "
        f"{n_same} of {runs['as_in_memory'].notna().sum()} runs that were small enough."
    )
    return f"{text}\n{pages.paragraph(said + growth(runs))}"


def growth(runs: pd.DataFrame) -> str:
    """Say how time grows with the rows, between the two largest sizes on the local engine."""
    local = runs[runs["engine"] == "local"].sort_values("rows")
    if len(local) < 2:
        return ""
    few, many = local.iloc[-2], local.iloc[-1]
    return (
        f" From {few['rows']:,} to {many['rows']:,} rows the local engine took "
        f"{many['processor'] / few['processor']:.1f} times the processor's time."
    )


def show_cost(lines: pd.DataFrame) -> str:
    """Say what a billion rows cost, from what rows cost beyond starting a run."""
    local = lines[lines["engine"] == "local"].sort_values("rows")
    few, many = local.iloc[0], local.iloc[-1]
    by_row = (many["processor"] - few["processor"]) / (many["rows"] - few["rows"])
    hours = by_row * BILLION / 3600
    bare = lines[lines["engine"] == "read and write"].sort_values("rows").iloc[-1]
    reading = bare["processor"] / bare["rows"] * BILLION / 3600
    said = (
        f"A billion rows of {COLUMNS} columns take {hours:,.0f} hours of one processor, "
        f"{reading:,.1f} of them to read and write: {hours / 64:,.1f} hours on 64 processors. This "
        f"is what rows cost between {few['rows']:,} and {many['rows']:,} rows on the local engine, "
        f"without the start of a run. At a price of {PRICE:g} dollars for an hour of a processor, "
        f"which is for you to replace, that is {hours * PRICE:,.2f} dollars."
    )
    return pages.paragraph(said)


BLOCKS: pages.Blocks = {
    (SCALE_PAGE, "scale times"): pages.from_csv(RESULTS, show_times),
    (SCALE_PAGE, "scale cost"): pages.from_csv(RESULTS, show_cost),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, action="append", default=[])
    parser.add_argument("--limit", default="1GB", help="memory of each worker")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="all if not given")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for n_rows in given.rows:
        for row in measure(given.folder, n_rows, given.limit, given.engine or ENGINES):
            add(RESULTS, row)
    pages.show(BLOCKS)


def add(path: Path, row: dict[str, object]) -> None:
    """Add a row to a file of results."""
    before = [pd.read_csv(path)] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.concat([*before, pd.DataFrame([row])]).to_csv(path, index=False)
    print(row, flush=True)


if __name__ == "__main__":
    main()
