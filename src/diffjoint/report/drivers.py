"""Find what meaningful cells go with: the best single split on each other column."""

from collections.abc import Collection, Iterable, Sequence
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
"""Number of quantiles, and of frequent values, at which a column of numbers can be split."""
FEWEST_ROWS = 5
"""Smallest number of rows in which a level must occur to be named."""
MOST_DRIVERS = 3
"""Largest number of splits to name."""
WEAKEST, WEAKEST_BESIDE = 0.15, 0.5
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
        Correlation between the condition and being kept. A condition does not hold in rows where
        its column is missing.
    is_observed : bool
        Whether the condition is about an observed value; False: that a cell is missing.
    """

    column: str
    condition: str
    kept_share: float
    other_share: float
    row_share: float
    coverage: float
    strength: float
    is_observed: bool = True

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
        cells = np.where(is_missing[rows], np.inf, values[rows])
        self._lowest = cells.min(axis=0, initial=np.inf).tolist()

    def drivers(self, kept: Mask, target: int, block: Collection[str] = ()) -> tuple[Driver, ...]:
        """Return the strongest splits on other columns for the kept cells of a column.

        They are on observed values, which can be a cause. That another cell is missing is named
        only if no value goes with it, and not of columns that are missing in the same rows.

        Parameters
        ----------
        block : collection of str
            Columns that are missing in the same rows as this one.
        """
        kept = kept[self.rows]
        if not kept.any() or kept.all():
            return ()
        others = [j for j in range(len(self.columns)) if j != target]
        by_values = _strongest(filter(None, (self._by_value(kept, j) for j in others)))
        if by_values:
            return by_values
        apart = (j for j in others if self.columns[j].name not in block)
        return _strongest(filter(None, (self._by_missing(kept, j) for j in apart)))

    def _counts(self, kept: Mask, j: int) -> tuple[Counts, Counts, int]:
        """Return the kept cells and the rows in each bin of a column, the last for missing."""
        codes, n_bins, _ = self._binned[j]
        totals = np.bincount(codes, minlength=n_bins + 1)
        return np.bincount(codes[kept], minlength=n_bins + 1), totals, n_bins

    def _by_missing(self, kept: Mask, j: int) -> Driver | None:
        """Return the split on whether a column is missing."""
        hits, totals, n_bins = self._counts(kept, j)
        if totals[n_bins] < FEWEST_ROWS:
            return None
        inside = np.arange(n_bins + 1) == n_bins
        condition = f"{shorten(self.columns[j].name)} is missing"
        return _driver(self.columns[j], condition, hits, totals, inside)

    def _by_value(self, kept: Mask, j: int) -> Driver | None:
        """Return the best split on the values of a column."""
        hits, totals, n_bins = self._counts(kept, j)
        column, edges = self.columns[j], self._binned[j][2]
        order = _order(hits[:n_bins], totals[:n_bins], column)
        chosen = _best_cut(hits[order], totals[order])
        if chosen is None:
            return None
        inside = np.zeros(n_bins + 1, dtype=bool)
        inside[order[slice(*chosen)]] = True
        condition = _condition(column, order[slice(*chosen)], order, edges, self._lowest[j])
        return _driver(column, condition, hits, totals, inside)


def _strongest(found: Iterable[Driver]) -> tuple[Driver, ...]:
    """Return the strongest splits, without those that are weak beside the first."""
    ordered = sorted(found, key=lambda driver: -driver.strength)[:MOST_DRIVERS]
    weakest = max(WEAKEST, WEAKEST_BESIDE * ordered[0].strength) if ordered else WEAKEST
    return tuple(driver for driver in ordered if driver.strength >= weakest)


def _binned(cells: Values, column: Column) -> tuple[Codes, int, Values]:
    """Return each cell's bin (the last one is for missing cells), their number and upper edges."""
    missing = np.isnan(cells)
    if column.is_categorical:
        n_bins, edges = len(column.levels), np.zeros(0)
        codes = np.where(missing, n_bins, cells).astype(np.int64)
        return codes, n_bins, edges
    edges = _edges(cells[~missing])
    codes = np.searchsorted(edges, cells, side="left")
    codes = np.where(missing, len(edges), np.minimum(codes, max(0, len(edges) - 1)))
    return codes.astype(np.int64), len(edges), edges


def _edges(observed: Values) -> Values:
    """Return the values at which numbers can be split: quantiles, and values that are frequent."""
    if not len(observed):
        return observed
    at = np.linspace(0, 1, N_BINS + 1)[1:]
    numbers, counts = np.unique(observed, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:N_BINS]
    frequent = numbers[first[counts[first] >= FEWEST_ROWS]]
    return np.union1d(np.quantile(observed, at, method="lower"), frequent)


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
    column: Column, condition: str, hits: Counts, totals: Counts, inside: Mask
) -> Driver | None:
    """Describe a split in numbers; None unless cells are kept more often inside than outside.

    Outside are the other rows in which the column is observed; for a split on whether it is
    missing, all others.
    """
    is_observed = not inside[-1]
    counted = np.ones(len(inside), dtype=bool)
    counted[-1] = not is_observed
    all_hits, all_rows = int(hits.sum()), int(totals.sum())
    n_hits, n_inside = int(hits[inside].sum()), int(totals[inside].sum())
    other_hits, others = (int(n[counted & ~inside].sum()) for n in (hits, totals))
    strength = float(_correlation(np.array([n_hits]), np.array([n_inside]), all_hits, all_rows)[0])
    if strength <= 0 or not n_inside or not others or n_hits * others <= other_hits * n_inside:
        return None
    return Driver(
        column.name,
        condition,
        n_hits / n_inside,
        other_hits / others,
        n_inside / all_rows,
        n_hits / max(1, all_hits),
        strength,
        is_observed,
    )


def _condition(
    column: Column,
    bins: Sequence[int] | NDArray[np.intp],
    order: Codes,
    edges: Values,
    lowest: float,
) -> str:
    """Write the condition that a cell lies in one of some bins.

    Parameters
    ----------
    lowest : float
        The lowest observed number.
    """
    name = shorten(column.name)
    if not column.is_categorical:
        if bins[0] == 0:
            sign = "=" if len(bins) == 1 and edges[0] <= lowest else "≤"
            return f"{name} {sign} {coded_text(column, edges[bins[-1]])}"
        return f"{name} > {coded_text(column, edges[bins[0] - 1])}"
    levels = [shorten(coded_text(column, code)) for code in bins]
    if len(levels) <= MOST_LEVELS:
        return f"{name} = {' or '.join(levels)}"
    if len(order) - len(levels) == 1:
        return f"{name} is not {shorten(coded_text(column, order[-1]))}"
    return f"{name} is one of {len(levels):,} levels ({', '.join(levels[:MOST_LEVELS])}, …)"
