"""Learn searched columns again in turn, so that masks drawn from them agree with each other."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.column import ColumnEvidence, ColumnTask, fit_column
from diffjoint.evidence.detector import (
    FEW_FOLDS,
    Evidence,
    LearntColumn,
    n_folds_in_turn,
)
from diffjoint.evidence.implied import keep_to
from diffjoint.evidence.search_table import SearchTable
from diffjoint.evidence.unjudged import with_labels
from diffjoint.state import row_keys
from diffjoint.state.rules import Answers
from diffjoint.trees import open_screen


def learn_in_turn(
    evidence: Evidence,
    values: Values,
    is_missing: Mask,
    uniform: Values,
    *,
    known: Values,
    labelled: Mask,
    seed: int,
    tick: Callable[[int], object] = lambda n_folds: None,
    keys: NDArray[np.int64] | None = None,
    answers: Answers | None = None,
) -> Evidence:
    """Learn each searched column again, beside a drawn mask of those before it.

    Masks are drawn from the result column by column, so that cells of a row agree with each other.
    Where calls rest on values there is nothing to learn: one random number decides on a row.

    Parameters
    ----------
    evidence : Evidence
        As :func:`fit_evidence` learnt it from the same table.
    uniform : array of shape (n_rows, n_columns)
        Random numbers for the masks that later columns are learnt beside.
    values, is_missing, known, labelled, seed, tick, keys, answers
        As in :func:`fit_evidence`.
    """
    if evidence.leans_on_values:
        tick(n_folds_in_turn(len(evidence.columns)))
        return evidence
    looked_up = np.where(labelled, known, np.nan)
    keys = row_keys(values, seed=0) if keys is None else keys
    folds, scored = evidence.folds(keys), evidence.scores.of(values)
    by = (evidence.n_levels, evidence.n_folds, folds, scored, known, looked_up, seed)
    screen = open_screen(values, evidence.n_levels)
    table = SearchTable(values, is_missing, *by, screen, answers)
    return _with_turns(evidence, table, uniform, tick)


def _with_turns(
    evidence: Evidence, table: SearchTable, uniform: Values, tick: Callable[[int], object]
) -> Evidence:
    """Learn each searched column again, beside a drawn mask of those before it."""
    values, is_missing, known = table.values, table.is_missing, table.known
    unknown = (
        is_missing & np.isin(np.arange(values.shape[1]), list(evidence.columns)) & np.isnan(known)
    )
    meaningful, decided = is_missing & (known == 1), ~unknown
    in_turn: dict[int, LearntColumn] = {}
    for j, alone in evidence.columns.items():
        before = list(in_turn)
        rows = np.hstack([values, meaningful[:, before].astype(float)])
        in_turn[j] = alone
        if before and isinstance(alone, ColumnEvidence):
            task = ColumnTask(
                rows,
                np.concatenate([table.n_levels, np.zeros(len(before), np.int64)]),
                is_missing[:, j],
                _with_masks(table.inputs(j), before, values.shape[1]),
                table.folds,
            )
            beside = fit_column(task, FEW_FOLDS, table.scores, alone.loss, table.seed)
            beside = replace(beside, rule=alone.rule)
            judged = beside.judge(rows, table.folds, table.scores)
            in_turn[j] = with_labels(beside, judged, is_missing[:, j], table.looked_up[:, j])
        if before:
            tick(FEW_FOLDS)
        answers = table.answers_to(j)
        likely = in_turn[j].judge(rows, table.folds, table.scores, answers).probability
        drawn = keep_to(evidence.implied, j, uniform[:, j] < likely, meaningful[None], decided)[0]
        meaningful[:, j] = np.where(unknown[:, j], drawn, meaningful[:, j])
        decided[:, j] = True
    return replace(evidence, in_turn=in_turn)


def _with_masks(inputs: Places, before: list[int], n_columns: int) -> Places:
    """Join a column's inputs and which cells are meaningful of those that came before it.

    A row is followed by the masks of all columns before.
    """
    drawn = n_columns + np.flatnonzero(np.isin(before, inputs))
    return np.concatenate([inputs, drawn])
