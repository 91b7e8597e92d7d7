"""Every table and figure of the paper, and some beyond it: run what is missing, then show.

    python -m benchmarks.paper --quick               # a small version, in minutes
    python -m benchmarks.paper --jobs 2              # everything: many hours, the last for days
    python -m benchmarks.paper --jobs 2 --budget 60 --methods missforest,cmae --tables real_tables
    python -m benchmarks.paper --show                # run nothing; tables from what is there

Cells that have a result are not run again; failed ones are, with `--retry`. The full version writes
its blocks on the pages in docs/results and on docs/results.md, and
docs/results/tables.html with the pictures beside it; the small one writes to its own folder alone.
"""

import argparse
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from html import escape
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep

from benchmarks import bayes_limit, check_worlds
from benchmarks.cells import (
    RESULTS,
    TRUTH,
    Cell,
    Result,
    can_run,
    read,
    record_failure,
    run,
    seconds_by_kind,
)
from benchmarks.methods import METHODS
from benchmarks.pages import DOCS, RESULTS_PAGE, Blocks, result_page, show, write
from benchmarks.tables import (
    FULL,
    QUICK,
    TABLES,
    Size,
    Table,
    downstream_tables,
    held_out,
    method_comparison,
    real_tables,
)
from benchmarks.tables.grid import failures

QUICK_RESULTS = RESULTS.with_name("cells-quick")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
STYLE = (
    "<style>body{font:14px sans-serif;margin:2em}div{overflow-x:auto;margin:2em 0}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccd;padding:3px 8px;"
    "text-align:right;white-space:nowrap}th{background:#f3f5f8}th[scope]{text-align:left;font-weight:normal}"
    "caption{text-align:left;font-weight:bold;padding:4px 0}img{max-width:100%}</style>"
)
ENDED = "its process ended: out of memory, or ended by hand"
LEGEND = (
    "<p>Bold: the best of our numbers in its place, compared over the seeds that both methods "
    "have. Arrows point to where numbers are better. Published numbers for emergency stays are "
    "from MIMIC-IV-ED, ours from the table that the title names. Diffusion models and "
    "autoencoders run on the budgets named below, not on the paper's.</p>"
)


def wanted_cells(tables: Sequence[Table], size: Size) -> list[Cell]:
    """Return the cells of some tables, each once, of the methods of this size."""
    every = dict.fromkeys(cell for table in tables for cell in table.cells(size))
    return [cell for cell in every if size.has(cell)]


def left_to_run(cells: Sequence[Cell], folder: Path, retry: bool) -> list[Cell]:
    """Cells without a result, whose method can be run here."""
    left = []
    for cell in cells:
        result = read(cell, folder)
        if result is not None and not (retry and result["status"] == "failed"):
            continue
        if can_run(cell):
            left.append(cell)
    return left


def cannot_run(cells: Sequence[Cell], folder: Path) -> str:
    """Return a line on cells without a result that cannot be run here; empty if all can."""
    stuck = [cell for cell in cells if read(cell, folder) is None and not can_run(cell)]
    if not stuck:
        return ""
    names = ", ".join(sorted({f"{cell.method} on {cell.world}" for cell in stuck}))
    return (
        f"{len(stuck)} cells cannot be run here: {names}. Real tables are looked for in the folder "
        "DIFFJOINT_DATA; `make paper` installs what methods need.\n"
    )


def estimate(left: Sequence[Cell], done: Sequence[Cell], folder: Path, jobs: int) -> str:
    """How long it will take, as far as finished cells of the same kind tell."""
    by_kind = seconds_by_kind(done, folder)
    kinds = [(cell.method, cell.world, cell.rows) for cell in left]
    known = [by_kind[kind] for kind in kinds if kind in by_kind]
    n_unknown = len(left) - len(known)
    parts = [f"about {sum(known) / max(1, jobs) / 60:.0f} minutes"] if known or not left else []
    parts += [f"{n_unknown} of kinds never timed"] if n_unknown else []
    return f"{len(left)} cells left: {', and '.join(parts)}"


