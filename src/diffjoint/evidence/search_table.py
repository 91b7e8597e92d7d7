"""Hold a table whose missing cells are to be told apart, and what is searched for in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.column import ColumnEvidence, ColumnTask, fit_column
from diffjoint.evidence.detector import folds_of, n_folds_for
from diffjoint.evidence.loss_rounds import LossSearch
from diffjoint.evidence.losses import Scores, find_drivers
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.values_view import View, learn_view
from diffjoint.state.rules import Answers
from diffjoint.trees import Screen, open_screen

LossRate = float | Mapping[int, float] | None
"""P(lost) of regular cells: of all searched columns, or by position; None: to be estimated."""


@dataclass(frozen=True)
class SearchTable:
    """What columns are learnt from.

    Attributes
    ----------
    values, is_missing, n_levels, known, seed
        As :func:`fit_evidence` is given them.
    n_folds, folds : int, and int array of shape (n_rows,)
    scores : array of shape (n_rows, n_columns)
        What the loss of cells may depend on.
    looked_up : array of shape (n_rows, n_columns)
        ``known`` where it may correct what is said of other cells, NaN elsewhere.
    answers : int array of shape (n_rows, n_columns), optional
        What rules that the table follows say of every cell.
    """

    values: Values
    is_missing: Mask
    n_levels: NDArray[np.int64]
    n_folds: int
    folds: NDArray[np.int64]
    scores: Values
    known: Values
    looked_up: Values
    seed: int
    screen: Screen
    answers: Answers | None = None

    def inputs(self, j: int, *, by_missingness: bool = True) -> Places:
        """Return the columns that tell where one is missing: by values, and by missingness."""
        return self.screen.inputs_for_missingness(j, by_missingness=by_missingness)

    def answers_to(self, j: int) -> Answers | None:
        """Return what the rules say of a column's cells; None if there are none."""
        return None if self.answers is None else self.answers[:, j]

    def view(self, j: int) -> View:
        """Learn the values view of a column."""
        inputs = self.inputs(j, by_missingness=False)
        return learn_view(
            self.values, self.n_levels, self.is_missing[:, j], inputs, self.folds, self.seed
        )

    def column(
        self, j: int, folds: NDArray[np.int64], n_folds: int, loss_search: LossSearch
    ) -> ColumnEvidence:
        """Learn a column by values and missingness together."""
        is_missing = self.is_missing[:, j]
        task = ColumnTask(self.values, self.n_levels, is_missing, self.inputs(j), folds)
        return fit_column(task, n_folds, self.scores, loss_search, self.seed)


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
    scores : Scores
        How they depend on them.
    given : mapping
        Loss rates that the user has given, by position.
    """

    table: SearchTable
    searched: list[int]
    others: NDArray[np.int64]
    drivers: list[int]
    scores: Scores
    given: Mapping[int, float]

    @property
    def judged(self) -> list[int]:
        """Searched columns with enough missing and observed cells to learn from."""
        return [j for j in self.searched if j not in self.unjudged]

    @property
    def unjudged(self) -> list[int]:
        """Searched columns with too few missing or observed cells."""
        n_missing = self.table.is_missing.sum(axis=0)
        fewest = np.minimum(n_missing, len(self.table.is_missing) - n_missing)
        return [j for j in self.searched if fewest[j] < FEWEST]


def open_search(
    values: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    *,
    keys: NDArray[np.int64],
    seed: int,
    loss_rate: LossRate = None,
    known: Values | None = None,
    labelled: Mask | None = None,
    answers: Answers | None = None,
) -> Search:
    """Find what losses depend on, and prepare a table to be searched.

    Parameters
    ----------
    values, is_missing, n_levels, searched, keys, seed, loss_rate, known, labelled, answers
        As in :func:`fit_evidence`.
    """
    searched = sorted(searched)
    others = np.array([j for j in range(values.shape[1]) if j not in searched], dtype=np.int64)
    drivers, scores = find_drivers(values, n_levels, others, seed)
    n_folds, unknown = n_folds_for(len(values)), np.full(values.shape, np.nan)
    known = unknown if known is None else known
    table = SearchTable(
        values=values,
        is_missing=is_missing,
        n_levels=n_levels,
        n_folds=n_folds,
        folds=folds_of(keys, n_folds),
        scores=scores.of(values),
        known=known,
        looked_up=unknown if labelled is None else np.where(labelled, known, np.nan),
        seed=seed,
        screen=open_screen(values, n_levels),
        answers=answers,
    )
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(searched, loss_rate)
    rates = {j: rate for j, rate in given.items() if rate is not None}
    return Search(table, searched, others, drivers, scores, rates)
