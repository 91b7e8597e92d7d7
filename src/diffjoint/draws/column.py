"""Model one column given the others, and draw its cells from the model.

A number is a regression on coordinates, perhaps with products of them, perhaps with boosted trees
on what that leaves; draws add the residual of a donor. A category has probabilities by a
multinomial regression, by boosted trees, or by the mean of both.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._types import Mask, Places, Values
from diffjoint.draws.donors import Donors, find_donors
from diffjoint.draws.linear import add_products, fit_classes, fit_ridge, predict_linear
from diffjoint.table import Column, from_standard_units, on_grid, to_standard_units
from diffjoint.trees import Trees, constant, grow

LEARNER: dict[str, Any] = {"max_leaf_nodes": 8, "learning_rate": 0.1, "l2_regularization": 1.0}
SPREAD_PENALTY, MOST_SPREAD = 0.05, 3.0
"""Ridge penalty of the spread's regression; a spread is at most so many times the typical one."""
NO_TREES = constant(np.zeros(1))
NO_DONORS = Donors(np.zeros(1), np.zeros(1), np.ones(1), np.empty(0))


@dataclass(frozen=True)
class ColumnPlan:
    """How one column is modelled: chosen once, on one completed table.

    Attributes
    ----------
    inputs : int array
        The columns it is learnt from.
    coordinates : int array
        Theirs among all coordinates.
    pairs : int array of shape (n_pairs, 2)
        Positions among ``coordinates`` whose products are inputs, too.
    penalty : float
        Of the regression: for numbers per unit of weight, for classes in rows.
    n_trees : int
        Trees, of each class; 0 for none.
    by_trees : float
        Share of the trees in the probabilities of classes.
    has_spread : bool
        Whether the spread of a number is modelled, too.
    shared : array
        Values of a number that many cells share, in standard units.
    class_of : int array of shape (n_levels,)
        The class of each level, -1 for none; empty for numbers.
    weighed_by : int array
        Columns that draws are weighed by, see :mod:`diffjoint.draws.weigh`; no inputs.
    """

    inputs: Places
    coordinates: Places
    pairs: Places = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    penalty: float = 1e-4
    n_trees: int = 0
    by_trees: float = 0.0
    has_spread: bool = False
    shared: Values = field(default_factory=lambda: np.empty(0))
    class_of: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weighed_by: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return int(self.class_of.max(initial=-1)) + 1


@dataclass(frozen=True)
class Rows:
    """Completed rows, as the models of columns see them.

    Attributes
    ----------
    coordinates : array of shape (n_rows, n_coordinates)
    cells : array of shape (n_rows, n_columns)
        Coded values; NaN where meaningful.
    """

    coordinates: Values
    cells: Values

    def take(self, rows: Any) -> "Rows":
        """Return some rows."""
        return Rows(self.coordinates[rows], self.cells[rows])

    def basis(self, plan: ColumnPlan) -> Values:
        """Return the inputs of a column's regression."""
        return add_products(self.coordinates[:, plan.coordinates], plan.pairs)


