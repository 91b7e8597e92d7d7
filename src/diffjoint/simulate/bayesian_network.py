"""The paper's Bayesian network: two numbers, three categories, three kinds of meaningful NA."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.simulate.mechanisms import lose_completely_at_random
from diffjoint.simulate.world import World, split_rows


def bayesian_network(
    n_train: int = 14_000, n_test: int = 6_000, *, loss_rate: float = 0.1, seed: int = 0
) -> World:
    """Draw the network and lose cells completely at random.

    C1 is normal, C2 follows C1, D1 is a coin, D2 depends on all three, D3 on D2. C1 is
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
    return World(
        name="bayesian-network",
        seed=seed,
        truth=truth,
        meaningful=truth.isna(),
        lost=lose_completely_at_random(truth, loss_rate, rng),
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


def draw_network(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of the network on the augmented domain, NaN where meaningfully missing."""
    c1 = rng.normal(25.0, 2.0, n_rows)
    c2 = rng.normal(0.1 * c1 + 50.0, 5.0)
    d1 = (rng.random(n_rows) < 0.3).astype(float)
    d2 = _draw_d2(c1, c2, d1, rng)
    heads = np.select([d2 == 0, d2 == 2], [0.2, 0.8], default=np.nan)
    d3 = np.where(np.isnan(heads), np.nan, rng.random(n_rows) < heads)
    return pd.DataFrame(
        {"C1": np.where(c1 > 27, np.nan, c1), "C2": c2, "D1": d1, "D2": d2, "D3": d3}
    )


def _draw_d2(
    c1: NDArray[np.float64],
    c2: NDArray[np.float64],
    d1: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    cases = [
        (d1 == 0, (0.05, 0.05, 0.9)),
        ((c1 > 26) & (c2 > 55), (0.3, 0.6, 0.1)),
        ((c1 > 26) & (c2 <= 55), (0.2, 0.3, 0.5)),
        ((c1 <= 26) & (c2 > 55), (0.7, 0.1, 0.2)),
    ]
    first = np.select([case for case, _ in cases], [p[0] for _, p in cases], default=np.nan)
    second = np.select([case for case, _ in cases], [p[1] for _, p in cases], default=np.nan)
    u = rng.random(len(c1))
    level = np.where(u < first, 0.0, np.where(u < first + second, 1.0, 2.0))
    return np.where(np.isnan(first), np.nan, level)
