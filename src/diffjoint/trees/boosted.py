"""Grow boosted trees on rows with missing cells, and keep them as plain arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._types import Places, Values
from diffjoint.trees.bins import Binned, put_into_bins
from diffjoint.trees.parallel import one_thread
from diffjoint.trees.sklearn_nodes import Learner, Nodes, no_nodes, read_nodes

Arrays = dict[str, NDArray[Any]]

FEWEST = 20
"""A feature with fewer observed cells is left out: all of them could be in the rows held out."""
SMOOTHING = 10.0
"""Weight, in rows, of the overall mean in the number that stands for a level."""
MOST_LEAVES = 16
"""Leaves of a tree at most: one bit for each fits into a 16-bit integer per row."""
FEW_BINS, MOST_BINS, ROWS_FOR_MOST = 64, 255, 10_000
"""Bins of a number: few up to so many rows, where more would cost time and gain little."""
BLOCK = 8_192
"""Rows evaluated together: few enough to stay in a processor's cache."""
_BITS = np.arange(2**MOST_LEAVES)
_LEAF: NDArray[np.intp] = np.frexp(~_BITS & (_BITS + 1))[1].astype(np.intp) - 1
"""The first leaf that is not ruled out, for every set of bits of those that are."""


@dataclass(frozen=True)
class Trees:
    """Boosted trees as plain arrays; their prediction is a sum for each output.

    Attributes
    ----------
    baseline : array of shape (n_outputs,)
        The prediction without any tree.
    output, roots : arrays of shape (n_trees,)
        The output that each tree adds to, and its first node.
    feature, left, right : arrays of shape (n_nodes,)
        Feature of a split, and its children; a leaf is its own left and right child.
    threshold, value : arrays of shape (n_nodes,)
    missing_left : bool array of shape (n_nodes,)
        Whether missing cells go left.
    level_codes : array of shape (n_levels,)
        The numbers that stand for the levels of all categorical features, end to end.
    level_starts : array of shape (n_features,)
        Where the levels of each feature start in ``level_codes``; -1 for numbers.
    inputs : array of shape (n_features,)
        The column of each feature in a whole row.
    """

    baseline: Values
    output: NDArray[np.int32]
    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    threshold: Values
    value: Values
    missing_left: NDArray[np.bool_]
    level_codes: Values
    level_starts: NDArray[np.int64]
    inputs: Places

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting, with a tree for each output."""
        return len(self.roots) // len(self.baseline)

    def numbers(self, features: Values) -> Values:
        """Return features with levels replaced by the numbers that stand for them."""
        return _as_numbers(features, self.level_codes, self.level_starts)

    def predict(self, rows: Values) -> Values:
        """Predict from whole rows; return sums of shape (n_rows, n_outputs)."""
        return self.sums(rows[:, self.inputs])

    def sums(self, features: Values) -> Values:
        """Predict from rows that hold only the inputs; return sums of shape (n_rows, n_outputs).

        Notes
        -----
        Rows do not walk the trees. Every split is evaluated for all rows of a block at once. Where
        a row goes right, the leaves to the left of the split are ruled out; the first of the
        remaining leaves is the row's own.
        """
        total = np.tile(self.baseline, (len(features), 1))
        for start in range(0, len(features) if len(self.roots) else 0, BLOCK):
            block = slice(start, start + BLOCK)
            columns = np.ascontiguousarray(self.numbers(features[block]).T)
            ruled_out = np.empty(columns.shape[1], dtype=np.uint16)
            goes_right = np.empty(columns.shape[1], dtype=np.uint16)
            for output, splits, leaves in self._plan:
                ruled_out[:] = 0
                for feature, threshold, missing_left, to_the_left in splits:
                    if missing_left:
                        right = columns[feature] > threshold
                    else:
                        right = ~(columns[feature] <= threshold)
                    np.multiply(right, to_the_left, out=goes_right)
                    ruled_out |= goes_right
                total[block, output] += leaves[_LEAF[ruled_out]]
        return total

    def __getstate__(self) -> dict[str, Any]:
        """Return the arrays alone; what is cached is computed again."""
        return {name: getattr(self, name) for name in TREE_PARTS}

    @cached_property
    def _plan(self) -> list[tuple[int, list[tuple[int, float, bool, np.uint16]], Values]]:
        """Output, splits and values of the leaves, from left to right, of each tree.

        A split consists of its feature, its threshold, whether missing cells go left, and the bits
        of the leaves to its left.
        """
        n_leaves, first_leaf = self._leaves()
        is_leaf = self.left == np.arange(len(self.left))
        bits = ((1 << n_leaves[self.left]) - 1) << first_leaf
        parts = (self.feature, self.threshold, self.missing_left)
        columns = [part.tolist() for part in parts]
        masks = bits.astype(np.uint16)
        plan = []
        ends = [*self.roots[1:].tolist(), len(self.left)]
        for root, end, output in zip(self.roots.tolist(), ends, self.output.tolist(), strict=True):
            nodes = np.arange(root, end)
            splits = [
                (columns[0][node], columns[1][node], columns[2][node], masks[node])
                for node in nodes[~is_leaf[nodes]].tolist()
            ]
            leaves = nodes[is_leaf[nodes]]
            plan.append((output, splits, self.value[leaves[np.argsort(first_leaf[leaves])]]))
        return plan

    def _leaves(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many leaves are below each node, and the position of the first in its tree."""
        levels, itself = [self.roots], np.arange(len(self.left))
        while len(inner := levels[-1][self.left[levels[-1]] != itself[levels[-1]]]):
            levels.append(np.concatenate([self.left[inner], self.right[inner]]))
        n_leaves, first_leaf = np.ones_like(itself), np.zeros_like(itself)
        for nodes in reversed(levels):
            inner = nodes[self.left[nodes] != nodes]
            n_leaves[inner] = n_leaves[self.left[inner]] + n_leaves[self.right[inner]]
        for nodes in levels:
            inner = nodes[self.left[nodes] != nodes]
            first_leaf[self.left[inner]] = first_leaf[inner]
            first_leaf[self.right[inner]] = first_leaf[inner] + n_leaves[self.left[inner]]
        return n_leaves, first_leaf

    def scaled(self, factor: float) -> "Trees":
        """Return the trees with all values multiplied by a factor, and the same baseline."""
        return replace(self, value=self.value * factor)

    def logit(self, rows: Values) -> Values:
        """Predict the first output: the logit of a probability, for a classifier."""
        only: Values = self.predict(rows)[:, 0]
        return only


