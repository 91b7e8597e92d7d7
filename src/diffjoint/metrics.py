"""How right the calls and the values are, where the truth is known.

Every function that takes a ``world`` judges the world's own rows: pass ``world.test`` to judge
new rows.
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
"""How many lost and meaningful cells a column must have for an AUC of its own."""
_CALL_MEASURES = ("precision", "recall", "f1")
_PROBABILITY_MEASURES = ("auc", "brier", "calibration_error")


def mm_scores(
    world: World,
    meaningful: pd.DataFrame,
    probability: pd.DataFrame | None = None,
    columns: Sequence[str] | None = None,
) -> dict[str, float]:
    """How well meaningful cells are told from lost ones, over the missing cells of mm columns.

    Cells of which nobody knows the kind do not count.

    Parameters
    ----------
    world : World
    meaningful : bool DataFrame
        The calls.
    probability : DataFrame, optional
        P(meaningful) of each cell, for AUC, Brier score and calibration error.
    columns : sequence of str, optional
        Which mm columns; all of them, pooled, if None.

    Returns
    -------
    dict
        precision, recall, f1; with ``probability`` also auc, brier, calibration_error. AUC is NaN
        where all missing cells are of one kind, everything where no cell is missing.

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
    """:func:`mm_scores` of each mm column, and of all together in a last row, ``pooled``.

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
    """Score how well lost cells are told from meaningful ones, where losses are the rarer kind.

    Over the missing cells of mm columns whose kind is known. :func:`mm_scores` looks at the
    meaningful ones, and hardly notices if the few lost cells are all called meaningful.

    Parameters
    ----------
    world : World
        Usually the test rows, ``world.test``.
    meaningful : bool DataFrame
        The calls.
    probability : DataFrame
        P(meaningful) of each cell.

    Returns
    -------
    dict
        lost_found: share of the lost cells that are called lost. lost_precision: share of the
        cells called lost that are. meaningful_recall: share of the meaningful cells that are
        called so. mean_column_auc: AUC of P(meaningful), the mean over columns with at least
        10 lost and 10 meaningful cells; n_columns_scored: how many columns that is. NaN where
        there is no cell, or no column, to take a share of.

    Examples
    --------
    Calling nothing meaningful finds every lost cell, and is right in as many as are lost:

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
    """Expected calibration error: mean gap between said and found share, over equal bins.

    Examples
    --------
    >>> calibration_error([True, False, True, True], [0.75, 0.75, 0.75, 0.75])
    0.0
    """
    truly, probability = np.asarray(truly, dtype=float), np.asarray(probability, dtype=float)
    bins = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    gaps = np.bincount(bins, truly - probability, minlength=n_bins)
    return float(np.abs(gaps).sum() / counts.sum())


def token_accuracy(world: World, completed: pd.DataFrame) -> float:
    """Share of missing cells in discrete mm columns whose state is right, NA or value.

    The paper's ACC. Cells whose true value nobody knows do not count. NaN if there is no cell.
    """
    columns = [name for name in world.mm_columns if _is_discrete(world, name)]
    judged = world.observed_table.isna() & world.known
    return _share_right(world, completed, judged[columns])


def lost_errors(world: World, completed: pd.DataFrame) -> dict[str, float]:
    """RMSE and MAE of lost cells in continuous columns that are never meaningful.

    Returns
    -------
    dict
        rmse and mae in the columns' units, pooled over columns as the paper does; and
        standardised: each column's errors divided by the standard deviation of its true values,
        so that no column's unit outweighs the others. NaN if no such cell is lost, or if one was
        left empty: it has no error, and leaving hard cells out must not pay.
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
    """Share of lost cells in discrete columns that got back the value they had.

    Cells whose true value nobody knows do not count. NaN if there is no cell.
    """
    return _share_right(world, completed, _lost_levels(world))


def lost_left_empty(world: World, completed: pd.DataFrame) -> float:
    """Share of lost cells in discrete columns that were left empty, as if nothing belonged there.

    An imputer that fills every cell has none, and invents a value for every meaningful cell.
    Cells whose true value nobody knows do not count. NaN if there is no cell.
    """
    judged = _lost_levels(world)
    if not judged.any(axis=None):
        return float("nan")
    return float(completed[list(judged)].isna().to_numpy()[judged.to_numpy()].mean())


def rarity_weighted_f1(truth: ArrayLike, predicted: ArrayLike) -> float:
    """F1 per class, weighted by (1 - share of the class) / (number of classes - 1).

    The paper calls this Weighted-F1; scikit-learn's is another: it weights by the share itself.

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
    """The paper's downstream measures from predicted class probabilities.

    Parameters
    ----------
    truth : array of shape (n_rows,)
    probability : array of shape (n_rows, n_classes)
    classes : sequence
        The class of each column of ``probability``, sorted.

    Returns
    -------
    dict
        macro_f1, rarity_weighted_f1, roc_auc (one against the rest, over the classes that occur
        in ``truth``), accuracy.
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
    """The mean; NaN, without a warning, of nothing."""
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
    """Share of the judged cells whose state is right; NaN if none is judged."""
    if not judged.any(axis=None):
        return float("nan")
    right = np.column_stack([_same_state(world.truth[c], completed[c]) for c in judged])
    return float(right[judged.to_numpy()].mean())


def _lost_levels(world: World) -> pd.DataFrame:
    """Where a cell of a discrete column was lost whose value is known."""
    columns = [name for name in world.column_kinds if _is_discrete(world, name)]
    return (world.lost & world.truth.notna())[columns]


def _is_discrete(world: World, name: str) -> bool:
    return world.column_kinds[name] in ("categorical", "integer")


def _same_state(truth: pd.Series, state: pd.Series) -> NDArray[np.bool_]:
    """Both NA, or both the same value."""
    both_na = truth.isna().to_numpy() & state.isna().to_numpy()
    equal = (truth == state.set_axis(truth.index)).fillna(False).to_numpy(dtype=bool)
    return both_na | equal
