"""Check trees that come from a file, before anything is made of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint.trees.boosted import MOST_LEAVES, Arrays

WHOLE, NUMBERS, TRUTHS, BYTES = "i", "f", "b", "u"
"""Kinds of numpy dtypes."""


def stored(
    arrays: Arrays,
    name: str,
    kind: str,
    shape: Sequence[int | None],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    is_finite: bool = True,
) -> NDArray[Any]:
    """Return an array from a file; ValueError unless it is as it must be.

    Parameters
    ----------
    arrays : dict
    name : str
    kind : str
        Of the dtype.
    shape : sequence of int or None
        None: any length.
    low, high : float
        Bounds of all numbers, themselves included.
    is_finite : bool
        Whether no number may be NaN or infinite.

    Examples
    --------
    >>> stored({"a": np.array([1, 2])}, "a", "i", (None,), low=0).tolist()
    [1, 2]
    """
    if name not in arrays:
        raise ValueError(f"it has no array {name}")
    array = arrays[name]
    wanted = tuple(array.shape[i] if n is None else n for i, n in enumerate(shape[: array.ndim]))
    if array.dtype.kind != kind or array.ndim != len(shape) or array.shape != wanted:
        raise ValueError(f"its array {name} is {array.dtype} of shape {array.shape}")
    if kind == NUMBERS and is_finite and not np.isfinite(array).all():
        raise ValueError(f"its array {name} holds numbers that are not finite")
    if array.size and kind in (WHOLE, NUMBERS):
        lowest, highest = np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)
        if lowest < low or highest > high:
            raise ValueError(f"its array {name} must hold {low:g} to {high:g}")
    return array


def stored_lengths(arrays: Arrays, name: str, n_parts: int | None = None) -> NDArray[np.int64]:
    """Return the lengths of arrays that are stored end to end; they must add up."""
    total = len(stored(arrays, name, arrays[name].dtype.kind, (None,), is_finite=False))
    lengths = stored(arrays, f"{name}.lengths", WHOLE, (n_parts,), low=0, high=total)
    if sum(lengths.tolist()) != total:
        raise ValueError(f"its array {name}.lengths does not add up to {total}")
    return lengths


def check_trees(
    arrays: Arrays,
    widths: Sequence[int],
    n_levels: NDArray[np.int64],
    most_leaves: int = MOST_LEAVES,
) -> NDArray[np.int64]:
    """Raise ValueError unless trees can be unpacked and asked; return how many outputs each has.

    Parameters
    ----------
    widths : sequence of int
        Cells of a row that each sum of trees is asked about.
    n_levels : array
        Levels of the cells; 0 for numbers, and for cells beyond the array.
    most_leaves : int
        Of a single tree.
    """
    n_sums = len(widths)
    nodes = _same_lengths(arrays, _NODE_PARTS, n_sums)
    singles = _same_lengths(arrays, {"output": WHOLE, "roots": WHOLE}, n_sums)
    features = _same_lengths(arrays, {"level_starts": WHOLE, "inputs": WHOLE}, n_sums)
    n_outputs = _same_lengths(arrays, {"baseline": NUMBERS}, n_sums)
    n_codes = _same_lengths(arrays, {"level_codes": NUMBERS}, n_sums)
    if not n_outputs.all():
        raise ValueError("its trees have sums without an output")
    _check_nodes(arrays, nodes, singles, features, most_leaves)
    output = arrays["trees.output"]
    if ((output < 0) | (output >= np.repeat(n_outputs, singles))).any():
        raise ValueError("its trees add to outputs that there are not")
    _check_features(arrays, features, n_codes, np.asarray(widths, dtype=np.int64), n_levels)
    return n_outputs


_NODE_PARTS = {
    "feature": WHOLE,
    "left": WHOLE,
    "right": WHOLE,
    "threshold": NUMBERS,
    "value": NUMBERS,
    "missing_left": TRUTHS,
}


def _same_lengths(arrays: Arrays, parts: dict[str, str], n_sums: int) -> NDArray[np.int64]:
    """Return the lengths that some parts of the trees share."""
    all_lengths = []
    for name, kind in parts.items():
        key = f"trees.{name}"
        array = arrays.get(key, np.empty(0))
        is_empty = len(array) == 0 and array.ndim == 1  # of no parts, the dtype is not known
        is_finite = name != "threshold"
        stored(arrays, key, array.dtype.kind if is_empty else kind, (None,), is_finite=is_finite)
        all_lengths.append(stored_lengths(arrays, key, n_sums))
    if any((lengths != all_lengths[0]).any() for lengths in all_lengths):
        raise ValueError(f"its trees differ in the lengths of {', '.join(parts)}")
    return all_lengths[0]


def _check_nodes(
    arrays: Arrays,
    nodes: NDArray[np.int64],
    singles: NDArray[np.int64],
    features: NDArray[np.int64],
    most_leaves: int,
) -> None:
    """Every tree has its nodes in one row, parents first, and every node but a root one parent."""
    n_nodes = int(nodes.sum())
    starts = np.cumsum(nodes) - nodes
    own_roots = np.asarray(arrays["trees.roots"], dtype=np.int64)
    if ((own_roots < 0) | (own_roots >= np.repeat(nodes, singles))).any():
        raise ValueError("its trees have roots that are no nodes")
    roots = own_roots + np.repeat(starts, singles)
    first = starts[nodes > 0]
    if (np.diff(roots) <= 0).any() or not np.isin(first, roots).all():
        raise ValueError("its trees do not follow each other")
    if not n_nodes:
        return
    if np.isnan(arrays["trees.threshold"]).any():
        raise ValueError("its trees have thresholds that are no numbers")
    ends = np.repeat(np.r_[roots[1:], n_nodes], np.diff(np.r_[roots, n_nodes]))
    place, own_start = np.arange(n_nodes), np.repeat(starts, nodes)
    left, right = (arrays[f"trees.{side}"].astype(np.int64) + own_start for side in _SIDES)
    is_leaf = left == place
    below = np.r_[left[~is_leaf], right[~is_leaf]]
    forward = (left > place) & (right > place) & (left < ends) & (right < ends)
    if not np.where(is_leaf, right == place, forward).all():
        raise ValueError("its trees have nodes that do not come before those below them")
    parents = np.bincount(below, minlength=n_nodes)
    parents[roots] += 1
    if (parents != 1).any():
        raise ValueError("its trees have nodes with two parents or none")
    if np.add.reduceat(is_leaf, roots, dtype=np.int64).max() > most_leaves:
        raise ValueError(f"its trees have more than {most_leaves} leaves")
    feature, most = arrays["trees.feature"], np.repeat(features, nodes)
    if ((feature < 0) | ((feature >= most) & ~is_leaf)).any():
        raise ValueError("its trees ask for features that there are not")


_SIDES = ("left", "right")


def _check_features(
    arrays: Arrays,
    features: NDArray[np.int64],
    n_codes: NDArray[np.int64],
    widths: NDArray[np.int64],
    n_levels: NDArray[np.int64],
) -> None:
    """Every feature is a cell of the row, and every level of it has its code."""
    inputs = np.asarray(arrays["trees.inputs"], dtype=np.int64)
    starts = np.asarray(arrays["trees.level_starts"], dtype=np.int64)
    if ((inputs < 0) | (inputs >= np.repeat(widths, features))).any():
        raise ValueError("its trees go by cells that there are not")
    by_cell = np.zeros(max(int(widths.max(initial=0)), len(n_levels)), dtype=np.int64)
    by_cell[: len(n_levels)] = n_levels
    n_own, most = by_cell[inputs], np.repeat(n_codes, features)
    is_wrong = np.where(n_own > 0, (starts < 0) | (starts > most - n_own), starts != -1)
    if is_wrong.any():
        raise ValueError("its trees have levels without a code")
