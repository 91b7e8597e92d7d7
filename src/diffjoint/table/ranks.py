"""Transform numbers to normal scores by rank, so that draws have the distribution of their column.

Skewed numbers and heavy tails become bell-shaped. A value that many cells share (no income, a
limit of detection) has an interval of scores, so that draws repeat it exactly. No draw leaves the
observed range.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

SCORES = np.linspace(-3.5, 3.5, 141)
"""Normal scores at whose ranks the quantiles of a column are kept; the ends are its extremes."""


def quantiles_of(observed: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the quantiles of a column at the ranks of :data:`SCORES` in a normal distribution.

    Examples
    --------
    >>> quantiles = quantiles_of(np.array([0.0] * 50 + [10.0, 1_000.0] * 25))
    >>> quantiles[0], quantiles[70], quantiles[-1]
    (0.0, 5.0, 1000.0)
    """
    ranks = np.r_[0.0, ndtr(SCORES[1:-1]), 1.0]
    quantiles: list[float] = np.atleast_1d(np.quantile(observed, ranks)).tolist()
    return tuple(quantiles)


def to_scores(values: NDArray[np.float64], quantiles: tuple[float, ...]) -> NDArray[np.float64]:
    """Return normal scores of the same rank; a value that many cells share gets its middle rank.

    Examples
    --------
    >>> quantiles = quantiles_of(np.array([0.0] * 50 + [10.0, 1_000.0] * 25))
    >>> to_scores(np.array([0.0, 10.0, 1_000.0]), quantiles).round(1)
    array([-0.7,  0.3,  1.2])
    """
    distinct, first = np.unique(quantiles, return_index=True)
    last = np.r_[first[1:], len(SCORES)] - 1
    middle = ndtri((ndtr(SCORES[first]) + ndtr(SCORES[last])) / 2)
    between = np.interp(values, quantiles, SCORES)  # for values that are not repeated
    place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    scores: NDArray[np.float64] = np.where(distinct[place] == values, middle[place], between)
    return scores


def from_scores(scores: NDArray[np.float64], quantiles: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the numbers of a column that have the rank of normal scores.

    Examples
    --------
    >>> quantiles = quantiles_of(np.array([0.0] * 50 + [10.0, 1_000.0] * 25))
    >>> from_scores(np.array([-5.0, -0.9, -0.6, 0.3, 4.0]), quantiles)
    array([   0.,    0.,    0.,   10., 1000.])
    """
    values: NDArray[np.float64] = np.interp(scores, SCORES, quantiles)
    return values
