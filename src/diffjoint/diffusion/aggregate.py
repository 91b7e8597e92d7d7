"""Algorithm 4, Aggregate: summarise draws as one value, one uncertainty and one call per cell."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from diffjoint._types import Mask, Values
from diffjoint.parameters.choices import Fusion
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, JointState, Observation
from diffjoint.table import Column, Kind, on_grid

Clusters = NDArray[np.float64]
"""Low and high cluster centre of the uncertainty, a row per searched column; NaN if not split."""


@dataclass(frozen=True)
class Aggregated:
    """Inferred value, uncertainty and mask of every cell.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Mean or mode of the draws; the observed value of observed cells.
    uncertainty : array of the same shape
        Standard deviation or entropy of the draws; 0 for observed cells.
    meaningful_score : array of the same shape
        Score of a cell, which is called meaningful above the threshold; 0 for cells that are known
        not to be.
    clusters : array of shape (n_mm_columns, 2)
        The two cluster centres of the uncertainty of each searched column.
    threshold : float
        The score above which a cell is called meaningful.
    """

    values: Values
    uncertainty: Values
    meaningful_score: Values
    clusters: Clusters
    threshold: float = 0.5

    @property
    def state(self) -> JointState:
        """The joint state of the next pass: values and calls."""
        return JointState(self.values, self.meaningful_score > self.threshold)

    def take(self, rows: NDArray[np.intp]) -> "Aggregated":
        """Return some rows, or all rows in another order."""
        cells = (self.values[rows], self.uncertainty[rows], self.meaningful_score[rows])
        return Aggregated(*cells, self.clusters, self.threshold)


def aggregate_without_draws(
    values: Values, uncertainty: Values, probability: Values, threshold: float
) -> Aggregated:
    """Return the result of a method without draws: values and P(meaningful) as given."""
    none = np.full((0, 2), np.nan)
    return Aggregated(values, uncertainty, probability, none, threshold)


def aggregate(
    draws: Iterable[Draws],
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    clusters: Clusters | None = None,
    probability: Values | None = None,
) -> Aggregated:
    """Summarise draws cell by cell, and call the candidates meaningful or lost.

    Parameters
    ----------
    draws : iterable of Draws
        Blocks of rows; each is summarised and released before the next is drawn.
    clusters : array, optional
        Cluster centres from training, for new rows; found in these draws if None.
    probability : array of shape (n_rows, n_columns), optional
        P(meaningful) from a detector that does not use the draws.
    """
    values = observation.values.copy()
    uncertainty = np.zeros(values.shape)
    vote_share = np.zeros(values.shape)
    for block in draws:
        value, block_uncertainty, vote = summarize(block, space.schema.modelled, settings)
        unknown = ~observation.observed[block.rows]
        values[block.rows] = np.where(unknown, value, values[block.rows])
        uncertainty[block.rows] = np.where(unknown, block_uncertainty, 0.0)
        vote_share[block.rows] = vote
    if probability is not None:
        return aggregate_without_draws(values, uncertainty, probability, settings.threshold)
    if clusters is None:
        clusters = uncertainty_clusters(uncertainty, observation.candidates, space.mm)
    score = np.zeros(values.shape)
    for centres, j in zip(clusters, space.mm, strict=True):
        cluster_score = membership(uncertainty[:, j], centres)
        score[:, j] = fuse(cluster_score, vote_share[:, j], settings.fusion)
    score = np.where(observation.candidates, score, observation.known_meaningful)
    return Aggregated(values, uncertainty, score, clusters, settings.threshold)


def summarize(
    draws: Draws, columns: tuple[Column, ...], settings: Settings
) -> tuple[Values, Values, Values]:
    """Return value, uncertainty and share of meaningful draws for every cell of a block."""
    shape = draws.values.shape[1:]
    value, uncertainty = np.empty(shape), np.empty(shape)
    for j, column in enumerate(columns):
        drawn = draws.values[:, :, j]
        as_mode = column.kind is Kind.INTEGER and settings.integer_summary == "mode"
        if column.is_categorical or as_mode:
            value[:, j], uncertainty[:, j] = mode_and_entropy(drawn)
        else:
            value[:, j] = on_grid(drawn.mean(axis=0), column)
            uncertainty[:, j] = drawn.std(axis=0)
    return value, uncertainty, draws.meaningful.mean(axis=0)


def mode_and_entropy(drawn: Values) -> tuple[Values, Values]:
    """Return the most frequent value (the smallest of ties) and the entropy in nats, over draws.

    Examples
    --------
    >>> mode, entropy = mode_and_entropy(np.array([[0.0, 2.0], [1.0, 2.0]]))
    >>> mode.tolist(), entropy.round(3).tolist()
    ([0.0, 2.0], [0.693, 0.0])
    """
    n_draws = len(drawn)
    ordered = np.sort(drawn, axis=0)
    edge = np.ones((1, *drawn.shape[1:]), dtype=bool)
    changes = ordered[1:] != ordered[:-1]
    place = np.arange(n_draws).reshape(-1, *[1] * (drawn.ndim - 1))
    run_start = np.maximum.accumulate(np.where(np.concatenate([edge, changes]), place, 0))
    run_length = place - run_start + 1
    mode = np.take_along_axis(ordered, run_length.argmax(axis=0)[None], axis=0)[0]
    share = np.where(np.concatenate([changes, edge]), run_length / n_draws, 1.0)
    entropy = np.abs(np.sum(share * np.log(share), axis=0))
    return mode, entropy.round(12)  # equal counts in another order must not differ


def uncertainty_clusters(uncertainty: Values, candidates: Mask, mm: tuple[int, ...]) -> Clusters:
    """Split the candidates' uncertainty in each searched column by 2-means.

    If all candidates of a column are equally uncertain, its centres are NaN. Otherwise 2-means
    always splits, even if no cell is meaningful.
    """
    clusters = np.full((len(mm), 2), np.nan)
    for row, j in enumerate(mm):
        scores = uncertainty[candidates[:, j], j]
        if len(np.unique(scores)) < 2:
            continue
        two_means = KMeans(n_clusters=2, n_init=10, random_state=0).fit(scores[:, None])
        clusters[row] = np.sort(two_means.cluster_centers_[:, 0])
    return clusters


def membership(uncertainty: Values, centres: NDArray[np.float64]) -> Values:
    """Return the position between the low (0) and the high (1) centre."""
    low, high = centres
    if np.isnan(low):
        return np.zeros(uncertainty.shape)
    share: Values = np.clip((uncertainty - low) / (high - low), 0.0, 1.0)
    return share


def fuse(cluster_score: Values, vote_share: Values, fusion: Fusion) -> Values:
    """Combine the two signals in one score, which exceeds one half exactly if the rule holds.

    ``or`` is their maximum and ``and`` their minimum; a tied vote is not a majority.
    """
    if fusion == "uncertainty":
        return cluster_score
    if fusion == "vote":
        return vote_share
    combine = np.maximum if fusion == "or" else np.minimum
    return combine(cluster_score, vote_share)
