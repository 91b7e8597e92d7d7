"""Draw numbers around what is expected, with the residual of a donor whose expectation is near.

The spread of draws is then that of similar rows. A value that many cells share, such as 0, is taken
over from the donor as it is; so is a value whose sum with the residual would leave the observed
range.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from diffjoint._types import Values

MOST_DONORS, NEIGHBOURS, SHARE = 4_000, 30, 0.1
"""Donors that are kept; how many of the nearest to choose from, at most and as a share of all."""
FEWEST_NEIGHBOURS = 5
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
OFTEN, OFTEN_AT_LEAST = 0.02, 8
"""A value is shared by many if it is that of this share of the cells, and of so many at least."""


@dataclass(frozen=True)
class Donors:
    """Observed cells of a column, in the order of what was expected of them.

    Attributes
    ----------
    expected : array of shape (n_donors,)
        Ascending, in standard units.
    truth : array of shape (n_donors,)
        What they hold.
    spread : array of shape (n_donors,)
        How far from what is expected rows like them are, relative to others.
    shared : array
        The values that many cells share, ascending.
    """

    expected: Values
    truth: Values
    spread: Values
    shared: Values

    @cached_property
    def width(self) -> float:
        """Standard deviation of what donors hold around what was expected, relative to spread."""
        return float(np.sqrt((((self.truth - self.expected) / self.spread) ** 2).mean()))

    def draw(self, expected: Values, spread: Values, uniform: Values) -> Values:
        """Draw one number for each expectation, by one uniform random number each."""
        n = len(self.expected)
        n_near = int(np.clip(SHARE * n, min(FEWEST_NEIGHBOURS, n), min(NEIGHBOURS, n)))
        left, right = (np.searchsorted(self.expected, expected, side) for side in SIDES)
        middle = np.clip((left + right) // 2 - n_near // 2, 0, n - n_near)
        first, last = np.minimum(left, middle), np.maximum(right, middle + n_near)
        donor = first + np.minimum((uniform * (last - first)).astype(np.int64), last - first - 1)
        given = self.truth[donor]
        drawn = expected + (given - self.expected[donor]) * (spread / self.spread[donor])
        low, high = self.truth.min(), self.truth.max()
        is_shared = np.isin(given, self.shared)
        taken: Values = np.where(is_shared | (drawn < low) | (drawn > high), given, drawn)
        return taken


def find_donors(expected: Values, truth: Values, spread: Values, shared: Values) -> Donors:
    """Keep some cells as donors, evenly over what is expected of them."""
    order = np.argsort(expected, kind="stable")
    if len(order) > MOST_DONORS:
        order = order[np.linspace(0, len(order) - 1, MOST_DONORS).astype(np.int64)]
    return Donors(expected[order], truth[order], spread[order], shared)


def shared_values(truth: Values) -> Values:
    """Return the values that many cells share.

    Examples
    --------
    >>> shared_values(np.r_[np.zeros(10), np.arange(1.0, 91.0)])
    array([0.])
    """
    values, counts = np.unique(truth, return_counts=True)
    return np.asarray(values[counts >= max(OFTEN_AT_LEAST, OFTEN * len(truth))])