TREE_PARTS = tuple(field.name for field in fields(Trees))
"""Names of the arrays of :class:`Trees`."""


def grow(
    learner: Learner,
    features: Values,
    target: NDArray[Any],
    n_levels: NDArray[np.int64],
    inputs: Places,
) -> Trees:
    """Fit a learner and return its trees.

    Parameters
    ----------
    learner : estimator
        With ``max_leaf_nodes`` of at most ``MOST_LEAVES``.
    features : array of shape (n_rows, n_features)
        Coded cells, NaN where missing: trees may split on that, too.
    target : array of shape (n_rows,)
        Numbers, truth values, or classes 0, 1, ... that all occur.
    n_levels : array of shape (n_features,)
        Number of levels of categorical features; 0 for numbers.
    inputs : int array of shape (n_features,)
        The column of each feature in a whole row.
    """
    if learner.max_leaf_nodes is None or learner.max_leaf_nodes > MOST_LEAVES:
        raise ValueError(
            f"max_leaf_nodes must be at most {MOST_LEAVES}; got {learner.max_leaf_nodes}."
        )
    codes, starts = _level_codes(features, _indicators(learner, target), n_levels)
    numbers = _as_numbers(features, codes, starts)
    numbers[:, (~np.isnan(numbers)).sum(axis=0) < FEWEST] = 0.0
    n_bins, boost = n_bins_for(len(numbers)), _compiled()
    if boost is not None:
        nodes = boost(learner, put_into_bins(numbers, n_bins), target)
    else:
        with one_thread():
            nodes = read_nodes(learner.set_params(max_bins=n_bins).fit(numbers, target))
    return Trees(**nodes, level_codes=codes, level_starts=starts, inputs=inputs)


@cache
def _compiled() -> Callable[[Learner, Binned, NDArray[Any]], Nodes] | None:
    """Return what grows trees with scikit-learn's compiled parts; None if these are not as known.

    They are not public, so that another release may change them. Then learners grow their trees
    themselves.
    """
    numbers = np.arange(8.0)
    trial = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, min_samples_leaf=1)
    try:
        from diffjoint.trees.sklearn_grower import boost  # noqa: PLC0415 - may be refused

        boost(trial.set_params(early_stopping=False), put_into_bins(numbers[:, None], 8), numbers)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return boost


