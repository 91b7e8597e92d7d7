"""Rows in which a column is seldom lost, as their other cells show: there a rule stands out.

Where cells get lost together, a few rows in which a column alone is missing say more than many in
which it is missing with its neighbours: each of them is unlikely by losses alone.
"""

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask
from diffjoint.skip_rules.atoms import Tally, tally
from diffjoint.skip_rules.search import MARGIN

MOST_SPLITS = 3
"""Columns that must be observed in a row that is looked at, at most."""
LEAST_QUIET = 0.05
"""Share of the rows that is looked at, at least."""


def quiet_rows(gaps: Mask, is_missing: Mask) -> Mask | None:
    """Return the rows where losses of other columns make a loss of this one unlikely.

    What the cells hold is not looked at, so that a rule that is found there was not chosen by it.

    Parameters
    ----------
    gaps : bool array of shape (n_rows, n_columns)
        Missing cells of the other columns that no rule explains.
    is_missing : bool array of shape (n_rows,)
        The column's missing cells.

    Returns
    -------
    bool array of shape (n_rows,) or None
        None if the other columns' losses tell nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> breaks_off, slips = rng.random(1_000) < 0.3, rng.random(1_000) < 0.01
    >>> gaps = np.column_stack([breaks_off, rng.random(1_000) < 0.3])
    >>> rows = quiet_rows(gaps, breaks_off | slips)
    >>> bool((rows == ~breaks_off).all()), quiet_rows(gaps[:, 1:], breaks_off) is None
    (True, True)
    """
    gaps = gaps[:, gaps.any(axis=0)]
    if not gaps.shape[1]:
        return None
    n_gaps = gaps.sum(axis=1)
    rows = np.ones(len(gaps), dtype=bool)
    for _ in range(MOST_SPLITS):
        split = _best_split(gaps[rows], n_gaps[rows], is_missing[rows])
        if split is None:
            break
        column, most = split
        narrower = rows & (~gaps[:, column] if column >= 0 else n_gaps <= most)
        if narrower.mean() < LEAST_QUIET:
            break
        rows = narrower
    return None if rows.all() else rows


def _best_split(gaps: Mask, n_gaps: NDArray[np.int64], is_missing: Mask) -> tuple[int, int] | None:
    """Return the column that is best observed, or -1 and how many gaps a row may have; or None."""
    whole = tally(is_missing)
    alone = _fewer(gaps, is_missing)
    counts = np.bincount(n_gaps, minlength=1), np.bincount(n_gaps[is_missing], minlength=1)
    missing = np.cumsum(np.pad(counts[1], (0, len(counts[0]) - len(counts[1]))))[:-1]
    few = Tally((np.cumsum(counts[0])[:-1] - missing).astype(float), missing.astype(float))
    gains = np.concatenate([_gain(part, whole) for part in (alone, few)])
    if not len(gains) or gains.max() < np.log(len(gains)) + MARGIN:
        return None
    best = int(gains.argmax())
    return (best, 0) if best < gaps.shape[1] else (-1, best - gaps.shape[1])


def _fewer(gaps: Mask, is_missing: Mask) -> Tally:
    """Count a column's cells in the rows where each other column is observed."""
    observed, missing = (
        float(rows.sum()) - rows.astype(np.float32) @ gaps for rows in (~is_missing, is_missing)
    )
    return Tally(observed.astype(np.float64), missing.astype(np.float64))


def _gain(part: Tally, whole: Tally) -> NDArray[np.float64]:
    """Return the log-likelihood gained by telling a part apart, if fewer are missing there."""
    rest = whole - part
    gain = part.fit + rest.fit - whole.fit
    fewer = part.missing * rest.n < rest.missing * part.n
    return np.where(fewer, gain, -np.inf)
