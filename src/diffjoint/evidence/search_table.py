"""A table whose missing cells are to be told apart, and what is searched for in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.column import (
    ColumnEvidence,
    Sought,
    fit_column,
)
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.values_view import View, learn_view
from diffjoint.trees import Screen


@dataclass(frozen=True)
class SearchTable:
    """What columns are learnt from.

    Attributes
    ----------
    values, gaps, n_levels, known, seed
        As :func:`fit_evidence` is given them.
    n_folds, folds : int, and int array of shape (n_rows,)
    scores : array of shape (n_rows, n_columns)
        What the loss of cells may depend on.
    looked_up : array of shape (n_rows, n_columns)
        ``known`` where it may correct what is said of other cells, NaN elsewhere.
    """

    values: Values
    gaps: Mask
    n_levels: NDArray[np.int64]
    n_folds: int
    folds: NDArray[np.int64]
    scores: Values
    known: Values
    looked_up: Values
    seed: int
    screen: Screen

    def inputs(self, j: int, *, gaps: bool = True) -> Places:
        """Columns that say something about who is missing in one: by values, and by gaps."""
        return self.screen.inputs_for_missingness(j, by_missingness=gaps)

    def view(self, j: int) -> View:
        """The values view of a column."""
        inputs = self.inputs(j, gaps=False)
        return learn_view(
            self.values, self.n_levels, self.gaps[:, j], inputs, self.folds, self.seed
        )

    def column(
        self, j: int, folds: NDArray[np.int64], n_folds: int, sought: Sought
    ) -> ColumnEvidence:
        """A column by values and gaps together."""
        by = (self.inputs(j), folds, n_folds, self.scores, sought, self.seed)
        return fit_column(self.values, self.n_levels, self.gaps[:, j], *by)


@dataclass(frozen=True)
class Search:
    """What is searched for, and what is known of losses.

    Attributes
    ----------
    searched : list of int
    others : int array
        Columns that cannot be meaningful.
    drivers : list of int
        Columns that losses depend on.
    given : mapping
        Loss rates that the user has given, by position.
    """

    table: SearchTable
    searched: list[int]
    others: NDArray[np.int64]
    drivers: list[int]
    given: Mapping[int, float]

    @property
    def judged(self) -> list[int]:
        """Searched columns with enough missing and observed cells to learn from."""
        return [j for j in self.searched if j not in self.unjudged]

    @property
    def unjudged(self) -> list[int]:
        """Searched columns with too few missing or observed cells."""
        n_missing = self.table.gaps.sum(axis=0)
        fewest = np.minimum(n_missing, len(self.table.gaps) - n_missing)
        return [j for j in self.searched if fewest[j] < FEWEST]