@dataclass(frozen=True)
class ColumnModel:
    """What a plan has learnt from some rows.

    Attributes
    ----------
    plan : ColumnPlan
    coefficients : array of shape (1 + n_inputs, n_outputs)
        Of the regression: one output for a number, one per class for a category.
    trees : Trees
    spread : array of shape (1 + n_coordinates,)
        Coefficients of the log of the spread; only the first if it is not modelled.
    donors : Donors
    level_shares : array of shape (n_levels,)
        The share of each level in its class.
    """

    plan: ColumnPlan
    coefficients: Values
    trees: Trees = NO_TREES
    spread: Values = field(default_factory=lambda: np.zeros(1))
    donors: Donors = NO_DONORS
    level_shares: Values = field(default_factory=lambda: np.empty(0))

    def draw(
        self, rows: Rows, column: Column, uniform: Values, allowed: Mask | None = None
    ) -> Values:
        """Draw coded cells by one uniform random number each.

        Parameters
        ----------
        allowed : bool array of shape (n_rows, n_classes), optional
            Classes that may be drawn; rows in which none is allowed may draw any.
        """
        if self.plan.n_classes:
            by_level = self.level_probabilities(rows, allowed)
            ends = by_level.cumsum(axis=1)
            drawn = (ends <= uniform[:, None] * ends[:, -1:]).sum(axis=1)
            last = np.flatnonzero(self.level_shares > 0)[-1]
            levels: Values = np.minimum(drawn, last).astype(np.float64)
            return levels
        drawn = self.donors.draw(self.expected(rows), self.spreads(rows), uniform)
        return np.clip(on_grid(from_standard_units(drawn, column), column), *column.limits)

    def expected(self, rows: Rows) -> Values:
        """Return what is expected of a number, in standard units."""
        linear = predict_linear(rows.basis(self.plan), self.coefficients[:, 0])
        return linear + self.trees.predict(rows.cells)[:, 0] if self.plan.n_trees else linear

    def spreads(self, rows: Rows) -> Values:
        """Return how wide a number is around what is expected, relative to other rows."""
        if not self.plan.has_spread:
            return np.ones(len(rows.cells))
        log = predict_linear(rows.coordinates[:, self.plan.coordinates], self.spread)
        reach = np.log(MOST_SPREAD)
        return np.exp(np.clip(log, -reach, reach))

    def probabilities(self, rows: Rows) -> Values:
        """Return the probabilities of classes, shape (n_rows, n_classes)."""
        plan, likely = self.plan, np.zeros((len(rows.cells), self.plan.n_classes))
        if plan.by_trees < 1.0:
            logits = predict_linear(rows.basis(plan), self.coefficients)
            likely += (1.0 - plan.by_trees) * softmax(logits, axis=1)
        if plan.by_trees > 0.0:
            likely += plan.by_trees * tree_probabilities(self.trees, rows)
        return likely

    def level_probabilities(self, rows: Rows, allowed: Mask | None = None) -> Values:
        """Return the probabilities of levels: that of a class times the level's share of it.

        Parameters
        ----------
        allowed : bool array of shape (n_rows, n_classes), optional
            As :meth:`draw` takes it.
        """
        likely = self.probabilities(rows)
        if allowed is not None:
            kept = likely * allowed
            likely = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, likely)
        by_level: Values = likely[:, np.maximum(self.plan.class_of, 0)] * self.level_shares
        return by_level


def tree_probabilities(trees: Trees, rows: Rows) -> Values:
    """Return the probabilities that boosted trees give to classes."""
    sums = trees.predict(rows.cells)
    if sums.shape[1] == 1:
        sums = np.hstack([-sums / 2, sums / 2])
    likely: Values = softmax(sums, axis=1)
    return likely


def fit_column(
    plan: ColumnPlan,
    rows: Rows,
    observed: Values,
    column: Column,
    counts: Values,
    n_levels: NDArray[np.int64],
    *,
    with_trees: bool = True,
    before: "ColumnModel | None" = None,
) -> ColumnModel:
    """Learn a column from the rows in which it is observed.

    Parameters
    ----------
    observed : array of shape (n_rows,)
        Its coded cells.
    counts : array of shape (n_rows,)
        How often each row is counted, a whole number: a bootstrap.
    n_levels : int array of shape (n_columns,)
        Of all columns.
    with_trees : bool
        False: do without the plan's trees, which take most of the time.
    before : ColumnModel, optional
        What was learnt in the round before.
    """
    if not with_trees and (plan.n_trees or plan.by_trees):
        plan = without_trees(plan)
    if not counts.any():
        counts = np.ones(len(counts))
    if plan.n_classes:
        return _fit_classes(plan, rows, observed, counts, n_levels, before)
    target = to_standard_units(observed, column)
    basis = rows.basis(plan)
    coefficients = fit_ridge(basis, target, counts, plan.penalty)
    expected, trees = predict_linear(basis, coefficients), NO_TREES
    if plan.n_trees:
        learner = HistGradientBoostingRegressor(**_learner(plan.n_trees, len(target)))
        trees = _grow(learner, plan, rows, target - expected, counts, n_levels)
        expected = expected + trees.predict(rows.cells)[:, 0]
    spread = fit_spread(rows.coordinates[:, plan.coordinates], target - expected, counts)
    model = ColumnModel(
        plan, coefficients[:, None], trees, spread if plan.has_spread else NO_SPREAD
    )
    donors = find_donors(expected, target, model.spreads(rows), plan.shared)
    return ColumnModel(plan, model.coefficients, trees, model.spread, donors)


