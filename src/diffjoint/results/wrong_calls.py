"""How many calls would be wrong, told by the table alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.detectors import EvidenceBelief
from diffjoint.results.verdict import FEWEST_CELLS
from diffjoint.state import JointSpace, Observation

TOGETHER = (
    "Lost cells kept by mistake: observed cells were shown as if they had been lost together with "
    "the cells that go missing with them. Where few lost cells are recognised, it is hard to see "
    "what goes missing with them, and the true share may be higher."
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
        The fold that judges each row as it stands.

    Returns
    -------
    DataFrame
        A row per searched column, as in :attr:`SelfCheck.wrong_calls`.
    """
    likely = belief.probability(observation, folds)
    records = []
    for j in space.mm:
        shown = _judged_as_lost(observation, belief, folds, likely[:, j], j, rng)
        called = likely[observation.candidates[:, j], j]
        records.append(_record(space.schema.modelled[j].name, called, shown, threshold))
    return pd.DataFrame.from_records(records)


def _record(name: str, likely: Values, shown: Values, threshold: float) -> dict[str, Any]:
    """One column: P(meaningful) of its missing cells, and of observed ones shown as lost."""
    wrong = np.where(likely > threshold, 1 - likely, likely)
    false_calls = float((shown > threshold).mean()) if len(shown) else np.nan
    return {
        "column": name,
        "n_missing": len(likely),
        "expected_wrong": float(wrong.mean()) if len(likely) else np.nan,
        "n_shown": len(shown),
        "false_calls": false_calls,
        "n_lost": _lost_cells(len(likely), int((likely <= threshold).sum()), false_calls),
    }


def _lost_cells(n_missing: int, n_called_lost: int, false_calls: float) -> float:
    """Lost cells there must have been, for so many to be called lost despite the false calls.

    The calls alone would count no lost cell where all of them are kept by mistake.
    """
    if np.isnan(false_calls) or false_calls >= 1:
        return float(n_missing)
    return min(float(n_missing), max(n_called_lost, 1) / (1 - false_calls))


def _judged_as_lost(
    observation: Observation,
    belief: EvidenceBelief,
    folds: NDArray[np.int64],
    likely: Values,
    column: int,
    rng: np.random.Generator,
) -> Values:
    """P(meaningful) of a column's observed cells, had they been lost.

    Each row is shown with cells hidden that go missing with the lost cells of the column.
    """
    gaps = ~observation.observed
    rows = np.flatnonzero(~gaps[:, column])
    hidden = gone_together(gaps, likely, column, rng)
    values = np.where(hidden, np.nan, observation.values[rows])
    values[:, column] = np.nan
    asked = np.zeros(values.shape, dtype=bool)
    asked[:, column] = True
    shown = replace(observation.take(rows), values=values, candidates=asked)
    judged: Values = belief.probability(shown, folds[rows])[:, column]
    return judged


def gone_together(gaps: Mask, likely: Values, column: int, rng: np.random.Generator) -> Mask:
    """Cells to hide in the rows in which a column is observed, as if its cell had been lost.

    Each row takes the gaps of a row in which the column is missing, chosen by the probability that
    it was lost there. A row has gaps of its own, so that each column's are thinned out until it is
    missing as often as beside lost cells: where losses are independent, hardly any are left.

    Parameters
    ----------
    gaps : bool array of shape (n_rows, n_columns)
        Missing cells.
    likely : array of shape (n_rows,)
        P(meaningful) of the column's missing cells.

    Returns
    -------
    bool array of shape (n_observed, n_columns)
    """
    rows, donors = np.flatnonzero(~gaps[:, column]), np.flatnonzero(gaps[:, column])
    if not len(rows) or not len(donors):
        return np.zeros((len(rows), gaps.shape[1]), dtype=bool)
    weight = 1 - likely[donors]
    if weight.sum() < FEWEST_CELLS:  # hardly any seems lost: go by all that are missing
        weight = np.ones(len(donors))
    weight = weight / weight.sum()
    beside_lost, here = weight @ gaps[donors], gaps[rows].mean(axis=0)
    more = np.maximum(beside_lost - here, 0.0)
    thinned = more / np.maximum((1 - here) * beside_lost, np.finfo(float).tiny)
    taken = gaps[rng.choice(donors, len(rows), p=weight)]
    hidden: Mask = taken & (rng.random((len(rows), 1)) < thinned)
    return hidden
