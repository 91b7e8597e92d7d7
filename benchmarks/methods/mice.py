"""miceforest: chained LightGBM models, the likeliest value instead of a draw."""

import importlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.methods.base import Array, CodedMethod, filled_with, typical


class MiceForest(CodedMethod):
    """The package miceforest, without mean matching, so that it gives point estimates."""

    def __init__(
        self, column_kinds: Mapping[str, str], n_rounds: int = 5, n_trees: int = 50
    ) -> None:
        super().__init__(column_kinds)
        self.n_rounds, self.n_trees = n_rounds, n_trees

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Learn a model for every column, so that new rows may miss any."""
        self.fill = typical(codes, self.coding.is_level)
        self.seed = seed
        # The package has no model for a column of one value.
        self.varied = np.flatnonzero(np.fmin.reduce(codes) < np.fmax.reduce(codes))
        package = importlib.import_module("miceforest")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.kernel: Any = package.ImputationKernel(
                self._frame(codes),
                mean_match_candidates=0,
                save_all_iterations_data=True,
                random_state=seed,
            )
            self.kernel.mice(
                self.n_rounds, verbose=False, num_iterations=self.n_trees, num_threads=1
            )

    def complete_codes(self, codes: Array) -> Array:
        """Apply the last round's models in turn to other rows; mean or mode where there is none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = self.kernel.impute_new_data(self._frame(codes), random_state=self.seed)
            table = made.complete_data(dataset=0, iteration=self.n_rounds)
        completed = codes.copy()
        completed[:, self.varied] = table.astype(float).to_numpy()
        return filled_with(completed, self.fill)

    def _frame(self, codes: Array) -> pd.DataFrame:
        columns: dict[str, Any] = {}
        for j in self.varied:
            n_levels, column = self.coding.n_levels[j], pd.Series(codes[:, j])
            columns[f"c{j}"] = (
                pd.Categorical(column.astype("Int64"), range(n_levels)) if n_levels else column
            )
        return pd.DataFrame(columns)