def n_bins_for(n_rows: int) -> int:
    """Return how many bins to use for a number with so many rows."""
    return FEW_BINS if n_rows <= ROWS_FOR_MOST else MOST_BINS


def mean_of(several: Sequence[Trees]) -> Trees:
    """Return trees that predict the mean of several, all grown on the same rows.

    The numbers that stand for levels must be the same in all; those of the first are kept.
    """
    first, sizes = several[0], [len(trees.left) for trees in several]
    starts = np.cumsum([0, *sizes[:-1]])

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(trees, name) for trees in several])

    def places(name: str) -> NDArray[np.int32]:
        parts = zip(several, starts, strict=True)
        return np.concatenate([getattr(trees, name) + start for trees, start in parts], dtype="i4")

    return replace(
        first,
        baseline=np.mean([trees.baseline for trees in several], axis=0),
        output=joined("output"),
        roots=places("roots"),
        feature=joined("feature"),
        left=places("left"),
        right=places("right"),
        threshold=joined("threshold"),
        value=joined("value") / len(several),
        missing_left=joined("missing_left"),
    )


def constant(baseline: Values) -> Trees:
    """Return trees that predict the same for every row."""
    none = np.empty(0, dtype=np.int64)
    return Trees(**no_nodes(baseline), level_codes=np.empty(0), level_starts=none, inputs=none)


def _indicators(learner: Learner, target: NDArray[Any]) -> Values:
    """Return the target as columns of numbers: itself, or one for each of more than two classes."""
    n_classes = int(target.max()) + 1 if isinstance(learner, HistGradientBoostingClassifier) else 0
    if n_classes <= 2:
        return np.asarray(target, dtype=np.float64)[:, None]
    return np.asarray(target[:, None] == np.arange(n_classes), dtype=np.float64)


def _starts(n_levels: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(n_levels > 0, n_levels.cumsum() - n_levels, -1)


def _level_codes(
    features: Values, indicators: Values, n_levels: NDArray[np.int64]
) -> tuple[Values, NDArray[np.int64]]:
    """Return a number for each level: the smoothed mean of the target (target encoding).

    Of several indicators, it is the linear combination in which the levels differ most.
    """
    starts, codes = _starts(n_levels), np.zeros(int(n_levels.sum()))
    mean = indicators.mean(axis=0)
    for feature in np.flatnonzero(n_levels):
        there = ~np.isnan(features[:, feature])
        levels, n = features[there, feature].astype(int), n_levels[feature]
        counts = np.bincount(levels, minlength=n)[:, None]
        sums = np.column_stack([np.bincount(levels, c, minlength=n) for c in indicators[there].T])
        above = (sums + SMOOTHING * mean) / (counts + SMOOTHING) - mean
        if len(mean) > 1:
            above = above @ np.linalg.svd(np.sqrt(counts) * above, full_matrices=False)[2][:1].T
        codes[starts[feature] : starts[feature] + n] = above[:, 0]
    return codes, starts


def _as_numbers(features: Values, codes: Values, starts: NDArray[np.int64]) -> Values:
    numbers = features.copy()
    for feature in np.flatnonzero(starts >= 0):
        there = ~np.isnan(features[:, feature])
        levels = features[there, feature].astype(int)
        numbers[there, feature] = codes[starts[feature] + levels]
    return numbers


def pack_trees(trees: Sequence[Trees]) -> Arrays:
    """Return several trees as plain arrays by name."""
    arrays: Arrays = {}
    for name in TREE_PARTS:
        arrays |= join_arrays(f"trees.{name}", [getattr(grown, name) for grown in trees])
    return arrays


def unpack_trees(arrays: Arrays) -> list[Trees]:
    """Return the trees that :func:`pack_trees` packed."""
    parts = {name: split_arrays(arrays, f"trees.{name}") for name in TREE_PARTS}
    n_trees = len(parts["baseline"])
    return [Trees(**{name: parts[name][i] for name in TREE_PARTS}) for i in range(n_trees)]


def join_arrays(name: str, parts: Sequence[NDArray[Any]]) -> Arrays:
    """Join arrays end to end; return the result and their lengths, by name."""
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    joined = np.concatenate(parts) if len(parts) else np.empty(0)
    return {name: joined, f"{name}.lengths": lengths}


def split_arrays(arrays: Arrays, name: str) -> list[NDArray[Any]]:
    """Return the arrays that :func:`join_arrays` joined."""
    lengths = arrays[f"{name}.lengths"]
    return np.split(arrays[name], lengths.cumsum()[:-1]) if len(lengths) else []
