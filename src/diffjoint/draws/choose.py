"""Choose how each column is modelled, by cross-validation on one completed table.

A regression is the base: trees shrink what they learn from few rows, and so would the coefficients
of everything that is drawn from them. Products of coordinates, and trees on what is left, are added
where they predict hidden folds clearly better.
"""

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._types import Places, Values
from diffjoint.draws.column import (
    LEARNER,
    MOST_SPREAD,
    NO_TREES,
    ColumnModel,
    ColumnPlan,
    Rows,
    fit_column,
    fit_spread,
    tree_probabilities,
    without_trees,
)
from diffjoint.draws.donors import shared_values
from diffjoint.draws.linear import TINY, fit_ridge, predict_linear
from diffjoint.table import Column, to_standard_units
from diffjoint.trees import grow

FEWEST, ENOUGH_FOR_TREES, MOST_ROWS = 20, 200, 5_000
"""Cells to learn a column from at all, to try trees, and to choose by at most."""
N_FOLDS, N_TREE_FOLDS = 5, 2
PENALTIES = (1e-5, 1e-3, 1e-2, 1e-1)
CLASS_PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001)
FIRST_CLASS_PENALTY, PLAIN_CLASS_PENALTY, AS_GOOD = 1.0, 0.01, 0.002
"""Penalties on the coefficients of classes: where one follows sharply from others they are large.
The smallest is taken whose mean log-likelihood is at most so much lower than the best."""
MOST_IN_PAIRS, ROWS_PER_PAIR = 8, 8
"""Coordinates whose products are tried at most, and rows that each product needs."""
BETTER, BETTER_BY_PAIRS, BETTER_BY_TREES = 0.99, 0.98, 0.97
"""What is added must bring the squared error to this share of what it was."""
TREES_ALONE = 1e6
"""A penalty that leaves nothing of a regression, so that trees do without it."""
SURE = 3.0
"""Standard errors that the coefficient of a product is from 0, to be kept beside others."""
BETTER_LIKELIHOOD = 0.01
"""What a spread, or trees of classes, must add to the mean log-likelihood."""
FEWEST_OF_CLASS, MOST_CLASSES = 10, 25
STOPPING: dict[str, Any] = {
    "early_stopping": True,
    "validation_fraction": 0.2,
    "n_iter_no_change": 6,
    "max_iter": 100,
    "random_state": 0,
}


def plain_plan(observed: Values, column: Column, inputs: Places, coordinates: Places) -> ColumnPlan:
    """Return the plan of a regression with hardly a penalty; of no inputs if little is observed.

    Parameters
    ----------
    observed : array
        The cells of the column that are observed.
    inputs, coordinates : int arrays
        The columns to learn it from, and their coordinates.
    """
    none, enough = np.empty(0, dtype=np.int64), len(observed) >= FEWEST
    plan = ColumnPlan(inputs, coordinates)
    if column.is_categorical:
        class_of = _classes(observed.astype(np.int64), column.n_codes)
        plan = replace(plan, class_of=class_of, penalty=PLAIN_CLASS_PENALTY)
        says = enough and plan.n_classes >= 2
    else:
        target = to_standard_units(observed, column)
        plan = replace(plan, shared=shared_values(target) if len(target) else np.empty(0))
        says = enough and float(target.std()) > 0.0
    return plan if says else replace(plan, inputs=none, coordinates=none)


def choose_plan(
    rows: Rows,
    observed: Values,
    column: Column,
    inputs: Places,
    coordinates: Places,
    n_levels: NDArray[np.int64],
) -> ColumnPlan:
    """Choose how a column is modelled, from the rows in which it is observed.

    Parameters
    ----------
    inputs, coordinates : int arrays
        The columns to learn it from, and their coordinates.
    """
    plan = plain_plan(observed, column, inputs, coordinates)
    if not len(plan.inputs):
        return plan
    some = slice(0, MOST_ROWS)
    if column.is_categorical:
        return _choose_classes(plan, rows.take(some), observed[some], column, n_levels)
    target = to_standard_units(observed[some], column)
    return _choose_number(plan, rows.take(some), target, n_levels)


