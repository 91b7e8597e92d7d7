"""Boosted trees as plain arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Places, Values
from diffjoint.trees.sklearn_nodes import no_nodes

Arrays = dict[str, NDArray[Any]]

MOST_LEAVES = 16
"""Leaves of a tree at most: one bit for each fits into a 16-bit integer per row."""
BLOCK = 8_192
"""Rows evaluated together: few enough to stay in a processor's cache."""
FEW, MOST_TOGETHER = 300, 2**17
"""Rows of which all splits are evaluated at once, and cells of rows and splits at a time."""
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
        return as_numbers(features, self.level_codes, self.level_starts)

    def predict(self, rows: Values) -> Values:
        """Predict from whole rows; return sums of shape (n_rows, n_outputs)."""
        return self.sums(rows[:, self.inputs])

    def sums(self, features: Values) -> Values:
        """Predict from rows that hold only the inputs; return sums of shape (n_rows, n_outputs).

        Notes
        -----
        Rows do not walk the trees. Every split is evaluated for all rows of a block at once. Where
        a row goes right, the leaves to the left of the split are ruled out; the first of the
        remaining leaves is the row's own. Of few rows all splits are evaluated at once as well.
        """
        if 0 < len(features) <= FEW and len(self.roots):
            return self._sums_of_few(self.numbers(features))
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

    def _sums_of_few(self, numbers: Values) -> Values:
        """Return the same as :meth:`sums`, bit for bit: trees are added in their order."""
        splits, total = self._splits, np.empty((len(numbers), len(self.baseline)))
        step = max(1, MOST_TOGETHER // len(splits.feature))
        for start in range(0, len(numbers), step):
            some = slice(start, start + step)
            cells = numbers[some].T[splits.feature]
            right = np.where(
                splits.missing_left, cells > splits.threshold, ~(cells <= splits.threshold)
            )
            ruled_out = np.bitwise_or.reduceat(right * splits.to_the_left, splits.starts, axis=0)
            said = np.take_along_axis(splits.leaves, _LEAF[ruled_out], axis=1)
            for output, baseline in enumerate(self.baseline):
                own = said[self.output == output]
                first = np.full((1, own.shape[1]), baseline)
                total[some, output] = np.add.accumulate(np.vstack([first, own]))[-1]
        return total

    @cached_property
    def _splits(self) -> "_Splits":
        """Lay the splits of all trees end to end; a tree of one leaf gets one that does nothing."""
        nothing = (0, np.inf, True, np.uint16(0))
        of_trees = [splits or [nothing] for _, splits, _ in self._plan]
        parts = zip(*(split for splits in of_trees for split in splits), strict=True)
        feature, threshold, missing_left, to_the_left = (np.array(part) for part in parts)
        leaves = np.zeros((len(of_trees), MOST_LEAVES))
        for place, (_, _, values) in enumerate(self._plan):
            leaves[place, : len(values)] = values
        starts = np.cumsum([0, *(len(splits) for splits in of_trees[:-1])])
        threshold, missing_left = threshold[:, None], missing_left[:, None]
        return _Splits(feature, threshold, missing_left, to_the_left[:, None], starts, leaves)

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


@dataclass(frozen=True)
class _Splits:
    """The splits of several trees, end to end, as columns.

    Attributes
    ----------
    feature : array of shape (n_splits,)
    threshold, missing_left, to_the_left : arrays of shape (n_splits, 1)
        The last are the bits of the leaves to the left of a split.
    starts : array of shape (n_trees,)
        The first split of each tree.
    leaves : array of shape (n_trees, MOST_LEAVES)
        What leaves say, from left to right.
    """

    feature: Places
    threshold: Values
    missing_left: NDArray[np.bool_]
    to_the_left: NDArray[np.uint16]
    starts: Places
    leaves: Values


TREE_PARTS = tuple(field.name for field in fields(Trees))
"""Names of the arrays of :class:`Trees`."""


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


def as_numbers(features: Values, codes: Values, starts: NDArray[np.int64]) -> Values:
    """Return features with levels replaced by the numbers that stand for them."""
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
