"""What every way of losing cells has in common."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.settings import MechanismName


class Mechanism(Protocol):
    """A way of losing cells, with all its numbers, so that an oracle can know it."""

    @property
    def name(self) -> MechanismName:
        """The name it was asked for by."""

    @property
    def loss_rate(self) -> float:
        """The rate asked for, over the columns that are not spared."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table, in their order."""

    @property
    def drivers(self) -> tuple[str, ...]:
        """Columns whose values decide about losses; empty if no value does."""

    def probability(self, truth: pd.DataFrame) -> NDArray[np.float64]:
        """Return P(lost) of every cell of a true table, shape (n_rows, n_columns)."""

    def lose(self, truth: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Draw which cells are lost."""

    def describe(self) -> dict[str, Any]:
        """Return what there is to say about it, as JSON can carry it."""
