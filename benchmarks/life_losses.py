"""How well cells are told apart that are lost as in life: at uneven rates, many in one row.

    python -m benchmarks.life_losses                        # tables and network, both methods
    python -m benchmarks.life_losses --only telco-churn
    python -m benchmarks.life_losses --methods taught       # the classifier with true labels alone
    python -m benchmarks.life_losses --quick                # the network alone, few rows

Tables with true labels beside a classifier that is taught with them; the network beside the exact
limit. As in benchmarks.calls, the diffusion model is trained as little as it can be. One line per
world, mechanism, ratio, seed and method; results that are there are kept.
"""

import textwrap
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.calls import FOLDER
from benchmarks.kept import measure_missing, read_kept
from benchmarks.lost import (
    DIFFJOINT,
    KEYS,
    NOT_RUN,
    QUICK_ROWS,
    TAUGHT,
    Place,
    make_parser,
    measure,
    parse,
    results_at,
)
from benchmarks.pages import show_in

NAME = "life_losses"
LIMITS = "bayes_limit_life.csv"
LIMIT_KEYS = ["mechanism", "ratio", "seed"]
NETWORK = "bayesian-network"
NETWORK_SEEDS = (0, 1, 2)
MECHANISMS = ("own-rates", "break-off", "blocks", "propensity", "survey")
RATIOS = (10, 30)
TABLES = (
    "telco-churn",
    "telco-churn-no-gates",
    "ames-housing",
    "thyroid-disease",
    "acs-2018-wyoming",
    "kdd-census-1994",
)
SHARES = {
    "mean_column_auc": "AUC, mean of columns",
    "auc": "AUC",
    "lost_found": "lost found",
    "lost_precision": "precision of lost",
    "meaningful_recall": "meaningful recall",
}
CLOSE = 3.0
"""How many points below the taught classifier's AUC, or the limit's ACC, is near enough."""


def places(methods: Sequence[str]) -> list[Place]:
    """Every table with both methods, then the network; there the limit is what can be known."""
    on_tables = [
        (name, mechanism, ratio, 0, method)
        for name, mechanism, ratio, method in product(TABLES, MECHANISMS, RATIOS, methods)
    ]
    on_network = [
        (NETWORK, mechanism, ratio, seed, DIFFJOINT)
        for mechanism, ratio, seed in product(MECHANISMS, RATIOS, NETWORK_SEEDS)
    ]
    return on_tables + (on_network if DIFFJOINT in methods else [])


def tables_table(results: pd.DataFrame) -> str:
    """One line per table, mechanism and ratio; the taught classifier's scores in brackets."""
    header = ["table", "mechanism", "ratio", *SHARES.values(), "columns clearly below"]
    lines = [f"| {' | '.join(header)} |\n", f"|{' --- |' * len(header)}\n"]
    for name, mechanism, ratio in product(TABLES, MECHANISMS, RATIOS):
        place = {"world": name, "mechanism": mechanism, "ratio": ratio}
        start = f"| {name} | {mechanism} | {ratio} |"
        ours, taught = (results_at(results, **place, method=m) for m in (DIFFJOINT, TAUGHT))
        if ours is None and taught is None:
            lines.append(f"{start} {NOT_RUN} | | | | | |\n")
            continue
        pairs = " | ".join(f"{_mean(ours, part)} ({_mean(taught, part)})" for part in SHARES)
        below = NOT_RUN if ours is None else f"{ours['n_below'].max()}"
        lines.append(f"{start} {pairs} | {below} |\n")
    return "".join(lines)


def network_table(results: pd.DataFrame, limits: pd.DataFrame) -> str:
    """One line per mechanism and ratio: means over seeds, the limit on the same worlds beside."""
    lines = ["| mechanism | ratio | ACC | AUC |\n", "| --- | --- | --- | --- |\n"]
    for mechanism, ratio in product(MECHANISMS, RATIOS):
        start = f"| {mechanism} | {ratio} |"
        place = {"world": NETWORK, "mechanism": mechanism, "ratio": ratio}
        ours = results_at(results, **place, method=DIFFJOINT)
        if ours is None:
            lines.append(f"{start} {NOT_RUN} | |\n")
            continue
        best = _limit_of(limits, ours)
        lines.append(
            f"{start} {_mean(ours, 'acc')} ({_mean(best, 'ACC')}) | "
            f"{_mean(ours, 'auc')} ({_mean(best, 'AUC')}) |\n"
        )
    return "".join(lines)


def notes(results: pd.DataFrame, limits: pd.DataFrame) -> str:
    """Where a score is farther below than it should be, in words; nothing before both were run."""
    compared, farther = 0, []
    for name, mechanism, ratio in product((*TABLES, NETWORK), MECHANISMS, RATIOS):
        place = {"world": name, "mechanism": mechanism, "ratio": ratio}
        ours = results_at(results, **place, method=DIFFJOINT)
        for what, gap in _gaps(results, limits, ours, place).items():
            compared += 1
            if gap > CLOSE:
                farther.append(f"{what} on {name}, {mechanism} at {ratio}% ({gap:.1f})")
    if not compared:
        return ""
    listed = f": {'; '.join(farther)}" if farther else ""
    text = (
        f"Of {compared} comparisons with the taught classifier (both AUCs) and with the limit "
        f"(ACC), {len(farther)} are more than {CLOSE:g} points below{listed}."
    )
    return f"\n{textwrap.fill(text, 105)}\n"


def _gaps(
    results: pd.DataFrame, limits: pd.DataFrame, ours: pd.DataFrame | None, place: dict[str, object]
) -> dict[str, float]:
    """How many points a place is below what it is compared with; empty if one was not run."""
    if ours is None:
        return {}
    if place["world"] == NETWORK:
        best = _limit_of(limits, ours)
        return {} if best is None else {"ACC": best["ACC"].mean() - ours["acc"].mean()}
    taught = results_at(results, **place, method=TAUGHT)
    if taught is None:
        return {}
    return {
        SHARES[part]: taught[part].mean() - ours[part].mean() for part in ("mean_column_auc", "auc")
    }


def _limit_of(limits: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame | None:
    """The limit on the worlds of these lines; None unless it is known of all of them."""
    worlds = set(ours[LIMIT_KEYS].itertuples(index=False, name=None))
    known = [world in worlds for world in limits[LIMIT_KEYS].itertuples(index=False, name=None)]
    return limits[known] if sum(known) == len(worlds) else None


def _mean(lines: pd.DataFrame | None, part: str) -> str:
    if lines is None:
        return NOT_RUN
    mean = lines[part].mean()
    return "none" if pd.isna(mean) else f"{mean:.1f}"


def section(folder: Path) -> str:
    """Both tables and what they come to, from the result files."""
    results = read_kept(folder / f"{NAME}.csv", KEYS)
    limits = read_kept(folder / LIMITS, LIMIT_KEYS)
    parts = (tables_table(results), network_table(results, limits))
    return "\n".join(parts) + notes(results, limits)


def main(arguments: list[str] | None = None) -> None:
    options = parse(make_parser(__doc__), arguments)
    wanted, rows = places(options.methods), None
    if options.quick:
        wanted = [(NETWORK, MECHANISMS[0], RATIOS[0], 0, method) for method in options.methods]
        rows = QUICK_ROWS
    chosen = [place for place in wanted if options.only in (None, place[0])]
    path = options.results / f"{NAME}.csv"
    measure_missing(chosen, KEYS, path, partial(measure, rows=rows), jobs=options.jobs)
    shown = section(options.results)
    if options.results == FOLDER and not options.quick:
        show_in(NAME, shown)
    print(shown)


if __name__ == "__main__":
    main()
