"""What else is lost where a gate is lost.

Beside a missing gate it cannot be told which of the columns that it opens are skipped and which are
lost with it. But rows whose gate is there show how often these are missing for other reasons, and
in which combinations. What must be added to that, so that rows with the missing gate look as they
do, was lost along with the gate.
"""

from dataclasses import dataclass

import numpy as np

from diffjoint._types import Mask, Places, Values

MOST_PATTERNS = 128
"""Combinations of missing cells, the most frequent ones, that are told apart."""
N_STEPS = 200
"""Steps in which the shares of the combinations are found."""
LEAST = 1e-9


@dataclass(frozen=True)
class LostAlong:
    """Combinations of cells that are lost along with a gate.

    Attributes
    ----------
    patterns : bool array of shape (n_patterns, n_columns)
    share : array of shape (n_rows, n_patterns)
        How likely each of them was lost in each row with a missing gate.
    """

    patterns: Mask
    share: Values

    def chance(self, column: int) -> float:
        """Return how often a column is lost along; never 0 or 1, as rows are counted."""
        n_rows = len(self.share)
        n_lost = float((self.share @ self.patterns[:, column]).sum())
        return (n_lost + 0.5) / (n_rows + 1)

    def draw(
        self, n_rows: int, rng: np.random.Generator, column: int | None = None
    ) -> tuple[Places, Mask]:
        """Draw rows with a missing gate, and what each has lost along with it.

        Parameters
        ----------
        column : int, optional
            One that is lost in each of them, as far as any row may have lost it.

        Returns
        -------
        rows : int array of shape (n_rows,)
        lost : bool array of shape (n_rows, n_columns)
        """
        weight = self.share.ravel()
        if column is not None:
            weight = (self.share * self.patterns[:, column]).ravel()
            weight = weight if weight.sum() > LEAST else self.share.ravel()
        drawn = rng.choice(len(weight), n_rows, p=weight / weight.sum())
        rows, pattern = np.divmod(drawn, len(self.patterns))
        return rows, self.patterns[pattern]


def find_lost_along(beside_missing: Mask, beside_observed: Mask) -> LostAlong:
    """Find what must have been lost along with a gate, from which cells are missing beside it.

    Parameters
    ----------
    beside_missing : bool array of shape (n_rows, n_columns)
        Which cells are missing in rows whose gate is missing.
    beside_observed : bool array of shape (n_other_rows, n_columns)
        The same in rows whose gate is there.

    Examples
    --------
    Half of the cells are skipped. Beside a missing gate three in four are missing, so half of those
    that would be there have been lost along with it.

    >>> beside_observed = np.repeat([[True], [False]], 500, axis=0)
    >>> beside_missing = np.repeat([[True], [False]], [300, 100], axis=0)
    >>> round(find_lost_along(beside_missing, beside_observed).chance(0), 2)
    0.5
    """
    seen, which = np.unique(beside_missing, axis=0, return_inverse=True)
    which = which.ravel()
    own, n_own = _most_frequent(beside_observed)
    patterns = _candidates(seen, np.bincount(which))
    explains = _explains(seen, patterns, own, n_own / n_own.sum())
    count, share = np.bincount(which), np.full(len(patterns), 1 / len(patterns))
    for _ in range(N_STEPS):
        joint = explains * share
        given = joint / joint.sum(axis=1, keepdims=True)
        share = count @ given / count.sum()
    return LostAlong(patterns, given[which])


def _most_frequent(masks: Mask) -> tuple[Mask, Places]:
    patterns, count = np.unique(masks, axis=0, return_counts=True)
    most = np.argsort(-count, kind="stable")[:MOST_PATTERNS]
    return patterns[most], count[most]


def _candidates(seen: Mask, count: Places) -> Mask:
    """Return what may have been lost along: nothing, or all that is missing in some row."""
    most = seen[np.argsort(-count, kind="stable")[:MOST_PATTERNS]]
    nothing = np.zeros((1, seen.shape[1]), dtype=bool)
    candidates: Mask = np.unique(np.vstack([nothing, most]), axis=0)
    return candidates


def _explains(seen: Mask, patterns: Mask, own: Mask, share: Values) -> Values:
    """Return how often a row looks as seen if a pattern is lost in it, for each of both.

    Nothing is impossible, and least so that nothing more than a row lacks was lost in it.
    """
    place = {row.tobytes(): i for i, row in enumerate(seen)}
    explains = np.full((len(seen), len(patterns)), LEAST**2)
    for p, pattern in enumerate(patterns):
        for row, how_often in zip(own | pattern, share, strict=True):
            at = place.get(row.tobytes())
            if at is not None:
                explains[at, p] += how_often
        at = place.get(pattern.tobytes())
        if at is not None:
            explains[at, p] += LEAST
    return explains
