"""Predict the value of a lost cell from the rest of its row by boosted trees, one set per column.

Trees use the missing cells of the rest as they are, so that no prediction rests on an imputed
value. Each column is learnt from the rows in which it is observed, on the assumption that lost
values are distributed as the observed ones, given the rest of the row.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._progress import Progress
from diffjoint._types import Places, Values
from diffjoint.state import JointSpace, Observation
from diffjoint.table import (
    Column,
    from_standard_units,
    on_grid,
    spread_from_standard_units,
    to_standard_units,
)
from diffjoint.trees import (
    Arrays,
    Features,
    Screen,
    Trees,
    check_trees,
    constant,
    join_arrays,
    mean_of,
    open_screen,
    pack_trees,
    side_by_side,
    split_arrays,
    stored,
    stored_lengths,
    unpack_trees,
)

MOST_ROWS, MOST_SPREAD_ROWS = 100_000, 20_000
"""Rows that the mean of a column, and its variance, are learnt from at most."""
MOST_CLASSES = 25
"""Levels with a class of their own in a column at most; the rarer ones share one."""
FEWEST = 10
"""A level, or a column, with fewer cells than this is not learnt."""
TOGETHER = 4.0
"""Two columns go missing together if one is missing this many times as often given the other."""
MOST_TREES, FEWEST_TREES, MOST_STAGES = 150, 30, 600
"""Most and fewest trees of a class, and most of all classes together; a variance gets half."""
LEARNER: dict[str, Any] = {
    "max_leaf_nodes": 15,
    "l2_regularization": 1.0,
    "n_iter_no_change": 6,
    "tol": 3e-4,
}
LEARNING_RATE, FASTEST = 0.08, 0.25
SEEN, FASTER = 0.75, 3.0
"""If several boosters are averaged: the share of the features that a split may choose from, and the
factor on the learning rate of each; averaging makes up for the overfitting."""
TINY = 1e-6
NO_LEVELS = np.empty(0), np.empty(0)
Learner: TypeAlias = HistGradientBoostingClassifier | HistGradientBoostingRegressor


@dataclass(frozen=True)
class ColumnExpectation:
    """Model of the values of one column.

    Attributes
    ----------
    value : Trees
        Numbers: the conditional mean in standard units. Levels: logits of the classes.
    log_variance : Trees
        Numbers: log of the conditional variance. Levels: not used.
    levels : array of shape (n_classes,)
        The most frequent level of each class; empty for numbers.
    shares : array of shape (n_classes,)
        The share of that level in its class: less than 1 if the class has several.
    """

    value: Trees
    log_variance: Trees
    levels: Values
    shares: Values

    def predict(self, rows: Values) -> tuple[Values, Values]:
        """Predict values and their uncertainty.

        Numbers: mean and standard deviation, in standard units. Levels: the most probable one, and
        the entropy in nats.
        """
        if not len(self.levels):
            return self.value.predict(rows)[:, 0], np.exp(self.log_variance.logit(rows) / 2)
        likely = self._likely(rows)
        entropy = -(likely * np.log(np.maximum(likely * self.shares, TINY))).sum(axis=1)
        return self.levels[(likely * self.shares).argmax(axis=1)], np.maximum(entropy, 0.0)

    def draw_cells(self, rows: Values, column: Column, uniform: Values) -> Values:
        """Draw coded values that the column can hold, by one uniform random number each.

        Numbers are drawn from a normal distribution and kept within the column's limits.
        """
        if column.is_categorical:
            ends = self._likely(rows).cumsum(axis=1)
            place = (ends <= uniform[:, None] * ends[:, -1:]).sum(axis=1)
            levels: Values = self.levels[np.minimum(place, len(self.levels) - 1)]
            return levels
        mean, deviation = self.predict(rows)
        drawn = from_standard_units(mean + deviation * ndtri(np.maximum(uniform, TINY)), column)
        return np.clip(on_grid(drawn, column), *column.limits)

    def _likely(self, rows: Values) -> Values:
        """Return the probabilities of the classes."""
        sums = self.value.predict(rows)
        if len(self.levels) == 2:
            sums = np.hstack([-sums / 2, sums / 2])
        likely: Values = softmax(sums, axis=1)
        return likely

    def likely(self, rows: Values, n_codes: int) -> Values:
        """Return how likely each level is; 0 for those that have no class of their own.

        Returns
        -------
        array of shape (n_rows, n_codes)
        """
        found = np.zeros((len(rows), n_codes))
        found[:, self.levels.astype(np.int64)] = self._likely(rows) * self.shares
        return found

    def predict_cells(self, rows: Values, column: Column) -> tuple[Values, Values]:
        """Predict coded values that the column can hold, and their uncertainty."""
        value, uncertainty = self.predict(rows)
        if column.is_categorical:
            return value, uncertainty
        spread = spread_from_standard_units(uncertainty, column)
        return on_grid(from_standard_units(value, column), column), spread


@dataclass(frozen=True)
class Expectation:
    """Models of the values of all columns."""

    space: JointSpace
    columns: tuple[ColumnExpectation, ...]

    def predict(self, observation: Observation) -> tuple[Values, Values]:
        """Return values with every missing cell filled, and their uncertainty; 0 if observed."""
        values, uncertainty = observation.values.copy(), np.zeros(observation.values.shape)
        for j, (column, learnt) in enumerate(
            zip(self.space.schema.modelled, self.columns, strict=True)
        ):
            rows = np.flatnonzero(~observation.observed[:, j])
            if not len(rows):
                continue
            cells = learnt.predict_cells(observation.values[rows], column)
            values[rows, j], uncertainty[rows, j] = cells
        return values, uncertainty

    def arrays(self) -> Arrays:
        """Return the models as plain arrays by name."""
        trees = [grown for column in self.columns for grown in (column.value, column.log_variance)]
        levels = join_arrays("levels", [column.levels for column in self.columns])
        shares = join_arrays("shares", [column.shares for column in self.columns])
        return levels | shares | pack_trees(trees)


def learn_values(
    observation: Observation, space: JointSpace, n_boosters: int, seed: int, progress: Progress
) -> Expectation:
    """Learn every column from the rows in which it is observed."""
    progress.phase("what lost cells held")
    learnt, n_rows = [], len(observation.values)
    columns = range(len(space.schema.modelled))
    screen = open_screen(observation.values, space.schema.n_levels)
    for column in side_by_side(
        lambda j: learn_column(observation, space, screen, j, n_boosters, seed), columns, n_rows
    ):
        learnt.append(column)
        progress.advance(1)
    return Expectation(space, tuple(learnt))


def learn_column(
    observation: Observation,
    space: JointSpace,
    screen: Screen,
    j: int,
    n_boosters: int,
    seed: int,
) -> ColumnExpectation:
    """Learn one column, by its place, from the rows in which it is observed.

    Parameters
    ----------
    screen : Screen
        Chooses the columns to learn it from.
    n_boosters : int
        Number of boosters to average. Each holds out other rows and chooses from other features.
    """
    column = space.schema.modelled[j]
    rows = np.flatnonzero(observation.observed[:, j])[:MOST_ROWS]
    values = _hide_together(observation, j, rows, np.random.default_rng([seed, j]))
    target = values[:, j]
    inputs = screen.inputs_for_values(j)
    seen = Features(values[:, inputs], space.schema.n_levels[inputs], inputs)
    if column.is_categorical:
        return _learn_levels(seen, target, n_boosters, seed)
    return _learn_numbers(seen, to_standard_units(target, column), n_boosters, seed)


def _hide_together(
    observation: Observation, j: int, rows: NDArray[np.intp], rng: np.random.Generator
) -> Values:
    """Return the rows to learn column ``j`` from, with cells hidden in half of them.

    Columns that always go missing with column ``j`` are observed in all rows to learn from, so that
    predictions without them would never be learnt. In half of the rows they are hidden, in the
    patterns of rows in which column ``j`` is missing.
    """
    values = observation.values[rows]
    missing, without = ~observation.observed, np.flatnonzero(~observation.observed[:, j])
    if not len(without) or not len(rows):
        return values
    together = TOGETHER * missing[rows].mean(axis=0) < missing[without].mean(axis=0)
    together[j] = False
    copied = missing[rng.choice(without, len(rows))] & together
    values[copied & (rng.random(len(rows)) < 0.5)[:, None]] = np.nan
    return values


def expectation_from(arrays: Arrays, space: JointSpace) -> Expectation | None:
    """Return the models that :meth:`Expectation.arrays` packed; None if there are no arrays."""
    if not arrays:
        return None
    trees = unpack_trees(arrays)
    levels, shares = split_arrays(arrays, "levels"), split_arrays(arrays, "shares")
    parts = zip(trees[::2], trees[1::2], levels, shares, strict=True)
    return Expectation(space, tuple(ColumnExpectation(*part) for part in parts))


def check_expectation(arrays: Arrays, n_levels: NDArray[np.int64]) -> None:
    """Raise ValueError unless arrays from a file are what is expected of such columns.

    Parameters
    ----------
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    """
    n = len(n_levels)
    n_classes, n_shares = (stored_lengths(arrays, name, n) for name in ("levels", "shares"))
    levels = stored(arrays, "levels", "f", (None,), low=0.0)
    stored(arrays, "shares", "f", (None,), low=0.0, high=1.0)
    if (n_classes != n_shares).any() or ((n_classes > 0) != (n_levels > 0)).any():
        raise ValueError("its expected levels are those of other columns")
    if ((levels != np.floor(levels)) | (levels >= np.repeat(n_levels, n_classes))).any():
        raise ValueError("it expects levels that there are not")
    n_outputs = check_trees(arrays, [n] * (2 * n), n_levels)[::2]
    wanted = np.where((n_levels > 0) & (n_classes > 2), n_classes, 1)
    if (n_outputs != wanted).any():
        raise ValueError("its trees tell another number of levels apart")


def _learn_levels(seen: Features, target: Values, n_boosters: int, seed: int) -> ColumnExpectation:
    levels, shares, codes = _classes(target)
    none = constant(np.zeros(1))
    if len(levels) < 2:
        return ColumnExpectation(none, none, levels, shares)
    kept = codes >= 0
    if not len(seen.inputs):
        logits = np.log(np.bincount(codes[kept]))
        only = logits if len(levels) > 2 else logits[1:] - logits[:1]
        return ColumnExpectation(constant(only), none, levels, shares)
    n_trees = int(np.clip(MOST_STAGES // len(levels), FEWEST_TREES, MOST_TREES))
    rate = min(LEARNING_RATE * MOST_TREES / n_trees, FASTEST)
    learner = HistGradientBoostingClassifier(**_settings(len(codes), n_trees, rate, seed))
    grown = _grow_some(learner, seen, np.flatnonzero(kept), codes[kept], n_boosters)
    return ColumnExpectation(grown, none, levels, shares)


def _classes(target: Values) -> tuple[Values, Values, NDArray[np.int64]]:
    """Group levels into classes; return the levels and shares of classes, and the class of cells.

    Frequent levels have a class each. The others share one, or have none (-1) if they are too few
    even together.
    """
    levels, place, counts = np.unique(target, return_inverse=True, return_counts=True)
    if not len(levels):
        return np.zeros(1), np.ones(1), np.empty(0, dtype=np.int64)
    by_size = np.argsort(-counts, kind="stable")
    n_own = min(int((counts >= FEWEST).sum()), MOST_CLASSES)
    rest_is_learnt = counts[by_size[n_own:]].sum() >= FEWEST
    class_of = np.full(len(levels), n_own if rest_is_learnt else -1)
    class_of[by_size[:n_own]] = np.arange(n_own)
    n_classes = max(n_own + int(rest_is_learnt), 1)
    shares = np.ones(n_classes)
    if rest_is_learnt:
        shares[-1] = counts[by_size[n_own]] / counts[by_size[n_own:]].sum()
    return levels[by_size[:n_classes]], shares, class_of[place]


def _learn_numbers(seen: Features, target: Values, n_boosters: int, seed: int) -> ColumnExpectation:
    """Learn the mean from all rows, and the variance from out-of-sample residuals."""
    variance = float(target.var()) if len(target) else 1.0
    if len(target) < 2 * FEWEST or variance < TINY or not len(seen.inputs):
        mean = float(target.mean()) if len(target) else 0.0
        log_variance = constant(np.log(np.array([max(variance, TINY)])))
        return ColumnExpectation(constant(np.array([mean])), log_variance, *NO_LEVELS)

    def learn(
        rows: Places, goal: Values, loss: str, n_trees: int = MOST_TREES // 2, n_boosters: int = 1
    ) -> Trees:
        settings = _settings(len(goal), n_trees, LEARNING_RATE * MOST_TREES / n_trees, seed)
        learner = HistGradientBoostingRegressor(**settings, loss=loss)
        return _grow_some(learner, seen, rows, goal, n_boosters)

    half = min(len(target), MOST_SPREAD_ROWS) // 2
    everything = np.arange(len(target))
    first, second = everything[:half], everything[half : 2 * half]
    guess = learn(first, target[first], "squared_error").sums(seen.cells[second])[:, 0]
    log_variance = learn(second, (target[second] - guess) ** 2 + TINY, "gamma")
    trees = learn(everything, target, "squared_error", MOST_TREES, n_boosters)
    return ColumnExpectation(trees.scaled(_slope(guess, target[second])), log_variance, *NO_LEVELS)


def _grow_some(
    learner: Learner, seen: Features, rows: Places, target: NDArray[Any], n_boosters: int
) -> Trees:
    """Grow the trees of a learner, or the mean of several with different random states.

    With few rows none are held out, and with few features all are chosen from; then the random
    state changes nothing, and one learner is enough.
    """
    n_features = len(seen.inputs)
    all_seen = int(np.ceil(SEEN * n_features)) == n_features
    if n_boosters == 1 or (all_seen and not learner.early_stopping):
        return seen.grow(learner, target, rows)
    seeds = range(learner.random_state, learner.random_state + n_boosters)
    learner = clone(learner).set_params(
        max_features=SEEN, learning_rate=min(FASTER * learner.learning_rate, FASTEST)
    )
    several = [clone(learner).set_params(random_state=seed % 2**32) for seed in seeds]
    return mean_of([seen.grow(one, target, rows) for one in several])


def _slope(guess: Values, truth: Values) -> float:
    """Return the slope of the truth on out-of-sample predictions, to shrink these by; 0 to 1."""
    about = guess - guess.mean()
    return float(np.clip(about @ truth / max(about @ about, TINY), 0.0, 1.0))


def _settings(n_rows: int, n_trees: int, rate: float, seed: int) -> dict[str, Any]:
    is_enough = n_rows >= 20 * FEWEST
    return LEARNER | {
        "max_iter": n_trees if is_enough else FEWEST_TREES,
        "learning_rate": rate,
        "early_stopping": is_enough,
        "validation_fraction": 0.15,
        "min_samples_leaf": int(np.clip(n_rows // 100, 5, 20)),
        "random_state": seed % 2**32,
    }
