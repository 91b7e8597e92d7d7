"""Boosted trees that say how likely a cell is missing, kept as plain arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

Values = NDArray[np.float64]

FEWEST = 20
"""Cells of the rarer kind below which nothing but the rate is learnt."""
SMOOTHING = 10.0
"""Rows that pull a level's rate towards the column's."""
LEARNER = {
    "learning_rate": 0.05,
    "max_iter": 300,
    "max_leaf_nodes": 8,
    "l2_regularization": 1.0,
    "early_stopping": True,
    "validation_fraction": 0.15,
    "n_iter_no_change": 15,
}


@dataclass(frozen=True)
class Trees:
    """A sum of trees on the logit scale.

    Attributes
    ----------
    baseline : float
        The logit before any tree.
    roots : array of shape (n_trees,)
    feature, left, right : arrays of shape (n_nodes,)
        A leaf is its own left and right.
    threshold, value : arrays of shape (n_nodes,)
    missing_left : bool array of shape (n_nodes,)
    level_rates : array of shape (n_levels,)
        For the levels of all categorical features, one after the other: what stands for them.
    level_starts : array of shape (n_features,)
        Where a feature's levels start; -1 for numbers.
    """

    baseline: float
    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    threshold: Values
    value: Values
    missing_left: NDArray[np.bool_]
    level_rates: Values
    level_starts: NDArray[np.int64]

    def numbers(self, features: Values) -> Values:
        """Features as the trees see them: levels as what stands for them."""
        return _levels_as_rates(features, self.level_rates, self.level_starts)

    def logit(self, features: Values) -> Values:
        """Logit of the probability for every row."""
        numbers = self.numbers(features)
        total = np.full(len(features), self.baseline)
        rows = np.arange(len(features))
        for root in self.roots:
            node = np.full(len(features), root)
            while True:
                x = numbers[rows, self.feature[node]]
                goes_left = np.where(
                    np.isnan(x), self.missing_left[node], x <= self.threshold[node]
                )
                below = np.where(goes_left, self.left[node], self.right[node])
                if (below == node).all():
                    break
                node = below
            total += self.value[node]
        return total


def grow(
    features: Values, is_missing: NDArray[np.bool_], n_levels: NDArray[np.int64], seed: int
) -> Trees:
    """Learn P(missing | features).

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        Coded cells, NaN where missing: that too is a fact to go by.
    is_missing : bool array of shape (n_rows,)
    n_levels : array of shape (n_features,)
        Levels of categorical features; 0 for numbers.
    """
    rates, starts = _level_rates(features, is_missing, n_levels)
    rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
    few = min(is_missing.sum(), (~is_missing).sum()) < FEWEST
    if few or features.shape[1] == 0:
        return _trees(float(np.log(rate / (1 - rate))), [], rates, starts)
    numbers = _levels_as_rates(features, rates, starts)
    numbers[:, np.isnan(numbers).all(axis=0)] = 0.0
    leaf = int(np.clip(len(features) // 300, 10, 40))
    learner = HistGradientBoostingClassifier(**LEARNER, min_samples_leaf=leaf, random_state=seed)
    learner.fit(numbers, is_missing)
    nodes = [stage[0].nodes for stage in learner._predictors]
    return _trees(float(np.ravel(learner._baseline_prediction)[0]), nodes, rates, starts)


def _trees(
    baseline: float,
    nodes: list[NDArray[np.void]],
    rates: Values,
    starts: NDArray[np.int64],
) -> Trees:
    """Scikit-learn's nodes, all trees in one row of arrays."""
    sizes = np.array([len(tree) for tree in nodes], dtype=np.int64)
    roots = np.concatenate([[0], sizes.cumsum()[:-1]]).astype(np.int64) if nodes else sizes
    parts: dict[str, list[NDArray[Any]]] = {}
    for root, tree in zip(roots, nodes, strict=True):
        leaf, itself = tree["is_leaf"].astype(bool), np.arange(len(tree)) + root
        for name, cells in {
            "feature": np.where(leaf, 0, tree["feature_idx"]),
            "left": np.where(leaf, itself, tree["left"] + root),
            "right": np.where(leaf, itself, tree["right"] + root),
            "threshold": tree["num_threshold"],
            "value": tree["value"],
            "missing_left": tree["missing_go_to_left"].astype(bool),
        }.items():
            parts.setdefault(name, []).append(cells)

    def joined(name: str, dtype: type) -> NDArray[Any]:
        return np.concatenate(parts[name]).astype(dtype) if nodes else np.empty(0, dtype)

    return Trees(
        baseline=baseline,
        roots=roots,
        feature=joined("feature", np.int64),
        left=joined("left", np.int64),
        right=joined("right", np.int64),
        threshold=joined("threshold", np.float64),
        value=joined("value", np.float64),
        missing_left=joined("missing_left", np.bool_),
        level_rates=rates,
        level_starts=starts,
    )


def _level_rates(
    features: Values, is_missing: NDArray[np.bool_], n_levels: NDArray[np.int64]
) -> tuple[Values, NDArray[np.int64]]:
    """What stands for each level: how often the cell is missing beside it, smoothed."""
    starts = np.where(n_levels > 0, n_levels.cumsum() - n_levels, -1)
    rates = np.full(int(n_levels.sum()), is_missing.mean())
    for feature in np.flatnonzero(n_levels):
        there = ~np.isnan(features[:, feature])
        codes = features[there, feature].astype(int)
        counts = np.bincount(codes, minlength=n_levels[feature])
        hits = np.bincount(codes, is_missing[there], minlength=n_levels[feature])
        start = starts[feature]
        rates[start : start + n_levels[feature]] = (hits + SMOOTHING * is_missing.mean()) / (
            counts + SMOOTHING
        )
    return rates, starts


def _levels_as_rates(features: Values, rates: Values, starts: NDArray[np.int64]) -> Values:
    numbers = features.copy()
    for feature in np.flatnonzero(starts >= 0):
        there = ~np.isnan(features[:, feature])
        codes = features[there, feature].astype(int)
        numbers[there, feature] = rates[starts[feature] + codes]
    return numbers
