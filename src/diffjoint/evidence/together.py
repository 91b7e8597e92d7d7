"""Whether cells get lost together, and how far a missing cell elsewhere in the row tells of it.

Where losses strike cells one by one, that others are missing too is strong evidence of meaning.
Where people refuse, forget and break off it is evidence of a loss. The table shows which holds: if
cells that are lost by what their rows hold are called meaningful for what is missing beside them,
missingness misleads.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from diffjoint._types import Mask, Values

LOST_BY_VALUES = 0.1
"""P(meaningful) by values up to which a cell counts as lost."""
CONTRADICTED = 0.44
"""Share of these that it calls meaningful from which on missingness misleads."""
FEWEST_CELLS = 20
"""Cells that are lost by values, without which missingness is believed."""
MOST_COMPARED = 6
"""Columns on which both views are compared."""
LEAST_TOGETHER, MOST_PAIRED = 0.1, 8
"""Mean correlation of the losses of columns that only lose cells, beyond what values explain, from
which on losses come together; such columns that are compared, those that have lost most."""
FEWEST_LOST, LEAST = 10, 1e-3
"""Lost cells of a column without which it says nothing of common losses; P(lost) that counts."""
ENOUGH_ERRORS = 4.0
"""Standard errors by which losses must go together more than by chance."""
SURELY = 0.9
"""P(lost) from which on a cell counts as lost."""
STRENGTH = 0.3
"""How freely weights move from zero."""
FARTHEST = 6.0


def contradiction(
    by_values: Mapping[int, Values], by_missingness: Mapping[int, Values], sharp: Collection[int]
) -> float | None:
    """Return the share of cells lost by values that missingness calls meaningful, if any.

    Columns whose values tell sharply who is skipped are believed; the others are asked only if
    those have too few cells.

    Parameters
    ----------
    by_values, by_missingness : mappings
        P(meaningful) of the missing cells of some columns, in either view.
    sharp : collection of int
        Columns whose values tell some missing cells clearly from lost ones.

    Examples
    --------
    >>> by_values = {0: np.full(60, 0.05)}
    >>> round(contradiction(by_values, {0: np.full(60, 0.9)}, sharp=[0]), 2)
    0.9
    """
    for asked in (sharp, by_values):
        lost = {j: _surely_lost(by_values[j]) for j in asked}
        n_cells = sum(float(weights.sum()) for weights in lost.values())
        if n_cells >= FEWEST_CELLS:
            return sum(float(lost[j] @ by_missingness[j]) for j in asked) / n_cells
    return None


def most_telling(by_values: Mapping[int, Values], sharp: Collection[int]) -> list[int]:
    """Return the columns to compare both views on: sharp ones, then those that have lost most.

    Examples
    --------
    >>> by_values = {0: np.zeros(50), 1: np.zeros(20), 2: np.full(90, 0.5)}
    >>> most_telling(by_values, sharp=[1])
    [1, 0, 2]
    """
    n_lost = {j: float(_surely_lost(likely).sum()) for j, likely in by_values.items()}
    ordered = sorted(by_values, key=lambda j: (j not in sharp, -n_lost[j]))
    return ordered[:MOST_COMPARED]


def _surely_lost(meaningful: Values) -> Values:
    """P(lost) of the cells that are lost by values, 0 for others."""
    lost: Values = np.where(meaningful < LOST_BY_VALUES, 1 - meaningful, 0.0)
    return lost


def come_together(lost: Values, is_vague: Mask) -> bool:
    """Whether cells of a row are lost together more often than by chance.

    Parameters
    ----------
    lost : array of shape (n_rows, n_columns)
        How likely each cell is lost.
    is_vague : bool array of shape (n_columns,)
        Columns that may be meaningful, and of which values do not tell who is skipped: two of them
        may be missing together for that reason, so that they tell only where no other column does.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random(1000) < 0.1
    >>> come_together(np.column_stack([rows, rows]).astype(float), np.array([False, False]))
    True
    """
    telling = (lost.sum(axis=0) >= FEWEST_LOST) & (lost.std(axis=0) > 0)
    total, n_pairs = _correlations(lost[:, telling])
    if (telling & ~is_vague).any():
        among_vague, n_vague_pairs = _correlations(lost[:, telling & is_vague])
        total, n_pairs = total - among_vague, n_pairs - n_vague_pairs
    return n_pairs > 0 and total > ENOUGH_ERRORS * float(np.sqrt(n_pairs / len(lost)))


def lose_together(
    is_missing: Mask, scores: Values, columns: Sequence[int], drivers: Sequence[int]
) -> bool:
    """Return whether columns that only lose cells lose them together, whatever rows hold.

    Losses that depend on the same values go together as well. What is linear in the columns that
    losses depend on is therefore taken out first.

    Parameters
    ----------
    is_missing : bool array of shape (n_rows, n_columns)
        Missing cells.
    scores : array of shape (n_rows, n_columns)
        What losses may depend on, see :mod:`diffjoint.evidence.losses`.
    columns : sequence of int
        Columns that cannot be meaningful.
    drivers : sequence of int
        Columns that losses depend on.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> breaks_off = rng.random(1000) < 0.1
    >>> is_missing = np.column_stack([breaks_off | (rng.random(1000) < 0.1) for _ in range(3)])
    >>> lose_together(is_missing, np.zeros((1000, 3)), [0, 1, 2], [])
    True
    >>> lose_together(rng.random((1000, 3)) < 0.1, np.zeros((1000, 3)), [0, 1, 2], [])
    False
    """
    n_missing = is_missing.sum(axis=0)
    enough = [j for j in columns if FEWEST_CELLS <= n_missing[j] <= len(is_missing) - FEWEST_CELLS]
    paired = sorted(enough, key=lambda j: -n_missing[j])[:MOST_PAIRED]
    if len(paired) < 2:
        return False
    left = [
        _unexplained(is_missing[:, j].astype(float), scores[:, [d for d in drivers if d != j]])
        for j in paired
    ]
    total, n_pairs = _correlations(np.column_stack(left))
    by_chance = ENOUGH_ERRORS * float(np.sqrt(n_pairs / len(is_missing)))
    return total > max(LEAST_TOGETHER * n_pairs, by_chance)


def _unexplained(column: Values, scores: Values) -> Values:
    """Return what a linear regression on scores leaves of a column."""
    known = np.column_stack([np.ones(len(column)), scores])
    weights, *_ = np.linalg.lstsq(known, column, rcond=None)
    left: Values = column - known @ weights
    return left


def _correlations(columns: Values) -> tuple[float, float]:
    """Return the sum of the correlations of all pairs of columns, and how many there are."""
    n_columns = columns.shape[1]
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    total = float((standard.sum(axis=1) ** 2).mean() - n_columns) / 2
    return total, n_columns * (n_columns - 1) / 2


def share_borne_out(others: Values, lost: Values, is_observed: Mask) -> float:
    """Share of the lost cells of a column that must be lost for the losses beside them, at least.

    A meaningful cell has lost cells beside it as often as an observed one, a lost one always at
    most. A standard error is taken off.

    Parameters
    ----------
    others : array of shape (n_rows, n_columns)
        How likely each cell of other columns is lost.
    lost : array of shape (n_rows,)
        P(the cell is lost) of missing cells by values, 0 elsewhere.
    is_observed : bool array of shape (n_rows,)
        Rows whose cell is observed.

    Examples
    --------
    >>> beside = np.repeat([1.0, 0.0, 1.0, 0.0], [90, 10, 20, 80])[:, None]
    >>> lost = np.repeat([1.0, 0.0], [100, 100])
    >>> round(share_borne_out(beside, lost, lost == 0), 2)
    0.82
    """
    has_lost = (others > SURELY).max(axis=1, initial=False)
    at_floor, observed = has_lost[lost > SURELY], has_lost[is_observed]
    if min(len(at_floor), len(observed)) < FEWEST_LOST or observed.all():
        return 0.0
    usual, here = float(observed.mean()), float(at_floor.mean())
    error = np.sqrt((usual * (1 - usual) + 1 / len(at_floor)) / len(at_floor))
    return float(np.clip((here - usual - error) / (1 - usual), 0.0, 1.0))


def loss_lift(others: Values, lost: Values) -> tuple[Values, float]:
    """How much likelier a cell is lost beside each other lost cell: log odds, and their bias.

    Parameters
    ----------
    others : array of shape (n_rows, n_columns)
        How likely each cell of other columns is lost.
    lost : array of shape (n_rows,)
        P(the cell is lost) of missing cells, 0 elsewhere.

    Notes
    -----
    Rows whose cell is lost are compared with all rows: a meaningful cell has the losses of any row.
    """
    telling = np.flatnonzero(others.sum(axis=0) >= FEWEST_LOST)
    weights, rows = np.zeros(others.shape[1]), np.flatnonzero(lost > LEAST)
    if not len(telling) or lost.sum() < FEWEST_LOST:
        return weights, 0.0
    features = others[:, telling]
    fitted = LogisticRegression(C=STRENGTH, max_iter=300).fit(
        np.vstack([features[rows], features]),
        np.repeat([1, 0], [len(rows), len(lost)]),
        sample_weight=np.concatenate([lost[rows], np.full(len(lost), lost.sum() / len(lost))]),
    )
    weights[telling] = fitted.coef_[0]
    lift = np.clip(features @ fitted.coef_[0], -FARTHEST, FARTHEST)
    return weights, -float(np.log(np.exp(lift).mean()))


def columns_to_ask(searched: list[int], most: int) -> list[int]:
    """Return some of the columns, evenly spaced."""
    places = np.linspace(0, len(searched) - 1, min(most, len(searched)))
    return [searched[i] for i in np.unique(places.astype(int)).tolist()]
