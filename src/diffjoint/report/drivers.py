"""Find what meaningful cells go with: the best single split on each other column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.report.words import coded_text, shorten
from diffjoint.results.explain import percent
from diffjoint.table import Column, Schema

MOST_ROWS = 20_000
"""Largest number of rows to use; of longer tables, as many are taken at equal distances."""
N_BINS = 32
"""Number of quantiles at which a column of numbers can be split."""
FEWEST_ROWS = 5
"""Smallest number of rows in which a level must occur to be named."""
MOST_DRIVERS = 3
"""Largest number of splits to name."""
WEAKEST, WEAKEST_BESIDE = 0.15, 0.3
"""Smallest correlation of a split: absolute, and as a share of that of the strongest split."""
MOST_LEVELS = 3
"""Largest number of levels to name in a condition."""

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Driver:
    """Condition on another column under which cells are often kept as NA.

    Attributes
    ----------
    column, condition : str
    kept_share, other_share : float
        Share of cells kept where the condition holds, and where it does not.
    row_share : float
        Share of rows in which the condition holds.
    coverage : float
        Share of the kept cells that lie in these rows.
    strength : float
        Correlation between the condition and being kept.
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
        """The condition and the share of cells kept under it, in words."""
        return f"Kept when {self.condition}: {percent(self.kept_share)}"

    @property
    def detail(self) -> str:
        """The share kept otherwise, and the coverage, in words."""
        return (
            f"{percent(self.other_share)} otherwise; covers {percent(self.coverage)} of the cells "
            "kept"
        )


class Splitter:
    """Finds splits for sets of kept cells, from the columns of a table in bins.

    Parameters
    ----------
    values : array of shape (n_rows, n_modelled)
        Coded values.
    is_missing : bool array of the same shape
        Missing cells.
    schema : Schema
    """

    def __init__(self, values: Values, is_missing: Mask, schema: Schema) -> None:
        n_rows = len(values)
        rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.intp))
        self.rows, self.columns = rows, schema.modelled
        self._binned = [
            _binned(np.where(is_missing[rows, j], np.nan, values[rows, j]), column)
            for j, column in enumerate(self.columns)
        ]

    def drivers(self, kept: Mask, target: int) -> tuple[Driver, ...]:
        """Return the strongest splits on other columns for the kept cells of a column."""
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
        """Return the best split on a column's values, and the split on whether it is missing."""
        codes, n_bins, edges = self._binned[j]
        column = self.columns[j]
        totals = np.bincount(codes, minlength=n_bins + 1)
        hits = np.bincount(codes[kept], minlength=n_bins + 1)
        splits = []
        if totals[n_bins] >= FEWEST_ROWS:
            missing = np.zeros(n_bins + 1, dtype=bool)
            missing[n_bins] = True
            name = shorten(column.name)
            splits.append(_driver(column, f"{name} is missing", hits, totals, missing))
        order = _order(hits[:n_bins], totals[:n_bins], column)
        chosen = _best_cut(hits[order], totals[order])
        if chosen is not None:
            first, upto = chosen
            inside = np.zeros(n_bins + 1, dtype=bool)
            inside[order[first:upto]] = True
            condition = _condition(column, order[first:upto], order, edges)
            n_hits, n_rows = hits.copy(), totals.copy()
            n_hits[n_bins] = n_rows[n_bins] = 0
            n_kept = int(hits.sum())
            splits.append(_driver(column, condition, n_hits, n_rows, inside, n_kept, len(kept)))
        return [split for split in splits if split is not None]


def _binned(cells: Values, column: Column) -> tuple[Codes, int, Values]:
    """Return each cell's bin (the last one is for missing cells), their number and upper edges."""
    missing = np.isnan(cells)
    if column.is_categorical:
        n_bins, edges = len(column.levels), np.zeros(0)
        codes = np.where(missing, n_bins, cells).astype(np.int64)
        return codes, n_bins, edges
    at = np.linspace(0, 1, N_BINS + 1)[1:]
    observed = cells[~missing]
    edges = np.unique(np.quantile(observed, at, method="lower")) if len(observed) else at[:0]
    codes = np.searchsorted(edges, cells, side="left")
    codes = np.where(missing, len(edges), np.minimum(codes, max(0, len(edges) - 1)))
    return codes.astype(np.int64), len(edges), edges


def _order(hits: Counts, totals: Counts, column: Column) -> NDArray[np.intp]:
    """Order the bins of numbers by value, and levels by the share of kept cells, rare ones last."""
    if not column.is_categorical:
        return np.arange(len(totals))
    rates = np.where(totals >= FEWEST_ROWS, hits / np.maximum(totals, 1), -1.0)
    return np.argsort(-rates, kind="stable")


def _best_cut(hits: Counts, totals: Counts) -> tuple[int, int] | None:
    """Cut the ordered bins in two, and return the range that correlates most with being kept."""
    if len(totals) < 2:
        return None
    left = _correlation(np.cumsum(hits)[:-1], np.cumsum(totals)[:-1], hits.sum(), totals.sum())
    cut_at = int(np.argmax(np.abs(left)))
    return (0, cut_at + 1) if left[cut_at] >= 0 else (cut_at + 1, len(totals))


def _correlation(hits: Counts, totals: Counts, all_hits: int, n_rows: int) -> Values:
    """Return the correlation between lying inside a range and being kept, for several ranges."""
    inside, kept = totals / max(1, n_rows), all_hits / max(1, n_rows)
    scale = np.sqrt(inside * (1 - inside) * kept * (1 - kept))
    covariance = hits / max(1, n_rows) - inside * kept
    return np.divide(covariance, scale, out=np.zeros(len(hits)), where=scale > 0)


def _driver(
    column: Column,
    condition: str,
    hits: Counts,
    totals: Counts,
    inside: Mask,
    n_kept: int | None = None,
    n_rows: int | None = None,
) -> Driver | None:
    """Describe a split in numbers; None unless cells are kept more often inside than outside."""
    all_hits, all_rows = int(hits.sum()), int(totals.sum())
    n_hits, n_inside = int(hits[inside].sum()), int(totals[inside].sum())
    strength = float(_correlation(np.array([n_hits]), np.array([n_inside]), all_hits, all_rows)[0])
    if strength <= 0 or not n_inside or n_inside == all_rows:
        return None
    return Driver(
        column.name,
        condition,
        n_hits / n_inside,
        (all_hits - n_hits) / (all_rows - n_inside),
        n_inside / (all_rows if n_rows is None else n_rows),
        n_hits / max(1, all_hits if n_kept is None else n_kept),
        strength,
    )


def _condition(
    column: Column, bins: Sequence[int] | NDArray[np.intp], order: Codes, edges: Values
) -> str:
    """Write the condition that a cell lies in one of some bins."""
    name = shorten(column.name)
    if not column.is_categorical:
        if bins[0] == 0:
            return f"{name} ≤ {coded_text(column, edges[bins[-1]])}"
        return f"{name} > {coded_text(column, edges[bins[0] - 1])}"
    levels = [shorten(coded_text(column, code)) for code in bins]
    if len(levels) <= MOST_LEVELS:
        return f"{name} = {' or '.join(levels)}"
    if len(order) - len(levels) == 1:
        return f"{name} is not {shorten(coded_text(column, order[-1]))}"
    return f"{name} is one of {len(levels):,} levels ({', '.join(levels[:MOST_LEVELS])}, …)"
