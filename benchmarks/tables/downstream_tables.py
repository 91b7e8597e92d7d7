"""What completed tables are worth: the paper's downstream tasks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.cells import NETWORK, OUTCOMES, TARGETS, TRUTH, Cell, Result
from benchmarks.published import published, rounded
from benchmarks.tables import stays
from benchmarks.tables.grid import NOTHING, Column, Grid, Row, Shown, gather, number_text
from benchmarks.tables.stays import CellsOf
from benchmarks.tables.table import RATIOS, Size, Table, label

METHODS = (
    "mean_mode",
    "missforest",
    "boosted",
    "boosted_gaps",
    "cmae",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
MEASURES = {
    "macro_f1": "macro-F1",
    "roc_auc": "ROC-AUC",
    "rarity_weighted_f1": "weighted-F1",
    "accuracy": "accuracy",
}

SUMMARY = "macro_f1"
"""The measure of the short table."""


def downstream_score(target: str, measure: str) -> Callable[[Result], float]:
    """Return what gets one of a result's scores downstream."""
    return lambda result: float(result["downstream"][target][measure])


def grid_of(
    title: str,
    target: str,
    methods: Sequence[str],
    cells_of: CellsOf,
    table: str,
    folder: Path,
) -> Grid:
    """One target: methods by ratio, and the true table for comparison."""
    rows = []
    for ratio, method in product(RATIOS, (TRUTH, *methods)):
        # The true rows do not depend on what is lost of them.
        cells = cells_of(method, RATIOS[0] if method == TRUTH else ratio)
        where = {"method": method, "target": target, "ratio": ratio}
        shown = tuple(
            gather(cells, downstream_score(target, m), folder, published(table, m, **where))
            for m in MEASURES
        )
        name = "true table" if method == TRUTH else label(method)
        rows.append(Row((str(ratio), name), shown, str(ratio), competes=method != TRUTH))
    columns = tuple(map(Column, MEASURES.values()))
    return Grid(f"{title}, {target}", ("ratio", "train on"), columns, tuple(rows))


def _network_cells(size: Size) -> CellsOf:
    return lambda method, ratio: size.network(method, "mcar", ratio)


def cells_network(size: Size) -> list[Cell]:
    """Methods at every ratio, the truth once."""
    of = _network_cells(size)
    wanted = [*of(TRUTH, RATIOS[0])]
    return wanted + [c for m, r in product(METHODS, RATIOS) for c in of(m, r)]


def network(size: Size, folder: Path) -> list[Grid]:
    """D2 and D3."""
    of, title = _network_cells(size), "Bayesian network"
    return [grid_of(title, t, METHODS, of, "downstream_network", folder) for t in TARGETS[NETWORK]]


def cells_stays(size: Size) -> list[Cell]:
    """All methods; the truth once for each seed."""
    wanted = stays.cells(size)
    truth = [replace(cell, method=TRUTH) for cell in wanted if cell.ratio == RATIOS[0]]
    return [*dict.fromkeys(truth), *wanted]


def on_stays(size: Size, folder: Path) -> list[Grid]:
    """Four outcomes, on all rows and on some."""
    return [
        grid_of(title, target, methods, of, "downstream_mimic", folder)
        for (title, methods, of), target in product(stays.parts(size, folder), OUTCOMES)
    ]


def summary(size: Size, folder: Path) -> str:
    """Return macro-F1 downstream on the network: the truth, others, the paper's and ours."""
    lines = [
        "| predicted | lost | true table | best other completion | Diff-Joint, published "
        "| diffjoint |\n| --- | --- | --- | --- | --- | --- |\n"
    ]
    for target, ratio in product(TARGETS[NETWORK], (RATIOS[0], RATIOS[-1])):
        get = downstream_score(target, SUMMARY)
        shown = {m: gather(size.network(m, "mcar", ratio), get, folder) for m in METHODS}
        true = gather(size.network(TRUTH, "mcar", RATIOS[0]), get, folder)
        where = {"method": "diffjoint_paper", "target": target, "ratio": ratio}
        theirs = published("downstream_network", SUMMARY, **where)
        parts = [
            number_text(true.mean, 1),
            _best_other(shown),
            NOTHING if theirs is None else rounded(theirs, 1),
            number_text(shown["diffjoint"].mean, 1),
        ]
        lines.append(f"| {target} | {ratio}% | {' | '.join(parts)} |\n")
    return "".join(lines)


def _best_other(shown: dict[str, Shown]) -> str:
    """Return the best mean of the methods that were run on every seed, without ours."""
    means = {
        method: of.mean
        for method, of in shown.items()
        if method != "diffjoint" and of.mean is not None and len(of.by_seed) == of.n_wanted
    }
    if not means:
        return NOTHING
    best = max(means, key=lambda method: means[method])
    return f"{means[best]:.1f} ({label(best)})"


NETWORK_TABLE = Table("downstream_network", "downstream", cells_network, network)
STAYS_TABLE = Table("downstream_mimic", stays.PAGE, cells_stays, on_stays)
