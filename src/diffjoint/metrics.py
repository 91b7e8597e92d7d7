"""Scores of calls and imputed values where the truth is known.

Functions that take a ``world`` score its own rows: pass ``world.test`` to score the test rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    f1_score,
    mean_absolute_error,
    precision_recall_fscore_support,
    roc_auc_score,
    root_mean_squared_error,
)

from diffjoint.simulate import World

N_CALIBRATION_BINS = 10
N_OF_EACH_KIND = 10
"""Smallest number of lost and of meaningful cells that a column must have for an AUC."""
_CALL_MEASURES = ("precision", "recall", "f1")
_PROBABILITY_MEASURES = ("auc", "brier", "calibration_error")


def mm_scores(
    world: World,
    meaningful: pd.DataFrame,
    probability: pd.DataFrame | None = None,
    columns: Sequence[str] | None = None,
) -> dict[str, float]:
    """Score how well meaningful cells are told from lost ones.

    Missing cells of the world's ``mm_columns`` count, except those whose kind is unknown.

    Parameters
    ----------
    world : World
    meaningful : bool DataFrame
        Calls.
    probability : DataFrame, optional
        P(meaningful) of each cell, for AUC, Brier score and calibration error.
    columns : sequence of str, optional
        Some of the ``mm_columns``; by default all of them, pooled.

    Returns
    -------
    dict
        precision, recall, f1; with ``probability`` also auc, brier, calibration_error. AUC is NaN
        if all missing cells are of one kind, and all scores are NaN if no cell is missing.

    Examples
    --------
    >>> from diffjoint.simulate import bayesian_network
    >>> world = bayesian_network(100, 100)
    >>> everything = world.observed_table.isna()
    >>> mm_scores(world, everything)["recall"]
    1.0
    """
    chosen = list(world.mm_columns if columns is None else columns)
    missing = (world.meaningful | world.lost)[chosen].to_numpy()
    truly = world.meaningful[chosen].to_numpy()[missing]
    called = np.asarray(meaningful[chosen], dtype=bool)[missing]
    if len(truly) == 0:
        names = _CALL_MEASURES if probability is None else _CALL_MEASURES + _PROBABILITY_MEASURES
        return dict.fromkeys(names, float("nan"))
    found = precision_recall_fscore_support(truly, called, average="binary", zero_division=0.0)
    scores = dict(zip(_CALL_MEASURES, map(float, found[:3]), strict=True))
    if probability is None:
        return scores
    likely = np.asarray(probability[chosen], dtype=float)[missing]
    both_kinds = 0 < truly.sum() < len(truly)
    return {
        **scores,
        "auc": float(roc_auc_score(truly, likely)) if both_kinds else float("nan"),
        "brier": float(brier_score_loss(truly, likely, pos_label=True)),
        "calibration_error": calibration_error(truly, likely),
    }


def mm_scores_by_column(
    world: World, meaningful: pd.DataFrame, probability: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return :func:`mm_scores` by column, with a last row ``pooled`` for all columns together.

    Examples
    --------
    >>> from diffjoint.simulate import bayesian_network
    >>> world = bayesian_network(100, 100)
    >>> mm_scores_by_column(world, world.meaningful)["f1"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    rows = {name: mm_scores(world, meaningful, probability, [name]) for name in world.mm_columns}
    rows["pooled"] = mm_scores(world, meaningful, probability)
    return pd.DataFrame.from_dict(rows, orient="index")


def lost_scores(
    world: World, meaningful: pd.DataFrame, probability: pd.DataFrame
) -> dict[str, float]:
    """Score how well lost cells are recognised where they are much rarer than meaningful ones.

    The scores of :func:`mm_scores` are for the meaningful cells, and hardly change if all of the
    few lost cells are called meaningful. Missing cells of the world's ``mm_columns`` count, except
    those whose kind is unknown.

    Parameters
    ----------
    world : World
        Usually the test rows, ``world.test``.
    meaningful : bool DataFrame
        Calls.
    probability : DataFrame
        P(meaningful) of each cell.

    Returns
    -------
    dict
        - lost_found: share of the lost cells that are called lost
        - lost_precision: share of the cells called lost that are lost
        - meaningful_recall: share of the meaningful cells that are called meaningful
        - mean_column_auc: AUC of P(meaningful), averaged over columns with at least 10 lost and
          10 meaningful cells
        - n_columns_scored: number of these columns

        Scores are NaN where there is no cell or no column to score.

    Examples
    --------
    If nothing is called meaningful, all lost cells are found:

    >>> from diffjoint.simulate import bayesian_network
    >>> world = bayesian_network(100, 100)
    >>> nothing = world.meaningful & False
    >>> scores = lost_scores(world, nothing, nothing.astype(float))
    >>> scores["lost_found"], scores["meaningful_recall"], scores["mean_column_auc"]
    (1.0, 0.0, 0.5)
    """
    columns = world.mm_columns
    missing = (world.meaningful | world.lost)[columns].to_numpy()
    truly = world.meaningful[columns].to_numpy()
    called = np.asarray(meaningful[columns], dtype=bool)
    likely = np.asarray(probability[columns], dtype=float)
    areas = [
        roc_auc_score(truly[at, j], likely[at, j])
        for j, at in enumerate(missing.T)
        if min(truly[at, j].sum(), (~truly[at, j]).sum()) >= N_OF_EACH_KIND
    ]
    truly, called = truly[missing], called[missing]
    return {
        "lost_found": _mean(~called[~truly]),
        "lost_precision": _mean(~truly[~called]),
        "meaningful_recall": _mean(called[truly]),
        "mean_column_auc": _mean(np.array(areas)),
        "n_columns_scored": len(areas),
    }


def calibration_error(
    truly: ArrayLike, probability: ArrayLike, n_bins: int = N_CALIBRATION_BINS
) -> float:
    """Return the expected calibration error over bins of equal width.

    It is the mean difference between the predicted probability and the observed share in a bin,
    weighted by the number of cells.

    Examples
    --------
    >>> calibration_error([True, False, True, True], [0.75, 0.75, 0.75, 0.75])
    0.0
    """
    truly, probability = np.asarray(truly, dtype=float), np.asarray(probability, dtype=float)
    bins = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    differences = np.bincount(bins, truly - probability, minlength=n_bins)
    return float(np.abs(differences).sum() / counts.sum())


def token_accuracy(world: World, completed: pd.DataFrame) -> float:
    """Return the share of missing cells in discrete ``mm_columns`` with the right state.

    The state is NA or a value. This is the paper's ACC. Cells whose true state is unknown do not
    count. NaN if there is no such cell.
    """
    columns = [name for name in world.mm_columns if _is_discrete(world, name)]
    judged = world.observed_table.isna() & world.known
    return _share_right(world, completed, judged[columns])


def lost_errors(world: World, completed: pd.DataFrame) -> dict[str, float]:
    """Return RMSE and MAE of lost cells in continuous columns that are never meaningful.

    Returns
    -------
    dict
        - rmse, mae: in the columns' units, pooled over columns as in the paper
        - standardised_rmse, standardised_mae: each column's errors divided by the standard
          deviation of its true values, so that units do not matter

        NaN if no such cell is lost, and also if one was left missing: otherwise it would pay to
        leave out hard cells.
    """
    pairs, scales = [], []
    for name, kind in world.column_kinds.items():
        if kind != "continuous" or name in world.mm_columns:
            continue
        truth = world.truth[name].to_numpy(dtype=float, na_value=np.nan)
        lost = world.lost[name].to_numpy() & ~np.isnan(truth)
        guess = completed[name].to_numpy(dtype=float, na_value=np.nan)
        pairs.append(np.column_stack([truth[lost], guess[lost]]))
        scales.append(np.full(int(lost.sum()), np.nanstd(truth) or 1.0))
    cells = np.concatenate(pairs) if pairs else np.empty((0, 2))
    if len(cells) == 0 or np.isnan(cells).any():
        return dict.fromkeys(("rmse", "mae", "standardised_rmse", "standardised_mae"), float("nan"))
    standard = cells / np.concatenate(scales)[:, None]
    return {
        "rmse": float(root_mean_squared_error(cells[:, 0], cells[:, 1])),
        "mae": float(mean_absolute_error(cells[:, 0], cells[:, 1])),
        "standardised_rmse": float(root_mean_squared_error(standard[:, 0], standard[:, 1])),
        "standardised_mae": float(mean_absolute_error(standard[:, 0], standard[:, 1])),
    }


def lost_accuracy(world: World, completed: pd.DataFrame) -> float:
    """Return the share of lost cells in discrete columns that were imputed with the true value.

    Cells whose true value is unknown do not count. NaN if there is no such cell.
    """
    return _share_right(world, completed, _lost_levels(world))


def lost_left_empty(world: World, completed: pd.DataFrame) -> float:
    """Return the share of lost cells in discrete columns that were left missing.

    It is 0 for an imputer that fills every cell, meaningful ones included. Cells whose true value
    is unknown do not count. NaN if there is no such cell.
    """
    judged = _lost_levels(world)
    if not judged.any(axis=None):
        return float("nan")
    return float(completed[list(judged)].isna().to_numpy()[judged.to_numpy()].mean())


def rarity_weighted_f1(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean F1 over classes, weighted by (1 - share of class) / (n_classes - 1).

    This is the paper's Weighted-F1. The weighted F1 of scikit-learn is a different measure: its
    weights are the shares themselves.

    Examples
    --------
    >>> round(rarity_weighted_f1(["a", "a", "a", "b"], ["a", "a", "b", "b"]), 6)
    0.7
    """
    classes, counts = np.unique(np.asarray(truth), return_counts=True)
    if len(classes) < 2:
        return float(f1_score(truth, predicted, average="macro", zero_division=0.0))
    scores = f1_score(truth, predicted, average=None, labels=classes, zero_division=0.0)
    weights = (1 - counts / counts.sum()) / (len(classes) - 1)
    return float(weights @ scores)


