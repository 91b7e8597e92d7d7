"""Learn from a table which of its missing cells are meaningful.

Two views of a missing cell: what is missing beside it and what the row holds (:mod:`.by_gaps`), and
what the row holds alone (:mod:`.by_values`). Where losses strike cells one by one the first sees
more, and is right. Where cells get lost together it is misled, and calls rest on the second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from diffjoint._types import Mask, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.by_gaps import known_losses, learn_by_gaps
from diffjoint.evidence.by_values import learn_by_values
from diffjoint.evidence.column import (
    Level,
    Sought,
    at_level,
)
from diffjoint.evidence.detector import (
    Evidence,
    LearntColumn,
    folds_of,
    marks_of,
    n_folds_for,
    typical_cells,
)
from diffjoint.evidence.loss_pattern import find_loss_pattern
from diffjoint.evidence.losses import find_drivers
from diffjoint.evidence.search_table import Search, SearchTable
from diffjoint.evidence.unjudged import with_labels
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.trees import open_screen

LossRate = float | Mapping[int, float] | None


def fit_evidence(
    values: Values,
    gaps: Mask,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    *,
    loss_rate: LossRate = None,
    known: Values | None = None,
    labelled: Mask | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
    tick: Callable[[int], object] = lambda n_folds: None,
) -> Evidence:
    """Learn from a table which of its missing cells are meaningful.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    gaps : bool array of the same shape
        Missing cells.
    n_levels : array of shape (n_columns,)
    searched : iterable of int
    loss_rate : float or mapping, optional
        P(lost) of regular cells, for all searched columns or by position; estimated if None.
    known : array of shape (n_rows, n_columns), optional
        1 for cells known to be meaningful, 0 for known to be lost, NaN elsewhere.
    labelled : bool array of shape (n_rows, n_columns), optional
        Known cells that were looked up one by one: they may correct what is said of others.
    names : sequence of str
        What to call the columns in doubts; their positions if not given.
    tick : callable
        Called with the number of folds when a searched column has been learnt.

    Notes
    -----
    Masks can be drawn from the result once :func:`learn_in_turn` has learnt how.
    """
    searched = sorted(searched)
    others = np.array([j for j in range(values.shape[1]) if j not in searched], dtype=np.int64)
    drivers, scores = find_drivers(values, n_levels, others, seed)
    n_folds = n_folds_for(len(values))
    known = np.full(values.shape, np.nan) if known is None else known
    looked_up = np.where(labelled, known, np.nan) if labelled is not None else known * np.nan
    folds, scored = folds_of(values, n_folds), scores.of(values)
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(searched, loss_rate)
    screen = open_screen(values, n_levels)
    table = SearchTable(
        values, gaps, n_levels, n_folds, folds, scored, known, looked_up, seed, screen
    )
    search = Search(
        table, searched, others, drivers, {j: r for j, r in given.items() if r is not None}
    )
    named = [names[j] if names else f"column {j}" for j in range(values.shape[1])]
    found = find_loss_pattern(search, tick)
    learn = learn_by_values if found.together else learn_by_gaps
    columns, implied, doubts = learn(search, found.views, named, tick)
    return Evidence(
        n_levels,
        n_folds,
        scores,
        tuple(drivers),
        columns,
        {},
        implied,
        typical_cells(values),
        np.unique(marks_of(values)),
        say.of_table(gaps, others, search.unjudged, named, found.reason) + doubts,
        found.together,
    )


def at_loss_rate(
    evidence: Evidence,
    values: Values,
    gaps: Mask,
    loss_rate: Mapping[int, float],
    folds: NDArray[np.int64],
    looked_up: Values,
) -> Evidence:
    """What :func:`fit_evidence` would say of the table if these loss rates were given to it.

    The trees are those learnt already. Masks cannot be drawn from the result.

    Parameters
    ----------
    loss_rate : mapping
        By position, for every searched column.
    folds : int array of shape (n_rows,)
        As :meth:`Evidence.judges` of the whole table gives them.
    looked_up : array of shape (n_rows, n_columns)
        1 or 0 for cells that were looked up one by one, NaN elsewhere.
    """
    scores, drivers = evidence.scores.of(values), list(evidence.drivers)
    others = np.array([j for j in range(values.shape[1]) if j not in evidence.columns], np.int64)
    examples, steepest = known_losses(scores, gaps, others, drivers)
    columns: dict[int, LearntColumn] = {}
    for j, learnt in evidence.columns.items():
        if isinstance(learnt, ValuesEvidence):
            rate = float(np.clip(loss_rate[j], 1e-9, 1 - 1e-9))
            columns[j] = learnt.at_loss_logit(float(logit(rate)))
            continue  # labels corrected it already: their slope and shift stay
        level = Level(loss_rate[j], is_given=True, steepest=steepest)
        sought = Sought([d for d in drivers if d != j], level, examples)
        moved = at_level(learnt, values, gaps[:, j], folds, scores, sought)
        judged = moved.judge(values, folds, scores)
        columns[j] = with_labels(moved, judged, gaps[:, j], looked_up[:, j])
    return replace(evidence, columns=columns, in_turn={})
