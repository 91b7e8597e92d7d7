"""The paper's method comparison on its Bayesian network: ACC and RMSE."""

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import sem

from benchmarks.cells import Cell
from benchmarks.methods import METHODS as REGISTRY
from benchmarks.published import published, rounded
from benchmarks.tables.grid import NOTHING, Column, Grid, Row, Shown, gather, number_text, score
from benchmarks.tables.limits import LIMIT, limit, limit_row
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table, label

METHODS = (
    "mean_mode",
    "iterative",
    "boosted",
    "boosted_gaps",
    "miceforest",
    "knn",
    "missforest",
    "cmae",
    "diffputer",
    "diffjoint_paper",
    "diffjoint",
)
"""Quick ones first: they are run in this order."""
OURS, THEIRS = "diffjoint", "diffjoint_paper"


def cells(size: Size) -> list[Cell]:
    """All methods under all mechanisms and ratios."""
    wanted = product(METHODS, MECHANISMS, RATIOS)
    return [cell for place in wanted for cell in size.network(*place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """One table per measure and way of counting, then who leads."""
    counted = [
        ("acc", "acc", "ACC, D2 and D3", Column("", "higher", 1)),
        ("acc_discrete", "acc", "ACC, D1, D2 and D3", Column("", "higher", 1)),
        ("rmse", "rmse", "RMSE of lost cells of C2", Column("", "lower", 2)),
    ]
    by_measure = [_grid(size, folder, *parts) for parts in counted]
    return [*by_measure, lead(size, folder)]


def _grid(size: Size, folder: Path, ours: str, theirs: str, title: str, column: Column) -> Grid:
    columns = tuple(
        Column(f"{m.upper()} {r}", column.better, column.digits)
        for m, r in product(MECHANISMS, RATIOS)
    )
    rows = [
        Row(
            (label(method),),
            tuple(
                gather(
                    size.network(method, m, r),
                    score(ours),
                    folder,
                    published("method_comparison", theirs, method=method, mechanism=m, ratio=r),
                )
                for m, r in product(MECHANISMS, RATIOS)
            ),
        )
        for method in METHODS
    ]
    places = [size.network(METHODS[0], m, r) for m, r in product(MECHANISMS, RATIOS)]
    rows.append(limit_row((LIMIT,), [ours], places))
    return Grid(f"Bayesian network, {title}", ("method",), columns, tuple(rows))


def lead(size: Size, folder: Path) -> Grid:
    """Return what the default has over the best of the others, seed by seed."""
    rows = []
    for m, r in product(MECHANISMS, RATIOS):
        acc, next_in_acc, left_out = _over_the_next(size, folder, "acc", m, r)
        rmse, next_in_rmse, _ = _over_the_next(size, folder, "rmse", m, r)
        shown = (acc, rmse, Shown(_in_standard_errors(rmse), 1))
        rows.append(Row((m.upper(), str(r), next_in_acc, next_in_rmse, left_out), shown))
    columns = (
        Column("ACC minus that", ""),
        Column("RMSE minus that", "", 3),
        Column("RMSE difference in standard errors", ""),
    )
    heads = ("mechanism", "ratio", "best ACC of the others", "best RMSE", "left out: seeds not run")
    title = "Bayesian network, diffjoint and the best of the others"
    return Grid(title, heads, columns, tuple(rows), "seed by seed, mean ± standard deviation")


def _over_the_next(
    size: Size, folder: Path, measure: str, mechanism: str, ratio: int
) -> tuple[Shown, str, str]:
    """Ours less the best other's, which that is, and which others lack seeds of ours.

    Worlds differ more than methods: a method with one easy seed alone must not come out best.
    """

    def of(method: str) -> Shown:
        return gather(size.network(method, mechanism, ratio), score(measure), folder)

    ours = of(OURS)
    by_method = {method: of(method) for method in METHODS if method != OURS}
    mine = ours.by_seed
    whole = {m: s.by_seed for m, s in by_method.items() if mine and mine.keys() <= s.by_seed.keys()}
    left_out = ", ".join(label(m) for m in by_method if m not in whole) or NOTHING
    if not whole:
        return Shown(n_wanted=ours.n_wanted), NOTHING, left_out
    best = max if measure == "acc" else min
    name = best(whole, key=lambda method: sum(whole[method][seed] for seed in mine))
    apart = tuple(number - whole[name][seed] for seed, number in mine.items())
    return Shown(apart, ours.n_wanted), label(name), left_out


def _in_standard_errors(shown: Shown) -> tuple[float, ...]:
    """Return the mean over seeds by its standard error; nothing where seeds do not differ."""
    error = sem(shown.ours) if len(shown.ours) > 1 else 0.0
    return (float(np.mean(shown.ours) / error),) if error > 0 else ()


PLOTTED = {"acc": ("ACC of D2 and D3, percent", max), "rmse": ("RMSE of C2", min)}
"""What the picture shows, and which of the others is the best."""
BLUE, YELLOW, GREY = "#2f6fd0", "#e8a317", "#9aa5b1"


def draw(size: Size, folder: Path, path: Path) -> None:
    """By ratio under each mechanism: ours, the paper's method, all that fill every cell, limit."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    places = figure.subplots(
        len(PLOTTED), len(MECHANISMS), sharex=True, sharey="row", squeeze=False
    )
    for line, (measure, (text, best)) in zip(places, PLOTTED.items(), strict=True):
        line[0].set_ylabel(text)
        for place, mechanism in zip(line, MECHANISMS, strict=True):
            _curves(place, size, folder, measure, mechanism, best)
    for place, mechanism in zip(places[0], MECHANISMS, strict=True):
        place.set_title(mechanism.upper())
    for place in places[-1]:
        place.set_xlabel("lost, percent")
        place.set_xticks(RATIOS)
    known, labels = places[0][0].get_legend_handles_labels()
    figure.legend(known, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _curves(
    place: Axes,
    size: Size,
    folder: Path,
    measure: str,
    mechanism: str,
    best: Callable[[NDArray[np.float64]], float],
) -> None:
    def means(method: str) -> NDArray[np.float64]:
        """Where all seeds are there: worlds differ more than methods."""
        cells = (size.network(method, mechanism, ratio) for ratio in RATIOS)
        shown = [gather(seeds, score(measure), folder) for seeds in cells]
        return _numbers(s.mean if len(s.ours) == s.n_wanted else None for s in shown)

    filling = np.array([means(m) for m in METHODS if not REGISTRY[m].selective])
    there = ~np.isnan(filling).any(axis=1)
    if there.any():
        low, high = filling[there].min(axis=0), filling[there].max(axis=0)
        place.fill_between(RATIOS, low, high, color=GREY, alpha=0.3, label="fill every cell")
        place.plot(RATIOS, [best(n) for n in filling[there].T], color=GREY, label="best of these")
    where = {"method": THEIRS, "mechanism": mechanism}
    known = _numbers(published("method_comparison", measure, ratio=r, **where) for r in RATIOS)
    place.plot(RATIOS, known, "o:", color=YELLOW, mfc="white", label="Diff-Joint, published")
    place.plot(RATIOS, means(THEIRS), "o-", color=YELLOW, label="Diff-Joint, ours")
    place.plot(RATIOS, means(OURS), "o-", color=BLUE, label="diffjoint")
    limits = _numbers(limit(measure, size.network(OURS, mechanism, r)) for r in RATIOS)
    place.plot(RATIOS, limits, "--", color="black", linewidth=1, label=LIMIT)


def _numbers(found: Iterable[float | None]) -> NDArray[np.float64]:
    """For plots, which leave out what is no number."""
    return np.array([*found], dtype=float)


def summary(size: Size, folder: Path) -> str:
    """ACC where cells are lost completely at random, beside the paper's and the limit."""
    lines = [
        "| lost | paper | diffjoint | at best | diffjoint, D1 counted | at best |\n"
        "|---|---|---|---|---|---|\n"
    ]
    for ratio in RATIOS:
        where = {"method": THEIRS, "mechanism": "mcar", "ratio": ratio}
        theirs = published("method_comparison", "acc", **where)
        parts = [f"{ratio}%", NOTHING if theirs is None else rounded(theirs, 1)]
        cells = size.network(OURS, "mcar", ratio)
        for measure in ("acc", "acc_discrete"):
            ours = gather(cells, score(measure), folder)
            whole = ours.mean if len(ours.ours) == ours.n_wanted else None
            parts += [number_text(whole, 1), number_text(limit(measure, cells), 1)]
        lines.append(f"| {' | '.join(parts)} |\n")
    return "".join(lines)


TABLE = Table("method_comparison", "method-comparison", cells, grids, draw)