def _classes(levels: Places, n_levels: int) -> Places:
    """Return the class of each level: frequent ones have their own, rare ones share one."""
    counts = np.bincount(levels, minlength=n_levels)
    by_size = np.argsort(-counts, kind="stable")
    n_own = int(np.clip((counts >= FEWEST_OF_CLASS).sum(), 1, MOST_CLASSES))
    class_of = np.full(n_levels, -1)
    class_of[by_size[:n_own]] = np.arange(n_own)
    rest = by_size[n_own:]
    class_of[rest[counts[rest] > 0]] = n_own
    return class_of


def _choose_number(
    plan: ColumnPlan, rows: Rows, target: Values, n_levels: NDArray[np.int64]
) -> ColumnPlan:
    plan, error = _choose_penalty(plan, rows, target)
    wider = replace(plan, pairs=_pairs(plan, rows, target))
    if len(wider.pairs):
        wider, with_pairs = _choose_penalty(wider, rows, target)
        if with_pairs < BETTER_BY_PAIRS * error:
            plan = _prune_pairs(wider, with_pairs, rows, target)
    plan = _choose_trees(plan, rows, target, n_levels)
    return replace(plan, has_spread=_spread_helps(plan, rows, target))


def _choose_penalty(plan: ColumnPlan, rows: Rows, target: Values) -> tuple[ColumnPlan, float]:
    """Return the plan with its penalty, and its squared error on hidden folds.

    The smallest that is about as good as the best: a penalty pulls coefficients to zero.
    """
    basis, weights = rows.basis(plan), np.ones(len(target))
    errors = []
    for penalty in PENALTIES:
        left = _left_out(basis, target, weights, penalty)
        errors.append(float((left**2).mean()))
    best = min(errors)
    place = next(i for i, error in enumerate(errors) if BETTER * error <= best)
    return replace(plan, penalty=PENALTIES[place]), errors[place]


def residuals(plan: ColumnPlan, rows: Rows, target: Values) -> Values:
    """Return what a plan's regression leaves of hidden folds, in deviations of the target."""
    left = _left_out(rows.basis(plan), target, np.ones(len(target)), plan.penalty)
    return left / max(float(target.std()), TINY)


def _left_out(basis: Values, target: Values, weights: Values, penalty: float) -> Values:
    """Return the residuals of hidden folds."""
    left, fold = np.empty(len(target)), np.arange(len(target)) % N_FOLDS
    for hidden in (fold == k for k in range(N_FOLDS)):
        found = fit_ridge(basis[~hidden], target[~hidden], weights[~hidden], penalty)
        left[hidden] = target[hidden] - predict_linear(basis[hidden], found)
    return left


def _pairs(plan: ColumnPlan, rows: Rows, target: Values) -> Places:
    """Return pairs of the coordinates that matter most, as many as there are rows for."""
    coordinates = rows.coordinates[:, plan.coordinates]
    found = fit_ridge(coordinates, target, np.ones(len(target)), plan.penalty)[1:]
    effect = np.abs(found) * coordinates.std(axis=0)
    strongest = np.sort(np.argsort(-effect, kind="stable")[:MOST_IN_PAIRS])
    is_flag = ((coordinates == 0) | (coordinates == 1)).all(axis=0)
    pairs = [
        (a, b)
        for a, b in combinations_with_replacement(strongest.tolist(), 2)
        if (a != b or not is_flag[a]) and coordinates[:, a].any() and coordinates[:, b].any()
    ]
    if len(pairs) * ROWS_PER_PAIR > len(target):
        return np.empty((0, 2), dtype=np.int64)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _prune_pairs(plan: ColumnPlan, error: float, rows: Rows, target: Values) -> ColumnPlan:
    """Return the plan with the products that clearly matter, if they predict as well as all do.

    Products that say nothing make coefficients, and with them draws, vary more than they need to.
    """
    basis, first = rows.basis(plan), 1 + len(plan.coordinates)
    found = fit_ridge(basis, target, np.ones(len(target)), plan.penalty)
    left = target - predict_linear(basis, found)
    inputs = np.hstack([np.ones((len(target), 1)), basis])
    scale = inputs.std(axis=0) + (np.arange(inputs.shape[1]) == 0)
    gram = inputs.T @ inputs / np.outer(np.maximum(scale, TINY), np.maximum(scale, TINY))
    own = np.diag(np.linalg.pinv(gram, hermitian=True)) * (left @ left) / len(target)
    sure = np.abs(found * scale) > SURE * np.sqrt(np.maximum(own, TINY))
    some = replace(plan, pairs=plan.pairs[sure[first:]])
    some, without = _choose_penalty(some, rows, target)
    return some if BETTER * without <= error else plan


