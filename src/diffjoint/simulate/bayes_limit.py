"""Compute exact posteriors of the paper's Bayesian network, the limit for any method.

The network and the mechanism are known here. So the probability of each state of a missing cell is
a sum over all complete rows that agree with the observed cells: exact over D1, D2 and D3, and by
Gauss-Legendre quadrature over C1 and C2, within regions where the density is smooth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from diffjoint.errors import InputError
from diffjoint.simulate.bayesian_network import (
    C1_MEAN,
    C1_SPREAD,
    C2_SPREAD,
    MEANINGFUL_ABOVE,
    P_D1,
    c2_mean,
    d2_probabilities,
    d3_probabilities,
)
from diffjoint.simulate.mechanisms import (
    LifeMechanism,
    LogisticMechanism,
    Mechanism,
    loss_patterns,
    missing_given_meaningful,
)
from diffjoint.simulate.world import World

Array = NDArray[np.float64]

D2_STATES = (0.0, 1.0, 2.0, np.nan)
D3_STATES = (0.0, 1.0, np.nan)
_COLUMNS = ("C1", "C2", "D1", "D2", "D3")
_C1_EDGES = (9.0, 26.0, 27.0, 41.0)
_C2_EDGES = (10.0, 55.0, 95.0)
_N_NODES = 24
_N_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Posterior:
    """Posterior of the cells of a world.

    Attributes
    ----------
    meaningful : DataFrame
        P(meaningful) of every cell; 0 for observed cells.
    levels : dict of DataFrame
        For D1, D2 and D3: probability of each regular value, one column per value.
    mean : DataFrame
        For C1 and C2: expected value, given that the cell is not meaningful.
    observed_table : DataFrame
    """

    meaningful: pd.DataFrame
    levels: dict[str, pd.DataFrame]
    mean: pd.DataFrame
    observed_table: pd.DataFrame

    @property
    def calls(self) -> pd.DataFrame:
        """Cells that are more likely meaningful than not."""
        return self.meaningful > 0.5

    @property
    def calls_for_f1(self) -> pd.DataFrame:
        """Calls with the highest expected F1."""
        likely = np.sort(self.meaningful.to_numpy()[self.observed_table.isna()])[::-1]
        expected = 2 * likely.cumsum() / (np.arange(1, len(likely) + 1) + likely.sum())
        above: pd.DataFrame = self.meaningful >= likely[expected.argmax()]
        return above

    @property
    def completed(self) -> pd.DataFrame:
        """Observed table with the most likely state of each missing cell, a value or NA."""
        completed = self.observed_table.copy()
        for name in _COLUMNS:
            kept = self.calls[name]
            if name in self.levels:
                best = self.levels[name].idxmax(axis=1)
                kept = self.meaningful[name] > self.levels[name].max(axis=1)
            else:
                best = self.mean[name]
            fill = completed[name].isna() & ~kept
            completed[name] = completed[name].where(~fill, best.astype(float))
        return completed


def bayes_posterior(world: World) -> Posterior:
    """Compute the exact posterior of every cell of a Bayesian-network world.

    Examples
    --------
    >>> from diffjoint.simulate import bayesian_network
    >>> posterior = bayes_posterior(bayesian_network(60, 40).test)
    >>> float(posterior.meaningful["D1"].max())
    0.0
    """
    if world.mechanism is None or tuple(world.truth.columns) != _COLUMNS:
        raise InputError(
            "The Bayes limit is known for Bayesian-network worlds with a mechanism; got "
            f"{world.name!r}. Pass what bayesian_network returned."
        )
    seen = world.observed_table
    cells = seen.to_numpy(dtype=float)
    both_gone = np.isnan(cells[:, :2]).all(axis=1)
    results = np.empty((len(cells), _N_RESULTS))
    patterns, place = np.unique(
        np.nan_to_num(cells[both_gone], nan=-1.0), axis=0, return_inverse=True
    )
    repeated = np.where(patterns == -1.0, np.nan, patterns)
    results[both_gone] = _in_blocks(repeated, world.mechanism, 20)[place.ravel()]
    for gone in ([False, False], [False, True], [True, False]):
        rows = (np.isnan(cells[:, :2]) == gone).all(axis=1)
        results[rows] = _in_blocks(cells[rows], world.mechanism, _N_ROWS_AT_ONCE)
    return _posterior(results, seen)


_N_RESULTS = 2 + 2 + 3 + 1 + 2 + 1 + 1


def _in_blocks(cells: Array, mechanism: Mechanism, n_rows: int) -> Array:
    blocks = [
        _posterior_of(cells[start : start + n_rows], mechanism)
        for start in range(0, len(cells), n_rows)
    ]
    return np.concatenate(blocks) if blocks else np.empty((0, _N_RESULTS))


def _posterior_of(cells: Array, mechanism: Mechanism) -> Array:
    """Compute the posterior of rows that agree on whether C1 and C2 are missing.

    The axes of the joint distribution are row, C1, C2, D1, D2, D3.
    """
    c1, c1_weight = _nodes(cells[:, 0], _C1_EDGES)
    c2, c2_weight = _nodes(cells[:, 1], _C2_EDGES)
    c1, c1_weight = c1[:, :, None, None, None, None], c1_weight[:, :, None, None, None, None]
    c2, c2_weight = c2[:, None, :, None, None, None], c2_weight[:, None, :, None, None, None]
    d1 = np.array([0.0, 1.0])[None, None, None, :, None, None]
    d2 = np.array(D2_STATES)[None, None, None, None, :, None]
    d3 = np.array(D3_STATES)[None, None, None, None, None, :]
    c1_state = np.where(c1 > MEANINGFUL_ABOVE, np.nan, c1)

    joint = c1_weight * norm.pdf(c1, C1_MEAN, C1_SPREAD)
    joint = joint * c2_weight * norm.pdf(c2, c2_mean(c1), C2_SPREAD)
    joint = joint * np.where(d1 == 1, P_D1, 1 - P_D1)
    joint = joint * _d2_table(c1, c2, d1) * d3_probabilities(np.array(D2_STATES))
    states = dict(zip(_COLUMNS, (c1_state, c2, d1, d2, d3), strict=True))
    for factor in _row_given(mechanism, cells, states):
        joint = joint * factor
    joint /= joint.sum(axis=(1, 2, 3, 4, 5), keepdims=True)
    return _marginals(joint, c1, c2)


def _marginals(joint: Array, c1: Array, c2: Array) -> Array:
    d1 = joint.sum(axis=(1, 2, 4, 5))
    d2 = joint.sum(axis=(1, 2, 3, 5))
    d3 = joint.sum(axis=(1, 2, 3, 4))
    above = c1 > MEANINGFUL_ABOVE
    c1_meaningful = (joint * above).sum(axis=(1, 2, 3, 4, 5))
    c1_total = (joint * np.where(above, 0.0, c1)).sum(axis=(1, 2, 3, 4, 5))
    c1_mean = c1_total / np.maximum(1 - c1_meaningful, 1e-300)
    c2_expected = (joint * c2).sum(axis=(1, 2, 3, 4, 5))
    return np.column_stack(
        [d1, d2[:, :3], d2[:, 3], d3[:, :2], d3[:, 2], c1_meaningful, c1_mean, c2_expected]
    )


def _nodes(column: Array, edges: tuple[float, ...]) -> tuple[Array, Array]:
    """Return the values of a continuous cell and their weights: itself, or quadrature nodes."""
    if not np.isnan(column).any():
        return column[:, None], np.ones((len(column), 1))
    points, weights = np.polynomial.legendre.leggauss(_N_NODES)
    nodes, spans = [], []
    for low, high in pairwise(edges):
        nodes.append((high - low) / 2 * points + (high + low) / 2)
        spans.append((high - low) / 2 * weights)
    return np.concatenate(nodes)[None, :], np.concatenate(spans)[None, :]


def _d2_table(c1: Array, c2: Array, d1: Array) -> Array:
    """Return P(D2 state) with the states on the D2 axis."""
    c1, c2, d1 = np.broadcast_arrays(c1, c2, d1)
    regular = d2_probabilities(c1[..., 0, 0], c2[..., 0, 0], d1[..., 0, 0])
    meaningful = ~regular.any(axis=-1, keepdims=True)
    return np.concatenate([regular, meaningful], axis=-1)[..., None]


def _row_given(mechanism: Mechanism, cells: Array, states: dict[str, Array]) -> Iterator[Array]:
    """Yield the factors of P(observed row | its state)."""
    if isinstance(mechanism, LifeMechanism):
        yield from (_agrees(cells[:, j], states[name]) for j, name in enumerate(_COLUMNS))
        yield _missing_given(mechanism, cells, states)
    elif isinstance(mechanism, LogisticMechanism):
        for j, name in enumerate(_COLUMNS):
            yield _cell_given(cells[:, j], states[name], _loss(mechanism, j, states))
    else:
        raise InputError(f"The Bayes limit is not known for losses by {mechanism.name!r}.")


def _agrees(column: Array, state: Array) -> Array:
    """Return 1 where a state agrees with the observed cell; every state does with a missing one."""
    seen = column[:, None, None, None, None, None]
    return np.where(np.isnan(seen) | (seen == state), 1.0, 0.0)


def _missing_given(mechanism: LifeMechanism, cells: Array, states: dict[str, Array]) -> Array:
    """Return P(these cells are missing | these are meaningful)."""
    place = 2 ** np.arange(len(_COLUMNS))[::-1]
    missing = np.isnan(cells) @ place
    meaningful = sum(
        digit * np.isnan(states[name]) for digit, name in zip(place, _COLUMNS, strict=True)
    )
    table = missing_given_meaningful(loss_patterns(mechanism))
    chances: Array = table[missing[:, None, None, None, None, None], meaningful]
    return chances


def _loss(mechanism: LogisticMechanism, column: int, states: dict[str, Array]) -> Array:
    """Return P(the column's cell is lost) for every state of the row."""
    logit: Array = np.array(mechanism.bias[column])
    for k, driver in enumerate(mechanism.drivers):
        standard = (states[driver] - mechanism.mean[k]) / mechanism.scale[k]
        logit = logit + mechanism.weights[k, column] * np.nan_to_num(standard, nan=0.0)
    lost: Array = expit(logit)
    return lost


def _cell_given(column: Array, state: Array, lost: Array) -> Array:
    """Return P(observed or missing cell | its state), given P(lost)."""
    seen = column[:, None, None, None, None, None]
    regular = ~np.isnan(state)
    as_missing = np.where(regular, lost, 1.0)
    as_value = np.where(regular & (seen == state), 1.0 - lost, 0.0)
    return np.where(np.isnan(seen), as_missing, as_value)


def _posterior(results: Array, seen: pd.DataFrame) -> Posterior:
    d1, d2, d2_na, d3, d3_na, c1_na, c1, c2 = np.split(results, [2, 5, 6, 8, 9, 10, 11], axis=1)
    missing = seen.isna()
    meaningful = pd.DataFrame(0.0, index=seen.index, columns=seen.columns)
    for name, probability in (("C1", c1_na), ("D2", d2_na), ("D3", d3_na)):
        meaningful[name] = np.where(missing[name], np.clip(probability[:, 0], 0, 1), 0.0)
    levels = {
        name: pd.DataFrame(table, index=seen.index, columns=np.arange(table.shape[1]))
        for name, table in (("D1", d1), ("D2", d2), ("D3", d3))
    }
    mean = pd.DataFrame({"C1": c1[:, 0], "C2": c2[:, 0]}, index=seen.index)
    return Posterior(meaningful, levels, mean, seen)
