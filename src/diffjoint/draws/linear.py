"""Regress numbers and classes on coordinates, with weights and a small ridge penalty.

Fitting uses matrix products on all rows at once. Predicting adds up one coordinate at a time, so
that a row gets the same bits whatever rows are beside it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from diffjoint._types import Places, Values

TINY = 1e-9
"""A coordinate whose standard deviation is below this says nothing."""
MOST_STEPS, MOST_NEWTON_STEPS, MOST_BY_NEWTON = 60, 25, 250
"""Steps of the search for the coefficients of classes, and how many coefficients Newton's take."""
SETTLED, SMALLEST_STEP = 1e-4, 1e-3
"""Log-likelihood to gain by a step at least, and share of a step at least."""
INTERCEPT = 0.01
"""Share of the penalty that is on the intercepts of classes."""


def add_products(coordinates: Values, pairs: Places) -> Values:
    """Append the products of pairs of coordinates.

    Parameters
    ----------
    pairs : int array of shape (n_pairs, 2)

    Examples
    --------
    >>> add_products(np.array([[2.0, 3.0]]), np.array([[0, 1], [1, 1]]))
    array([[2., 3., 6., 9.]])
    """
    if not len(pairs):
        return coordinates
    return np.hstack([coordinates, coordinates[:, pairs[:, 0]] * coordinates[:, pairs[:, 1]]])


def predict_linear(coordinates: Values, coefficients: Values) -> Values:
    """Return intercept plus coordinates times coefficients; the last axis is of the outputs.

    Parameters
    ----------
    coefficients : array of shape (1 + n_coordinates,) or (1 + n_coordinates, n_outputs)
        The intercept first.
    """
    shape = (len(coordinates), *coefficients.shape[1:])
    total = np.broadcast_to(coefficients[0], shape).copy()
    for coordinate, coefficient in zip(coordinates.T, coefficients[1:], strict=True):
        if np.any(coefficient):
            total += (
                coordinate[:, None] * coefficient if total.ndim > 1 else (coordinate * coefficient)
            )
    return total


def fit_ridge(coordinates: Values, target: Values, weights: Values, penalty: float) -> Values:
    """Return the coefficients of a weighted ridge regression, the intercept first.

    Parameters
    ----------
    penalty : float
        Per unit of weight, on coefficients of standardised coordinates.
    """
    total = weights.sum()
    mean, scale = _standards(coordinates, weights)
    centre = float(weights @ target / total)
    standard = (coordinates - mean) / scale
    weighted = standard * weights[:, None]
    gram = weighted.T @ standard + penalty * total * np.eye(standard.shape[1])
    found = np.linalg.solve(gram, weighted.T @ (target - centre)) / scale
    coefficients: Values = np.r_[centre - mean @ found, found]
    return coefficients


def fit_classes(
    coordinates: Values,
    classes: NDArray[np.int64],
    n_classes: int,
    weights: Values,
    penalty: float,
    start: Values | None = None,
) -> Values:
    """Return the coefficients of a multinomial regression, shape (1 + n_coordinates, n_classes).

    Parameters
    ----------
    penalty : float
        On squared coefficients of standardised coordinates, as so many rows would weigh.
    start : array of the result's shape, optional
        Where to search from.
    """
    mean, scale = _standards(coordinates, weights)
    width = np.where(np.isfinite(scale), scale, 0.0)
    standard = np.hstack([np.ones((len(coordinates), 1)), (coordinates - mean) / scale])
    indicators = np.eye(n_classes)[classes] * weights[:, None]
    if start is None:
        first = np.zeros((standard.shape[1], n_classes))
        first[0] = np.log(np.maximum(indicators.sum(axis=0), 0.5) / weights.sum())
    else:
        first = np.vstack([start[:1] + mean @ start[1:], start[1:] * width[:, None]])
    likelihood = _Likelihood(standard, indicators, weights, penalty)
    if first.size <= MOST_BY_NEWTON:
        found = likelihood.climb(first)
    else:
        options = {"maxiter": MOST_STEPS, "ftol": 1e-7}
        best = minimize(
            likelihood.flat, first.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        found = best.x.reshape(first.shape)
    slopes = found[1:] / scale[:, None]
    return np.vstack([found[:1] - mean @ slopes, slopes])


@dataclass(frozen=True)
class _Likelihood:
    """What a multinomial regression makes as small as it can.

    Attributes
    ----------
    standard : array of shape (n_rows, 1 + n_coordinates)
        Standardised coordinates after ones.
    indicators : array of shape (n_rows, n_classes)
        The weight of each row at its class.
    """

    standard: Values
    indicators: Values
    weights: Values
    penalty: float

    def flat(self, flat: Values) -> tuple[float, Values]:
        """Return the loss and its gradient."""
        found = flat.reshape(-1, self.indicators.shape[1])
        value, gradient, _ = self.at(found)
        return value, gradient.ravel()

    def at(self, found: Values) -> tuple[float, Values, Values]:
        """Return the loss, its gradient and the probabilities of the classes."""
        logits = self.standard @ found
        logits -= logits.max(axis=1, keepdims=True)
        likely = np.exp(logits)
        total = likely.sum(axis=1, keepdims=True)
        likely /= total
        slopes = self.penalty * found
        slopes[0] *= INTERCEPT
        value = float(self.weights @ np.log(total[:, 0]) - (self.indicators * logits).sum())
        expected = likely * self.weights[:, None]
        gradient = self.standard.T @ (expected - self.indicators) + slopes
        return value + float((found * slopes).sum()) / 2, gradient, likely

    def climb(self, found: Values) -> Values:
        """Search by Newton's steps: sharp classes have coefficients far from where it starts."""
        value, gradient, likely = self.at(found)
        for _ in range(MOST_NEWTON_STEPS):
            step = np.linalg.solve(self._curve(likely), gradient.T.ravel())
            step = step.reshape(found.shape[1], -1).T
            gain, size = float((step * gradient).sum()), 1.0
            if gain < SETTLED:
                break
            after = self.at(found - step)
            while after[0] > value - 1e-4 * size * gain and size > SMALLEST_STEP:
                size /= 2
                after = self.at(found - size * step)
            if after[0] >= value:
                break
            found = found - size * step
            value, gradient, likely = after
        return found

    def _curve(self, likely: Values) -> Values:
        """Return the second derivatives, class by class."""
        n_inputs, n_classes = self.standard.shape[1], likely.shape[1]
        penalty = np.full(n_inputs, self.penalty)
        penalty[0] *= INTERCEPT
        curve = np.kron(np.eye(n_classes), np.diag(penalty))
        for k in range(n_classes):
            for other in range(k + 1):
                same = float(k == other)
                weight = self.weights * likely[:, k] * (same - likely[:, other])
                block = self.standard.T @ (self.standard * weight[:, None])
                first, second = n_inputs * k, n_inputs * other
                curve[first : first + n_inputs, second : second + n_inputs] += block
                if k != other:
                    curve[second : second + n_inputs, first : first + n_inputs] += block
        return curve


def _standards(coordinates: Values, weights: Values) -> tuple[Values, Values]:
    """Return the weighted mean and standard deviation of coordinates."""
    total = weights.sum()
    mean = weights @ coordinates / total
    variance = weights @ (coordinates - mean) ** 2 / total
    scale = np.sqrt(variance)
    return mean, np.where(scale > TINY, scale, np.inf)