def _choose_trees(
    plan: ColumnPlan, rows: Rows, target: Values, n_levels: NDArray[np.int64]
) -> ColumnPlan:
    """Return the plan, with trees on what its regression leaves if they help.

    What products explain, trees may explain better: beside products they are tried in their place
    too, and wherever they help, alone.
    """
    if len(target) < ENOUGH_FOR_TREES or not len(plan.inputs):
        return plan
    without, with_trees, n_trees = _errors_with_trees(plan, rows, target, n_levels)
    chosen, error = plan, without
    if with_trees < BETTER_BY_TREES * without:
        chosen, error = replace(plan, n_trees=n_trees), with_trees
    others = [replace(plan, pairs=plan.pairs[:0])] if len(plan.pairs) else []
    if chosen.n_trees or others:
        others.append(replace(plan, pairs=plan.pairs[:0], penalty=TREES_ALONE))
    tried = [(*_errors_with_trees(other, rows, target, n_levels)[1:], other) for other in others]
    if tried:
        lowest, n_trees, other = min(tried, key=lambda one: one[0])
        if lowest < BETTER_BY_TREES * error:
            return replace(other, n_trees=n_trees)
    return chosen


def _errors_with_trees(
    plan: ColumnPlan, rows: Rows, target: Values, n_levels: NDArray[np.int64]
) -> tuple[float, float, int]:
    """Return squared errors on hidden folds, without trees and with them, and how many trees."""
    weights, fold = np.ones(len(target)), np.arange(len(target)) % N_TREE_FOLDS
    basis, without, with_trees, n_trees = rows.basis(plan), 0.0, 0.0, []
    for hidden in (fold == k for k in range(N_TREE_FOLDS)):
        found = fit_ridge(basis[~hidden], target[~hidden], weights[~hidden], plan.penalty)
        left = target - predict_linear(basis, found)
        learner = HistGradientBoostingRegressor(**(LEARNER | STOPPING))
        features = rows.cells[np.ix_(~hidden, plan.inputs)]
        trees = grow(learner, features, left[~hidden], n_levels[plan.inputs], plan.inputs)
        n_trees.append(trees.n_rounds)
        after = left[hidden] - trees.predict(rows.cells[hidden])[:, 0]
        without += float((left[hidden] ** 2).sum())
        with_trees += float((after**2).sum())
    return without, with_trees, max(1, round(float(np.mean(n_trees))))


def _spread_helps(plan: ColumnPlan, rows: Rows, target: Values) -> bool:
    """Return whether a modelled spread makes what is left of hidden folds more likely."""
    weights = np.ones(len(target))
    left = np.abs(_left_out(rows.basis(plan), target, weights, plan.penalty))
    if len(target) < ENOUGH_FOR_TREES or not left.any():
        return False
    coordinates, fold = rows.coordinates[:, plan.coordinates], np.arange(len(target)) % 2
    gain, reach = 0.0, np.log(MOST_SPREAD)
    for hidden in (fold == 0, fold == 1):
        taught = ~hidden
        found = fit_spread(coordinates[taught], left[taught], weights[taught])
        spread = np.exp(np.clip(predict_linear(coordinates, found), -reach, reach))
        typical, scaled = left[taught].mean(), (left[taught] / spread[taught]).mean()
        if typical <= 0.0 or scaled <= 0.0:
            return False
        alike = np.log(typical) + left[hidden] / typical
        by_row = np.log(scaled * spread[hidden]) + left[hidden] / (scaled * spread[hidden])
        gain += float((alike - by_row).sum())
    return gain > BETTER_LIKELIHOOD * len(target)