def run_all(
    cells: Sequence[Cell], folder: Path, jobs: int, budget: float | None
) -> Iterator[tuple[Cell, Result]]:
    """Results as they come. After ``budget`` seconds no cell is started any more.

    With no jobs, cells are run in this process, one after the other.
    """
    start, waiting = perf_counter(), list(reversed(cells))

    def in_time() -> bool:
        return budget is None or perf_counter() - start < budget

    if jobs == 0:
        while waiting and in_time():
            cell = waiting.pop()
            yield cell, run(cell, folder)
        return
    while waiting and in_time():
        for cell in (yield from _run_together(waiting, folder, jobs, in_time)):
            # One of these ended its process, and the others with it: each is run alone.
            if jobs == 1 or (yield from _run_together([cell], folder, 1, in_time)):
                yield cell, record_failure(cell, ENDED, folder)


def _run_together(
    waiting: list[Cell], folder: Path, jobs: int, in_time: Callable[[], bool]
) -> Generator[tuple[Cell, Result], None, list[Cell]]:
    """Results of waiting cells, until none is left, or in time, or a process ends without a word.

    Returns
    -------
    list of Cell
        Those that were running when it did.
    """
    running: dict[Future[Result], Cell] = {}
    ended: list[Cell] = []
    with ProcessPoolExecutor(jobs, get_context("spawn"), _end_with_parent) as pool:
        while running or (waiting and in_time() and not ended):
            while len(running) < jobs and waiting and in_time() and not ended:
                cell = waiting.pop()
                try:
                    running[pool.submit(run, cell, folder)] = cell
                except BrokenProcessPool:
                    ended.append(cell)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    ended.append(cell)
                else:
                    yield cell, future.result()
    return ended


