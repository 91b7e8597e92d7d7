"""Columns whose meaningful cells imply others: whoever has no spouse has no spouse's age.

Trees tell contexts apart by degrees: of what is meaningful where another cell is missing, they
leave a little where that cell is observed. It does nothing to a probability, but masks drawn from
it would now and then contradict the rows.
"""

import numpy as np

from diffjoint._types import Mask
from diffjoint.evidence.folds import TINY, Judged

ENOUGH_ROWS = 200
"""Observed cells of a column, without which it says nothing of another."""
EXPLAINED = 4.5
"""Log-likelihood that meaningful cells must add to what losses explain, where another column is
observed, not to be noise: three standard errors."""
CLEAR, LITTLE = 0.5, 0.05
"""P(meaningful) from which on cells are exceptions, if they add that much; and the share of all
that is added up to which the rest may be losses that were taken for too few."""


def find_implied(judged: Judged, is_missing: Mask, column: int, known: Mask) -> Mask:
    """Columns whose cells are meaningful wherever those of one column are.

    Such a column, where it is observed, leaves hardly any of the one column's missing cells that
    losses alone do not explain, and none that is clear.

    Parameters
    ----------
    judged : Judged
        Of the one column's cells, each by trees that have not learnt from its row.
    is_missing : bool array of shape (n_rows, n_columns)
        Missing cells.
    column : int
        The one column.
    known : bool array of shape (n_rows,)
        Its cells that are known to be meaningful: a single one beside an observed cell is an
        exception.

    Notes
    -----
    A column of which nothing is known to be meaningful, or seems to be, implies nothing.
    """
    if_missing = np.log(np.maximum(judged.missing_rate, TINY) / np.maximum(judged.loss_rate, TINY))
    if_observed = np.log(np.maximum(1 - judged.mm_rate, TINY))
    added = np.where(is_missing[:, column], if_missing, if_observed)
    observed, clear = ~is_missing, np.where(judged.probability > CLEAR, added, 0.0)
    implied: Mask = observed.sum(axis=0) >= ENOUGH_ROWS
    implied &= added @ observed < max(EXPLAINED, LITTLE * added.sum())
    implied &= clear @ observed < EXPLAINED
    implied &= (added.sum() >= EXPLAINED) & ~observed[known].any(axis=0)
    implied[column] = False
    return implied


def consistent(implied: Mask) -> Mask:
    """Return what is implied, without whatever does not hold all along.

    If one column implies another and that a third, but not the one the third, since there are
    exceptions, then the one does not imply the other either.
    """
    while True:
        lacks = implied[None] & ~implied[:, None]  # of the first: what the second implies
        lacks &= ~np.eye(len(implied), dtype=bool)[:, None]
        held = implied & ~lacks.any(axis=2)
        if (held == implied).all():
            return implied
        implied = held


def keep_to(implied: Mask, column: int, drawn: Mask, meaningful: Mask, decided: Mask) -> Mask:
    """Bring a column's drawn cells to agree with what is decided of the other columns.

    Parameters
    ----------
    implied : bool array of shape (n_columns, n_columns)
        Row by row as :func:`find_implied` gives them.
    column : int
    drawn : bool array of shape (n_draws, n_rows)
        Whether the column's cells were drawn as meaningful.
    meaningful : bool array of shape (n_draws, n_rows, n_columns)
    decided : bool array of shape (n_rows, n_columns)
        Whether it is known or drawn already which cells are meaningful.
    """
    must = (meaningful & implied[:, column]).any(axis=2)
    cannot = (~meaningful & decided & implied[column]).any(axis=2)
    agreed: Mask = (drawn | must) & ~cannot
    return agreed
