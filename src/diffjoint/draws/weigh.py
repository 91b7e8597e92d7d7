"""Weigh what is drawn for a column by how well it explains columns that need products of it.

Where a number rests on a product of two columns, no regression of one of the two on the rest has
the right form: what is drawn from it would bring the product's coefficient towards zero. So such a
cell is proposed without regard to that number, thirty times or once for each class, and one of the
proposals is taken, with odds of how likely they make the number.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import kurtosis

from diffjoint._types import Places, Values
from diffjoint.draws.choose import residuals
from diffjoint.draws.column import ColumnModel, ColumnPlan, Rows
from diffjoint.draws.design import Layout
from diffjoint.table import to_standard_units

N_PROPOSALS = 30
LEAST_GAIN, MOST_EXPLAINED, MOST_LOST, MOST_KURTOSIS = 0.08, 0.85, 1.5, 1.0
"""A number is weighed by if products lower its squared error by this share at least, if no more of
its variance is explained, if what they leave is about normal, as the odds take it to be, and if the
column to draw is not much worse predicted without it."""
SPREADING = 65_521.0
"""Makes a second uniform number of the digits of the first."""


def plan_weighing(
    plans: tuple[ColumnPlan, ...],
    layout: Layout,
    rows: Rows,
    values: Values,
    choose: Callable[[int, Places], ColumnPlan],
) -> tuple[ColumnPlan, ...]:
    """Return the plans, some of them with columns to weigh by in place of inputs.

    Parameters
    ----------
    rows : Rows
        The completed table.
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    choose : callable
        Chooses the plan of a column anew, from other inputs.
    """
    chosen = list(plans)

    def left(j: int, plan: ColumnPlan) -> Values:
        seen = ~np.isnan(values[:, j])
        target = to_standard_units(values[seen, j], layout.columns[j])
        return residuals(plan, rows.take(seen), target)

    def error(j: int, plan: ColumnPlan) -> float:
        return float((left(j, plan) ** 2).mean())

    gains = {}
    for k, plan in enumerate(plans):
        if len(plan.pairs) and not len(plan.shared):
            with_pairs = left(k, plan)
            share = float((with_pairs**2).mean())
            gain = 1 - share / error(k, _without_pairs(plan))
            is_normal = abs(float(kurtosis(with_pairs))) <= MOST_KURTOSIS
            if share > 1 - MOST_EXPLAINED and gain > LEAST_GAIN and is_normal:
                gains[k] = gain
    for k in sorted(gains, key=lambda k: (-gains[k], k)):
        if not len(chosen[k].pairs):
            continue
        for j in _in_products(chosen[k], layout):
            if k not in chosen[j].inputs or (j in gains and len(chosen[j].weighed_by)):
                continue
            other = choose(j, chosen[j].inputs[chosen[j].inputs != k])
            is_number = not layout.columns[j].is_categorical
            if is_number and error(j, other) > MOST_LOST * error(j, chosen[j]):
                continue
            weighed_by = np.append(chosen[j].weighed_by, k)
            chosen[j] = replace(other, weighed_by=weighed_by)
    return tuple(chosen)


def _without_pairs(plan: ColumnPlan) -> ColumnPlan:
    return replace(plan, pairs=plan.pairs[:0])


def _in_products(plan: ColumnPlan, layout: Layout) -> list[int]:
    """Return the columns that are multiplied with another column."""
    column_of = np.repeat(np.arange(len(layout.columns)), np.diff(layout.ends))
    columns = column_of[plan.coordinates[plan.pairs]]
    return sorted(set(columns[columns[:, 0] != columns[:, 1]].ravel().tolist()))


def draw_weighed(
    column: int,
    models: Sequence[ColumnModel | None],
    layout: Layout,
    rows: Rows,
    uniform: Values,
    likely: Values | None,
) -> Values:
    """Draw cells of a column: propose, weigh and take one.

    Parameters
    ----------
    rows : Rows
        The rows of these cells.
    likely : array of shape (n_rows, n_levels), optional
        The probabilities of levels, for a category.

    Returns
    -------
    array of shape (n_rows,)
        Coded values.
    """
    model = models[column]
    assert model is not None, "a column is drawn once it was learnt"
    described, n_rows = layout.columns[column], len(rows.cells)
    if likely is not None:
        proposals = np.tile(np.arange(likely.shape[1], dtype=np.float64), (n_rows, 1))
        odds = np.log(np.maximum(likely, 1e-300))
    else:
        places = (uniform[:, None] + np.arange(N_PROPOSALS) / N_PROPOSALS) % 1.0
        proposals = np.column_stack(
            [model.draw(rows, described, place) for place in np.ascontiguousarray(places.T)]
        )
        odds = np.zeros(proposals.shape)
    n_proposals = proposals.shape[1]
    repeated = rows.take(np.repeat(np.arange(n_rows), n_proposals))
    flat, first, end = proposals.ravel(), layout.ends[column], layout.ends[column + 1]
    repeated.cells[:, column] = flat
    repeated.coordinates[:, first:end] = layout.block(column, flat, np.zeros(len(flat), dtype=bool))
    for k in model.plan.weighed_by.tolist():
        other = models[k]
        if other is not None:
            held = np.repeat(to_standard_units(rows.cells[:, k], layout.columns[k]), n_proposals)
            odds += np.nan_to_num(_log_density(other, repeated, held)).reshape(odds.shape)
    weights = np.exp(odds - odds.max(axis=1, keepdims=True))
    ends = weights.cumsum(axis=1)
    second = (uniform * SPREADING) % 1.0
    taken = (ends <= second[:, None] * ends[:, -1:]).sum(axis=1)
    drawn: Values = proposals[np.arange(n_rows), np.minimum(taken, n_proposals - 1)]
    return drawn


def _log_density(model: ColumnModel, rows: Rows, held: Values) -> Values:
    """Return the log density of what a number holds; NaN where it is meaningful."""
    spread = model.spreads(rows)
    width = np.maximum(model.donors.width, 1e-6) * spread
    density: Values = -0.5 * ((held - model.expected(rows)) / width) ** 2 - np.log(spread)
    return density