def _end_with_parent() -> None:
    """Have a process end when the one that started it is gone, however that ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(2)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def markdown(table: Table, size: Size, folder: Path) -> str:
    """Return a table as its page in docs/results shows it: grids, picture, what failed."""
    texts = [grid.markdown() for grid in table.grids(size, folder)]
    if table.draw is not None:
        texts.append(f"![{table.title}]({table.name}.png)\n")
    wrong = failures(table.cells(size), folder)
    return "\n".join([*texts, *(["".join(wrong)] if wrong else [])])


def write_page(tables: Sequence[Table], size: Size, folder: Path, shown: Path) -> None:
    """All tables as one HTML page, and the pictures beside it."""
    shown.mkdir(parents=True, exist_ok=True)
    names = [f"<li><a href='#{table.name}'>{table.title}</a>\n" for table in tables]
    page = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>Results</title>{STYLE}\n<h1>Results of diffjoint</h1>\n{LEGEND}\n",
        f"<ul>\n{''.join(names)}<li><a href='#methods'>methods</a>\n</ul>\n",
    ]
    for table in tables:
        page.append(f"<h2 id='{table.name}'>{table.title}</h2>\n")
        page += [grid.html() for grid in table.grids(size, folder)]
        if table.draw is not None:
            table.draw(size, folder, shown / f"{table.name}.png")
            page.append(f"<img src='{table.name}.png' alt='{table.title}, as a picture'>\n")
        wrong = [line.removeprefix("- ").strip() for line in failures(table.cells(size), folder)]
        page += [f"<p>{escape(line)}</p>\n" for line in wrong]
    rows = [
        f"<tr><th scope='row'>{escape(m.label)}</th><th scope='row'>{escape(m.about)}</th></tr>\n"
        for m in METHODS.values()
    ]
    page.append(f"<h2 id='methods'>methods</h2>\n<div><table>\n{''.join(rows)}</table></div>\n")
    write(shown / "tables.html", "".join(page))


def methods_table() -> str:
    """Return what each method is."""
    lines = [f"| {m.label} | {m.about} |\n" for m in METHODS.values()]
    return "| method | what it is here |\n| --- | --- |\n" + "".join(lines)


BLOCKS: Blocks = {
    (result_page("method-comparison"), "methods"): methods_table,
    (RESULTS_PAGE, "held_out"): partial(held_out.summary, FULL, RESULTS),
    (RESULTS_PAGE, "acc"): partial(method_comparison.summary, FULL, RESULTS),
    (RESULTS_PAGE, "real_tables"): partial(real_tables.summary, FULL, RESULTS),
    (RESULTS_PAGE, "downstream_network"): partial(downstream_tables.summary, FULL, RESULTS),
}
BLOCKS.update({(result_page(t.page), t.name): partial(markdown, t, FULL, RESULTS) for t in TABLES})


def _chosen(options: argparse.Namespace) -> tuple[list[Table], Size]:
    by_name = {table.name: table for table in TABLES}
    names = _named("--tables", options.tables, by_name) or list(by_name)
    size = QUICK if options.quick else FULL
    if methods := _named("--methods", options.methods, (*METHODS, TRUTH)):
        size = replace(size, methods=tuple(methods), network_methods=())
    return [by_name[name] for name in names], size


def _named(option: str, text: str | None, known: Iterable[object]) -> list[str]:
    """Return the names given to an option; exit with a message if one is unknown."""
    names = [name.strip() for name in text.split(",")] if text else []
    there_are = [str(name) for name in known]
    if unknown := [name for name in names if name not in there_are]:
        raise SystemExit(
            f"{option} names {', '.join(unknown)}; there is {', '.join(sorted(there_are))}."
        )
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small version, in minutes")
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once; 0: this one")
    parser.add_argument("--budget", type=float, help="minutes after which no cell is started")
    parser.add_argument("--tables", help="some tables, with commas: " + names_of(TABLES))
    parser.add_argument("--methods", help="some methods, with commas")
    parser.add_argument("--mechanisms", help="some mechanisms, with commas")
    parser.add_argument("--ratios", help="some ratios, with commas")
    parser.add_argument("--seeds", help="some seeds, with commas")
    parser.add_argument("--worlds", help="some worlds, with commas")
    parser.add_argument("--retry", action="store_true", help="run failed cells again")
    parser.add_argument("--results", type=Path, help="folder of the results")
    return parser


def names_of(tables: Sequence[Table]) -> str:
    """Names of tables, with commas."""
    return ",".join(table.name for table in tables)


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    tables, size = _chosen(options)
    folder = options.results or (QUICK_RESULTS if options.quick else RESULTS)
    cells = wanted_cells(tables, size)
    asked = _asked_for(cells, wanted_cells(TABLES, size), options)
    if not asked and (cells or options.methods):
        raise SystemExit(f"No cell of {names_of(tables)} is all of that. Leave some of it out.")
    is_official = folder == RESULTS
    if not options.show:
        _run_and_tell(asked, cells, folder, options)
        if is_official:
            _run_what_pages_need()
    everything = replace(size, methods=FULL.methods)
    for table in tables:
        print(f"\n## {table.name}\n\n{markdown(table, everything, folder)}")
    if not is_official:
        write_page(tables, everything, folder, folder / "shown")
    else:
        # The pages always have every table, also when some are asked for.
        write_page(TABLES, everything, folder, DOCS / "results")
        show(BLOCKS)


def _run_what_pages_need() -> None:
    """Measure the limits and check the worlds where that was not done yet: minutes."""
    if not (bayes_limit.RESULTS.exists() and bayes_limit.ON_HELD_OUT.exists()):
        bayes_limit.main([])
    if not check_worlds.RESULTS.exists():
        check_worlds.main([])


def _asked_for(
    cells: Sequence[Cell], all_cells: Sequence[Cell], options: argparse.Namespace
) -> list[Cell]:
    """Return the cells to run, whose fields may be those of any table."""
    asked = list(cells)
    for field in ("mechanism", "ratio", "seed", "world"):
        known = {getattr(cell, field) for cell in all_cells}
        names = _named(f"--{field}s", getattr(options, f"{field}s"), known)
        asked = [c for c in asked if not names or str(getattr(c, field)) in names]
    return asked


def _run_and_tell(
    left_from: Sequence[Cell], known: Sequence[Cell], folder: Path, options: argparse.Namespace
) -> None:
    # Set before the processes start: numpy and torch read them when they are imported.
    os.environ |= dict.fromkeys(ONE_THREAD, "1") | {"OMP_WAIT_POLICY": "PASSIVE"}
    left = left_to_run(left_from, folder, options.retry)
    print(cannot_run(left_from, folder), end="")
    print(estimate(left, known, folder, options.jobs), flush=True)
    budget = None if options.budget is None else 60 * options.budget
    for n_done, (cell, result) in enumerate(run_all(left, folder, options.jobs, budget), 1):
        said = result.get("error", f"{result['total_seconds']:.1f} s")
        print(f"{cell.path.with_suffix('')}: {result['status']}, {said}", flush=True)
        if n_done % 20 == 0:
            rest = left_to_run(left, folder, retry=False)
            print(estimate(rest, known, folder, options.jobs), flush=True)


if __name__ == "__main__":
    main()
