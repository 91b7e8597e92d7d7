"""How likely a regular cell is lost: rho, its mean and what it depends on.

Columns that cannot be meaningful miss only what was lost. They tell how much is lost, which columns
the losses depend on, and what each level of those stands for. A searched column adds one weight per
such driver, learnt where nothing but loss explains what it misses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from diffjoint._types import Mask, Values

SIGNIFICANCE = 0.01
"""How often a table whose losses depend on nothing is said to have drivers, at most."""
FARTHEST = 4.0
"""Standard deviations beyond which a driver's number is taken as that far."""
PRECISION = 10.0
"""Strength of the pull of a searched column's weights towards zero."""
MOST = 0.999
"""The highest loss rate: something of a regular cell is always seen."""
FEWEST_LOST = 5
FEWEST_ROWS = 100
SMOOTHING = 10.0
LEAST_STEEP, LEAST, LEAST_SHARE = 0.2, 0.05, 0.05
"""Spread of losses, in logits, below which columns do not tell how steep losses are; the flattest
that counts; and the same as a share of the steepest."""
MOST_SHAPES, FEW_DRIVERS = 4, 2
"""Columns whose weights are tried for the losses of a searched column; drivers so few that losses
are not known well without one of them."""


@dataclass(frozen=True)
class Scores:
    """Columns as numbers that losses can be linear in: standard deviations, 0 where missing.

    Attributes
    ----------
    level_scores : list of arrays
        What each level of a column stands for; empty for numbers.
    centre, spread : arrays of shape (n_columns,)
    """

    level_scores: tuple[Values, ...]
    centre: Values
    spread: Values

    def of(self, values: Values) -> Values:
        """Scores of coded cells, shape (n_rows, n_columns)."""
        scores = np.zeros(values.shape)
        for j, levels in enumerate(self.level_scores):
            there = ~np.isnan(values[:, j])
            x = values[there, j]
            numbers = levels[x.astype(int)] if len(levels) else x
            standard = (numbers - self.centre[j]) / self.spread[j]
            scores[there, j] = np.clip(standard, -FARTHEST, FARTHEST)
        return scores


@dataclass(frozen=True)
class LossModel:
    """P(lost | regular, rest of the row) of one searched column.

    Attributes
    ----------
    drivers : array of shape (n_drivers,)
        Columns that the losses depend on; none: the rate is the same everywhere.
    weights : array of shape (n_drivers,)
    bias : float
    """

    drivers: NDArray[np.int64]
    weights: Values
    bias: float

    def rate(self, scores: Values) -> Values:
        """Rho for every row, from the scores of all columns."""
        rho: Values = expit(scores[:, self.drivers] @ self.weights + self.bias)
        return np.minimum(rho, MOST)

    def with_mean_rate(self, scores: Values, rate: float) -> "LossModel":
        """Return the same shape with a mean rate of ``rate``."""
        if rate <= 0.0:
            return constant_loss(0.0)
        slopes = scores[:, self.drivers] @ self.weights
        low, high = logit(rate) - slopes.max() - 1.0, logit(rate) - slopes.min() + 1.0
        bias = brentq(lambda b: expit(slopes + b).mean() - rate, low, high)
        return LossModel(self.drivers, self.weights, float(bias))

    def steepness(self, scores: Values) -> float:
        """Return the standard deviation of the logit over rows."""
        return float((scores[:, self.drivers] @ self.weights).std())

    def no_steeper(self, scores: Values, steepest: float, rows: Mask) -> "LossModel":
        """Return the same losses, flatter if they are steeper; their mean over ``rows`` stays."""
        steepness = self.steepness(scores)
        if steepness <= steepest:
            return self
        rate = float(self.rate(scores[rows]).mean())
        flatter = LossModel(self.drivers, self.weights * steepest / steepness, self.bias)
        return flatter.with_mean_rate(scores[rows], rate)


def constant_loss(rate: float) -> LossModel:
    """Losses that depend on nothing."""
    rate = float(np.clip(rate, 1e-12, 1 - 1e-12))
    return LossModel(np.empty(0, dtype=np.int64), np.empty(0), float(np.log(rate / (1 - rate))))


