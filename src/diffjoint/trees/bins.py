"""Put numbers into bins, which boosted trees are grown on."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Places, Values

Bins: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Binned:
    """Cells in bins.

    Attributes
    ----------
    bins : array of shape (n_rows, n_features)
        By column; ``n_bins - 1`` where missing.
    edges : tuple of arrays
        The highest number of each bin but the last, for each feature.
    n_bins : int
        Bins of a feature at most, and one for missing cells.
    """

    bins: Bins
    edges: tuple[Values, ...]
    n_bins: int

    def take(self, rows: Places) -> Bins:
        """Return the bins of some rows."""
        return np.asfortranarray(self.bins[rows])


def put_into_bins(numbers: Values, most_bins: int) -> Binned:
    """Put numbers into bins that hold about as many cells each; NaN into one of its own.

    Examples
    --------
    >>> found = put_into_bins(np.array([[1.0], [5.0], [np.nan], [3.0], [1.0]]), 64)
    >>> found.bins[:, 0].tolist(), found.edges[0].tolist()
    ([0, 2, 64, 1, 0], [2.0, 4.0])
    """
    bins = np.full(numbers.shape, most_bins, dtype=np.uint8, order="F")
    edges = []
    for column, cells in enumerate(numbers.T):
        there = np.flatnonzero(~np.isnan(cells))
        held = cells[there]
        edges.append(edges_between(np.sort(held), most_bins))
        bins[there, column] = np.searchsorted(edges[-1], held)
    return Binned(bins, tuple(edges), most_bins + 1)


def edges_between(ordered: Values, most_bins: int) -> Values:
    """Return what divides numbers in ascending order into bins."""
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 0)]
    if len(distinct) <= most_bins:
        return (distinct[1:] + distinct[:-1]) / 2
    shares = np.arange(1, most_bins) / most_bins
    return np.unique(np.quantile(ordered, shares, method="averaged_inverted_cdf"))
