"""Learn from a table which of its missing cells are meaningful.

Two views of a missing cell: what is missing beside it and what the row holds
(:mod:`.by_missingness`), and what the row holds alone (:mod:`.by_values`). Where losses strike
cells one by one the first sees more, and is right. Where cells get lost together it is misled, and
calls rest on the second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from diffjoint._types import Mask, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.by_missingness import known_losses, learn_by_missingness
from diffjoint.evidence.by_values import learn_by_values
from diffjoint.evidence.column import at_known_rate
from diffjoint.evidence.detector import (
    Evidence,
    LearntColumn,
    marks_of,
    typical_cells,
)
from diffjoint.evidence.loss_pattern import find_loss_pattern
from diffjoint.evidence.loss_rounds import KnownRate, LossSearch
from diffjoint.evidence.search_table import LossRate, open_search
from diffjoint.evidence.unjudged import with_labels
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.state import row_keys
from diffjoint.state.rules import Answers


def fit_evidence(
    values: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    *,
    loss_rate: LossRate = None,
    known: Values | None = None,
    labelled: Mask | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
    tick: Callable[[int], object] = lambda n_folds: None,
    keys: NDArray[np.int64] | None = None,
    answers: Answers | None = None,
) -> Evidence:
    """Learn from a table which of its missing cells are meaningful.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    is_missing : bool array of the same shape
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
    keys : array of shape (n_rows,), optional
        Keys of the rows of seed 0, if they are at hand; see :func:`diffjoint.state.row_keys`.
    answers : int array of shape (n_rows, n_columns), optional
        What rules that the table follows say of every cell, see :mod:`diffjoint.state.rules`.

    Notes
    -----
    Masks can be drawn from the result once :func:`learn_in_turn` has learnt how.
    """
    keys = row_keys(values, seed=0) if keys is None else keys
    search = open_search(
        values,
        is_missing,
        n_levels,
        searched,
        keys=keys,
        seed=seed,
        loss_rate=loss_rate,
        known=known,
        labelled=labelled,
        answers=answers,
    )
    named = [names[j] if names else f"column {j}" for j in range(values.shape[1])]
    found = find_loss_pattern(search, tick)
    learn = learn_by_values if found.together else learn_by_missingness
    columns, implied, of_columns = learn(search, found.views, named, tick)
    of_table = say.of_table(is_missing, search.others, search.unjudged, named, found.reason)
    return Evidence(
        n_levels=n_levels,
        n_folds=search.table.n_folds,
        scores=search.scores,
        drivers=tuple(search.drivers),
        columns=columns,
        in_turn={},
        implied=implied,
        typical=typical_cells(values),
        seen=np.unique(marks_of(keys)),
        doubts=of_table + of_columns,
        leans_on_values=found.together,
    )


def at_loss_rate(
    evidence: Evidence,
    values: Values,
    is_missing: Mask,
    loss_rate: Mapping[int, float],
    folds: NDArray[np.int64],
    looked_up: Values,
) -> Evidence:
    """Return what :func:`fit_evidence` would say of the table, given these loss rates.

    The trees are those learnt already. Masks cannot be drawn from the result.

    Parameters
    ----------
    loss_rate : mapping
        By position, for every searched column.
    folds : int array of shape (n_rows,)
        As :meth:`Evidence.judging_folds` of the whole table gives them.
    looked_up : array of shape (n_rows, n_columns)
        1 or 0 for cells that were looked up one by one, NaN elsewhere.
    """
    scores, drivers = evidence.scores.of(values), list(evidence.drivers)
    others = np.array([j for j in range(values.shape[1]) if j not in evidence.columns], np.int64)
    examples, steepest = known_losses(scores, is_missing, others, drivers)
    columns: dict[int, LearntColumn] = {}
    for j, learnt in evidence.columns.items():
        if isinstance(learnt, ValuesEvidence):
            rate = float(np.clip(loss_rate[j], 1e-9, 1 - 1e-9))
            columns[j] = learnt.at_loss_logit(float(logit(rate)))
            continue  # labels corrected it already: their slope and shift stay
        known = KnownRate(loss_rate[j], is_given=True, steepest=steepest)
        loss_search = LossSearch([d for d in drivers if d != j], known, examples)
        moved = at_known_rate(learnt, values, is_missing[:, j], folds, scores, loss_search)
        judged = moved.judge(values, folds, scores)
        corrected = with_labels(moved, judged, is_missing[:, j], looked_up[:, j])
        columns[j] = replace(corrected, rule=learnt.rule)
    return replace(evidence, columns=columns, in_turn={})
