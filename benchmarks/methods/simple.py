"""What scikit-learn has: means and modes, chained regressions, nearest neighbours."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import BayesianRidge

from benchmarks.methods.base import Array, Blocks, CodedMethod, filled_with, typical

MOST_LEVELS_ONE_HOT = 12


class MeanMode(CodedMethod):
    """The mean of a number, the most frequent value of a discrete column."""

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Count."""
        discrete = [self.column_kinds[name] != "continuous" for name in self.coding.names]
        self.fill = typical(codes, np.array(discrete))

    def complete_codes(self, codes: Array) -> Array:
        """One value per column."""
        return filled_with(codes, self.fill)


class Iterative(CodedMethod):
    """scikit-learn's IterativeImputer with Bayesian ridge regressions, categories one-hot."""

    def __init__(self, column_kinds: Mapping[str, str], n_rounds: int = 3) -> None:
        super().__init__(column_kinds)
        self.n_rounds = n_rounds

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Regress every place of a block on all others, round after round, within what was seen.

        Without these bounds the regressions drive each other far out where much is missing. The
        upper one must exceed the lower one, also where only one value was seen.
        """
        self.blocks = Blocks(codes, self.coding.n_levels, MOST_LEVELS_ONE_HOT, n_left_out=1)
        wide = self.blocks.widen(codes)
        self.imputer = IterativeImputer(
            BayesianRidge(),
            max_iter=self.n_rounds,
            min_value=np.fmin.reduce(wide),
            max_value=np.nextafter(np.fmax.reduce(wide), np.inf),
            random_state=seed,
            keep_empty_features=True,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.imputer.fit(wide)

    def complete_codes(self, codes: Array) -> Array:
        """Return the regressions in their order, each block's highest place."""
        return self.blocks.narrow(self.imputer.transform(self.blocks.widen(codes)))


class ForestOnCodes(CodedMethod):
    """scikit-learn's IterativeImputer with forests that regress on integer codes.

    What is often called missForest; here for its time. Levels are the nearest code.
    """

    def __init__(
        self, column_kinds: Mapping[str, str], n_trees: int = 100, n_rounds: int = 10
    ) -> None:
        super().__init__(column_kinds)
        self.n_trees, self.n_rounds = n_trees, n_rounds

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Grow a forest per column and round."""
        self.imputer = IterativeImputer(
            RandomForestRegressor(self.n_trees, random_state=seed),
            max_iter=self.n_rounds,
            random_state=seed,
            keep_empty_features=True,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.imputer.fit(codes)

    def complete_codes(self, codes: Array) -> Array:
        """Return the forests in their order."""
        completed: Array = self.imputer.transform(codes)
        return completed


class NearestNeighbours(CodedMethod):
    """scikit-learn's KNNImputer on standardised numbers and one-hot categories."""

    def __init__(
        self, column_kinds: Mapping[str, str], n_neighbours: int = 10, n_donors: int = 10_000
    ) -> None:
        super().__init__(column_kinds)
        self.n_neighbours, self.n_donors = n_neighbours, n_donors

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Remember the rows, or some of them where there are many."""
        self.blocks = Blocks(codes, self.coding.n_levels, most_levels=10**9)
        rng: Any = np.random.default_rng(seed)
        donors = rng.permutation(len(codes))[: self.n_donors]
        self.imputer = KNNImputer(n_neighbors=self.n_neighbours, keep_empty_features=True)
        self.imputer.fit(self.blocks.widen(codes[donors]))

    def complete_codes(self, codes: Array) -> Array:
        """Return the mean of the nearest rows that have the cell; their vote for a level."""
        completed = codes.copy()
        gaps = np.isnan(codes).any(axis=1)
        if gaps.any():
            wide = self.imputer.transform(self.blocks.widen(codes[gaps]))
            completed[gaps] = self.blocks.narrow(wide)
        return completed
