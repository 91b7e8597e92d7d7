"""Distributions of a column from how often values occur."""

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Values
from diffjoint.report.distributions import MOST_BINS, MOST_LEVELS, OUTER, Distribution
from diffjoint.report.words import coded_text, shorten
from diffjoint.table import Column, Kind

Counts = NDArray[np.int64]


def distribution_of(
    points: Values, observed: Counts, imputed: Counts, column: Column
) -> Distribution | None:
    """Return the distribution of a column from how often each value occurs; None if none does.

    Parameters
    ----------
    points : array of shape (n_points,)
        Coded values in ascending order.
    observed, imputed : int arrays of shape (n_points,)
        How many cells hold them.
    """
    if not observed.any():
        return None
    if column.is_categorical:
        counts = np.zeros((2, column.n_codes), dtype=np.int64)
        counts[:, points.astype(np.intp)] = observed, imputed
        return _of_levels(counts, column)
    edges = _edges(points, observed, column)
    clipped = np.clip(points, edges[0], edges[-1])
    counts = np.array([np.histogram(clipped, edges, weights=n)[0] for n in (observed, imputed)])
    seen, filled = counts.round().astype(np.int64).tolist()
    labels = tuple(coded_text(column, edge) for edge in edges)
    return Distribution(labels, tuple(seen), tuple(filled), is_binned=True)


def _of_levels(counts: Counts, column: Column) -> Distribution:
    """Show the most frequent levels, and the others together."""
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    top, others = order[:MOST_LEVELS], order[MOST_LEVELS:]
    labels = [shorten(coded_text(column, code)) for code in top]
    shown = counts[:, top]
    if len(others):
        labels.append(f"{len(others):,} other levels")
        shown = np.column_stack([shown, counts[:, others].sum(axis=1)])
    seen, filled = map(tuple, shown.tolist())
    return Distribution(tuple(labels), seen, filled, is_binned=False, n_others=len(others))


def _edges(points: Values, counts: Counts, column: Column) -> Values:
    """Return the edges of bins over nearly all observed numbers; of whole width for integers."""
    low, high = (_quantile(points, counts, share) for share in (OUTER, 1 - OUTER))
    if column.kind is Kind.INTEGER:
        low, high = np.floor(low), np.ceil(high) + 1
        width = max(1.0, np.ceil((high - low) / MOST_BINS))
        return np.asarray(low + width * np.arange(int(np.ceil((high - low) / width)) + 1))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, MOST_BINS + 1)
    return edges if np.all(np.diff(edges) > 0) else np.array([low, np.nextafter(high, np.inf)])


def _quantile(points: Values, counts: Counts, share: float) -> float:
    """Return a quantile of repeated values, linear between two of them.

    Examples
    --------
    >>> _quantile(np.array([1.0, 2.0, 5.0]), np.array([2, 1, 1]), 0.5)
    1.5
    """
    ends = np.cumsum(counts)
    at = share * (int(ends[-1]) - 1)
    below = int(np.floor(at))
    places = np.searchsorted(ends, [below, min(below + 1, int(ends[-1]) - 1)], side="right")
    first, second = points[places].tolist()
    return float(first + (second - first) * (at - below))
