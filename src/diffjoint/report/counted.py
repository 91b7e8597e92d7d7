"""Distributions of a column from how often values occur."""

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Values
from diffjoint.report.distributions import NEARLY_ALL, Distribution, bin_edges, of_levels
from diffjoint.report.words import coded_text
from diffjoint.table import Column

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
        return of_levels([*counts], column)
    low, high = (_quantile(points, observed, share) for share in NEARLY_ALL)
    edges = bin_edges(low, high, column)
    clipped = np.clip(points, edges[0], edges[-1])
    counts = np.array([np.histogram(clipped, edges, weights=n)[0] for n in (observed, imputed)])
    seen, filled = counts.round().astype(np.int64).tolist()
    labels = tuple(coded_text(column, edge) for edge in edges)
    return Distribution(labels, tuple(seen), tuple(filled), is_binned=True)


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
