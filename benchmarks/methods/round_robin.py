"""missForest, and the same loop with boosted trees.

Column after column is learnt from all others, levels by a classifier and numbers by a regressor,
and its gaps are filled with what was learnt; again, until the changes grow. New rows go through
the last round's models as many times.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from benchmarks.methods.base import Array, Bools, CodedMethod, filled_with, typical

RAREST = 20
MakeModel = Callable[[Array, bool, int], Any]
"""From the column's observed cells, whether they are levels, and a seed."""


class RoundRobin(CodedMethod):
    """Fill every column from all others, round after round.

    Parameters
    ----------
    column_kinds : dict
    make_model : callable
        A new classifier or regressor.
    n_rounds : int
        Rounds at most. As in missForest, the round before the first in which the changes of
        numbers and of levels both grow is the last.
    """

    def __init__(
        self, column_kinds: Mapping[str, str], make_model: MakeModel, n_rounds: int
    ) -> None:
        super().__init__(column_kinds)
        self.make_model, self.n_rounds = make_model, n_rounds

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Learn from the table, and what its gaps hold meanwhile."""
        is_level = self.coding.is_level
        self.fill = typical(codes, is_level)
        missing = np.isnan(codes)
        self.order = [j for j in np.argsort(missing.sum(axis=0)) if missing[:, j].any()]
        filled, last = filled_with(codes, self.fill), (np.inf, np.inf)
        self.models, self.n_done = {}, 0
        for _ in range(self.n_rounds):
            models, after = self._round(codes, filled, seed)
            change = _changes(filled, after, missing, is_level)
            if self.n_done and _grew(change, last):
                break
            self.models, filled, last = models, after, change
            self.n_done += 1

    def _round(self, codes: Array, filled: Array, seed: int) -> tuple[dict[int, Any], Array]:
        after, models = filled.copy(), {}
        for j in self.order:
            seen = ~np.isnan(codes[:, j])
            others = np.delete(after, j, axis=1)
            models[j] = self._model(j, codes[seen, j], seed).fit(others[seen], codes[seen, j])
            after[~seen, j] = models[j].predict(others[~seen])
        return models, after

    def _model(self, j: int, seen: Array, seed: int) -> Any:
        if self.coding.is_level[j] and len(np.unique(seen)) < 2:
            return DummyClassifier()
        return self.make_model(seen, bool(self.coding.is_level[j]), seed)

    def complete_codes(self, codes: Array) -> Array:
        """Return the last round's models, as many times as there were rounds."""
        filled = filled_with(codes, self.fill)
        for _ in range(self.n_done):
            for j in self.order:
                gaps = np.isnan(codes[:, j])
                if gaps.any():
                    others = np.delete(filled[gaps], j, axis=1)
                    filled[gaps, j] = self.models[j].predict(others)
        return filled


class GapsAsTheyAre(CodedMethod):
    """Each column from all others, whose gaps stay gaps: for models that take NaN.

    Parameters
    ----------
    column_kinds : dict
    make_model : callable
        A new classifier or regressor.
    """

    def __init__(self, column_kinds: Mapping[str, str], make_model: MakeModel) -> None:
        super().__init__(column_kinds)
        self.make_model = make_model

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Learn a model for every column."""
        self.models = []
        for j, is_level in enumerate(self.coding.is_level):
            seen = ~np.isnan(codes[:, j])
            column, others = codes[seen, j], np.delete(codes[seen], j, axis=1)
            # Scikit-learn cannot bin a feature of which rows kept for learning hold nothing.
            others[:, (~np.isnan(others)).sum(axis=0) < RAREST] = 0.0
            single = is_level and len(np.unique(column)) < 2
            model = DummyClassifier() if single else self.make_model(column, bool(is_level), seed)
            self.models.append(model.fit(others, column))

    def complete_codes(self, codes: Array) -> Array:
        """Return what each model says of its column's missing cells."""
        completed = codes.copy()
        for j, model in enumerate(self.models):
            gaps = np.isnan(codes[:, j])
            if gaps.any():
                completed[gaps, j] = model.predict(np.delete(codes[gaps], j, axis=1))
        return completed


def _changes(before: Array, after: Array, missing: Bools, is_level: Bools) -> tuple[float, float]:
    """How much a round changed: numbers by squares, levels by the share of their cells."""
    numbers, levels = missing & ~is_level, missing & is_level
    scale = np.square(after[numbers]).sum()
    moved = np.square(after[numbers] - before[numbers]).sum()
    return (
        float(moved / scale) if scale > 0 else 0.0,
        float((after[levels] != before[levels]).mean()) if levels.any() else 0.0,
    )


def _grew(change: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether neither kind changed less than in the round before; nothing left is an end too."""
    return all(now >= before for now, before in zip(change, last, strict=True))


def forest(n_trees: int) -> MakeModel:
    """Random forests with missForest's least leaves: one row for levels, five for numbers."""

    def make(seen: Array, classify: bool, seed: int) -> Any:
        if classify:
            return RandomForestClassifier(n_trees, random_state=seed)
        return RandomForestRegressor(
            n_trees, min_samples_leaf=5, max_features="sqrt", random_state=seed
        )

    return make


def boosted(n_trees: int) -> MakeModel:
    """Histogram gradient boosting; stopped early unless a level is too rare to be held out."""

    def make(seen: Array, classify: bool, seed: int) -> Any:
        kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
        rarest = np.unique(seen, return_counts=True)[1].min() if classify else len(seen)
        return kind(max_iter=n_trees, early_stopping=bool(rarest >= RAREST), random_state=seed)

    return make
