"""The best that can be known of the network, as measured by `benchmarks.bayes_limit`."""

from collections.abc import Sequence
from functools import cache

import pandas as pd

from benchmarks.bayes_limit import ON_HELD_OUT, RESULTS
from benchmarks.cells import NETWORK, Cell
from benchmarks.tables.grid import Row, Shown

KEYS = ["mechanism", "ratio", "seed"]
LIMIT = "Bayes limit"
"""What tables call a line of it."""
NAMES = {
    "acc": "ACC",
    "acc_discrete": "ACC with D1",
    "f1": "best F1",
    "recall": "recall",
    "precision": "precision",
    "auc": "AUC",
    "brier": "Brier",
    "rmse": "RMSE",
}
"""Scores whose limit is known, and its name there: recall and precision of the best F1."""


@cache
def _limits() -> pd.DataFrame:
    files = [pd.read_csv(path) for path in (RESULTS, ON_HELD_OUT) if path.exists()]
    limits = pd.concat(files) if files else pd.DataFrame(columns=[*KEYS, *NAMES.values()])
    return limits.set_index(KEYS)


def limit(score: str, cells: Sequence[Cell]) -> float | None:
    """Mean of a score's limit over the worlds of some cells, at full size; None if not known."""
    if score not in NAMES or any(cell.world != NETWORK for cell in cells):
        return None
    worlds = [(cell.mechanism, cell.ratio, cell.seed) for cell in cells]
    known = _limits()[NAMES[score]].reindex(worlds).dropna()
    return float(known.mean()) if len(known) else None


def limit_row(heads: tuple[str, ...], scores: Sequence[str], places: Sequence[list[Cell]]) -> Row:
    """Return a line of limits, of every score at every place."""
    known = [limit(score, cells) for score in scores for cells in places]
    shown = tuple(Shown(() if number is None else (number,), 1) for number in known)
    return Row(heads, shown, competes=False)