NO_SPREAD = np.zeros(1)


def fit_spread(coordinates: Values, residuals: Values, counts: Values) -> Values:
    """Return the coefficients of the log of the spread of residuals, 0 where it is typical."""
    typical = float(np.sqrt(counts @ residuals**2 / counts.sum()))
    if typical <= 0.0:
        return np.zeros(1 + coordinates.shape[1])
    logs = np.log(np.maximum(np.abs(residuals) / typical, 0.02))
    found = fit_ridge(coordinates, logs, counts, SPREAD_PENALTY)
    found[0] -= float(counts @ predict_linear(coordinates, found) / counts.sum())
    return found


def without_trees(plan: ColumnPlan) -> ColumnPlan:
    """Return the plan of a column's regression alone."""
    parts = {**vars(plan), "n_trees": 0, "by_trees": 0.0}
    return ColumnPlan(**parts)


def _fit_classes(
    plan: ColumnPlan,
    rows: Rows,
    observed: Values,
    counts: Values,
    n_levels: NDArray[np.int64],
    before: ColumnModel | None,
) -> ColumnModel:
    levels = observed.astype(np.int64)
    classes = plan.class_of[levels]
    kept = classes >= 0
    rows, classes, weights = rows.take(kept), classes[kept], counts[kept]
    if not weights.any():
        weights = np.ones(len(weights))
    coefficients, trees = np.zeros((1, plan.n_classes)), NO_TREES
    if plan.by_trees < 1.0:
        basis = rows.basis(plan)
        fits = before is not None and len(before.coefficients) == 1 + basis.shape[1]
        start = before.coefficients if before is not None and fits else None
        coefficients = fit_classes(basis, classes, plan.n_classes, weights, plan.penalty, start)
    if plan.by_trees > 0.0:
        learner = HistGradientBoostingClassifier(**_learner(plan.n_trees, len(classes)))
        seen = weights.copy()
        for one in np.flatnonzero(np.bincount(classes, weights, plan.n_classes) == 0):
            seen[np.flatnonzero(classes == one)[:1]] = 1.0
        trees = _grow(learner, plan, rows, classes, seen, n_levels)
    return ColumnModel(plan, coefficients, trees, level_shares=_level_shares(levels, plan.class_of))


def _level_shares(levels: Places, class_of: Places) -> Values:
    """Return the share of each level in its class; 0 for levels without a class."""
    counts = np.bincount(levels, minlength=len(class_of)).astype(np.float64)
    counts[class_of < 0] = 0.0
    in_class = np.bincount(np.maximum(class_of, 0), counts)
    of_level = in_class[np.maximum(class_of, 0)]
    return np.divide(counts, of_level, out=np.zeros_like(counts), where=of_level > 0)


def _grow(
    learner: HistGradientBoostingClassifier | HistGradientBoostingRegressor,
    plan: ColumnPlan,
    rows: Rows,
    target: NDArray[Any],
    counts: Values,
    n_levels: NDArray[np.int64],
) -> Trees:
    """Grow trees on rows that are repeated as often as they count."""
    repeated = np.repeat(np.arange(len(target)), counts.astype(np.int64))
    features = rows.cells[np.ix_(repeated, plan.inputs)]
    return grow(learner, features, target[repeated], n_levels[plan.inputs], plan.inputs)


def _learner(n_trees: int, n_rows: int) -> dict[str, Any]:
    return LEARNER | {
        "max_iter": n_trees,
        "early_stopping": False,
        "min_samples_leaf": int(np.clip(n_rows // 100, 5, 20)),
        "random_state": 0,
    }