def fit_loss(scores: Values, is_missing: Mask, regular: Mask, drivers: Any) -> LossModel | None:
    """Weights of the drivers, learnt on rows in which only loss explains what is missing.

    Parameters
    ----------
    scores : array of shape (n_rows, n_columns)
    is_missing : bool array of shape (n_rows,)
    regular : bool array of shape (n_rows,)
        The rows to learn from. They must be chosen by what the rest of the row says, not by
        whether the cell is missing.
    drivers : sequence of int

    Returns
    -------
    LossModel or None
        None if there is too little to learn from.
    """
    lost = is_missing[regular]
    if min(lost.sum(), (~lost).sum()) < 2 * FEWEST_LOST or regular.sum() < FEWEST_ROWS:
        return None
    fitted = LogisticRegression(C=1 / PRECISION, max_iter=300)
    fitted.fit(scores[np.ix_(regular, drivers)], lost)
    return LossModel(np.asarray(drivers, dtype=np.int64), fitted.coef_[0], fitted.intercept_[0])


@dataclass(frozen=True)
class LossExamples:
    """How the losses of columns that cannot be meaningful depend on the drivers.

    Attributes
    ----------
    shapes : tuple of mappings
        Weights by driver, of the columns that have lost most.
    flattest, steepest : float
        How far their losses spread over the rows, in logits, at least and at most.
    """

    shapes: tuple[Mapping[int, float], ...] = ()
    flattest: float = 0.0
    steepest: float = 0.0

    def excess_steepness(self, spread: float) -> float:
        """Return how far a spread lies outside the usual ones, in logs; 0 if none are known.

        Examples
        --------
        >>> usual = LossExamples(({0: 1.0},), 0.5, 1.0)
        >>> usual.excess_steepness(0.7), round(usual.excess_steepness(0.25), 2)
        (0.0, 0.69)
        """
        if self.steepest < LEAST_STEEP:
            return 0.0
        spread, flattest = max(spread, LEAST_SHARE * self.steepest), max(self.flattest, LEAST)
        return max(0.0, float(np.log(flattest / spread)), float(np.log(spread / self.steepest)))


def loss_examples(
    scores: Values, is_missing: Mask, others: NDArray[np.int64], drivers: list[int]
) -> LossExamples:
    """Return how losses of columns that cannot be meaningful depend on the drivers.

    A column that drives losses itself lacks a driver, so that it is asked only if there are several
    more.
    """
    n_lost = is_missing.sum(axis=0)
    lossy = [j for j in others.tolist() if n_lost[j] >= 2 * FEWEST_LOST]
    asked = [j for j in lossy if j not in drivers or len(drivers) > FEW_DRIVERS] or lossy
    shapes, spreads = [], []
    for j in sorted(asked, key=lambda j: -n_lost[j]):
        beside = [driver for driver in drivers if driver != j]
        everyone = np.ones(len(is_missing), dtype=bool)
        loss = fit_loss(scores, is_missing[:, j], everyone, beside) if beside else None
        if loss is not None:
            shapes.append(dict(zip(beside, loss.weights.tolist(), strict=True)))
            spreads.append(float((scores[:, beside] @ loss.weights).std()))
    if not spreads:
        return LossExamples()
    return LossExamples(tuple(shapes[:MOST_SHAPES]), min(spreads), max(spreads))


