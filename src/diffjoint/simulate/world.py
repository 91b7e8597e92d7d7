"""Define a world: a table with missing cells, and the truth about each of them."""

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
        True table, with NA where there is nothing to fill in. Cells that a real table came without
        are NA as well; see ``known``.
    meaningful : bool DataFrame
        Meaningful cells, in which there is nothing to fill in.
    lost : bool DataFrame
        Lost cells. A meaningful cell can be lost too; it stays meaningful.
    mm_columns : list of str
        Columns with meaningful cells.
    column_kinds : dict
        Kind of each column.
    is_train : bool array
        Rows for fitting; the others are for testing.
    mechanism : Mechanism or None
        How cells got lost, if that is known.
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
        """Table that an imputer gets to see: meaningful and lost cells are both missing."""
        return self.truth.mask(self.lost)

    @property
    def known(self) -> pd.DataFrame:
        """Cells whose true state is known: all except those that a real table came without."""
        return self.truth.notna() | self.meaningful

    @property
    def kind_known(self) -> pd.DataFrame:
        """Cells known to be observed, meaningful or lost; others are missing, and not scored."""
        return self.truth.notna() | self.meaningful | self.lost

    @property
    def train(self) -> "World":
        """Rows for fitting, as a world."""
        return self._rows(self.is_train)

    @property
    def test(self) -> "World":
        """Rows for testing, as a world."""
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
    """Lose cells of a world by a mechanism, which is the same for train and test rows.

    Parameters
    ----------
    world : World
    name : str or None
        One of ``MECHANISM_NAMES``, or None to lose no cells.
    loss_rate : float
        Share of the cells to lose, over the columns that are not spared.
    rng : Generator
    spare : tuple of str
        Columns that are never lost and drive no losses, such as ids.
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
    """Return a mask of the table's shape that is False everywhere."""
    return pd.DataFrame(False, index=truth.index, columns=truth.columns)


def split_rows(n_rows: int, n_train: int) -> NDArray[np.bool_]:
    """Take the first ``n_train`` rows for fitting: rows of a simulated world have no order."""
    return np.arange(n_rows) < n_train


def shuffled_split(n_rows: int, n_train: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw ``n_train`` rows for fitting: rows of a real table may have an order."""
    return rng.permutation(split_rows(n_rows, n_train))
