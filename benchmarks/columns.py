"""How time grows with the number of columns, and with it the quality of calls.

    python -m benchmarks.columns            # 1,000 rows, 20 to 500 columns, named and found
    python -m benchmarks.columns --quick    # two small tables

A made-up questionnaire: half of its columns are searched, each is asked only if one of the gates
among the others says so, and a tenth of all cells is lost. Each measurement is made in a process of
its own and is one line of benchmarks/results/columns.csv, child processes counted; lines that are
there are kept.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib.externals.loky import get_reusable_executor
from matplotlib.figure import Figure

from benchmarks.kept import measure_missing, read_kept
from benchmarks.pages import (
    DOCS,
    RESULTS_PAGE,
    ROOT,
    Blocks,
    from_csv,
    paragraph,
    result_page,
    show,
)
from diffjoint import SelectiveImputer

RESULTS = Path(__file__).parent / "results" / "columns.csv"
PICTURE = DOCS / "results" / "speed_columns.svg"
KEYS = ["rows", "columns", "search", "threads"]
COLUMNS, N_ROWS, LOSS_RATE = (20, 40, 80, 160, 500), 1_000, 0.1
NAMED, AUTO = "named", "auto"


def questionnaire(n_rows: int, n_columns: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table with gates and skipped questions, and which of its cells are meaningful."""
    rng = np.random.default_rng(seed)
    n_searched = n_columns // 2
    traits = rng.normal(size=(n_rows, max(2, n_columns // 10)))

    def answer(k: int) -> Any:
        return 0.7 * traits[:, k % traits.shape[1]] + 0.7 * rng.normal(size=n_rows)

    columns: dict[str, Any] = {}
    gates = []
    for k in range(n_columns - n_searched):
        x = answer(k)
        if k % 3 == 0:
            columns[f"gate_{k}"] = np.where(x > 0.3, "yes", "no").astype(object)
            gates.append(x > 0.3)
        elif k % 3 == 1:
            columns[f"number_{k}"] = np.round(10 * x, 1)
        else:
            columns[f"level_{k}"] = np.array(list("abcd"), dtype=object)[np.digitize(x, [-1, 0, 1])]
    skipped = {}
    for k in range(n_searched):
        x, name = answer(k + 1), f"asked_{k}"
        levels = np.array(list("xyz"), dtype=object)[np.digitize(x, [-0.5, 0.5])]
        columns[name], skipped[name] = (
            np.round(5 * x, 1) if k % 2 else levels,
            ~gates[k % len(gates)],
        )
    truth = pd.DataFrame(columns)
    meaningful = pd.DataFrame(skipped).reindex(columns=truth.columns, fill_value=False)
    lost = rng.random(truth.shape) < LOSS_RATE
    return truth.mask(meaningful | lost), meaningful


def fit_once(n_rows: int, n_columns: int, search: str, threads: int) -> dict[str, float]:
    """Fit a questionnaire: seconds of all processors, seconds on the clock, right calls."""
    table, meaningful = questionnaire(n_rows, n_columns)
    searched = [name for name in table if meaningful[name].any()]
    imputer = SelectiveImputer(
        "auto" if search == AUTO else searched, random_state=0, n_threads=threads
    )
    start, clock = _processor_seconds(), time.perf_counter()
    imputer.fit(table)
    clock = time.perf_counter() - clock
    get_reusable_executor().shutdown(wait=True)
    seconds = _processor_seconds() - start
    gaps = table[searched].isna().to_numpy()
    right = imputer.predict_mm(table)[searched].to_numpy() == meaningful[searched].to_numpy()
    named = set(imputer.mm_columns_)
    return {
        "processor_seconds": seconds,
        "seconds": clock,
        "right_calls": 100 * float(right[gaps].mean()),
        "columns_found": len(named & set(searched)),
        "columns_named_wrongly": len(named - set(searched)),
    }


def measure(n_rows: int, n_columns: int, search: str, threads: int) -> list[dict[str, float]]:
    """One measurement in a process of its own."""
    job = json.dumps([n_rows, n_columns, search, threads])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.columns", "--job", job],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    line: dict[str, float] = json.loads(done.stdout)
    print(f"{n_columns} columns, {search}: {line['seconds']:.1f} s", file=sys.stderr, flush=True)
    return [line]


def exponent(results: pd.DataFrame, search: str) -> float:
    """Return the power of the columns that processor time grows with, over all of them."""
    here = results[results["search"] == search].sort_values("columns")
    first, last = here.iloc[0], here.iloc[-1]
    grown = np.log(last["processor_seconds"] / first["processor_seconds"])
    return float(grown / np.log(last["columns"] / first["columns"]))


def section(results: pd.DataFrame) -> str:
    """Return the table and the growth, from the result file."""
    lines = [
        "| columns (half searched) | named: processor seconds | on the clock | right calls | auto: "
        "processor seconds | on the clock | found | wrongly named |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    ]
    for n_columns, here in results.groupby("columns"):
        by = {str(search): line.iloc[0] for search, line in here.groupby("search")}
        if set(by) != {NAMED, AUTO}:
            continue
        named, auto = by[NAMED], by[AUTO]
        lines.append(
            f"| {n_columns} | {named['processor_seconds']:.1f} | {named['seconds']:.1f} | "
            f"{named['right_calls']:.1f}% | {auto['processor_seconds']:.1f} | "
            f"{auto['seconds']:.1f} | {auto['columns_found']:.0f} of {int(str(n_columns)) // 2} | "
            f"{auto['columns_named_wrongly']:.0f} |\n"
        )
    return "".join(lines) + "\n" + paragraph(f"{_size(results)}. {_growth(results)}")


def sentence(results: pd.DataFrame) -> str:
    """Return how long the fewest and the most columns take, and how that grows."""
    named = results[results["search"] == NAMED].sort_values("columns")
    few, many = named.iloc[0], named.iloc[-1]
    return paragraph(
        f"On {_size(results)}, a fit takes {few['seconds']:.0f} s with {few['columns']} columns "
        f"and {many['seconds']:.0f} s with {many['columns']}, half of them searched. "
        + _growth(results)
    )


def _size(results: pd.DataFrame) -> str:
    return f"{results['rows'].iloc[0]:,} rows, {results['threads'].iloc[0]} threads"


def _growth(results: pd.DataFrame) -> str:
    """How processor time grows with the columns."""
    powers = " and ".join(
        f"{exponent(results, search):.2f} (searched columns {how})"
        for search, how in ((NAMED, "named"), (AUTO, "found"))
    )
    return (
        "From the fewest columns to the most, processor time grows with their number to the power "
        f"of {powers}."
    )


def plot(results: pd.DataFrame, path: Path) -> None:
    """Seconds against columns, both in logs."""
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    for search, here in results.sort_values("columns").groupby("search"):
        axes.loglog(here["columns"], here["processor_seconds"], "o-", label=f"{search}, processor")
        axes.loglog(here["columns"], here["seconds"], "o--", label=f"{search}, clock")
    axes.set(xlabel="columns", ylabel="seconds to fit")
    sizes = sorted(results["columns"].unique())
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.set_xticks([], minor=True)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


BLOCKS: Blocks = {
    (result_page("speed"), "speed_columns"): from_csv(RESULTS, section),
    (RESULTS_PAGE, "speed_columns"): from_csv(RESULTS, sentence),
}


def _processor_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small tables")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        warnings.simplefilter("ignore")  # what a table makes the imputer doubt is no news here
        print(json.dumps(fit_once(*json.loads(options.job))))
        return
    rows, columns = (200, (8, 16)) if options.quick else (N_ROWS, COLUMNS)
    wanted = [(rows, n, search, options.threads) for n in columns for search in (NAMED, AUTO)]
    measure_missing(wanted, KEYS, options.results, measure)
    results = read_kept(options.results, KEYS)
    plot(results, options.picture)
    if options.results == RESULTS and not options.quick:
        show(BLOCKS)
    print(section(results))


if __name__ == "__main__":
    main()
