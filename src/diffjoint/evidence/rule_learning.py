"""Learn what a rule that the table follows says of a column's missing cells."""

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.by_rules import RuleEvidence
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

FEWEST_UNDECIDED = 10
"""Missing cells whose rule cannot be told, and observed ones, without which nothing is learnt.

A column that is never there beside a missing gate may be skipped along with it."""
NEVER_THERE = 0.25
"""P(meaningful), at least, of a cell behind a missing gate in a column never observed there.

It may be skipped, too, where its gate was not answered."""
LEAST = 1e-6
"""What each row weighs at least when it is chosen."""
MOST_ROWS, N_PASSES = 4_000, 3
"""Rows to learn from, and how often the rows that lend their missing cells are chosen anew."""
LEARNER = {
    "max_iter": 40,
    "learning_rate": 0.15,
    "max_leaf_nodes": 8,
    "l2_regularization": 1.0,
    "min_samples_leaf": 20,
    "early_stopping": False,
}


def learn_rule(table: SearchTable, j: int) -> RuleEvidence | None:
    """Learn what a column's rule says of its missing cells; None if the column has no rule."""
    if table.answers is None or (table.answers[:, j] == NO_RULE).all():
        return None
    answers, is_missing = table.answers[:, j], table.is_missing[:, j]
    fails, holds, waits = is_false(answers), answers == TRUE, answers == UNDECIDED
    n_fails = int(fails.sum())
    n_lost, n_holds = int((holds & is_missing).sum()), int(holds.sum())
    n_waiting = int((waits & is_missing).sum())
    n_there = int(waits.sum()) - n_waiting
    undecided: tuple[Trees, ...] = ()
    shift = 0.0
    if min(n_waiting, n_there) >= FEWEST_UNDECIDED and min(n_fails, n_holds) >= FEWEST:
        trees, shift = _learn_undecided(table, j, answers)
        undecided = (trees,)
    nearest = min(1 / (n_waiting + 2), NEVER_THERE)
    return RuleEvidence(
        fails=_borne_out(answers, is_missing),
        missing_logit=float(logit((n_lost + 0.5) / (n_holds + 1))),
        nearest=np.array([1 / (n_lost + 2), nearest if n_there else NEVER_THERE, nearest]),
        undecided=undecided,
        shift=shift,
    )


def _borne_out(answers: Answers, is_missing: Mask) -> Values:
    """Return how sure it is that a cell is meaningful where its rule fails, by the grounds."""
    fails, grounds = is_false(answers), grounds_of(answers)
    n_cells = np.bincount(grounds[fails & is_missing], minlength=MOST_GROUNDS)
    n_exceptions = (fails & ~is_missing).sum()
    sure: Values = 1 - (n_exceptions + 1) / (n_cells + n_exceptions + 2)
    return sure


def _learn_undecided(table: SearchTable, j: int, answers: Answers) -> tuple[Trees, float]:
    """Learn where a rule fails from rows in which it can be told, shown as if it could not.

    Each takes the missing cells of a row in which gate and cell are missing. That row is chosen by
    how likely the rule fails there, or holds, which is known the better the more was learnt.

    Returns
    -------
    trees
        Log odds that the rule fails, in rows whose cell is missing.
    shift : float
        What to add, since a cell that had something to record need not be lost with its gate.
    """
    rng = np.random.default_rng(table.seed)
    inputs, waits = table.inputs(j), answers == UNDECIDED
    donors = np.flatnonzero(waits & table.is_missing[:, j])
    n_there = int(waits.sum()) - len(donors)
    told = np.flatnonzero(~waits)
    if len(told) > MOST_ROWS:
        told = np.sort(rng.choice(told, MOST_ROWS, replace=False))
    fails, likely = is_false(answers[told]), np.full(len(donors), 0.5)
    shift = 0.0
    for _ in range(N_PASSES):
        trees = _grow_as_undecided(table, told, donors, fails, likely, inputs, rng)
        shift = _shift(likely, n_there)
        likely = expit(trees.logit(table.values[donors]) + shift)
    return trees, _shift(likely, n_there)


def _grow_as_undecided(
    table: SearchTable,
    told: Places,
    donors: Places,
    fails: Mask,
    likely: Values,
    inputs: Places,
    rng: np.random.Generator,
) -> Trees:
    """Grow trees on told rows, with the missing cells of donors of the same answer."""
    lends = np.empty(len(told), dtype=np.int64)
    for answer, chance in ((True, likely), (False, 1 - likely)):
        takes, weight = np.flatnonzero(fails == answer), chance + LEAST
        lends[takes] = rng.choice(donors, len(takes), p=weight / weight.sum())
    rows = table.values[np.ix_(told, inputs)]
    rows = np.where(np.isnan(table.values[np.ix_(lends, inputs)]), np.nan, rows)
    learner = HistGradientBoostingClassifier(**LEARNER, random_state=int(rng.integers(2**31)))
    return grow(learner, rows, fails, table.n_levels[inputs], inputs)


def _shift(likely: Values, n_there: int) -> float:
    """Return minus the log of how often a cell is missing where its gate is and the rule holds."""
    n_lost = float((1 - likely).sum()) + 0.5
    return -float(np.log(n_lost / (n_lost + n_there)))
