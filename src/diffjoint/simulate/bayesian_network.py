"""Simulate the paper's Bayesian network: five columns, three of them with meaningful cells."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.world import World, lose_cells, nothing_lost, split_rows

C1_MEAN, C1_SPREAD, C2_SPREAD = 25.0, 2.0, 5.0
P_D1 = 0.3
MEANINGFUL_ABOVE = 27.0

Array = NDArray[np.float64]


def bayesian_network(
    n_train: int = 14_000,
    n_test: int = 6_000,
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
) -> World:
    """Draw rows of the paper's Bayesian network, and lose some of their cells.

    C1 is normal, C2 depends on C1, D1 is Bernoulli, D2 depends on all three, and D3 on D2. C1 is
    meaningfully missing above 27; D2 where C1 <= 26, C2 <= 55 and D1 = 1; D3 where D2 is 1
    or meaningfully missing.

    Examples
    --------
    >>> world = bayesian_network(700, 300)
    >>> world.observed_table.shape, world.mm_columns
    ((1000, 5), ['C1', 'D2', 'D3'])
    """
    rng = np.random.default_rng(seed)
    truth = draw_network(n_train + n_test, rng)
    whole = World(
        name="bayesian-network",
        seed=seed,
        truth=truth,
        meaningful=truth.isna(),
        lost=nothing_lost(truth),
        mm_columns=["C1", "D2", "D3"],
        column_kinds={
            "C1": "continuous",
            "C2": "continuous",
            "D1": "categorical",
            "D2": "categorical",
            "D3": "categorical",
        },
        is_train=split_rows(n_train + n_test, n_train),
    )
    return lose_cells(whole, mechanism, loss_rate, rng)


def draw_network(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw complete rows of the network, NaN where meaningfully missing."""
    c1 = rng.normal(C1_MEAN, C1_SPREAD, n_rows)
    c2 = rng.normal(c2_mean(c1), C2_SPREAD)
    d1 = (rng.random(n_rows) < P_D1).astype(float)
    regular = d2_probabilities(c1, c2, d1)
    u = rng.random((n_rows, 1))
    level = (u >= regular.cumsum(axis=1)[:, :2]).sum(axis=1).astype(float)
    d2 = np.where(regular.any(axis=1), level, np.nan)
    _, heads, meaningful = d3_probabilities(d2).T
    d3 = np.where(meaningful == 1.0, np.nan, rng.random(n_rows) < heads)
    return pd.DataFrame(
        {"C1": np.where(c1 > MEANINGFUL_ABOVE, np.nan, c1), "C2": c2, "D1": d1, "D2": d2, "D3": d3}
    )


def c2_mean(c1: Array) -> Array:
    """Return E[C2 | C1]."""
    return 0.1 * c1 + 50.0


def d2_probabilities(c1: Array, c2: Array, d1: Array) -> Array:
    """Return P(D2 = 0, 1, 2 | C1, C2, D1) on a last axis; zeros where D2 is meaningful."""
    cases = [
        (d1 == 0, (0.05, 0.05, 0.9)),
        ((c1 > 26) & (c2 > 55), (0.3, 0.6, 0.1)),
        ((c1 > 26) & (c2 <= 55), (0.2, 0.3, 0.5)),
        ((c1 <= 26) & (c2 > 55), (0.7, 0.1, 0.2)),
    ]
    where = [case for case, _ in cases]
    return np.stack([np.select(where, [p[k] for _, p in cases], 0.0) for k in range(3)], axis=-1)


def d3_probabilities(d2: Array) -> Array:
    """Return P(D3 = 0, 1, NA | D2) on a last axis."""
    heads = np.select([d2 == 0, d2 == 2], [0.2, 0.8], 0.0)
    meaningful = ((d2 != 0) & (d2 != 2)).astype(float)
    return np.stack([1.0 - heads - meaningful, heads, meaningful], axis=-1)
