"""Estimate from the table alone how many calls are wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.detectors import EvidenceBelief
from diffjoint.results.verdict import FEWEST_CELLS
from diffjoint.state import JointSpace, Observation

HOW_ESTIMATED = (
    "Lost cells kept by mistake are estimated with observed cells: these were judged as if they "
    "had been lost together with the cells that go missing with them. Where few lost cells are "
    "recognised, it is hard to see what goes missing with them, and the true share may be higher."
)


def find_wrong_calls(
    observation: Observation,
    space: JointSpace,
    belief: EvidenceBelief,
    folds: NDArray[np.int64],
    threshold: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Estimate the share of wrong calls of each searched column.

    Parameters
    ----------
    folds : int array of shape (n_rows,)
        Fold whose model judges each row.

    Returns
    -------
    DataFrame
        One row per searched column, as in :attr:`SelfCheck.wrong_calls`.
    """
    likely = belief.probability(observation, folds)
    records = []
    for j in space.mm:
        as_lost = _judge_as_lost(observation, belief, folds, likely[:, j], j, rng)
        called = likely[observation.candidates[:, j], j]
        records.append(_record(space.schema.modelled[j].name, called, as_lost, threshold))
    return pd.DataFrame.from_records(records)


def _record(name: str, likely: Values, as_lost: Values, threshold: float) -> dict[str, Any]:
    """Count wrong calls of a column from P(meaningful) of missing, and of as if lost, cells."""
    wrong = np.where(likely > threshold, 1 - likely, likely)
    false_calls = float((as_lost > threshold).mean()) if len(as_lost) else np.nan
    return {
        "column": name,
        "n_missing": len(likely),
        "expected_wrong": float(wrong.mean()) if len(likely) else np.nan,
        "n_shown": len(as_lost),
        "false_calls": false_calls,
        "n_lost": estimate_lost(len(likely), int((likely <= threshold).sum()), false_calls),
    }


def estimate_lost(n_missing: int, n_called_lost: int, false_calls: float) -> float:
    """Estimate the number of lost cells from those called lost and the share that is missed.

    Counting the calls alone would find no lost cell where all of them are kept by mistake.
    """
    if np.isnan(false_calls) or false_calls >= 1:
        return float(n_missing)
    return min(float(n_missing), max(n_called_lost, 1) / (1 - false_calls))


def _judge_as_lost(
    observation: Observation,
    belief: EvidenceBelief,
    folds: NDArray[np.int64],
    likely: Values,
    column: int,
    rng: np.random.Generator,
) -> Values:
    """Return P(meaningful) of a column's observed cells as if they had been lost.

    In each row, cells that go missing together with lost cells of the column are hidden as well.
    """
    is_missing = ~observation.observed
    rows = np.flatnonzero(~is_missing[:, column])
    hidden = draw_lost_together(is_missing, likely, column, rng)
    values = np.where(hidden, np.nan, observation.values[rows])
    values[:, column] = np.nan
    candidates = np.zeros(values.shape, dtype=bool)
    candidates[:, column] = True
    as_lost = replace(observation.take(rows), values=values, candidates=candidates)
    probability: Values = belief.probability(as_lost, folds[rows])[:, column]
    return probability


def draw_lost_together(
    is_missing: Mask, likely: Values, column: int, rng: np.random.Generator
) -> Mask:
    """Draw the cells that would be missing too if a column's observed cells had been lost.

    Each row takes the missing cells of a donor: a row in which the column is missing, drawn with
    the probability that it was lost there. As rows already have missing cells of their own, those
    of the donor are thinned out until each column is missing as often as it is beside lost cells.
    Where losses are independent, hardly any are left.

    Parameters
    ----------
    is_missing : bool array of shape (n_rows, n_columns)
        Missing cells.
    likely : array of shape (n_rows,)
        P(meaningful) of the column's missing cells.

    Returns
    -------
    bool array of shape (n_observed, n_columns)
    """
    rows, donors = np.flatnonzero(~is_missing[:, column]), np.flatnonzero(is_missing[:, column])
    if not len(rows) or not len(donors):
        return np.zeros((len(rows), is_missing.shape[1]), dtype=bool)
    weight = 1 - likely[donors]
    if weight.sum() < FEWEST_CELLS:  # hardly any cell seems lost: draw from all missing ones
        weight = np.ones(len(donors))
    weight = weight / weight.sum()
    beside_lost, here = weight @ is_missing[donors], is_missing[rows].mean(axis=0)
    more = np.maximum(beside_lost - here, 0.0)
    thinned = more / np.maximum((1 - here) * beside_lost, np.finfo(float).tiny)
    taken = is_missing[rng.choice(donors, len(rows), p=weight)]
    hidden: Mask = taken & (rng.random((len(rows), 1)) < thinned)
    return hidden
