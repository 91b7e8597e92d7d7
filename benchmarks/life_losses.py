"""How well cells are told apart that are lost as in life: at uneven rates, many in one row.

    python -m benchmarks.life_losses                        # tables and network, both methods
    python -m benchmarks.life_losses --only telco-churn
    python -m benchmarks.life_losses --methods taught       # the classifier with true labels alone
    python -m benchmarks.life_losses --quick                # the network alone, few rows

Tables with true labels beside a classifier that is taught with them; the network beside the exact
limit. As in benchmarks.calls, the diffusion model is trained as little as it can be. One line per
world, mechanism, ratio, seed and method; results that are there are kept.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.calls import FOLDER
from benchmarks.kept import read_kept
from benchmarks.lost import (
    DIFFJOINT,
    KEYS,
    NOT_RUN,
    TAUGHT,
    Place,
    results_at,
    run,
)
from benchmarks.pages import RESULTS_PAGE, Blocks, from_file, paragraph, result_page

NAME = "life_losses"
RESULTS = FOLDER / f"{NAME}.csv"
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
Gaps = dict[tuple[str, str, int, str], float]
"""By table, mechanism, ratio and score."""


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
        scores = _network_scores(results, limits, mechanism, ratio)
        lines.append(f"| {mechanism} | {ratio} | {' | '.join(scores)} |\n")
    return "".join(lines)


def _network_scores(
    results: pd.DataFrame, limits: pd.DataFrame, mechanism: str, ratio: int
) -> tuple[str, str]:
    """ACC and AUC on the network, the limit in brackets."""
    place = {"world": NETWORK, "mechanism": mechanism, "ratio": ratio}
    ours = results_at(results, **place, method=DIFFJOINT)
    if ours is None:
        return NOT_RUN, ""
    best = _limit_of(limits, ours)
    acc, auc = (f"{_mean(ours, m)} ({_mean(best, m.upper())})" for m in ("acc", "auc"))
    return acc, auc


def notes(results: pd.DataFrame, limits: pd.DataFrame) -> str:
    """Which scores are farther below than they should be; nothing before both were run."""
    gaps = _all_gaps(results, limits)
    far = {place: gap for place, gap in gaps.items() if gap > CLOSE}
    if not gaps:
        return ""
    said = "\n" + paragraph(_how_many(gaps, far))
    if not far:
        return said
    lines = [
        "| table | mechanism | ratio | score | points below |\n| --- | --- | --- | --- | --- |\n",
        *(f"| {' | '.join(map(str, place))} | {gap:.1f} |\n" for place, gap in far.items()),
    ]
    return "".join([said, "\n", *lines])


def _how_many(gaps: Gaps, far: Gaps) -> str:
    """How many comparisons there are, and how many scores are far below."""
    return (
        f"{len(far)} of {len(gaps)} scores are more than {CLOSE:g} points below what they are "
        "compared with: the taught classifier (both AUCs) or the limit (ACC)."
    )


def _all_gaps(results: pd.DataFrame, limits: pd.DataFrame) -> Gaps:
    """How many points each score is below what it is compared with."""
    found = {}
    for name, mechanism, ratio in product((*TABLES, NETWORK), MECHANISMS, RATIOS):
        place = {"world": name, "mechanism": mechanism, "ratio": ratio}
        ours = results_at(results, **place, method=DIFFJOINT)
        for what, gap in _gaps(results, limits, ours, place).items():
            found[name, mechanism, ratio, what] = gap
    return found


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
    """Return the limit on the worlds of these lines; None unless it is known of all of them."""
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
    results, limits = _read(folder)
    parts = (tables_table(results), network_table(results, limits))
    return "\n".join(parts) + notes(results, limits)


def summary(folder: Path) -> str:
    """Return the network's scores beside the limit, and what the comparisons come to."""
    results, limits = _read(folder)
    heads = [f"{score}, {ratio}% lost" for score, ratio in product(("ACC", "AUC"), RATIOS)]
    lines = [f"| losses | {' | '.join(heads)} |\n", f"|{' --- |' * (1 + len(heads))}\n"]
    for mechanism in MECHANISMS:
        by_ratio = [_network_scores(results, limits, mechanism, ratio) for ratio in RATIOS]
        parts = [scores[k] for k in range(2) for scores in by_ratio]
        lines.append(f"| {mechanism} | {' | '.join(parts)} |\n")
    gaps = _all_gaps(results, limits)
    far = {place: gap for place, gap in gaps.items() if gap > CLOSE}
    said = [_how_many(gaps, far), *_where(results, far)]
    return "".join([*lines, "\n", paragraph(" ".join(said))])


def _where(results: pd.DataFrame, far: Gaps) -> list[str]:
    """On which tables scores are far below, where most, and where the default was not run."""
    said = []
    if far:
        on = [f"{n} on {name}" for name, n in Counter(place[0] for place in far).items()]
        name, mechanism, ratio, what = max(far, key=lambda place: far[place])
        farthest = far[name, mechanism, ratio, what]
        said = [
            f"By table: {', '.join(on)}.",
            f"The farthest is {farthest:.1f} points below: {what} on {name}, {mechanism} at "
            f"{ratio}%.",
        ]
    not_run = [n for n in TABLES if results_at(results, world=n, method=DIFFJOINT) is None]
    if not_run:
        said.append(f"Not run: the default on {', '.join(not_run)}.")
    return said


def _read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Results, and the limits on the network."""
    return read_kept(folder / f"{NAME}.csv", KEYS), read_kept(folder / LIMITS, LIMIT_KEYS)


BLOCKS: Blocks = {
    (result_page("losses-in-life"), NAME): from_file(RESULTS, lambda path: section(path.parent)),
    (RESULTS_PAGE, NAME): from_file(RESULTS, lambda path: summary(path.parent)),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and show."""
    quick = (NETWORK, MECHANISMS[0], RATIOS[0], 0)
    run(__doc__, arguments, NAME, places=places, quick=quick, section=section, blocks=BLOCKS)


if __name__ == "__main__":
    main()
