"""The paper's ablations: components, aggregation rules, and quality pass by pass."""

from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import NETWORK, STAND_IN, Cell, read
from benchmarks.methods import METHODS
from benchmarks.published import published
from benchmarks.tables import stays
from benchmarks.tables.grid import Column, Get, Grid, Row, Shown, gather, score
from benchmarks.tables.limits import LIMIT, limit
from benchmarks.tables.table import Size, Table, label

COMPONENTS = ("diffputer", "diffputer_10", "diffjoint_paper_1", "diffjoint_paper", "diffjoint")
COMPONENT_RATIOS = (20, 30)
RULES = (
    "diffjoint_paper_uncertainty",
    "diffjoint_paper_vote",
    "diffjoint_paper_and",
    "diffjoint_paper",
)
RULE_RATIO = 30
BY_PASS = "diffjoint_paper_5"
CURVES = {"f1": "F1 of meaningful cells", "acc": "ACC", "rmse": "RMSE of lost numbers"}


def _network(size: Size, method: str, ratio: int) -> list[Cell]:
    """Few seeds: the paper has one."""
    return [Cell(method, NETWORK, "mcar", ratio, s, size.network_rows) for s in size.few_seeds]


def cells_components(size: Size) -> list[Cell]:
    """Variants at two ratios."""
    return [c for m, r in product(COMPONENTS, COMPONENT_RATIOS) for c in _network(size, m, r)]


def components(size: Size, folder: Path) -> list[Grid]:
    """With and without the mask in the model; with and without refinement."""
    names = {"f1": Column("F1"), "acc": Column("ACC"), "rmse": Column("RMSE", "lower", 2)}
    rows = []
    for ratio, method in product(COMPONENT_RATIOS, COMPONENTS):
        where = {"method": method, "mechanism": "mcar", "ratio": ratio}
        cells = _network(size, method, ratio)
        shown = tuple(
            gather(
                cells,
                score(n),
                folder,
                published("component_ablation", n, **where),
                limit(n, cells),
            )
            if n != "f1" or METHODS[method].selective
            else Shown()
            for n in names
        )
        rows.append(Row((str(ratio), label(method)), shown, group=str(ratio)))
    title = "Bayesian network, components"
    return [Grid(title, ("ratio", "method"), tuple(names.values()), tuple(rows))]


def cells_rules(size: Size) -> list[Cell]:
    """Four rules, one seed as in the paper."""
    return [c for m in RULES for c in _network(size, m, RULE_RATIO)[:1]]


def rules(size: Size, folder: Path) -> list[Grid]:
    """How the two signs of a meaningful cell are put together."""
    columns = {"recall": Column("recall"), "precision": Column("precision"), "f1": Column("F1")}
    columns |= {"acc": Column("ACC"), "rmse": Column("RMSE", "lower", 2)}
    rows = []
    for method in RULES:
        where = {"method": method, "mechanism": "mcar", "ratio": RULE_RATIO}
        cell = _network(size, method, RULE_RATIO)[:1]
        shown = tuple(
            gather(
                cell,
                score(n),
                folder,
                published("aggregation_rules", n, **where),
                limit(n, cell),
            )
            for n in columns
        )
        name = "Diff-Joint, uncertainty or vote" if method == RULES[-1] else label(method)
        rows.append(Row((name,), shown))
    title = f"Bayesian network, aggregation rules, MCAR {RULE_RATIO}"
    return [Grid(title, ("rule",), tuple(columns.values()), tuple(rows))]


def cells_passes(size: Size) -> list[Cell]:
    """Return the network and some rows of the stand-in, 10% lost."""
    return [cell for world in _passes_cells(size).values() for cell in world]


def passes(size: Size, folder: Path) -> list[Grid]:
    """Scores after each pass."""
    grids = []
    for world, cells in _passes_cells(size).items():
        done = [r["passes"] for c in cells if (r := read(c, folder)) and "passes" in r]
        n_passes = min(map(len, done)) if done else 1
        rows = tuple(
            Row(
                (str(p + 1),),
                tuple(gather(cells, _after(p, n), folder, limit=limit(n, cells)) for n in CURVES),
            )
            for p in range(n_passes)
        )
        columns = tuple(Column(text, "", 2 if n == "rmse" else 1) for n, text in CURVES.items())
        grids.append(Grid(f"{world}, MCAR 10, pass by pass", ("pass",), columns, rows))
    return grids


def _after(n_passes: int, measure: str) -> Get:
    return lambda result: float(result["passes"][n_passes][measure])


def _passes_cells(size: Size) -> dict[str, list[Cell]]:
    return {
        "Bayesian network": _network(size, BY_PASS, 10),
        stays.NAMES[STAND_IN]: size.some_stays(BY_PASS, 10)[:1],
    }


def draw_passes(size: Size, folder: Path, path: Path) -> None:
    """Curves over passes, mean and one standard deviation over seeds; what could be known."""
    worlds = _passes_cells(size)
    figure = Figure(figsize=(9, 3.2 * len(worlds)), layout="constrained")
    figure.suptitle(f"{METHODS[BY_PASS].label}: reduced budget, 10% lost completely at random")
    axes = figure.subplots(len(worlds), len(CURVES), squeeze=False)
    for line, (world, cells) in zip(axes, worlds.items(), strict=True):
        done = [r["passes"] for c in cells if (r := read(c, folder)) and "passes" in r]
        seeds = f"{len(done)} seed{'s' * (len(done) != 1)}"
        for place, (name, text) in zip(line, CURVES.items(), strict=True):
            place.set_title(f"{world}, {seeds}\n{text}", fontsize=9)
            place.set_xlabel("pass", fontsize=8)
            if not done:
                place.text(0.5, 0.5, "not run", ha="center", transform=place.transAxes)
                continue
            values = np.array([[p[name] for p in run] for run in done], dtype=float)
            x, mean, spread = np.arange(1, values.shape[1] + 1), values.mean(0), values.std(0)
            place.plot(x, mean, marker="o", color="#2f6fd0")
            place.fill_between(x, mean - spread, mean + spread, color="#2f6fd0", alpha=0.2)
            place.set_xticks(x)
            if (known := limit(name, cells)) is not None:
                place.axhline(known, color="black", linestyle="--", linewidth=1, label=LIMIT)
                place.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


COMPONENT_TABLE = Table("component_ablation", "paper", cells_components, components)
RULE_TABLE = Table("aggregation_rules", "paper", cells_rules, rules)
PASSES = Table("refinement", "paper", cells_passes, passes, draw_passes)
