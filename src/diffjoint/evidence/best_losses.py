"""The best that losses could do to explain the missing cells of a column, whatever they depend on.

Losses add up on the logit scale: each other column makes a loss likelier or less likely, by its
value, by the fact that it is missing, and by what can then be guessed of it. And they are not
arbitrarily steep. Meaningful cells break one of the two: they depend on several columns together,
or jump from hardly ever to always.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from diffjoint._types import Mask, Places, Values
from diffjoint.trees import Screen

STEEPEST = 1.1
"""Standard deviation over the rows of a loss's logit, at most."""
PENALTIES = (0.3, 1.0, 3.0)
"""Pulls towards zero to choose from, in units of the noise of a weight's gradient."""
FARTHEST = 6.0
"""Standard deviations beyond which a number is taken as that far."""
MOST_LEVELS = 15
"""Levels of a category that get a weight each, the most common first."""
FEWEST_IN_LEVEL = 10
RIDGE = 10.0
LASSO = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}
"""How scikit-learn calls it: the second since 1.8."""
CALIBRATION_PENALTY = 1e-3


@dataclass(frozen=True)
class _Guess:
    weights: Values
    score: Values
    curve: IsotonicRegression


class LossFeatures:
    """What the losses of any column could be linear in.

    Parameters
    ----------
    values, n_levels
        Coded cells and levels, as in :func:`diffjoint.evidence.losses.find_drivers`.
    screen : Screen
        Says which columns a column is guessed from.
    """

    def __init__(self, values: Values, n_levels: NDArray[np.int64], screen: Screen) -> None:
        self._missing = np.isnan(values)
        self._values, self._n_levels = values, n_levels
        self._numbers = np.column_stack([_standard(column) for column in values.T])
        self._flags = np.column_stack([_standard(column) for column in self._missing.T * 1.0])
        self._guesses = [
            self._learn(k, screen.inputs_for_values(k)) for k in range(values.shape[1])
        ]

    def beside(self, column: int, others: Places) -> Values:
        """Features of some other columns: value, missing or not, guess where missing, levels."""
        guesses = [self._guess(k, column) for k in others.tolist()]
        levels = [_level_flags(self._values[:, k], int(self._n_levels[k])) for k in others]
        return np.column_stack(
            [self._numbers[:, others], self._flags[:, others], *guesses, *levels]
        )

    def _learn(self, k: int, seen: Places) -> _Guess | None:
        """Guess a column from those that say something about it: a score, and its curve."""
        missing, n_columns = self._missing[:, k], self._missing.shape[1]
        if not missing.any() or missing.all() or not len(seen):
            return None
        known = np.hstack([self._numbers[:, seen], self._flags[:, seen]])
        products = known.T @ known + RIDGE * np.eye(2 * len(seen))
        found = np.linalg.solve(products, known.T @ self._numbers[:, k])
        weights = np.zeros(2 * n_columns)
        weights[np.concatenate([seen, seen + n_columns])] = found
        score = known @ found
        curve = IsotonicRegression(out_of_bounds="clip")
        return _Guess(weights, score, curve.fit(score[~missing], self._numbers[~missing, k]))

    def _guess(self, k: int, column: int) -> Values:
        """Column k where it is missing, by all others but ``column``; 0 where it is there."""
        guess, learnt = np.zeros(len(self._missing)), self._guesses[k]
        if learnt is not None:
            missing = self._missing[:, k]
            own, flag = learnt.weights[column], learnt.weights[column + self._missing.shape[1]]
            of_column = self._numbers[missing, column] * own + self._flags[missing, column] * flag
            guess[missing] = learnt.curve.predict(learnt.score[missing] - of_column)
        return guess


def loss_logits(features: Values, is_missing: Mask, folds: NDArray[np.int64], seed: int) -> Values:
    """Logit of P(missing) for every row, as well as losses can explain it.

    No row is judged by weights that have seen it. Weights that follow noise are shrunk, by the
    penalty that does best and by one slope for all of them.
    """
    best, highest = np.zeros(len(is_missing)), -np.inf
    for penalty in PENALTIES if features.shape[1] else ():
        logits = np.empty(len(is_missing))
        for fold in np.unique(folds):
            learn = folds != fold
            fitted = _sparse(features[learn], is_missing[learn], penalty, seed)
            logits[~learn] = fitted.decision_function(features[~learn])
        logits = together(logits[:, None], is_missing)
        fit = log_likelihood(logits, is_missing).sum()
        if fit > highest:
            best, highest = logits, fit
    spread = best.std()
    return _at_rate(best * min(1.0, STEEPEST / max(spread, 1e-9)), float(is_missing.mean()))


def together(logits: Values, is_missing: Mask) -> Values:
    """One logit from several, shape (n_rows, n_logits), each at the weight it deserves."""
    fitted = LogisticRegression(C=1 / CALIBRATION_PENALTY).fit(logits, is_missing)
    joined = logits @ np.maximum(fitted.coef_[0], 0.0)
    return _at_rate(joined, float(is_missing.mean()))


def association(features: Values, is_missing: Mask) -> float:
    """P-value of the feature that goes most with missingness, for all features together."""
    centred = features - features.mean(axis=0)
    rate = is_missing.mean()
    variance = (centred**2).sum(axis=0) * rate * (1 - rate)
    varies = variance > 1e-9
    if not varies.any():
        return 1.0
    z = np.abs(centred[:, varies].T @ (is_missing - rate)) / np.sqrt(variance[varies])
    return min(1.0, float(2 * norm.sf(z.max()) * varies.sum()))


def log_likelihood(logits: Values, is_missing: Mask) -> Values:
    """Of every row, in nats."""
    return -np.logaddexp(0.0, np.where(is_missing, -logits, logits))


def _sparse(features: Values, is_missing: Mask, penalty: float, seed: int) -> LogisticRegression:
    rate = is_missing.mean()
    noise = np.sqrt(len(is_missing) * rate * (1 - rate))
    fitted = LogisticRegression(
        **LASSO,
        solver="liblinear",
        C=1 / (penalty * noise),
        intercept_scaling=10.0,
        tol=1e-3,
        max_iter=200,
        random_state=seed,
    )
    return fitted.fit(features, is_missing)


def _at_rate(logits: Values, rate: float) -> Values:
    """Return the same shape with that mean probability."""
    reach = 40.0 + np.abs(logits).max()
    bias = float(brentq(lambda b: expit(logits + b).mean() - rate, -reach, reach))
    return logits + bias


def _standard(column: Values) -> Values:
    """In standard deviations, 0 where missing."""
    standard, there = np.zeros(len(column)), ~np.isnan(column)
    x = column[there]
    if len(x) and x.std() > 1e-9 * max(1.0, abs(x.mean())):
        standard[there] = np.clip((x - x.mean()) / x.std(), -FARTHEST, FARTHEST)
    return standard


def _level_flags(column: Values, n_levels: int) -> Values:
    """One standardised column for each common level; two levels are a number already."""
    if n_levels <= 2:
        return np.empty((len(column), 0))
    counts = np.bincount(column[~np.isnan(column)].astype(int), minlength=n_levels)
    common = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    common = common[counts[common] >= FEWEST_IN_LEVEL]
    return np.column_stack(
        [np.empty((len(column), 0)), *(_standard((column == level) * 1.0) for level in common)]
    )