def _choose_classes(
    plan: ColumnPlan,
    rows: Rows,
    observed: Values,
    column: Column,
    n_levels: NDArray[np.int64],
) -> ColumnPlan:
    """Return the plan with the share of trees in the probabilities of its classes."""
    classes = plan.class_of[observed.astype(np.int64)]
    plan = replace(plan, penalty=FIRST_CLASS_PENALTY)
    if len(observed) < ENOUGH_FOR_TREES:
        return plan
    fold = np.arange(len(observed)) % N_TREE_FOLDS
    shares, n_trees = (0.0, 0.5, 1.0), []
    likelihood = np.zeros((len(CLASS_PENALTIES), len(shares)))
    for hidden in (fold == k for k in range(N_TREE_FOLDS)):
        taught, asked, truth = rows.take(~hidden), rows.take(hidden), classes[hidden]
        learnt, n_grown = _tree_classes(plan, taught, classes[~hidden], n_levels)
        by_trees, own = tree_probabilities(learnt.trees, asked), np.arange(len(truth))
        n_trees.append(n_grown)
        ones, linear = np.ones(len(taught.cells)), None
        for at, penalty in enumerate(CLASS_PENALTIES):
            tried = replace(without_trees(plan), penalty=penalty)
            given = (taught, observed[~hidden], column, ones, n_levels)
            linear = fit_column(tried, *given, before=linear)
            by_linear = linear.probabilities(asked)
            for place, share in enumerate(shares):
                likely = (1 - share) * by_linear[own, truth] + share * by_trees[own, truth]
                likelihood[at, place] += np.log(np.maximum(likely, 1e-4)).sum()
    return _best_of_classes(plan, likelihood / len(observed), shares, n_trees)


def _best_of_classes(
    plan: ColumnPlan, likelihood: Values, shares: tuple[float, ...], n_trees: list[int]
) -> ColumnPlan:
    """Return the plan with the best penalty, and with trees if they add enough.

    Parameters
    ----------
    likelihood : array of shape (n_penalties, n_shares)
        Mean log-likelihood of hidden folds.
    """
    linear = likelihood[:, 0]
    at = int(np.flatnonzero(linear >= linear.max() - AS_GOOD)[-1])
    plan = replace(plan, penalty=CLASS_PENALTIES[at])
    mixed, place = np.unravel_index(likelihood.argmax(), likelihood.shape)
    if likelihood[mixed, place] - likelihood[at, 0] < BETTER_LIKELIHOOD:
        return plan
    n_grown = max(1, round(float(np.mean(n_trees))))
    return replace(plan, penalty=CLASS_PENALTIES[mixed], by_trees=shares[place], n_trees=n_grown)


def _tree_classes(
    plan: ColumnPlan, rows: Rows, classes: Places, n_levels: NDArray[np.int64]
) -> tuple[ColumnModel, int]:
    """Return trees of classes that stop early, and how many they are."""
    counts = np.bincount(classes, minlength=plan.n_classes)
    rare = np.repeat(np.flatnonzero(counts < 2), 2)  # stopping early splits each class in two
    some = np.r_[np.arange(len(classes)), np.zeros(len(rare), dtype=np.int64)]
    features = rows.cells[np.ix_(some, plan.inputs)]
    target = np.r_[classes, rare]
    learner = HistGradientBoostingClassifier(**(LEARNER | STOPPING))
    trees = grow(learner, features, target, n_levels[plan.inputs], plan.inputs)
    return ColumnModel(plan, NO_TREES.baseline[:, None], trees), trees.n_rounds
