"""Grow boosted trees on rows with missing cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint._types import Places, Values
from diffjoint.trees.bins import Binned, edges_between, put_into_bins
from diffjoint.trees.boosted import MOST_LEAVES, Trees, as_numbers
from diffjoint.trees.parallel import one_thread, side_by_side
from diffjoint.trees.sklearn_nodes import Learner, Nodes, read_nodes

FEWEST = 20
"""A feature with fewer observed cells is left out: all of them could be in the rows held out."""
SMOOTHING = 10.0
"""Weight, in rows, of the overall mean in the number that stands for a level."""
FEW_BINS, MOST_BINS, ROWS_FOR_MOST = 64, 255, 10_000
"""Bins of a number: few up to so many rows, where more would cost time and gain little."""
MOST_HELD = 10_000
"""Rows of a fold that say whether another round of boosting helps, at most."""


@dataclass(frozen=True)
class Features:
    """What trees see of some rows. Numbers are put into bins once, whatever is learnt from them.

    Attributes
    ----------
    cells : array of shape (n_rows, n_features)
        Coded cells, NaN where missing: trees may split on that, too.
    n_levels : array of shape (n_features,)
        Number of levels of categorical features; 0 for numbers.
    inputs : int array of shape (n_features,)
        The column of each feature in a whole row.
    """

    cells: Values
    n_levels: NDArray[np.int64]
    inputs: Places

    def shown(self, rows: Places, cells: Values) -> "Features":
        """Return some rows with other cells hidden, in the same bins.

        Parameters
        ----------
        rows : int array
            A row can come several times.
        cells : array of shape (len(rows), n_features)
            What is shown of them, NaN where hidden.
        """
        hidden, known = np.isnan(cells), self._numbers
        bins = known.take(rows)
        bins[hidden & (self.n_levels == 0)] = known.n_bins - 1
        some = Features(cells, self.n_levels, self.inputs)
        some.__dict__["_numbers"] = Binned(bins, known.edges, known.n_bins)
        return some

    def grow(self, learner: Learner, target: NDArray[Any], rows: Places | None = None) -> Trees:
        """Grow the trees of a learner.

        Parameters
        ----------
        learner : estimator
            With ``max_leaf_nodes`` of at most ``MOST_LEAVES``. It is not fitted.
        target : array of shape (n_rows,)
            Numbers, truth values, or classes 0, 1, ... that all occur.
        rows : int array, optional
            The rows that the target is of; all of them if not given.
        """
        _check(learner)
        rows = np.arange(len(self.cells)) if rows is None else rows
        codes = self._level_codes(rows, _indicators(learner, target))
        compiled = _compiled()
        if compiled is not None:
            nodes = compiled.boost(learner, self._binned(codes, rows), rows, target)
        else:
            nodes = self._fitted(learner, codes, rows, target)
        return self._trees(nodes, codes)

    def grow_in_folds(
        self,
        learner: Learner,
        target: NDArray[Any],
        parts: Sequence[tuple[Places, Places]],
    ) -> tuple[Trees, ...]:
        """Grow trees on some rows each, as many as the other rows call for, the same for all parts.

        Parameters
        ----------
        learner : estimator
            As in :meth:`grow`. Its early stopping says when a round no longer helps.
        target : array of shape (n_rows,)
        parts : sequence of (int array, int array)
            Rows to learn from, and rows held out.
        """
        _check(learner)
        shown = _indicators(learner, target)
        codes = [self._level_codes(learnt, shown[learnt]) for learnt, _ in parts]
        compiled = _compiled()
        if compiled is None:
            fixed = clone(learner)
            first = self.grow(learner, target[parts[0][0]], parts[0][0])
            fixed.set_params(early_stopping=False, max_iter=max(1, first.n_rounds))
            return tuple(self.grow(fixed, target[learnt], learnt) for learnt, _ in parts)

        def start(k: int) -> Any:
            learnt, held = parts[k]
            held = held[:: -(-len(held) // MOST_HELD)] if len(held) else learnt
            return compiled.start(learner, self._binned(codes[k], learnt), learnt, held, target)

        several = list(side_by_side(start, range(len(parts)), len(target)))
        nodes = compiled.boost_together(learner, several, side_by_side, len(target))
        return tuple(self._trees(*one) for one in zip(nodes, codes, strict=True))

    def _trees(self, nodes: Nodes, codes: Values) -> Trees:
        starts = _starts(self.n_levels)
        return Trees(**nodes, level_codes=codes, level_starts=starts, inputs=self.inputs)

    @cached_property
    def _levels(self) -> NDArray[np.int64]:
        """The levels of categorical features; -1 where missing."""
        return np.where(np.isnan(self.cells), -1.0, self.cells).astype(np.int64)

    @cached_property
    def _numbers(self) -> Binned:
        """The numbers in bins; categorical features are not."""
        numbers = np.where(self.n_levels > 0, 0.0, self.cells)
        return put_into_bins(numbers, n_bins_for(len(numbers)))

    def _binned(self, codes: Values, rows: Places) -> Binned:
        """Return all rows in bins, levels by their codes.

        Features with too few observed cells in the rows to learn from are alike in all.
        """
        numbers, starts = self._numbers, _starts(self.n_levels)
        bins, edges, missing = numbers.bins.copy(order="F"), list(numbers.edges), numbers.n_bins - 1
        for feature in np.flatnonzero(self.n_levels):
            levels, start = self._levels[:, feature], starts[feature]
            own = codes[start : start + self.n_levels[feature]]
            seen = levels[rows]
            edges[feature] = edges_between(np.sort(own[seen[seen >= 0]]), missing)
            of_level = np.append(np.searchsorted(edges[feature], own), missing)
            bins[:, feature] = of_level[levels]
        too_few = (bins[rows] != missing).sum(axis=0) < FEWEST
        for feature in np.flatnonzero(too_few):
            bins[:, feature], edges[feature] = 0, np.empty(0)
        return Binned(bins, tuple(edges), numbers.n_bins)

    def _fitted(self, learner: Learner, codes: Values, rows: Places, target: NDArray[Any]) -> Nodes:
        """Return the trees that a learner grows itself."""
        numbers = as_numbers(self.cells[rows], codes, _starts(self.n_levels))
        numbers[:, (~np.isnan(numbers)).sum(axis=0) < FEWEST] = 0.0
        with one_thread():
            return read_nodes(
                learner.set_params(max_bins=n_bins_for(len(self.cells))).fit(numbers, target)
            )

    def _level_codes(self, rows: Places, indicators: Values) -> Values:
        """Return a number for each level: the smoothed mean of the target (target encoding).

        Of several indicators, it is the linear combination in which the levels differ most.
        """
        starts, codes = _starts(self.n_levels), np.zeros(int(self.n_levels.sum()))
        mean = indicators.mean(axis=0)
        for feature in np.flatnonzero(self.n_levels):
            n = self.n_levels[feature]
            levels = self._levels[rows, feature] + 1
            counts = np.bincount(levels, minlength=n + 1)[1:, None]
            sums = [np.bincount(levels, one, minlength=n + 1)[1:] for one in indicators.T]
            above = (np.column_stack(sums) + SMOOTHING * mean) / (counts + SMOOTHING) - mean
            if len(mean) > 1:
                above = above @ np.linalg.svd(np.sqrt(counts) * above, full_matrices=False)[2][:1].T
            codes[starts[feature] : starts[feature] + n] = above[:, 0]
        return codes


def grow(
    learner: Learner,
    features: Values,
    target: NDArray[Any],
    n_levels: NDArray[np.int64],
    inputs: Places,
) -> Trees:
    """Grow the trees of a learner on features; see :class:`Features`."""
    return Features(features, n_levels, inputs).grow(learner, target)


@cache
def _compiled() -> ModuleType | None:
    """Return what grows trees with scikit-learn's compiled parts; None if these are not as known.

    They are not public, so that another release may change them. Then learners grow their trees
    themselves.
    """
    numbers, rows = np.arange(8.0), np.arange(8)
    trial = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, min_samples_leaf=1)
    try:
        from diffjoint.trees import sklearn_grower  # noqa: PLC0415 - may be refused

        binned = put_into_bins(numbers[:, None], 8)
        sklearn_grower.boost(trial.set_params(early_stopping=False), binned, rows, numbers)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return sklearn_grower


def n_bins_for(n_rows: int) -> int:
    """Return how many bins to use for a number with so many rows."""
    return FEW_BINS if n_rows <= ROWS_FOR_MOST else MOST_BINS


def _check(learner: Learner) -> None:
    if learner.max_leaf_nodes is None or learner.max_leaf_nodes > MOST_LEAVES:
        raise ValueError(
            f"max_leaf_nodes must be at most {MOST_LEAVES}; got {learner.max_leaf_nodes}."
        )


def _indicators(learner: Learner, target: NDArray[Any]) -> Values:
    """Return the target as columns of numbers: itself, or one for each of more than two classes."""
    n_classes = int(target.max()) + 1 if isinstance(learner, HistGradientBoostingClassifier) else 0
    if n_classes <= 2:
        return np.asarray(target, dtype=np.float64)[:, None]
    return np.asarray(target[:, None] == np.arange(n_classes), dtype=np.float64)


def _starts(n_levels: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(n_levels > 0, n_levels.cumsum() - n_levels, -1)
