"""Learn searched columns by what rows hold, then by common losses: cells get lost together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from diffjoint._types import Mask, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.column import nearest_to_sure
from diffjoint.evidence.correction import NONE
from diffjoint.evidence.detector import (
    LearntColumn,
    lostness,
)
from diffjoint.evidence.implied import consistent, find_implied
from diffjoint.evidence.loss_rates import (
    TINY,
    apart_from,
    believable,
    least_loss_rate,
    rate_prior,
    rates_of,
    tolerance,
)
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.rule_learning import learn_rule
from diffjoint.evidence.search_table import Search
from diffjoint.evidence.second_look import learn_second_look
from diffjoint.evidence.together import (
    loss_lift,
    share_borne_out,
)
from diffjoint.evidence.unjudged import CANNOT_TELL, MIDDLE, judged_by_rate, with_labels
from diffjoint.evidence.values_view import ValuesEvidence, View
from diffjoint.trees import side_by_side

MOST_LOSSY, FEWEST_LOSSES, MOST_UNEVEN = 4, 100, 1.0
"""Columns that only lose cells that are asked how values make losses likelier; cells that such a
column must have lost; and how much likelier at most, in logits."""
N_LIFTS = 3
"""How often missing cells are weighed anew."""


def learn_by_values(
    search: Search,
    views: Mapping[int, View],
    names: Sequence[str],
    tick: Callable[[int], object],
) -> tuple[dict[int, LearntColumn], Mask, tuple[str, ...]]:
    """Each searched column by what rows hold, with a rate of its own, and then by common losses."""
    table, views = search.table, dict(views)
    wanted = [j for j in search.judged if j not in views]
    for j, view in zip(wanted, side_by_side(table.view, wanted, len(table.values)), strict=True):
        views[j] = view
        tick(table.n_folds)
    tick(table.n_folds * (len(search.searched) - len(wanted)))
    plain = _at_rates(search, views)
    lost = lostness(plain, table.values, table.folds)
    rules = _rules(search, views)
    columns: dict[int, LearntColumn] = {}
    implied = np.zeros((table.values.shape[1],) * 2, dtype=bool)
    for j in search.searched:
        column = _looked_again(search, j, plain[j], lost) if j in views else plain[j]
        column = replace(column, rule=rules.get(j))
        answers = table.answers_to(j)
        judged = column.judge(table.values, table.folds, lost, answers)
        corrected = with_labels(column, judged, table.is_missing[:, j], table.looked_up[:, j])
        if (corrected.slope, corrected.shift) != NONE:
            judged = corrected.judge(table.values, table.folds, lost, answers)
        columns[j] = corrected
        known = table.is_missing[:, j] & (table.known[:, j] == 1)
        implied[j, search.searched] = find_implied(judged, table.is_missing, j, known)[
            search.searched
        ]
    among = np.ix_(search.searched, search.searched)
    implied[among] = consistent(implied[among])
    vague = [names[j] for j, view in views.items() if not view.is_sharp and j not in search.given]
    are_rates_known = bool(_known_rates(search, views))
    return columns, implied, say.of_vague(vague, are_rates_known=are_rates_known)


def _rules(search: Search, views: Mapping[int, View]) -> dict[int, RuleEvidence]:
    """Return what rules say of columns that have enough cells to learn from."""
    table = search.table
    found = side_by_side(lambda j: learn_rule(table, j), list(views), len(table.values))
    return {j: rule for j, rule in zip(views, found, strict=True) if rule is not None}


def _known_rates(search: Search, views: Mapping[int, View]) -> dict[int, float]:
    """Return what columns lose, where that can be told: they only lose cells, or are sharp."""
    sharp = {j: float(expit(view.floor)) for j, view in views.items() if view.is_sharp}
    given = {j: float(np.clip(rate, 1e-4, 1 - 1e-4)) for j, rate in search.given.items()}
    return rates_of(search.table.is_missing, search.others.tolist()) | sharp | given


def _at_rates(search: Search, views: Mapping[int, View]) -> dict[int, ValuesEvidence]:
    """Every searched column in the values view, at its loss rate.

    First as far as the rates of other columns make a floor believable; then also as far as losses
    of columns that are believable bear it out. What is lost beside columns that only lose cells is
    counted in any case.
    """
    table, rates, unevenness = search.table, _known_rates(search, views), _unevenness(search)
    losses = table.is_missing[:, search.others]
    least = {j: least_loss_rate(losses, table.is_missing[:, j]) for j in views}
    apart = {j: apart_from(table.is_missing, j, range(table.is_missing.shape[1])) for j in views}

    def rated(j: int, borne_out: float) -> ValuesEvidence:
        view, nearest = views[j], nearest_to_sure(int(table.is_missing[:, j].sum()))
        if j in search.given:
            return view.at(float(logit(np.clip(search.given[j], 1e-9, 1 - 1e-9))), nearest)
        loss = believable(
            view.floor + tolerance(unevenness, view.lost_share) * view.is_sharp,
            view.is_sharp,
            rate_prior(rates, [k for k in apart[j] if k in rates]),
            borne_out=borne_out,
        )
        if loss is None:
            return view.at(view.floor + float(np.log(1 - CANNOT_TELL)), MIDDLE)
        return view.at(max(loss, float(logit(np.clip(least[j], TINY, 1 - TINY)))), nearest)

    lost = lostness({j: rated(j, 0.0) for j in views}, table.values, table.folds)
    lost[:, search.unjudged] = 0.0
    at_floor = lostness({j: v.at(v.floor) for j, v in views.items()}, table.values, table.folds)
    return {
        j: rated(j, share_borne_out(lost[:, apart[j]], at_floor[:, j], ~table.is_missing[:, j]))
        if j in views
        else judged_by_rate(search, j)
        for j in search.searched
    }


def _unevenness(search: Search) -> float:
    """How much likelier values make a loss, as columns show that only lose cells; 0 if none can."""
    is_missing = search.table.is_missing
    n_missing = is_missing.sum(axis=0)
    enough = [j for j in search.others if FEWEST_LOSSES <= n_missing[j] <= len(is_missing) - FEWEST]
    asked = sorted(enough, key=lambda j: -n_missing[j])[:MOST_LOSSY]
    found = [search.table.view(j).unevenness for j in asked]
    return min(float(np.quantile(found, 0.5, method="lower")), MOST_UNEVEN) if found else 0.0


def _looked_again(search: Search, j: int, column: ValuesEvidence, lost: Values) -> ValuesEvidence:
    """Return the column with what other losses tell, and a second look at the whole row."""
    table, is_missing = search.table, search.table.is_missing[:, j]
    column = _weigh_losses(search, j, column, lost)
    rows, folds = table.values[is_missing], table.folds[is_missing]
    likely = column.judge(rows, folds, lost[is_missing]).probability
    by = (table.inputs(j), likely, folds, table.seed)
    return replace(column, second=learn_second_look(rows, table.n_levels, *by))


def _weigh_losses(search: Search, j: int, column: ValuesEvidence, lost: Values) -> ValuesEvidence:
    """Return the column with what other losses of a row tell of a loss.

    Searched columns that are missing along with this one do not count: they would be skipped along
    with it as well.
    """
    table, is_missing = search.table, search.table.is_missing[:, j]
    rows, folds = table.values[is_missing], table.folds[is_missing]
    apart = [*search.others.tolist(), *apart_from(table.is_missing, j, search.searched)]
    others = np.zeros(lost.shape)
    others[:, apart] = lost[:, apart]
    own = np.zeros(len(lost))
    for _ in range(N_LIFTS):
        own[is_missing] = 1 - column.judge(rows, folds, lost[is_missing]).probability
        lift, bias = loss_lift(others, own)
        column = replace(column, lift=lift, lift_bias=bias)
    return column
