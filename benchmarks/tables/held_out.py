"""The default on seeds of the network on which none of its settings was chosen."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.cells import Cell
from benchmarks.tables.grid import Column, Grid, Row, Shown, gather, number_text, score
from benchmarks.tables.limits import limit
from benchmarks.tables.table import MECHANISMS, RATIOS, Size, Table

METHOD = "diffjoint"
MEASURES = {"acc": ("ACC", 1), "f1": ("F1", 1), "rmse": ("RMSE", 2)}


def _cells(size: Size, mechanism: str, ratio: int) -> list[Cell]:
    return replace(size, seeds=size.held_out).network(METHOD, mechanism, ratio)


def cells(size: Size) -> list[Cell]:
    """Every mechanism and ratio."""
    return [cell for place in product(MECHANISMS, RATIOS) for cell in _cells(size, *place)]


def grids(size: Size, folder: Path) -> list[Grid]:
    """Seeds in view and held-out ones, each beside what could be known of them."""
    rows = [
        Row((mechanism.upper(), str(ratio)), _shown(size, folder, mechanism, ratio))
        for mechanism, ratio in product(MECHANISMS, RATIOS)
    ]
    columns = tuple(
        Column(f"{label}, {which}", "", digits)
        for (label, digits), which in product(MEASURES.values(), ("seeds in view", "held out"))
    )
    title = "Bayesian network, diffjoint on seeds that no setting was chosen on"
    return [Grid(title, ("mechanism", "ratio"), columns, tuple(rows))]


def _shown(size: Size, folder: Path, mechanism: str, ratio: int) -> tuple[Shown, ...]:
    """Every measure on seeds in view, then on held-out ones."""
    seen, unseen = size.network(METHOD, mechanism, ratio), _cells(size, mechanism, ratio)
    return tuple(
        gather(cells, score(name), folder, limit=limit(name, cells))
        for name, cells in product(MEASURES, (seen, unseen))
    )


def summary(size: Size, folder: Path) -> str:
    """Return how far from the limit each measure is, mean over ratios: in view and held out."""
    heads = [
        f"{what} the limit, {which}"
        for what, which in product(
            ("ACC below", "F1 below", "RMSE above"), ("seeds in view", "held out")
        )
    ]
    places = list(product(MEASURES, range(2)))
    lines = [f"| losses | {' | '.join(heads)} |\n", f"|{' --- |' * (1 + len(heads))}\n"]
    for mechanism in MECHANISMS:
        at_ratios = [_shown(size, folder, mechanism, ratio) for ratio in RATIOS]
        texts = []
        for j, (measure, _) in enumerate(places):
            gap = float(np.mean([_short_of_limit(shown[j], measure) for shown in at_ratios]))
            texts.append(number_text(gap, MEASURES[measure][1]))
        lines.append(f"| {mechanism.upper()} | {' | '.join(texts)} |\n")
    return "".join(lines)


def _short_of_limit(shown: Shown, measure: str) -> float:
    """How much worse than the limit; not a number where one of the two is not known."""
    if shown.mean is None or shown.limit is None:
        return float("nan")
    return shown.mean - shown.limit if measure == "rmse" else shown.limit - shown.mean


TABLE = Table("held_out", "method-comparison", cells, grids)
