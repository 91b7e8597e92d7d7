"""Find levels of two columns that never occur together, and keep draws from putting them together.

A probability is rarely exactly 0, so that every few hundred draws would hold what no row does: a
service without the line that it needs.
"""

from dataclasses import dataclass

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.draws.column import ColumnPlan

EXPECTED, EXPECTED_OF_MEANINGFUL = 10.0, 20.0
"""Expected joint count under independence, at least."""
RARE = 0.02
"""Calls may be wrong: a level and a meaningful cell may be together in this share of those rows."""


@dataclass(frozen=True)
class NeverTogether:
    """Which classes of a column the cells of others rule out.

    Attributes
    ----------
    column, other : int arrays of shape (n_pairs,)
        Pairs of columns of which some levels are never together.
    possible : tuple of bool arrays of shape (n_codes + 1, n_classes)
        For each pair the classes of the one that are possible beside each code of the other; the
        last row is for meaningful cells.
    """

    column: Places
    other: Places
    possible: tuple[Mask, ...]

    def allowed(self, column: int, cells: Values) -> Mask | None:
        """Return the classes that completed rows allow in a column; None if they allow all.

        Parameters
        ----------
        cells : array of shape (n_rows, n_columns)
            Coded values, NaN where meaningful.
        """
        allowed: Mask | None = None
        for pair in np.flatnonzero(self.column == column):
            codes, possible = cells[:, self.other[pair]], self.possible[pair]
            place = np.where(np.isnan(codes), len(possible) - 1, codes).astype(np.int64)
            here = possible[place]
            allowed = here if allowed is None else allowed & here
        return allowed


def find_never_together(
    values: Values, meaningful: Mask, plans: tuple[ColumnPlan, ...], n_levels: Places
) -> NeverTogether:
    """Compare all pairs of categories that one is learnt from the other.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    meaningful : bool array of the same shape
        Missing cells that are called meaningful.
    """
    found: list[tuple[int, int, Mask]] = []
    for j, plan in enumerate(plans):
        if plan.n_classes < 2:
            continue
        for g in plan.inputs[n_levels[plan.inputs] > 0].tolist():
            possible = _possible(values, meaningful, j, g, plan, int(n_levels[g]))
            if not possible.all():
                found.append((j, g, possible))
    columns = np.array([pair[:2] for pair in found], dtype=np.int64).reshape(-1, 2)
    return NeverTogether(columns[:, 0], columns[:, 1], tuple(pair[2] for pair in found))


def _possible(
    values: Values, meaningful: Mask, column: int, other: int, plan: ColumnPlan, n_codes: int
) -> Mask:
    both = ~np.isnan(values[:, column]) & (~np.isnan(values[:, other]) | meaningful[:, other])
    classes = plan.class_of[values[both, column].astype(np.int64)]
    codes = np.where(meaningful[both, other], n_codes, values[both, other]).astype(np.int64)
    kept = classes >= 0
    shape = (n_codes + 1, plan.n_classes)
    place = codes[kept] * plan.n_classes + classes[kept]
    counts = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    by_code, by_class = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(by_code, by_class) / max(int(counts.sum()), 1)
    possible: Mask = (counts > 0) | (expected < EXPECTED)
    last = (counts[-1] > RARE * expected[-1]) | (expected[-1] < EXPECTED_OF_MEANINGFUL)
    possible[-1] = last
    return possible
