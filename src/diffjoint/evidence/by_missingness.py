"""Learn searched columns by values and missing cells together: losses strike cells one by one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from diffjoint._types import Mask, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.column import ColumnEvidence, at_own_floor
from diffjoint.evidence.correction import NONE
from diffjoint.evidence.detector import (
    LearntColumn,
)
from diffjoint.evidence.implied import consistent, find_implied
from diffjoint.evidence.loss_rates import (
    disagree,
    rate_prior,
    rates_of,
)
from diffjoint.evidence.loss_rounds import ENOUGH_ERRORS, KnownRate, LossSearch
from diffjoint.evidence.losses import LossExamples, loss_examples
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.rule_learning import learn_rule
from diffjoint.evidence.search_table import Search, SearchTable
from diffjoint.evidence.unexplained import unexplained
from diffjoint.evidence.unjudged import MIDDLE, judged_by_rate, with_labels
from diffjoint.evidence.values_view import View
from diffjoint.state.rules import TRUE
from diffjoint.trees import side_by_side

STEEPER = 1.25
"""How much steeper than those of other columns losses of a searched column can be."""


def learn_by_missingness(
    search: Search,
    views: Mapping[int, View],
    names: Sequence[str],
    tick: Callable[[int], object],
) -> tuple[dict[int, LearntColumn], Mask, tuple[str, ...]]:
    """Learn each searched column by values and missingness; which imply which; what is doubtful."""
    del views
    loss_search, doubts, uneven = loss_searches(search)
    vague = unexplained(search)
    learnt, implied = _learn_alone(search, loss_search, vague, tick)
    flat = [
        names[j]
        for j, known in loss_search.items()
        if j not in vague and _is_flat(search.table, learnt[j], j, known)
    ]
    untold = [names[j] for j in vague if j not in search.given]
    resting = _resting_on_rates(search, learnt, vague) if uneven is not None else []
    doubts += say.of_rates(uneven, [names[j] for j in resting])
    alone = {} if doubts else _rates_told_alone(search, learnt, loss_search, vague)
    doubts += say.of_own_rates({names[j]: rate for j, rate in alone.items()})
    return learnt, implied, doubts + say.of_flat(flat) + say.of_unexplained(untold)


def loss_searches(
    search: Search,
) -> tuple[dict[int, LossSearch], tuple[str, ...], Values | None]:
    """Return what to find the losses of each searched column by, and what is doubtful in it.

    Returns
    -------
    by column
        What to find its losses by.
    doubts : tuple of str
    uneven : array or None
        The rates of the other columns, if they disagree.
    """
    table, drivers = search.table, search.drivers
    levels, doubts, uneven = _levels(table.is_missing, search.others, search.searched, search.given)
    examples, steepest = known_losses(table.scores, table.is_missing, search.others, drivers)
    searches = {
        j: LossSearch([d for d in drivers if d != j], replace(known, steepest=steepest), examples)
        for j, known in ((j, levels[j]) for j in search.searched)
    }
    return searches, doubts, uneven


def known_losses(
    scores: Values, is_missing: Mask, others: NDArray[np.int64], drivers: list[int]
) -> tuple[LossExamples, float]:
    """Return how losses of columns that cannot be meaningful depend on drivers, and a bound.

    The bound is on how steep losses of a searched column can be; infinite without drivers.
    """
    if not drivers:
        return LossExamples(), np.inf
    examples = loss_examples(scores, is_missing, others, drivers)
    return examples, STEEPER * examples.steepest


def _is_flat(table: SearchTable, learnt: LearntColumn, j: int, loss_search: LossSearch) -> bool:
    """Whether a column rests on the rate of the others alone."""
    known = loss_search.known
    if not isinstance(learnt, ColumnEvidence) or known.is_given or known.rate is None:
        return False
    rows = np.linspace(
        0, len(table.is_missing) - 1, min(len(table.is_missing), say.FLAT_ROWS)
    ).astype(int)
    judged = learnt.judge(table.values[rows], table.folds[rows], table.scores[rows])
    return say.is_flat(judged.mm_rate)


def _resting_on_rates(
    search: Search, learnt: Mapping[int, LearntColumn], vague: Sequence[int]
) -> list[int]:
    """Return the columns of which another loss rate would be told another story.

    They are unsure, or all that they miss is taken for lost.
    """
    table, n_rows = search.table, len(search.table.is_missing)
    rows = np.linspace(0, n_rows - 1, min(n_rows, say.FLAT_ROWS)).astype(int)
    resting = []
    for j in (j for j in search.judged if j not in vague and j not in search.given):
        judged = learnt[j].judge(table.values[rows], table.folds[rows], table.scores[rows])
        is_missing = table.is_missing[rows, j]
        if say.is_unsure(judged, is_missing) or (judged.probability[is_missing] <= 0.5).all():
            resting.append(j)
    return resting


def _rates_told_alone(
    search: Search,
    learnt: Mapping[int, LearntColumn],
    loss_search: Mapping[int, LossSearch],
    vague: Sequence[int],
) -> dict[int, float]:
    """Return the loss rates of unsure columns that nothing but their own missing cells tells."""
    table, rates = search.table, {}
    rows = np.linspace(0, len(table.is_missing) - 1, min(len(table.is_missing), say.FLAT_ROWS))
    chosen = rows.astype(int)
    for j, one in loss_search.items():
        if one.known.rate is not None or j in search.unjudged or j in vague:
            continue
        judged = learnt[j].judge(table.values[chosen], table.folds[chosen], table.scores[chosen])
        if say.is_unsure(judged, table.is_missing[chosen, j]):
            rates[j] = float(judged.loss_rate.mean())
    return rates


def _learn_alone(
    search: Search,
    loss_search: Mapping[int, LossSearch],
    vague: list[int],
    tick: Callable[[int], object],
) -> tuple[dict[int, LearntColumn], Mask]:
    """Learn each searched column by the rest of its row, and which imply which others.

    Of columns that are missing together for no reason that the table holds nothing is sure: those
    with a given rate get one answer by it.
    """
    table = search.table
    by_rate = {*search.unjudged, *(j for j in vague if j in search.given)}

    def learn(j: int) -> tuple[LearntColumn, Mask]:
        rows, is_missing = table.values, table.is_missing[:, j]
        learnt: LearntColumn
        if j in by_rate:
            learnt = judged_by_rate(search, j)
        else:
            learnt = table.column(j, table.folds, table.n_folds, loss_search[j])
            learnt = at_own_floor(
                learnt, rows, is_missing, table.folds, table.scores, loss_search[j]
            )
            learnt = replace(learnt, nearest=MIDDLE) if j in vague else learnt
        judged = learnt.judge(rows, table.folds, table.scores)
        column = with_labels(learnt, judged, is_missing, table.looked_up[:, j])
        if isinstance(column, ColumnEvidence) and j not in vague:
            column = replace(column, rule=_rule_of(table, j, judged.loss_rate))
        if (column.slope, column.shift, column.rule) != (*NONE, None):
            judged = column.judge(rows, table.folds, table.scores, table.answers_to(j))
        return column, find_implied(
            judged, table.is_missing, j, is_missing & (table.known[:, j] == 1)
        )

    n_columns = table.values.shape[1]
    searched = list(loss_search)
    columns, implied = {}, np.zeros((n_columns, n_columns), dtype=bool)
    learnt = side_by_side(learn, searched, len(table.values))
    for j, (column, implies) in zip(searched, learnt, strict=True):
        columns[j], implied[j, searched] = column, implies[searched]
        tick(table.n_folds)
    among = np.ix_(searched, searched)
    implied[among] = consistent(implied[among])
    return columns, implied


def _rule_of(table: SearchTable, j: int, loss_rate: Values) -> RuleEvidence | None:
    """Return what a column's rule says, if losses explain all that is missing where it holds.

    Otherwise it is a part of the story, and trees know it better.

    Parameters
    ----------
    loss_rate : array of shape (n_rows,)
    """
    answers = table.answers_to(j)
    if answers is None:
        return None
    holds = answers == TRUE
    expected, n_missing = loss_rate[holds].sum(), table.is_missing[holds, j].sum()
    if n_missing > expected + ENOUGH_ERRORS * np.sqrt(expected):
        return None
    return learn_rule(table, j, where_told=True)


def _levels(
    is_missing: Mask,
    others: NDArray[np.int64],
    searched: list[int],
    given: Mapping[int, float],
) -> tuple[dict[int, KnownRate], tuple[str, ...], Values | None]:
    """Return what is known of each searched column's loss rate, as :func:`loss_searches`."""
    levels = {j: KnownRate(rate, is_given=True) for j, rate in given.items() if j in searched}
    if len(levels) == len(searched):
        return levels, (), None
    n_lost = is_missing[:, list(rates_of(is_missing, others.tolist()))].sum(axis=0)
    if n_lost.sum() < FEWEST:
        levels |= {j: KnownRate(None) for j in searched if j not in levels}
        return levels, () if len(others) else (say.ALL_SEARCHED,), None
    rates, counted = n_lost / len(is_missing), n_lost[n_lost >= FEWEST] / len(is_missing)
    shared = float((rates**2).sum() / rates.sum())
    prior = rate_prior(dict(enumerate(counted.tolist())), range(len(counted)), least=0.0)
    believed = max(shared, float(expit(prior.highest))) if prior else shared
    own = disagree(counted)
    known = KnownRate(believed if own else shared, sharp_rate=believed)
    levels |= {j: known for j in searched if j not in levels}
    return levels, (), counted if own else None
