"""Read the trees of scikit-learn's boosters into plain arrays; nothing else reads private names."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._types import Values

Learner: TypeAlias = HistGradientBoostingClassifier | HistGradientBoostingRegressor
Nodes: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of :class:`diffjoint.trees.Trees` that its nodes are kept in, by name."""


def read_nodes(learner: Learner) -> Nodes:
    """Return the trees of a fitted booster, joined into one array for each property of a node."""
    baseline = np.ravel(learner._baseline_prediction).astype(np.float64)
    trees = [
        (output, tree.nodes) for stage in learner._predictors for output, tree in enumerate(stage)
    ]
    return _join_nodes(baseline, trees)


def no_nodes(baseline: Values) -> Nodes:
    """Return the arrays of no tree at all."""
    return _join_nodes(np.asarray(baseline, dtype=np.float64), [])


def _join_nodes(baseline: Values, trees: list[tuple[int, NDArray[np.void]]]) -> Nodes:
    """Join trees, given as an output and scikit-learn's records of the nodes each."""
    sizes = np.array([len(nodes) for _, nodes in trees], dtype=np.int64)
    roots = sizes.cumsum() - sizes
    parts: dict[str, list[NDArray[Any]]] = {}
    for root, (_, nodes) in zip(roots, trees, strict=True):
        leaf, itself = nodes["is_leaf"].astype(bool), np.arange(len(nodes)) + root
        for name, cells in {
            "feature": np.where(leaf, 0, nodes["feature_idx"]),
            "left": np.where(leaf, itself, nodes["left"] + root),
            "right": np.where(leaf, itself, nodes["right"] + root),
            "threshold": nodes["num_threshold"],
            "value": nodes["value"],
            "missing_left": nodes["missing_go_to_left"].astype(bool),
        }.items():
            parts.setdefault(name, []).append(cells)

    def joined(name: str, dtype: type) -> NDArray[Any]:
        return np.concatenate(parts[name]).astype(dtype) if trees else np.empty(0, dtype)

    return {
        "baseline": baseline,
        "output": np.array([output for output, _ in trees], dtype=np.int32),
        "roots": roots.astype(np.int32),
        "feature": joined("feature", np.int32),
        "left": joined("left", np.int32),
        "right": joined("right", np.int32),
        "threshold": joined("threshold", np.float64),
        "value": joined("value", np.float64),
        "missing_left": joined("missing_left", np.bool_),
    }
