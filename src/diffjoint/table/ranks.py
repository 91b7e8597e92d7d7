"""Numbers by their rank, as normal numbers: whatever shape a column has, draws of it keep to it.

Skewed numbers and heavy tails become bell-shaped, and a value that many cells share (no income, a
limit of detection) has a stretch of its own, so that it is drawn again exactly. No draw leaves the
observed range.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

SCORES = np.linspace(-3.5, 3.5, 141)
"""Normal numbers whose ranks the quantiles of a column are kept for; lowest and highest are its."""


def quantiles_of(observed: NDArray[np.float64]) -> tuple[float, ...]:
    """The numbers of a column that rank as :data:`SCORES` do among normal ones.

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
    """Normal numbers of the same rank; a value that many share has the middle of its ranks.

    Examples
    --------
    >>> quantiles = quantiles_of(np.array([0.0] * 50 + [10.0, 1_000.0] * 25))
    >>> to_scores(np.array([0.0, 10.0, 1_000.0]), quantiles).round(1)
    array([-0.7,  0.3,  1.2])
    """
    distinct, first = np.unique(quantiles, return_index=True)
    last = np.r_[first[1:], len(SCORES)] - 1
    middle = ndtri((ndtr(SCORES[first]) + ndtr(SCORES[last])) / 2)
    between = np.interp(values, quantiles, SCORES)  # beside a stretch, not inside it
    place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    scores: NDArray[np.float64] = np.where(distinct[place] == values, middle[place], between)
    return scores


def from_scores(scores: NDArray[np.float64], quantiles: tuple[float, ...]) -> NDArray[np.float64]:
    """Numbers of a column that have the rank of normal ones.

    Examples
    --------
    >>> quantiles = quantiles_of(np.array([0.0] * 50 + [10.0, 1_000.0] * 25))
    >>> from_scores(np.array([-5.0, -0.9, -0.6, 0.3, 4.0]), quantiles)
    array([   0.,    0.,    0.,   10., 1000.])
    """
    values: NDArray[np.float64] = np.interp(scores, SCORES, quantiles)
    return values