def class_scores(
    truth: ArrayLike, probability: NDArray[np.float64], classes: Sequence[Any]
) -> dict[str, float]:
    """Return the paper's downstream scores of predicted class probabilities.

    Parameters
    ----------
    truth : array of shape (n_rows,)
    probability : array of shape (n_rows, n_classes)
    classes : sequence
        Class of each column of ``probability``, sorted.

    Returns
    -------
    dict
        macro_f1, rarity_weighted_f1, roc_auc (one-vs-rest, averaged over the classes that occur in
        ``truth``), accuracy.
    """
    truth = np.asarray(truth)
    predicted = np.asarray(classes)[probability.argmax(axis=1)]
    return {
        "macro_f1": float(
            f1_score(truth, predicted, average="macro", labels=np.unique(truth), zero_division=0.0)
        ),
        "rarity_weighted_f1": rarity_weighted_f1(truth, predicted),
        "roc_auc": _one_against_rest(truth, probability, classes),
        "accuracy": float(accuracy_score(truth, predicted)),
    }


def _mean(values: NDArray[Any]) -> float:
    """Return the mean; NaN without a warning if there are no values."""
    return float(values.mean()) if len(values) else float("nan")


def _one_against_rest(
    truth: NDArray[Any], probability: NDArray[np.float64], classes: Sequence[Any]
) -> float:
    areas = [
        roc_auc_score(truth == level, probability[:, k])
        for k, level in enumerate(classes)
        if 0 < (truth == level).sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def _share_right(world: World, completed: pd.DataFrame, judged: pd.DataFrame) -> float:
    """Return the share of the judged cells whose state is right; NaN if there are none."""
    if not judged.any(axis=None):
        return float("nan")
    right = np.column_stack([_same_state(world.truth[c], completed[c]) for c in judged])
    return float(right[judged.to_numpy()].mean())


def _lost_levels(world: World) -> pd.DataFrame:
    """Return a mask of the lost cells of discrete columns whose true value is known."""
    columns = [name for name in world.column_kinds if _is_discrete(world, name)]
    return (world.lost & world.truth.notna())[columns]


def _is_discrete(world: World, name: str) -> bool:
    return world.column_kinds[name] in ("categorical", "integer")


def _same_state(truth: pd.Series, state: pd.Series) -> NDArray[np.bool_]:
    """Return where both are NA, or both have the same value."""
    both_na = truth.isna().to_numpy() & state.isna().to_numpy()
    equal = (truth == state.set_axis(truth.index)).fillna(False).to_numpy(dtype=bool)
    return both_na | equal
