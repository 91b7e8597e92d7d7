"""Losses with logistic probability: completely at random, at random, and not at random."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from diffjoint.errors import InputError
from diffjoint.settings import LogisticName


@dataclass(frozen=True)
class LogisticMechanism:
    """Loses cells independently of each other, given the values of a few columns.

    P(cell j is lost) = sigmoid(sum over drivers k of weights[k, j] z_k + bias[j]), where z_k is
    driver k standardised by ``mean`` and ``scale``, and 0 (the mean) where driver k is itself
    meaningfully missing. Columns with a bias of minus infinity are never lost.

    Attributes
    ----------
    name : {"mcar", "mar", "mnar"}
    loss_rate : float
        Requested share of lost cells.
    columns : tuple of str
    drivers : tuple of str
        Columns that losses depend on; none under MCAR.
    weights : array of shape (n_drivers, n_columns)
    bias : array of shape (n_columns,)
    mean, scale : arrays of shape (n_drivers,)
        Mean and standard deviation of the drivers.
    levels : dict
        For drivers that are text: their levels, which are coded by position.
    """

    name: LogisticName
    loss_rate: float
    columns: tuple[str, ...]
    drivers: tuple[str, ...]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    levels: dict[str, tuple[str, ...]]

    def probability(self, truth: pd.DataFrame) -> NDArray[np.float64]:
        """Return P(lost) of every cell of a true table, shape (n_rows, n_columns)."""
        lost: NDArray[np.float64] = expit(self.logit(_numbers(truth, self.drivers, self.levels)))
        return lost

    def logit(self, driving: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logit of P(lost) by column from the drivers' values, NaN where meaningful."""
        standard = np.nan_to_num((driving - self.mean) / self.scale, nan=0.0)
        logits: NDArray[np.float64] = standard @ self.weights + self.bias
        return logits

    def lose(self, truth: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Draw which cells are lost."""
        lost = rng.random(truth.shape) < self.probability(truth)
        return pd.DataFrame(lost, index=truth.index, columns=truth.columns)

    def describe(self) -> dict[str, Any]:
        """Return the name, the requested rate and the drivers."""
        return {"name": self.name, "loss_rate": self.loss_rate, "drivers": list(self.drivers)}


def make_logistic_mechanism(
    name: LogisticName,
    truth: pd.DataFrame,
    loss_rate: float,
    rng: np.random.Generator,
    *,
    spare: tuple[str, ...] = (),
    not_always_there: tuple[str, ...] = (),
) -> LogisticMechanism:
    """Draw drivers and weights, and set biases such that the table loses ``loss_rate``.

    Parameters
    ----------
    spare : tuple of str
        Columns that are never lost and drive no losses, such as ids; they do not count.
    not_always_there : tuple of str
        Columns that have lost cells already, so that they cannot be drivers under MAR.

    Notes
    -----
    A share of 0.3 of the columns drives (0.1 above a loss rate of 0.3), at least one. Weights
    are normal, scaled so that each column's logit has variance one over the table; the bias
    makes each column's mean probability exact.

    Examples
    --------
    >>> truth = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 4)), columns=list("abcd"))
    >>> mechanism = make_logistic_mechanism("mar", truth, 0.2, np.random.default_rng(1))
    >>> round(float(mechanism.probability(truth).mean()), 6)
    0.2
    """
    exposed = [column for column in truth.columns if column not in spare]
    free = [column for column in exposed if name != "mar" or column not in not_always_there]
    drivers = _pick_drivers(name, free, len(exposed), loss_rate, rng)
    rates = _rates(name, truth.columns, exposed, drivers, loss_rate)
    levels = {
        driver: tuple(sorted(truth[driver].dropna().astype(str).unique()))
        for driver in drivers
        if not pd.api.types.is_numeric_dtype(truth[driver])
    }
    driving = _numbers(truth, drivers, levels)
    mean, scale = np.nanmean(driving, axis=0), np.nanstd(driving, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    standard = np.nan_to_num((driving - mean) / scale, nan=0.0)
    driven = ~np.isin(truth.columns, drivers)
    weights = rng.normal(size=(len(drivers), truth.shape[1])) * driven
    size = np.std(standard @ weights, axis=0)
    weights = weights / np.where(size > 0, size, 1.0)
    slopes = standard @ weights
    bias = np.array([_bias(slope, rate) for slope, rate in zip(slopes.T, rates, strict=True)])
    columns = tuple(truth.columns)
    return LogisticMechanism(name, loss_rate, columns, drivers, weights, bias, mean, scale, levels)


def _pick_drivers(
    name: LogisticName,
    free: list[str],
    n_exposed: int,
    loss_rate: float,
    rng: np.random.Generator,
) -> tuple[str, ...]:
    if name == "mcar":
        return ()
    share = 0.1 if loss_rate > 0.3 else 0.3
    n_drivers = min(max(1, int(share * n_exposed)), len(free))
    return tuple(free[i] for i in np.sort(rng.choice(len(free), n_drivers, replace=False)))


def _rates(
    name: LogisticName,
    columns: pd.Index,
    exposed: list[str],
    drivers: tuple[str, ...],
    loss_rate: float,
) -> NDArray[np.float64]:
    """Return the mean loss rate of each column."""
    if name != "mar":
        return np.where(np.isin(columns, exposed), loss_rate, 0.0)
    rate = loss_rate * len(exposed) / max(1, len(exposed) - len(drivers))
    if rate >= 1.0:
        raise InputError(
            f"A loss rate of {loss_rate} is too high for MAR on {len(exposed)} columns: those that "
            "can be lost would be lost altogether. Lower it.",
            parameter="loss_rate",
        )
    return np.where(np.isin(columns, exposed) & ~np.isin(columns, drivers), rate, 0.0)


def _bias(slope: NDArray[np.float64], rate: float) -> float:
    """Find the bias at which the mean of sigmoid(slope + bias) equals the rate."""
    if rate == 0.0:
        return -np.inf
    return float(brentq(lambda bias: expit(slope + bias).mean() - rate, -60.0, 60.0))


def _numbers(
    truth: pd.DataFrame, names: tuple[str, ...], levels: dict[str, tuple[str, ...]]
) -> NDArray[np.float64]:
    """Return columns as numbers: text by the position of its level, NaN where missing."""
    numbers = np.empty((len(truth), len(names)))
    for k, name in enumerate(names):
        column = truth[name]
        if name in levels:
            codes = pd.Categorical(
                column.astype(str).where(column.notna()), categories=levels[name]
            )
            numbers[:, k] = np.where(codes.codes < 0, np.nan, codes.codes)
        else:
            numbers[:, k] = column.to_numpy(dtype=float, na_value=np.nan)
    return numbers
