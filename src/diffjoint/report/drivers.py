"""What goes with meaningful cells, in words: the best single split on each other column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.report.words import coded_text, cut
from diffjoint.results.explain import percent
from diffjoint.table import Column, Schema

MOST_ROWS = 20_000
"""Rows that are looked at, evenly spaced."""
N_BINS = 32
"""Numbers are split at as many quantiles."""
FEWEST_ROWS = 5
"""A level is named only if it is in as many rows."""
MOST_DRIVERS = 3
WEAKEST, WEAKEST_BESIDE = 0.15, 0.3
"""Correlation that a split must have, and share of the strongest split's."""
MOST_LEVELS = 3

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Driver:
    """A condition on another column under which a cell is often kept as NA.

    Attributes
    ----------
    column, condition : str
    kept_share, other_share : float
        Cells kept where the condition holds, and where it does not.
    row_share : float
        Rows in which it holds.
    coverage : float
        Share of the kept cells that it covers.
    strength : float
        Correlation between condition and being kept.
    """

    column: str
    condition: str
    kept_share: float
    other_share: float
    row_share: float
    coverage: float
    strength: float

    @property
    def words(self) -> str:
        """The condition and its share."""
        return f"Kept when {self.condition}: {percent(self.kept_share)}"

    @property
    def detail(self) -> str:
        """What it is to be compared with."""
        return (
            f"{percent(self.other_share)} otherwise; covers {percent(self.coverage)} of the cells "
            "kept"
        )


class Splitter:
    """The table's columns in bins, from which splits are found for any set of kept cells."""

    def __init__(self, values: Values, gaps: Mask, schema: Schema) -> None:
        n_rows = len(values)
        rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.intp))
        self.rows, self.columns = rows, schema.modelled
        self._binned = [
            _binned(np.where(gaps[rows, j], np.nan, values[rows, j]), column)
            for j, column in enumerate(self.columns)
        ]

    def drivers(self, kept: Mask, target: int) -> tuple[Driver, ...]:
        """The strongest splits of a column's kept cells, on other columns."""
        kept = kept[self.rows]
        if not kept.any() or kept.all():
            return ()
        found = [
            driver
            for j in range(len(self.columns))
            if j != target
            for driver in self._splits(kept, j)
        ]
        found.sort(key=lambda driver: -driver.strength)
        best = found[0].strength if found else 0.0
        weakest = max(WEAKEST, WEAKEST_BESIDE * best)
        strong = [driver for driver in found if driver.strength >= weakest]
        first_of = {driver.column: driver for driver in reversed(strong)}
        return tuple(driver for driver in strong if first_of[driver.column] is driver)[
            :MOST_DRIVERS
        ]

    def _splits(self, kept: Mask, j: int) -> list[Driver]:
        """The best split on a column's values, and that on its being empty."""
        codes, n_bins, edges = self._binned[j]
        column = self.columns[j]
        totals = np.bincount(codes, minlength=n_bins + 1)
        hits = np.bincount(codes[kept], minlength=n_bins + 1)
        splits = []
        if totals[n_bins] >= FEWEST_ROWS:
            empty = np.zeros(n_bins + 1, dtype=bool)
            empty[n_bins] = True
            splits.append(_driver(column, f"{cut(column.name)} is empty", hits, totals, empty))
        order = _order(hits[:n_bins], totals[:n_bins], column)
        chosen = _best_cut(hits[order], totals[order])
        if chosen is not None:
            first, upto = chosen
            inside = np.zeros(n_bins + 1, dtype=bool)
            inside[order[first:upto]] = True
            words = _words(column, order[first:upto], order, edges)
            here, there = hits.copy(), totals.copy()
            here[n_bins] = there[n_bins] = 0
            splits.append(_driver(column, words, here, there, inside, int(hits.sum()), len(kept)))
        return [split for split in splits if split is not None]


