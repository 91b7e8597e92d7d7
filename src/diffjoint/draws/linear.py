"""Regress numbers and classes on coordinates, with weights and a small ridge penalty.

Fitting uses matrix products on all rows at once. Predicting adds up one coordinate at a time, so
that a row gets the same bits whatever rows are beside it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from diffjoint._types import Places, Values

TINY = 1e-9
"""A coordinate whose standard deviation is below this says nothing."""
MOST_STEPS = 60
"""Steps of the search for the coefficients of classes."""


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
    shape = (standard.shape[1], n_classes)
    if start is None:
        first = np.zeros(shape)
        first[0] = np.log(np.maximum(indicators.sum(axis=0), 0.5) / weights.sum())
    else:
        first = np.vstack([start[:1] + mean @ start[1:], start[1:] * width[:, None]])

    def loss(flat: Values) -> tuple[float, Values]:
        found = flat.reshape(shape)
        logits = standard @ found
        logits -= logits.max(axis=1, keepdims=True)
        likely = np.exp(logits)
        total = likely.sum(axis=1, keepdims=True)
        slopes = found.copy()
        slopes[0] *= 0.01
        value = float(weights @ np.log(total[:, 0]) - (indicators * logits).sum())
        expected = likely * (weights[:, None] / total)
        gradient = standard.T @ (expected - indicators) + penalty * slopes
        return value + penalty / 2 * float((found * slopes).sum()), gradient.ravel()

    options = {"maxiter": MOST_STEPS, "ftol": 1e-7}
    best = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    found = best.x.reshape(shape)
    slopes = found[1:] / scale[:, None]
    return np.vstack([found[:1] - mean @ slopes, slopes])


def _standards(coordinates: Values, weights: Values) -> tuple[Values, Values]:
    """Return the weighted mean and standard deviation of coordinates."""
    total = weights.sum()
    mean = weights @ coordinates / total
    variance = weights @ (coordinates - mean) ** 2 / total
    scale = np.sqrt(variance)
    return mean, np.where(scale > TINY, scale, np.inf)
