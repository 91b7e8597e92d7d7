"""Columns that are missing together, while nothing else in their rows tells who is skipped.

Two laboratory values of one tube, broken in some patients, look just like two questions behind one
gate that the table does not hold. Which of the two it is, no table can say.
"""

from collections.abc import Iterable

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.best_losses import log_likelihood
from diffjoint.evidence.folds import logits_in_folds
from diffjoint.evidence.loss_rates import correlation, is_far_beyond, rate_prior, rates_of
from diffjoint.evidence.missing import FEWEST, learn_in_folds
from diffjoint.evidence.search_table import Search
from diffjoint.trees import side_by_side

ALIKE = 0.2
"""Correlation of which cells are missing in two columns from which on they are missing together."""
SAME = 0.9
"""Share of the rows that miss one of some columns, and miss all of them, in the same rows."""
N_FOLDS = 3
CLEARLY = 2.0
"""Standard errors by which rows must say more of which cells are missing than the rate alone."""


def missing_alike(is_missing: Mask, columns: Iterable[int]) -> list[list[int]]:
    """Return groups of two or more columns that are missing in much the same rows.

    Examples
    --------
    >>> rows = np.arange(100)[:, None]
    >>> missing_alike(rows < [2, 2, 50, 0, 48], range(5))
    [[0, 1], [2, 4]]
    """
    groups: list[list[int]] = []
    varies = is_missing.std(axis=0) > 0
    for j in (j for j in columns if varies[j]):
        for group in groups:
            if correlation(is_missing, j, group[0]) >= ALIKE:
                group.append(j)
                break
        else:
            groups.append([j])
    return [group for group in groups if len(group) > 1]


def unexplained(search: Search) -> list[int]:
    """Return the searched columns that are missing together for no reason that the table holds.

    Those that miss far more than other columns lose are left out: no loss is as likely.
    """
    table = search.table
    rates = rates_of(table.is_missing, search.others.tolist())
    prior = rate_prior(rates, list(rates))

    def may_be_lost(group: list[int]) -> bool:
        is_missing = _together(table.is_missing, group)
        share = float(is_missing.mean())
        few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
        return not few and not is_far_beyond(float(np.log(share / (1 - share))), prior)

    alike = missing_alike(table.is_missing, search.judged)
    groups = [group for group in alike if may_be_lost(group)]
    told = side_by_side(lambda k: _is_told(search, groups[k]), range(len(groups)), len(table.folds))
    return [j for group, is_told in zip(groups, told, strict=True) if not is_told for j in group]


def _is_told(search: Search, group: list[int]) -> bool:
    """Return whether the rest of a row says in which rows a group is missing.

    That other cells are missing there, too, says nothing of columns that are missing in some of
    these rows alone, as after a break: they may have been lost along.
    """
    table, folds = search.table, search.table.folds % N_FOLDS
    is_missing = _together(table.is_missing, group)
    inputs = np.setdiff1d(table.inputs(group[0]), group)
    rows = table.values
    if not in_same_rows(table.is_missing, group):
        rows = _without_gaps(rows, inputs, np.random.default_rng(table.seed))
    by = (table.n_levels, inputs, folds, N_FOLDS, table.seed)
    trees = learn_in_folds(rows, is_missing, *by)
    by_row = log_likelihood(logits_in_folds(trees, rows, folds), is_missing)
    share = is_missing.mean()
    by_rate = log_likelihood(np.full(len(is_missing), np.log(share / (1 - share))), is_missing)
    gain = by_row - by_rate
    return bool(gain.mean() > CLEARLY * max(float(gain.std()), 1e-9) / np.sqrt(len(gain)))


def in_same_rows(is_missing: Mask, group: list[int]) -> bool:
    """Return whether columns are missing in the same rows, and hardly ever one without the others.

    Examples
    --------
    >>> in_same_rows(np.arange(100)[:, None] < [20, 21, 40], [0, 1])
    True
    >>> in_same_rows(np.arange(100)[:, None] < [20, 21, 40], [0, 2])
    False
    """
    some, each = is_missing[:, group].any(axis=1).sum(), _together(is_missing, group).sum()
    return bool(each >= SAME * some)


def _without_gaps(values: Values, columns: Places, rng: np.random.Generator) -> Values:
    """Return a table in which missing cells of some columns hold what any row may hold."""
    filled = values.copy()
    for j in columns.tolist():
        is_missing = np.isnan(values[:, j])
        if is_missing.any() and not is_missing.all():
            filled[is_missing, j] = rng.choice(values[~is_missing, j], int(is_missing.sum()))
    return filled


def _together(is_missing: Mask, group: list[int]) -> Mask:
    """Return the rows in which all columns of a group are missing."""
    return np.asarray(is_missing[:, group].all(axis=1), dtype=bool)
