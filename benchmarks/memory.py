"""How much memory ``diffjoint impute`` takes on a CSV file, with and without a limit.

    python -m benchmarks.memory            # a million rows and three, and limits
    python -m benchmarks.memory --quick    # a small version

Each run is a process of its own. ``peak_mb`` is the most memory that it held, ``bare_mb`` what the
program takes with its libraries before it does anything, ``ratio`` the peak over the file's size.
"""

import argparse
import contextlib
import io
import json
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "memory.csv"
ROWS, QUICK_ROWS = (1_000_000, 3_000_000), (3_000,)
LIMITS, QUICK_LIMITS = (None, "1GB", "700MB"), (None, "2GB")
MB = 10**6


def in_this_process(arguments: list[str]) -> float:
    """Run the command line here; the most memory that the process has held, in MB."""
    sys.argv = ["diffjoint", *arguments]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_module("diffjoint", run_name="__main__")
        except SystemExit as done:
            if done.code:
                raise
    return _peak()


def measured(arguments: list[str]) -> float:
    """Run the command line in a process of its own; the most memory that it held, in MB."""
    command = [sys.executable, "-m", "benchmarks.memory", "--job", json.dumps(arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def _peak() -> float:
    """Return this process's peak, without what it held for a moment of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / MB
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB


def measure(n_rows: int, limits: tuple[str | None, ...], folder: Path) -> list[dict[str, Any]]:
    """Complete a survey of so many rows under some limits."""
    from diffjoint.simulate import household_survey  # noqa: PLC0415, a run has its own

    world = household_survey(n_rows)
    path = folder / "survey.csv"
    world.observed_table.to_csv(path, index=False)
    size, n_columns = path.stat().st_size / MB, world.observed_table.shape[1]
    bare = measured(["--version"])
    rows = []
    for limit in limits:
        given = [] if limit is None else ["--memory-limit", limit]
        searched = ["-m", ",".join(world.mm_columns), "--quiet"]
        start = time.perf_counter()
        peak = measured(["impute", str(path), str(folder / "completed.csv"), *searched, *given])
        rows.append(
            {
                "rows": n_rows,
                "columns": n_columns,
                "file_mb": round(size, 1),
                "limit": limit or "",
                "peak_mb": round(peak),
                "bare_mb": round(bare),
                "ratio": round(peak / size, 1),
                "seconds": round(time.perf_counter() - start),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small version in seconds")
    parser.add_argument("--rows", type=int, nargs="*", help="rows of the surveys")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the results")
    parser.add_argument("--job", metavar="JSON", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        print(in_this_process(json.loads(options.job)))
        return
    import pandas as pd  # noqa: PLC0415, a run has its own

    limits = QUICK_LIMITS if options.quick else LIMITS
    sizes = options.rows or (QUICK_ROWS if options.quick else ROWS)
    with tempfile.TemporaryDirectory() as folder:
        found = [row for n_rows in sizes for row in measure(n_rows, limits, Path(folder))]
    pd.DataFrame(found).to_csv(options.results, index=False)


if __name__ == "__main__":
    main()
