"""A world: a table with missing cells, and the truth about each of them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.simulate.mechanisms import Mechanism, MechanismName, make_mechanism


@dataclass(frozen=True)
class World:
    """A table whose truth is known.

    Attributes
    ----------
    name : str
    seed : int
    truth : DataFrame
        The true table on the augmented domain: NA where there is nothing to fill in. Real tables
        come with lost cells of their own; what was there is NA as well, see ``known``.
    meaningful : bool DataFrame
        Where there is nothing to fill in.
    lost : bool DataFrame
        Cells that the observation process took.
    mm_columns : list of str
        Columns that can be meaningfully missing.
    column_kinds : dict
        Kind of each column.
    is_train : bool array
        Which rows are for fitting; the others are for testing.
    mechanism : Mechanism or None
        How cells got lost, where that is known.
    """

    name: str
    seed: int
    truth: pd.DataFrame
    meaningful: pd.DataFrame
    lost: pd.DataFrame
    mm_columns: list[str]
    column_kinds: dict[str, str]
    is_train: NDArray[np.bool_]
    mechanism: Mechanism | None = None

    @property
    def observed_table(self) -> pd.DataFrame:
        """What is seen of the truth: meaningful and lost cells look alike."""
        return self.truth.mask(self.lost)

    @property
    def known(self) -> pd.DataFrame:
        """Cells whose true state is known: all but those that a real table came without."""
        return self.truth.notna() | self.meaningful

    @property
    def kind_known(self) -> pd.DataFrame:
        """Cells known to be observed, meaningful or lost; others are missing and not scored."""
        return self.truth.notna() | self.meaningful | self.lost

    @property
    def train(self) -> "World":
        """The rows for fitting, as a world of their own."""
        return self._rows(self.is_train)

    @property
    def test(self) -> "World":
        """The rows for testing, as a world of their own."""
        return self._rows(~self.is_train)

    def _rows(self, chosen: NDArray[np.bool_]) -> "World":
        parts: dict[str, Any] = {
            part: getattr(self, part)[chosen] for part in ("truth", "meaningful", "lost")
        }
        return replace(self, **parts, is_train=self.is_train[chosen])


def lose_cells(
    world: World,
    name: MechanismName | None,
    loss_rate: float,
    rng: np.random.Generator,
    *,
    spare: tuple[str, ...] = (),
) -> World:
    """The world after an observation process has been over it.

    Parameters
    ----------
    world : World
    name : str or None
        One of ``MECHANISM_NAMES``; None: nothing more is lost.
    loss_rate : float
        Share of the cells to lose, over the columns that are not spared.
    rng : Generator
    spare : tuple of str
        Columns that are never lost and drive nothing, such as ids.

    Notes
    -----
    The mechanism is drawn once and is the same for train and test rows.
    """
    if name is None:
        return world
    own_losses = tuple(column for column in world.column_kinds if world.lost[column].any())
    mechanism = make_mechanism(
        name, world.truth, loss_rate, rng, spare=spare, not_always_there=own_losses
    )
    lost = mechanism.lose(world.truth, rng)
    return replace(world, lost=lost | world.lost, mechanism=mechanism)


def nothing_lost(truth: pd.DataFrame) -> pd.DataFrame:
    """A mask of the table's shape that loses no cell."""
    return pd.DataFrame(False, index=truth.index, columns=truth.columns)


def split_rows(n_rows: int, n_train: int) -> NDArray[np.bool_]:
    """The first ``n_train`` rows for fitting: rows of a simulated world have no order."""
    return np.arange(n_rows) < n_train


def shuffled_split(n_rows: int, n_train: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Any ``n_train`` rows for fitting: rows of a real table may have an order."""
    return rng.permutation(split_rows(n_rows, n_train))
