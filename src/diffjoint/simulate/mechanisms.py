"""How cells get lost."""

import numpy as np
import pandas as pd

from diffjoint.errors import InputError


def lose_completely_at_random(
    truth: pd.DataFrame, loss_rate: float, rng: np.random.Generator
) -> pd.DataFrame:
    """MCAR: every cell is lost with the same probability, whatever the table holds.

    Examples
    --------
    >>> truth = pd.DataFrame({"a": range(10_000)})
    >>> lost = lose_completely_at_random(truth, 0.2, np.random.default_rng(0))
    >>> round(float(lost["a"].mean()), 2)
    0.2
    """
    if not 0.0 <= loss_rate < 1.0:
        raise InputError(f"loss_rate must lie in [0, 1); got {loss_rate!r}.")
    return pd.DataFrame(
        rng.random(truth.shape) < loss_rate, index=truth.index, columns=truth.columns
    )
