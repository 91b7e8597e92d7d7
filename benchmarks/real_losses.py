"""How many cells that got lost in life are recognised as lost.

    python -m benchmarks.real_losses                        # four surveys, three splits each
    python -m benchmarks.real_losses --only nhanes-women
    python -m benchmarks.real_losses --methods taught       # the classifier with true labels alone
    python -m benchmarks.real_losses --quick                # the network alone, few rows

On test rows, over the missing cells of the searched columns whose kind is known. As in
benchmarks.calls, the diffusion model is trained as little as it can be. One line per table, split
and method; results that are there are kept.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.calls import FOLDER
from benchmarks.kept import read_kept
from benchmarks.lost import (
    DIFFJOINT,
    ITS_OWN,
    KEYS,
    METHODS,
    NOT_RUN,
    OWN_RATIO,
    TAUGHT,
    Place,
    results_at,
    run,
)
from benchmarks.pages import RESULTS_PAGE, Blocks, from_file, paragraph, result_page

NAME = "real_losses"
RESULTS = FOLDER / f"{NAME}.csv"
SEEDS = (0, 1, 2)
SHARES = {
    "lost_found": "lost found",
    "lost_precision": "precision of lost",
    "mean_column_auc": "AUC, mean of columns",
    "meaningful_recall": "meaningful recall",
}
AIMS = {
    "acs-2018-wyoming-allocated": (86.0, 92.0, 98.0, 98.5),
    "acs-2018-delaware-allocated": (86.0, 92.0, 98.0, 98.5),
    "nhanes-diabetes": (60.0, 80.0, 98.0, 99.0),
    "nhanes-women": (50.0, 75.0, 97.0, 99.0),
}
"""Tables, and the shares set as goals on them; no column should be clearly below."""


def places(methods: Sequence[str]) -> list[Place]:
    """Every table, split and method."""
    return [
        (name, ITS_OWN, OWN_RATIO, seed, method)
        for name, seed, method in product(AIMS, SEEDS, methods)
    ]


def table(results: pd.DataFrame) -> str:
    """Means over splits, of counts of columns the least favourable; above, the goals."""
    counts = ["columns with an AUC", "columns clearly below"]
    header = ["table", "calls by", *SHARES.values(), *counts, "Brier", "seconds to fit"]
    lines = [f"| {' | '.join(header)} |\n", f"|{' --- |' * len(header)}\n"]
    for name, aims in AIMS.items():
        shown = " | ".join(f"{aim:.1f}" for aim in aims)
        lines.append(f"| {name} | *goal* | {shown} | | 0 | | |\n")
        for method in METHODS:
            start = f"| {name} | {method} |"
            here = results_at(results, world=name, method=method)
            lines.append(
                f"{start} {NOT_RUN} | | | | | | | |\n" if here is None else start + _line(here)
            )
    return "".join(lines)


def _line(here: pd.DataFrame) -> str:
    shares = " | ".join(f"{value:.1f}" for value in here[list(SHARES)].mean())
    scored, below = here["n_columns_scored"].min(), here["n_below"].max()
    brier, seconds = here[["brier", "fit_seconds"]].mean()
    return f" {shares} | {scored} | {below} | {brier:.3f} | {seconds:.0f} |\n"


def notes(results: pd.DataFrame) -> str:
    """Which goals were missed, in words, as the table rounds."""
    missed = []
    for name, aims in AIMS.items():
        here = results_at(results, world=name, method=DIFFJOINT)
        if here is None:
            continue
        reached = here[list(SHARES)].mean().round(1)
        missed += [
            f"{what} on {name} (by {aim - value:.1f} points)"
            for what, value, aim in zip(SHARES.values(), reached, aims, strict=True)
            if not value >= aim
        ]
        if below := here["n_below"].max():
            missed.append(f"no column clearly below on {name} (there: {below})")
    if results_at(results, method=DIFFJOINT) is None:
        return ""
    return "\n" + paragraph(f"Goals missed: {'; '.join(missed) or 'none'}.")


def readme_table(results: pd.DataFrame) -> str:
    """Return calls of the default in short, and how many lost cells are found with true labels."""
    lines = [
        "| table | lost cells found | cells called lost that were lost | meaningful cells kept | "
        "lost cells found with true labels |\n|---|---|---|---|---|\n"
    ]
    for name in AIMS:
        ours, taught = (results_at(results, world=name, method=m) for m in (DIFFJOINT, TAUGHT))
        if ours is None or taught is None:
            lines.append(f"| {name} | {NOT_RUN} | | | |\n")
            continue
        parts = ours[["lost_found", "lost_precision", "meaningful_recall"]].mean()
        shown = " | ".join(f"{part:.1f}" for part in (*parts, taught["lost_found"].mean()))
        lines.append(f"| {name} | {shown} |\n")
    return "".join(lines)


def section(folder: Path) -> str:
    """Return the table and what it comes to, from the result file."""
    results = read_kept(folder / f"{NAME}.csv", KEYS)
    return table(results) + notes(results)


def _short(path: Path) -> str:
    return readme_table(read_kept(path, KEYS))


BLOCKS: Blocks = {
    (result_page("losses-in-life"), NAME): from_file(RESULTS, lambda path: section(path.parent)),
    (RESULTS_PAGE, NAME): from_file(RESULTS, _short),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and show."""
    quick = ("bayesian-network", "mcar", 10, 0)
    run(__doc__, arguments, NAME, places=places, quick=quick, section=section, blocks=BLOCKS)


if __name__ == "__main__":
    main()
