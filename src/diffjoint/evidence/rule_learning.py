"""Learn what a rule that the table follows says of a column's missing cells."""

from typing import NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.by_rules import MOSTLY, RuleEvidence
from diffjoint.evidence.lost_along import find_lost_along
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.search_table import SearchTable
from diffjoint.state.rules import (
    MOST_GROUNDS,
    NO_RULE,
    TRUE,
    UNDECIDED,
    Answers,
    grounds_of,
    is_false,
)
from diffjoint.trees import Trees, grow

FEWEST_THERE = 10
"""Observed cells beside a missing gate without which nothing is learnt, unless most are there.

A column that is hardly ever there beside a missing gate may be skipped along with it."""
NEVER_THERE = 0.25
"""P(meaningful), at least, of a cell behind a missing gate in a column hardly ever there.

It may be skipped, too, where its gate was not answered."""
MOST_ROWS = 2_000
"""Rows in which the rule fails, and rows in which it holds, to learn from."""
LEARNER = {
    "max_iter": 40,
    "learning_rate": 0.15,
    "max_leaf_nodes": 8,
    "l2_regularization": 1.0,
    "min_samples_leaf": 20,
    "early_stopping": False,
}


def learn_rule(table: SearchTable, j: int, *, where_told: bool = False) -> RuleEvidence | None:
    """Learn what a column's rule says of its missing cells; None if the column has no rule.

    Parameters
    ----------
    where_told : bool
        Whether to learn nothing of cells whose rule cannot be told.
    """
    if table.answers is None or (table.answers[:, j] == NO_RULE).all():
        return None
    answers, is_missing = table.answers[:, j], table.is_missing[:, j]
    fails, holds, waits = is_false(answers), answers == TRUE, answers == UNDECIDED
    n_fails = int((fails & is_missing).sum())
    n_lost, n_holds = int((holds & is_missing).sum()), int(holds.sum())
    n_waiting, n_there = int((waits & is_missing).sum()), int((waits & ~is_missing).sum())
    undecided: tuple[Trees, ...] = ()
    shift = 0.0
    if not where_told and min(n_waiting, n_there) and min(n_fails, n_holds) >= FEWEST:
        learnt = _learn_undecided(table, table.answers, j)
        if n_there >= FEWEST_THERE or learnt.lost_along < MOSTLY:
            undecided, shift = (learnt.trees,), learnt.shift
    bears_out = n_waiting if undecided else min(n_waiting, n_there)
    return RuleEvidence(
        fails=_borne_out(answers, is_missing),
        missing_logit=float(logit((n_lost + 0.5) / (n_holds + 1))),
        nearest=np.array([1 / (n_lost + 2), _nearest(bears_out), _nearest(n_waiting)]),
        undecided=undecided,
        shift=shift,
    )


def _nearest(n_cells: int) -> float:
    """Return how near to a certain answer so many cells bear one out, behind a missing gate."""
    return min(1 / (n_cells + 2), NEVER_THERE)


def _borne_out(answers: Answers, is_missing: Mask) -> Values:
    """Return how sure it is that a cell is meaningful where its rule fails, by the grounds."""
    fails, grounds = is_false(answers), grounds_of(answers)
    n_cells = np.bincount(grounds[fails & is_missing], minlength=MOST_GROUNDS)
    n_exceptions = (fails & ~is_missing).sum()
    sure: Values = 1 - (n_exceptions + 1) / (n_cells + n_exceptions + 2)
    return sure


class _Undecided(NamedTuple):
    """What is learnt of cells of which the rule cannot be told.

    Attributes
    ----------
    trees
        Log odds that the rule fails, in rows whose cell is missing.
    shift : float
        What to add, since a cell that had something to record need not be lost with its gate, and
        since rules need not fail as often as they are shown to.
    lost_along : float
        How often the cell is lost with its gate.
    """

    trees: Trees
    shift: float
    lost_along: float


def _learn_undecided(table: SearchTable, rules_say: Answers, j: int) -> _Undecided:
    """Learn where a rule fails from rows in which it can be told, shown as if it could not.

    Each loses what a row with a missing gate has lost; the cell itself, too, where it was there.

    Parameters
    ----------
    rules_say : int array of shape (n_rows, n_columns)
        What the rules of all columns say of their cells.
    """
    rng, answers = np.random.default_rng(table.seed), rules_say[:, j]
    is_missing, waits = table.is_missing, np.flatnonzero(answers == UNDECIDED)
    is_told = (is_false(answers) & is_missing[:, j]) | (answers == TRUE)
    told, alike = np.flatnonzero(is_told), _decided_alike(rules_say, j, waits)
    along = find_lost_along(is_missing[np.ix_(waits, alike)], is_missing[np.ix_(told, alike)])
    at = int(np.flatnonzero(alike == j)[0])
    lost_along = along.chance(at)
    fails, holds = told[answers[told] != TRUE], told[answers[told] == TRUE]
    weight = np.where(is_missing[holds, j], 1.0, lost_along)
    shift = np.log(len(fails) / weight.sum())
    fails = rng.choice(fails, min(len(fails), MOST_ROWS), replace=False)
    holds = rng.choice(holds, min(len(holds), MOST_ROWS), p=weight / weight.sum())
    shift -= np.log(len(fails) / len(holds))
    rows, takes_j = np.concatenate([fails, holds]), ~is_missing[:, j]
    shown = table.values[rows]
    for some, column in ((~takes_j[rows], None), (takes_j[rows], at)):
        lenders, lost = along.draw(int(some.sum()), rng, column)
        hides = np.isnan(table.values[waits[lenders]]) & ~is_false(rules_say[waits[lenders]])
        hides[:, alike] = lost
        shown[some] = np.where(hides, np.nan, shown[some])
    inputs = table.inputs(j)
    learner = HistGradientBoostingClassifier(**LEARNER, random_state=int(rng.integers(2**31)))
    label = np.arange(len(rows)) < len(fails)
    trees = grow(learner, shown[:, inputs], label, table.n_levels[inputs], inputs)
    return _Undecided(trees, float(shift), lost_along)


def _decided_alike(answers: Answers, j: int, waits: Places) -> Places:
    """Return the columns whose rules mostly cannot be told either where one column's cannot."""
    share = (answers[waits] == UNDECIDED).mean(axis=0)
    share[j] = 1.0
    return np.flatnonzero(share > MOSTLY)
