"""Grow boosted trees with the compiled parts of scikit-learn's boosters.

A tree of few rows takes compiled code a quarter of a millisecond, and scikit-learn's Python around
it as long again. Here there is less around it, and the trees are the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn._loss.loss import (
    BaseLoss,
    HalfBinomialLoss,
    HalfGammaLoss,
    HalfMultinomialLoss,
    HalfSquaredError,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.histogram import HistogramBuilder
from sklearn.ensemble._hist_gradient_boosting.splitting import Splitter
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from diffjoint._types import Places, Values
from diffjoint.trees.bins import Binned, Bins
from diffjoint.trees.sklearn_nodes import Learner, Nodes

DTYPES = {
    "output": np.int32,
    "roots": np.int32,
    "feature": np.int32,
    "left": np.int32,
    "right": np.int32,
    "threshold": np.float64,
    "value": np.float64,
    "missing_left": np.bool_,
}
"""The parts of :data:`Nodes` beside the baseline."""
ROUNDS_TOGETHER = 5
"""Rounds after which rows held out are asked, where several sets of trees grow side by side."""
ENOUGH_TO_CHOOSE = 16
"""Features from which on those that are chosen from are chosen once for a tree, not for each split:
then the others cost nothing."""
LEAST_HESSIAN = 1e-3
"""Sum of second derivatives in a leaf, at least."""
REGRESSIONS = {"squared_error": HalfSquaredError, "gamma": HalfGammaLoss}


def boost(learner: Learner, binned: Binned, rows: Places, target: NDArray[Any]) -> Nodes:
    """Grow the trees of a learner, as its own ``fit`` would, on cells that are in bins.

    Parameters
    ----------
    learner : estimator
        Its parameters count; it is not fitted.
    rows : int array
        The rows to learn from.
    target : array of the same length
        Numbers, truth values, or classes 0, 1, ... that all occur.
    """
    split_seed, seed = _seeds(learner)
    loss, goal = _loss_of(learner, target), np.asarray(target, dtype=np.float64)
    some = held = np.arange(len(goal))
    if learner.early_stopping:
        some, held = train_test_split(
            some,
            test_size=learner.validation_fraction,
            stratify=goal if isinstance(learner, HistGradientBoostingClassifier) else None,
            random_state=split_seed,
        )
    random = np.random.default_rng(seed)
    boosting = Boosting(learner, loss, binned, (rows[some], goal[some]), random)
    if not learner.early_stopping:
        for _ in range(learner.max_iter):
            boosting.add_round()
        return boosting.nodes()
    beside = boosting.follow(rows[held], goal[held])
    fits = [boosting.fit_of(beside)]
    for _ in range(learner.max_iter):
        boosting.add_round([beside])
        fits.append(boosting.fit_of(beside))
        before = fits[: -learner.n_iter_no_change]
        if before and max(fits[-learner.n_iter_no_change :]) <= before[-1] + learner.tol:
            break
    return boosting.nodes()


Started: TypeAlias = "tuple[Boosting, _Part]"


def start(
    learner: Learner, binned: Binned, learnt: Places, held: Places, target: NDArray[Any]
) -> Started:
    """Start to learn from some rows; others are held out.

    Parameters
    ----------
    target : array of shape (n_rows,)
        Of all rows.
    """
    goal = np.asarray(target, dtype=np.float64)
    random = np.random.default_rng(_seeds(learner)[1])
    by = (learner, _loss_of(learner, target), binned, (learnt, goal[learnt]), random)
    boosting = Boosting(*by)
    return boosting, boosting.follow(held, goal[held])


def boost_together(
    learner: Learner,
    several: Sequence[Started],
    each: Callable[..., Iterable[Started]],
    n_rows: int,
) -> list[Nodes]:
    """Grow trees side by side until rows held out say, all together, that no more of them help.

    Parameters
    ----------
    each : callable
        As :func:`diffjoint.trees.side_by_side`.
    """

    def further(one: Started) -> Started:
        for _ in range(ROUNDS_TOGETHER):
            one[0].add_round([one[1]])
        return one

    n_rounds, best, most = 0, 0, -np.inf
    while True:
        weights = [len(beside.goal) for _, beside in several]
        fits = [one.fit_of(beside) for one, beside in several]
        fit = float(np.average(fits, weights=weights))
        if fit > most + learner.tol:
            best, most = n_rounds, fit
        if n_rounds - best >= learner.n_iter_no_change or n_rounds >= learner.max_iter:
            return [one.nodes(max(1, best)) for one, _ in several]
        several, n_rounds = list(each(further, several, n_rows)), n_rounds + ROUNDS_TOGETHER


def _seeds(learner: Learner) -> list[int]:
    """Return the seeds that scikit-learn holds rows out with, and chooses features with."""
    random = check_random_state(learner.random_state)
    return [int(random.randint(np.iinfo(np.uint32).max, dtype="u8")) for _ in range(2)]


@dataclass(frozen=True)
class _Part:
    """Rows that go down the trees, which are sorted by where they are on their way.

    Attributes
    ----------
    splitter : Splitter
    order : array of shape (n_rows,)
        Rows, those of a node side by side.
    sums : array of shape (n_rows, n_outputs)
        What the trees say so far.
    goal : array of shape (n_rows,)
    """

    splitter: Any
    order: NDArray[np.uint32]
    sums: Values
    goal: Values


class Boosting:
    """Trees that are grown a round at a time.

    Parameters
    ----------
    learner : estimator
    loss : BaseLoss
    binned : Binned
    learnt : int array, array of the same length
        The rows to learn from, and what is to be learnt.
    random : Generator
        Chooses the features of a split.
    """

    def __init__(
        self,
        learner: Learner,
        loss: BaseLoss,
        binned: Binned,
        learnt: tuple[Places, Values],
        random: np.random.Generator,
    ) -> None:
        self._learner, self._loss, self._binned, self._random = learner, loss, binned, random
        rows, goal = learnt
        self._bins = binned.take(rows)
        self._chosen: NDArray[np.uint32] | None = None
        self._has_missing = (self._bins == binned.n_bins - 1).any(axis=0).astype(np.uint8)
        self._baseline = np.ravel(loss.fit_intercept_only(goal))
        self._learnt = self.follow(rows, goal)
        shape = (len(rows), len(self._baseline))
        self._gradients = np.empty(shape, dtype=np.float32, order="F")
        n_hessians = 1 if loss.constant_hessian else len(rows)
        self._hessians = np.ones((n_hessians, shape[1]), dtype=np.float32, order="F")
        self._parts: dict[str, list[Any]] = {name: [] for name in DTYPES}

    def follow(self, rows: Places, goal: Values) -> _Part:
        """Return rows that each round is to say something of as well."""
        bins = self._binned.take(rows)
        sums = np.empty((len(rows), len(self._baseline)), order="F")
        sums[:] = self._baseline
        order = np.arange(len(rows), dtype=np.uint32)
        return _Part(self._splitter(bins), order, sums, goal)

    def fit_of(self, part: _Part) -> float:
        """Return minus the loss, the mean over the rows."""
        sums = part.sums if self._loss.is_multiclass else part.sums[:, 0]
        return -float(self._loss(y_true=part.goal, raw_prediction=sums, n_threads=1))

    def nodes(self, n_rounds: int | None = None) -> Nodes:
        """Return the trees of some rounds, joined into one array for each property of a node."""
        n_trees = len(self._parts["roots"])
        kept = n_trees if n_rounds is None else n_rounds * len(self._baseline)
        n_nodes = self._parts["roots"][kept] if kept < n_trees else len(self._parts["left"])
        ends = {"output": kept, "roots": kept}
        parts: Nodes = {
            name: np.array(self._parts[name][: ends.get(name, n_nodes)], dtype)
            for name, dtype in DTYPES.items()
        }
        return {"baseline": self._baseline.astype(np.float64)} | parts

    def add_round(self, beside: Sequence[_Part] = ()) -> None:
        """Grow a tree for each output."""
        learnt, loss = self._learnt, self._loss
        gradients, hessians, sums = self._gradients, self._hessians, learnt.sums
        if not loss.is_multiclass:
            gradients, hessians, sums = gradients[:, 0], hessians[:, 0], sums[:, 0]
        given = {"y_true": learnt.goal, "raw_prediction": sums, "gradient_out": gradients}
        if loss.constant_hessian:
            loss.gradient(**given, n_threads=1)
        else:
            loss.gradient_hessian(**given, hessian_out=hessians, n_threads=1)
        for output in range(len(self._baseline)):
            self._add_tree(output, [learnt, *beside])

    def _splitter(self, bins: Bins) -> Any:
        n_features, learner = bins.shape[1], self._learner
        n_used = np.array([len(edges) + 1 for edges in self._binned.edges], dtype=np.uint32)
        return Splitter(
            bins,
            n_used,
            self._binned.n_bins - 1,
            self._has_missing,
            np.zeros(n_features, dtype=np.uint8),
            np.zeros(n_features, dtype=np.int8),
            learner.l2_regularization,
            LEAST_HESSIAN,
            learner.min_samples_leaf,
            0.0,
            self._loss.constant_hessian,
            1.0 if n_features >= ENOUGH_TO_CHOOSE else learner.max_features,
            self._random,
            1,
        )

    def _add_tree(self, output: int, parts: list[_Part]) -> None:
        """Grow a tree for one output, the most rewarding split first; add it to the sums."""
        learnt, nodes = parts[0], self._parts
        gradients, hessians = self._gradients[:, output], self._hessians[:, output]
        constant = self._loss.constant_hessian
        n_bins, n_rows = self._binned.n_bins, len(learnt.order)
        builder = HistogramBuilder(self._bins, n_bins, gradients, hessians, constant, 1)
        for part in parts:
            part.order[:] = np.arange(len(part.order))
        total = float(hessians[0]) * n_rows if constant else float(hessians.sum(dtype=np.float64))
        root = _Node(
            self._new_node(),
            [(0, len(part.order)) for part in parts],
            float(gradients.sum(dtype=np.float64)),
            total,
            0.0,
        )
        nodes["output"].append(output)
        nodes["roots"].append(root.place)
        leaves: list[_Node] = []
        waiting: list[tuple[float, int, _Node]] = []
        if n_rows >= 2 * self._learner.min_samples_leaf:
            self._choose_features()
            root.histograms = builder.compute_histograms_brute(learnt.order, self._chosen)
            self._push(root, waiting, leaves)
        else:
            leaves.append(root)
        while waiting:
            node = heappop(waiting)[2]
            children = self._split(node, parts)
            if len(leaves) + len(waiting) + 2 == self._learner.max_leaf_nodes:
                leaves += [*children, *(one for _, _, one in waiting)]
                break
            self._look_into(node, children, builder, waiting, leaves)
        self._add_leaves(output, leaves, parts)

    def _split(self, node: "_Node", parts: list[_Part]) -> tuple["_Node", "_Node"]:
        """Send the rows of a node to its children; return these."""
        split, nodes, place = node.split, self._parts, node.place
        feature, rows = split.feature_idx, node.rows
        if not self._has_missing[feature]:
            split.missing_go_to_left = split.n_samples_left > split.n_samples_right
        to_left, to_right = [], []
        for part, (start, end) in zip(parts, rows, strict=True):
            middle = start
            if end > start:
                middle += part.splitter.split_indices(split, part.order[start:end])[2]
            to_left.append((start, middle))
            to_right.append((middle, end))
        edges = self._binned.edges[feature]
        nodes["feature"][place] = feature
        nodes["threshold"][place] = edges[split.bin_idx] if split.bin_idx < len(edges) else np.inf
        nodes["missing_left"][place] = bool(split.missing_go_to_left)
        nodes["left"][place], nodes["right"][place] = self._new_node(), self._new_node()
        return (
            _Node(
                nodes["left"][place],
                to_left,
                split.sum_gradient_left,
                split.sum_hessian_left,
                split.value_left,
            ),
            _Node(
                nodes["right"][place],
                to_right,
                split.sum_gradient_right,
                split.sum_hessian_right,
                split.value_right,
            ),
        )

    def _look_into(
        self,
        node: "_Node",
        children: tuple["_Node", "_Node"],
        builder: Any,
        waiting: list[tuple[float, int, "_Node"]],
        leaves: list["_Node"],
    ) -> None:
        """Find the best split of each child; those with too few rows, or none, are leaves."""
        least = 2 * self._learner.min_samples_leaf
        if max(child.n_rows for child in children) < least:
            leaves += children
            return
        fewer, more = sorted(children, key=lambda child: child.n_rows)
        order = self._learnt.order
        fewer.histograms = builder.compute_histograms_brute(
            order[slice(*fewer.rows[0])], self._chosen
        )
        more.histograms = builder.compute_histograms_subtraction(
            node.histograms, fewer.histograms, self._chosen
        )
        for child in children:
            if child.n_rows < least:
                leaves.append(child)
            else:
                self._push(child, waiting, leaves)

    def _push(
        self, node: "_Node", waiting: list[tuple[float, int, "_Node"]], leaves: list["_Node"]
    ) -> None:
        """Queue a node by what its best split gains; it is a leaf if there is none."""
        node.split = self._learnt.splitter.find_node_split(
            node.n_rows,
            node.histograms,
            node.gradients,
            node.hessians,
            node.value,
            allowed_features=self._chosen,
        )
        if node.split.gain <= 0:
            leaves.append(node)
        else:
            heappush(waiting, (-node.split.gain, node.place, node))

    def _choose_features(self) -> None:
        """Choose the features that a tree may split on; None stands for all.

        Where there are few, each split chooses anew: a tree that sees few shows no interactions.
        """
        n_features, share = self._bins.shape[1], self._learner.max_features
        if share < 1.0 and n_features >= ENOUGH_TO_CHOOSE:
            n_chosen = max(1, int(np.ceil(share * n_features)))
            chosen = self._random.choice(n_features, n_chosen, replace=False, shuffle=False)
            self._chosen = np.sort(chosen).astype(np.uint32)

    def _add_leaves(self, output: int, leaves: list["_Node"], parts: list[_Part]) -> None:
        """Add what leaves say to the sums."""
        rate = self._learner.learning_rate
        values = self._parts["value"]
        for leaf in leaves:
            values[leaf.place] = rate * leaf.value
        for k, part in enumerate(parts):
            held = sorted((*leaf.rows[k], values[leaf.place]) for leaf in leaves)
            counts = [end - start for start, end, _ in held]
            part.sums[part.order, output] += np.repeat([value for _, _, value in held], counts)

    def _new_node(self) -> int:
        """Add a node, a leaf until it is split; return its place."""
        nodes = self._parts
        place = len(nodes["feature"])
        for name, cell in _NEW_NODE.items():
            nodes[name].append(cell)
        nodes["left"].append(place)
        nodes["right"].append(place)
        return place


_NEW_NODE = {"feature": 0, "threshold": 0.0, "value": 0.0, "missing_left": False}


@dataclass(slots=True, eq=False)
class _Node:
    """A node of a tree that grows.

    Attributes
    ----------
    place : int
        Among all nodes of all trees.
    rows : list of (int, int)
        Where its rows start and end in each part; those to learn from come first.
    gradients, hessians : float
        Their sums.
    value : float
        What it says as a leaf, before the learning rate.
    """

    place: int
    rows: list[tuple[int, int]]
    gradients: float
    hessians: float
    value: float
    histograms: Any = None
    split: Any = None

    @property
    def n_rows(self) -> int:
        """Rows to learn from."""
        start, end = self.rows[0]
        return end - start


def _loss_of(learner: Learner, target: NDArray[Any]) -> BaseLoss:
    """Return the loss that a learner has."""
    if not isinstance(learner, HistGradientBoostingClassifier):
        return REGRESSIONS[learner.loss]()
    n_classes = int(target.max()) + 1
    return HalfMultinomialLoss(n_classes=n_classes) if n_classes > 2 else HalfBinomialLoss()