def find_drivers(
    values: Values, n_levels: NDArray[np.int64], others: NDArray[np.int64], seed: int
) -> tuple[list[int], Scores]:
    """Columns that losses depend on, judged by columns that cannot be meaningful.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    others : array
        Columns that cannot be meaningful.

    Notes
    -----
    What a level stands for is learnt on one half of the rows and tested on the other, and the
    other way round: levels that follow noise do not pass. A column is a driver if it passes in
    either half, provided that some column passes in each.
    """
    missing = np.isnan(values[:, others])
    enough = (missing.sum(axis=0) >= FEWEST_LOST) & ((~missing).sum(axis=0) >= FEWEST_LOST)
    lossy = others[enough]
    rates = missing[:, enough].mean(axis=0)
    losses = (missing[:, enough] - rates) / np.sqrt(rates * (1 - rates))
    everyone = np.ones(len(values), dtype=bool)
    if len(lossy) == 0:
        return [], fit_scores(values, n_levels, losses, everyone)
    half = np.random.default_rng(seed).random(len(values)) < 0.5
    found = []
    for learn, test in ((half, ~half), (~half, half)):
        scores = fit_scores(values, n_levels, losses, learn).of(values[test])
        found.append(_forward(scores, losses[test], lossy))
    passed = sorted({*found[0], *found[1]}) if all(found) else []
    return passed, fit_scores(values, n_levels, losses, everyone)


def fit_scores(values: Values, n_levels: NDArray[np.int64], losses: Values, rows: Mask) -> Scores:
    """Return what every level stands for: the number that best explains all losses."""
    level_scores = tuple(
        _level_scores(values[rows, j], int(n_levels[j]), losses[rows]) for j in range(len(n_levels))
    )
    plain = Scores(level_scores, np.zeros(len(n_levels)), np.ones(len(n_levels)))
    centre, spread = np.zeros(len(n_levels)), np.ones(len(n_levels))
    for j, levels in enumerate(plain.level_scores):
        x = values[rows, j][~np.isnan(values[rows, j])]
        if len(x):
            numbers = levels[x.astype(int)] if len(levels) else x
            varies = numbers.std() > 1e-9 * max(1.0, abs(numbers.mean()))
            centre[j], spread[j] = numbers.mean(), numbers.std() if varies else 1.0
    return Scores(level_scores, centre, spread)


def _level_scores(column: Values, n_levels: int, losses: Values) -> Values:
    """First left singular vector of the mean standardised losses by level."""
    if n_levels == 0 or losses.shape[1] == 0:
        return np.zeros(n_levels)
    there = ~np.isnan(column)
    codes = column[there].astype(int)
    counts = np.bincount(codes, minlength=n_levels).astype(float)
    sums = np.column_stack(
        [np.bincount(codes, loss, minlength=n_levels) for loss in losses[there].T]
    )
    means = sums / (counts + SMOOTHING)[:, None]
    left, _, _ = np.linalg.svd(np.sqrt(counts)[:, None] * means, full_matrices=False)
    scores: Values = left[:, 0] / np.sqrt(np.maximum(counts, 1.0))
    return scores


def _forward(scores: Values, losses: Values, lossy: NDArray[np.int64]) -> list[int]:
    """Columns that explain losses beyond those already taken, one by one.

    A column's statistic is the sum over lossy columns of squared correlations with what is left
    of their losses: chi-squared with as many degrees of freedom, if it explains nothing. No
    column explains its own losses.
    """
    n_rows, n_columns = scores.shape
    taken: list[int] = []
    basis = np.full((n_rows, 1), 1 / np.sqrt(n_rows))
    left = losses - basis @ (basis.T @ losses)
    variance = np.maximum((left**2).mean(axis=0), 1e-12)
    own = lossy[None, :] == np.arange(n_columns)[:, None]
    freedom = np.maximum((~own).sum(axis=1), 1)
    while len(taken) < n_columns:
        rest = scores - basis @ (basis.T @ scores)
        length = np.sqrt((rest**2).sum(axis=0))
        varies = length > 1e-6 * np.sqrt(n_rows)
        rest = np.where(varies, rest / np.where(varies, length, 1.0), 0.0)
        statistic = np.where(own, 0.0, (rest.T @ left) ** 2 / variance).sum(axis=1)
        log_p = np.where(varies, chi2.logsf(statistic, freedom), 0.0)
        log_p[taken] = 0.0
        best = int(log_p.argmin())
        if log_p[best] >= np.log(SIGNIFICANCE / n_columns):
            break
        taken.append(best)
        direction = rest[:, [best]]
        basis = np.hstack([basis, direction])
        left = left - direction @ (direction.T @ left)
    return taken
