"""Protocol of all mechanisms of loss."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.settings import MechanismName


class Mechanism(Protocol):
    """A mechanism by which cells get lost, with all its parameters."""

    @property
    def name(self) -> MechanismName:
        """Name of the mechanism."""

    @property
    def loss_rate(self) -> float:
        """Requested share of lost cells, over the columns that are not spared."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table, in their order."""

    @property
    def drivers(self) -> tuple[str, ...]:
        """Columns whose values losses depend on; empty if they depend on none."""

    def probability(self, truth: pd.DataFrame) -> NDArray[np.float64]:
        """Return P(lost) of every cell of a true table, shape (n_rows, n_columns)."""

    def lose(self, truth: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Draw which cells are lost."""

    def describe(self) -> dict[str, Any]:
        """Return a description as plain data, for JSON."""
