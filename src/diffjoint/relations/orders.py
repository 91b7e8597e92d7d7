"""Find numbers that are never above another: a part and its whole, a beginning and an end."""

from collections.abc import Sequence

import numpy as np

from diffjoint._types import Places, Values

MOST_NUMBERS, MOST_ROWS = 80, 2_000
FEWEST = 100
"""Rows that have both numbers, at least."""
MISTAKES = 0.001
"""Share of these in which the lower may be above, as it is where somebody made a mistake."""
ABOVE_BY_CHANCE = 0.05
"""Share of rows in which the lower would be above if the two had nothing to do with each other."""


def find_orders(values: Values, numbers: Sequence[int]) -> Places:
    """Find pairs of columns, the first of which is never above the second.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        NaN where missing.
    numbers : sequence of int
        The columns to compare.

    Returns
    -------
    int array of shape (n_pairs, 2)

    Examples
    --------
    >>> part, rest = np.random.default_rng(0).integers(0, 9, (2, 200)).astype(float)
    >>> find_orders(np.column_stack([part + rest, part]), [0, 1])
    array([[1, 0]])
    """
    compared = list(numbers)[:MOST_NUMBERS]
    found = [
        (low, high)
        for low in compared
        for high in compared
        if low != high and _is_never_above(values[:, low], values[:, high])
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _is_never_above(low: Values, high: Values) -> bool:
    known = ~np.isnan(low) & ~np.isnan(high)
    if known.sum() < FEWEST or (low[known] > high[known]).sum() > MISTAKES * known.sum():
        return False
    some = np.flatnonzero(known)[:MOST_ROWS]
    below = np.searchsorted(np.sort(high[some]), low[some])
    return bool(below.mean() / len(some) >= ABOVE_BY_CHANCE)
