"""Whether cells get lost together, and how far a gap elsewhere in the row then tells of a loss.

Where losses strike cells one by one, that others are missing too is strong evidence of meaning.
Where people refuse, forget and break off it is evidence of a loss. The table shows which holds: if
cells that are lost by what their rows hold are called meaningful for what is missing beside them,
gaps mislead.
"""

from collections.abc import Mapping

import numpy as np
from sklearn.linear_model import LogisticRegression

from diffjoint.arrays import Cells, Values

LOST_BY_VALUES = 0.3
"""P(meaningful) by values up to which a cell counts as lost."""
CONTRADICTED = 0.42
"""Share of these that gaps call meaningful from which on gaps mislead."""
FEWEST_CELLS = 20
"""Cells that are lost by values, without which gaps are believed."""
FEWEST_LOST, LEAST = 10, 1e-3
"""Lost cells of a column without which it says nothing of common losses; P(lost) that counts."""
ENOUGH_ERRORS = 4.0
"""Standard errors by which losses must go together more than by chance."""
STRENGTH = 0.3
"""How freely weights move from zero."""
FARTHEST = 6.0


def contradiction(by_values: Mapping[int, Values], by_gaps: Mapping[int, Values]) -> float | None:
    """Share of the cells lost by their rows' values that gaps call meaningful; None if too few.

    Parameters
    ----------
    by_values, by_gaps : mappings
        P(meaningful) of the missing cells of some columns, in either view.

    Examples
    --------
    >>> by_values = {0: np.full(40, 0.1)}
    >>> round(contradiction(by_values, {0: np.full(40, 0.9)}), 2)
    0.9
    """
    said = counted = 0.0
    for j, values in by_values.items():
        lost = np.where(values < LOST_BY_VALUES, 1 - values, 0.0)
        said += float(lost @ by_gaps[j])
        counted += float(lost.sum())
    return said / counted if counted >= FEWEST_CELLS else None


def come_together(lost: Values, is_searched: Cells) -> bool:
    """Whether cells of a row are lost together more often than by chance.

    Parameters
    ----------
    lost : array of shape (n_rows, n_columns)
        How likely each cell is lost.
    is_searched : bool array of shape (n_columns,)
        Columns that may be meaningful: two of them may be missing together for that reason, so that
        they tell only where no other column does.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random(1000) < 0.1
    >>> come_together(np.column_stack([rows, rows]).astype(float), np.array([False, False]))
    True
    """
    telling = (lost.sum(axis=0) >= FEWEST_LOST) & (lost.std(axis=0) > 0)
    total, n_pairs = _correlations(lost[:, telling])
    if (telling & ~is_searched).any():
        among_searched, n_searched_pairs = _correlations(lost[:, telling & is_searched])
        total, n_pairs = total - among_searched, n_pairs - n_searched_pairs
    return total > ENOUGH_ERRORS * float(np.sqrt(n_pairs / len(lost)))


def _correlations(columns: Values) -> tuple[float, float]:
    """The sum of the correlations of all pairs of columns, and how many there are."""
    n_columns = columns.shape[1]
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    total = float((standard.sum(axis=1) ** 2).mean() - n_columns) / 2
    return total, n_columns * (n_columns - 1) / 2


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
    """Some of the columns, evenly spaced."""
    places = np.linspace(0, len(searched) - 1, min(most, len(searched)))
    return [searched[i] for i in np.unique(places.astype(int)).tolist()]
