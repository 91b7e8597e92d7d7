"""What a lost cell is expected to hold, given the rest of its row: boosted trees, one column each.

Trees take a missing cell of the rest as it is, a fact to go by, so that no value is made up on the
way to another. A column is learnt where it is observed; there, what was lost looks no different.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._progress import Progress
from diffjoint._types import Mask, Places, Values
from diffjoint.state import JointSpace, Observation
from diffjoint.table import Column, on_grid
from diffjoint.trees import (
    Arrays,
    Screen,
    Trees,
    apart,
    check_trees,
    constant,
    end_to_end,
    grow,
    mean_of,
    open_screen,
    pack_trees,
    side_by_side,
    stored,
    stored_lengths,
    unpack_trees,
)

MOST_ROWS, MOST_SPREAD_ROWS = 100_000, 20_000
"""Rows that a column's values, and their spread, are learnt from."""
MOST_CLASSES = 25
"""Levels told apart in a column; the rarer ones are expected as one."""
FEWEST = 10
"""Cells of a level, or of a column, below which it is not learnt."""
TOGETHER = 4.0
"""How many times likelier a cell is missing beside a missing one, if they go missing together."""
MOST_TREES, FEWEST_TREES, MOST_STAGES = 150, 30, 600
"""Trees of a class, and of all classes of a column together; half as many tell a spread."""
LEARNER: dict[str, Any] = {
    "max_leaf_nodes": 15,
    "l2_regularization": 1.0,
    "n_iter_no_change": 8,
    "tol": 3e-4,
}
LEARNING_RATE, FASTEST = 0.08, 0.25
SEEN, FASTER = 0.75, 2.0
"""Where several boosters are averaged: the share of the features that a split may choose from, and
how many times faster each learns; what it learns too much is averaged out."""
TINY = 1e-6
NO_LEVELS = np.empty(0), np.empty(0)
Learner: TypeAlias = HistGradientBoostingClassifier | HistGradientBoostingRegressor


@dataclass(frozen=True)
class ColumnExpectation:
    """What is expected of one column.

    Attributes
    ----------
    value : Trees
        Numbers: the mean in standard deviations. Levels: logits of the classes.
    spread : Trees
        Numbers: log of the variance about that mean. Levels: nothing of use.
    levels : array of shape (n_classes,)
        The level each class stands for; empty for numbers.
    shares : array of shape (n_classes,)
        How much of its class that level is: less than 1 if others share it.
    """

    value: Trees
    spread: Trees
    levels: Values
    shares: Values

    def of(self, rows: Values) -> tuple[Values, Values]:
        """Numbers: mean and standard deviation. Levels: the likeliest, and the entropy in nats."""
        sums = self.value.predict(rows)
        if not len(self.levels):
            return sums[:, 0], np.exp(self.spread.logit(rows) / 2)
        if len(self.levels) == 2:
            sums = np.hstack([-sums / 2, sums / 2])
        likely = softmax(sums, axis=1)
        entropy = -(likely * np.log(np.maximum(likely * self.shares, TINY))).sum(axis=1)
        return self.levels[(likely * self.shares).argmax(axis=1)], np.maximum(entropy, 0.0)

    def cells(self, rows: Values, column: Column) -> tuple[Values, Values]:
        """What cells of a column are expected to hold, and how uncertain that is."""
        value, spread = self.of(rows)
        if column.is_categorical:
            return value, spread
        return on_grid(column.mean + value * column.scale, column), spread * column.scale


