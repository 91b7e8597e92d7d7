"""Represent the joint state s = (x, c), its draws, and its encoding for the diffusion model."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.settings import Settings
from diffjoint.state.observation import Observation
from diffjoint.table import Schema, coordinates, decode, encode

Masks = Callable[[NDArray[np.intp]], Mask]
"""Returns masks of some rows, shape (n_draws, n_rows, n_columns); (1, ...) if draws share one."""


@dataclass(frozen=True)
class JointState:
    """Value of every modelled cell, and whether the cell is meaningful.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Coded values of all cells; meaningful ones have one, too.
    meaningful : bool array of the same shape
        True where NA is to be kept.
    """

    values: Values
    meaningful: Mask


@dataclass(frozen=True)
class Draws:
    """Conditional draws of some rows.

    Attributes
    ----------
    rows : array of shape (n_rows,)
        Positions of these rows in the table.
    values : array of shape (n_draws, n_rows, n_columns)
    meaningful : bool array of the same shape
    """

    rows: NDArray[np.intp]
    values: Values
    meaningful: Mask


@dataclass(frozen=True)
class JointSpace:
    """Model space of the joint state: encoded values, then a 0/1 coordinate per searched column.

    Attributes
    ----------
    schema : Schema
    mm : tuple of int
        Positions of the searched columns among the modelled ones.
    number_scale : float
        Standard deviation of encoded numbers (by rank: if no two of them are equal).
    by_rank : bool
        Whether numbers are encoded by rank, so that draws have each column's distribution; the
        paper scales them.
    """

    schema: Schema
    mm: tuple[int, ...]
    number_scale: float
    by_rank: bool = False

    @classmethod
    def of(cls, schema: Schema, mm: Iterable[int], settings: Settings) -> "JointSpace":
        """Return the space that settings ask for."""
        return cls(schema, tuple(mm), settings.sigma_data, settings.is_amortised)

    @property
    def can_be_meaningful(self) -> tuple[int, ...]:
        """Positions of columns that can have meaningful cells: searched columns and checkboxes."""
        return tuple(sorted({*self.mm, *np.flatnonzero(self.schema.checkboxes).tolist()}))

    @property
    def n_columns(self) -> int:
        """Number of modelled columns."""
        return len(self.schema.modelled)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of one joint vector."""
        return sum(column.width for column in self.schema.modelled) + len(self.mm)

    def encode(self, state: JointState) -> NDArray[np.float32]:
        """Return the joint vectors of a state, shape (n_rows, n_coordinates)."""
        encoded = encode(state.values, self.schema, self.number_scale, by_rank=self.by_rank)
        return np.hstack([encoded, state.meaningful[:, self.mm].astype(np.float32)])

    def decode(self, vectors: NDArray[np.float32]) -> JointState:
        """Return the state of joint vectors; leading axes are kept."""
        n_values = self.n_coordinates - len(self.mm)
        encoded = vectors[..., :n_values]
        values = decode(encoded, self.schema, self.number_scale, by_rank=self.by_rank)
        meaningful = np.zeros(values.shape, dtype=bool)
        meaningful[..., self.mm] = vectors[..., n_values:] > 0.5
        return JointState(values, meaningful)

    def known(self, observation: Observation, *, mask_too: bool = False) -> Mask:
        """Return which coordinates are known: of observed values, and of cells not candidates.

        Parameters
        ----------
        mask_too : bool
            Whether all coordinates of the mask are known.
        """
        values = coordinates(observation.observed, self.schema)
        return np.hstack([values, ~observation.candidates[:, self.mm] | mask_too])


def one_mask(meaningful: Mask) -> Masks:
    """Return masks that are the same for all draws."""
    return lambda rows: meaningful[None, rows]