def _binned(cells: Values, column: Column) -> tuple[Codes, int, Values]:
    """Bins of a column's cells, the last one for empty cells; upper edges for numbers."""
    empty = np.isnan(cells)
    if column.is_categorical:
        n_bins, edges = len(column.levels), np.zeros(0)
        codes = np.where(empty, n_bins, cells).astype(np.int64)
        return codes, n_bins, edges
    at = np.linspace(0, 1, N_BINS + 1)[1:]
    edges = np.unique(np.quantile(cells[~empty], at, method="lower")) if not empty.all() else at[:0]
    codes = np.searchsorted(edges, cells, side="left")
    codes = np.where(empty, len(edges), np.minimum(codes, max(0, len(edges) - 1)))
    return codes.astype(np.int64), len(edges), edges


def _order(hits: Counts, totals: Counts, column: Column) -> NDArray[np.intp]:
    """Numbers in their order; levels by how often the cell is kept, rare ones last."""
    if not column.is_categorical:
        return np.arange(len(totals))
    rates = np.where(totals >= FEWEST_ROWS, hits / np.maximum(totals, 1), -1.0)
    return np.argsort(-rates, kind="stable")


def _best_cut(hits: Counts, totals: Counts) -> tuple[int, int] | None:
    """The half of the ordered bins that goes best with being kept, as a range of places."""
    if len(totals) < 2:
        return None
    left = _correlation(np.cumsum(hits)[:-1], np.cumsum(totals)[:-1], hits.sum(), totals.sum())
    cut_at = int(np.argmax(np.abs(left)))
    return (0, cut_at + 1) if left[cut_at] >= 0 else (cut_at + 1, len(totals))


def _correlation(hits: Counts, totals: Counts, all_hits: int, n_rows: int) -> Values:
    """Correlation between lying inside and being kept, for any number of insides."""
    inside, kept = totals / max(1, n_rows), all_hits / max(1, n_rows)
    spread = np.sqrt(inside * (1 - inside) * kept * (1 - kept))
    covariance = hits / max(1, n_rows) - inside * kept
    return np.divide(covariance, spread, out=np.zeros(len(hits)), where=spread > 0)


def _driver(
    column: Column,
    words: str,
    hits: Counts,
    totals: Counts,
    inside: Mask,
    n_kept: int | None = None,
    n_rows: int | None = None,
) -> Driver | None:
    """A split in numbers, if cells are kept more often inside than outside."""
    all_hits, all_rows = int(hits.sum()), int(totals.sum())
    n_hits, n_inside = int(hits[inside].sum()), int(totals[inside].sum())
    strength = float(_correlation(np.array([n_hits]), np.array([n_inside]), all_hits, all_rows)[0])
    if strength <= 0 or not n_inside or n_inside == all_rows:
        return None
    return Driver(
        column.name,
        words,
        n_hits / n_inside,
        (all_hits - n_hits) / (all_rows - n_inside),
        n_inside / (all_rows if n_rows is None else n_rows),
        n_hits / max(1, all_hits if n_kept is None else n_kept),
        strength,
    )


def _words(
    column: Column, bins: Sequence[int] | NDArray[np.intp], order: Codes, edges: Values
) -> str:
    """The condition that a cell lies in some of the bins."""
    name = cut(column.name)
    if not column.is_categorical:
        if bins[0] == 0:
            return f"{name} ≤ {coded_text(column, edges[bins[-1]])}"
        return f"{name} > {coded_text(column, edges[bins[0] - 1])}"
    levels = [cut(coded_text(column, code)) for code in bins]
    if len(levels) <= MOST_LEVELS:
        return f"{name} = {' or '.join(levels)}"
    if len(order) - len(levels) == 1:
        return f"{name} is not {cut(coded_text(column, order[-1]))}"
    return f"{name} is one of {len(levels):,} levels ({', '.join(levels[:MOST_LEVELS])}, …)"