@dataclass(frozen=True)
class Expectation:
    """What is expected of every column's cells."""

    space: JointSpace
    columns: tuple[ColumnExpectation, ...]

    def of(self, observation: Observation) -> tuple[Values, Values]:
        """Values with every gap filled, and how uncertain each is; 0 where observed."""
        values, uncertainty = observation.values.copy(), np.zeros(observation.values.shape)
        for j, (column, learnt) in enumerate(
            zip(self.space.schema.modelled, self.columns, strict=True)
        ):
            rows = np.flatnonzero(~observation.observed[:, j])
            if not len(rows):
                continue
            cells = learnt.cells(observation.values[rows], column)
            values[rows, j], uncertainty[rows, j] = cells
        return values, uncertainty

    def arrays(self) -> Arrays:
        """The expectation as plain arrays."""
        trees = [grown for column in self.columns for grown in (column.value, column.spread)]
        levels = end_to_end("levels", [column.levels for column in self.columns])
        shares = end_to_end("shares", [column.shares for column in self.columns])
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
        Says which columns to learn it from.
    n_boosters : int
        How many are averaged; they hold out other rows, choose from other features, and learn
        faster than one alone.
    """
    column = space.schema.modelled[j]
    rows = np.flatnonzero(observation.observed[:, j])[:MOST_ROWS]
    values = _hide_together(observation, j, rows, np.random.default_rng([seed, j]))
    target = values[:, j]
    inputs = screen.about(j)
    seen = _Seen(values[:, inputs], space.schema.n_levels[inputs], inputs)
    if column.is_categorical:
        return _learn_levels(seen, target, n_boosters, seed)
    scaled = (target - column.mean) / (column.scale or 1.0)
    return _learn_numbers(seen, scaled, n_boosters, seed)


def _hide_together(
    observation: Observation, j: int, rows: NDArray[np.intp], rng: np.random.Generator
) -> Values:
    """Rows to learn column ``j`` from; in half of them, cells that go missing with it are hidden.

    Where the column is missing and others always with it, they are there whenever it is: what to
    expect without them would never be learnt. The gaps to hide are copied from rows in which the
    column is missing.
    """
    values = observation.values[rows]
    gaps, without = ~observation.observed, np.flatnonzero(~observation.observed[:, j])
    if not len(without) or not len(rows):
        return values
    together = TOGETHER * gaps[rows].mean(axis=0) < gaps[without].mean(axis=0)
    together[j] = False
    copied = gaps[rng.choice(without, len(rows))] & together
    values[copied & (rng.random(len(rows)) < 0.5)[:, None]] = np.nan
    return values


def expectation_from(arrays: Arrays, space: JointSpace) -> Expectation | None:
    """The expectation whose arrays these are; None if there are none."""
    if not arrays:
        return None
    trees = unpack_trees(arrays)
    levels, shares = apart(arrays, "levels"), apart(arrays, "shares")
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


@dataclass(frozen=True)
class _Seen:
    """What a column is learnt from: cells of some other columns."""

    features: Values
    n_levels: NDArray[np.int64]
    inputs: Places

    def grow(self, learner: Learner, rows: Mask | slice, target: NDArray[Any]) -> Trees:
        return grow(learner, self.features[rows], target, self.n_levels, self.inputs)


def _learn_levels(seen: _Seen, target: Values, n_boosters: int, seed: int) -> ColumnExpectation:
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
    grown = _grow_some(learner, seen, kept, codes[kept], n_boosters)
    return ColumnExpectation(grown, none, levels, shares)


def _classes(target: Values) -> tuple[Values, Values, NDArray[np.int64]]:
    """The level each class stands for, its share of it, every cell's class; -1: too rare to learn.

    The frequent levels have a class each, the others share one if they are enough together.
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


def _learn_numbers(seen: _Seen, target: Values, n_boosters: int, seed: int) -> ColumnExpectation:
    """The mean from all rows; the spread from how far a mean of half the rows misses the others."""
    variance = float(target.var()) if len(target) else 1.0
    if len(target) < 2 * FEWEST or variance < TINY or not len(seen.inputs):
        level = float(target.mean()) if len(target) else 0.0
        flat = constant(np.log(np.array([max(variance, TINY)])))
        return ColumnExpectation(constant(np.array([level])), flat, *NO_LEVELS)

    def learn(
        rows: slice, goal: Values, loss: str, n_trees: int = MOST_TREES // 2, n_boosters: int = 1
    ) -> Trees:
        settings = _settings(len(goal), n_trees, LEARNING_RATE * MOST_TREES / n_trees, seed)
        learner = HistGradientBoostingRegressor(**settings, loss=loss)
        return _grow_some(learner, seen, rows, goal, n_boosters)

    half = min(len(target), MOST_SPREAD_ROWS) // 2
    first, second = slice(0, half), slice(half, 2 * half)
    guess = learn(first, target[first], "squared_error").sums(seen.features[second])[:, 0]
    spread = learn(second, (target[second] - guess) ** 2 + TINY, "gamma")
    mean = learn(slice(None), target, "squared_error", MOST_TREES, n_boosters)
    return ColumnExpectation(mean.scaled(_slope(guess, target[second])), spread, *NO_LEVELS)


def _grow_some(
    learner: Learner, seen: _Seen, rows: Mask | slice, target: NDArray[Any], n_boosters: int
) -> Trees:
    """The learner's trees, or the mean of several such learners that differ by chance.

    Of few rows none are held out, and of few features all are chosen from: then all are one.
    """
    n_features = len(seen.inputs)
    all_seen = int(np.ceil(SEEN * n_features)) == n_features
    if n_boosters == 1 or (all_seen and not learner.early_stopping):
        return seen.grow(learner, rows, target)
    seeds = range(learner.random_state, learner.random_state + n_boosters)
    learner = clone(learner).set_params(
        max_features=SEEN, learning_rate=min(FASTER * learner.learning_rate, FASTEST)
    )
    several = [clone(learner).set_params(random_state=seed % 2**32) for seed in seeds]
    return mean_of([seen.grow(one, rows, target) for one in several])


def _slope(guess: Values, truth: Values) -> float:
    """How much of what was learnt holds elsewhere: 1 all, 0 nothing but the mean."""
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
