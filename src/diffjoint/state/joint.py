"""The joint state s = (x, c), its draws, and the space the model sees it in."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.state.observation import Observation
from diffjoint.table import Schema, coordinates, decode, encode

Masks = Callable[[NDArray[np.intp]], Mask]
"""Masks of some rows, shape (n_draws, n_rows, n_columns), or (1, ...) if all draws share one."""


@dataclass(frozen=True)
class JointState:
    """Every modelled cell's value, and whether the cell is meaningful.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Coded values; complete, meaningful cells included.
    meaningful : bool array of the same shape
        True: there is nothing to fill in.
    """

    values: Values
    meaningful: Mask


@dataclass(frozen=True)
class Draws:
    """Conditional draws of some rows.

    Attributes
    ----------
    rows : array of shape (n_rows,)
        Which rows of the table these are.
    values : array of shape (n_draws, n_rows, n_columns)
    meaningful : bool array of the same shape
    """

    rows: NDArray[np.intp]
    values: Values
    meaningful: Mask


@dataclass(frozen=True)
class JointSpace:
    """Model space of the joint state: encoded values, then one 0/1 coordinate per mm column.

    Attributes
    ----------
    schema : Schema
    mm : tuple of int
        The searched columns, as positions among the modelled ones.
    number_scale : float
        Standard deviation of encoded numbers; by rank, of those that all differ.
    by_rank : bool
        Whether numbers are encoded by rank, so that draws have each column's shape; the paper
        scales them.
    """

    schema: Schema
    mm: tuple[int, ...]
    number_scale: float
    by_rank: bool = False

    @property
    def can_be_meaningful(self) -> tuple[int, ...]:
        """Columns that can have meaningful cells: those searched, and checkboxes."""
        return tuple(sorted({*self.mm, *np.flatnonzero(self.schema.checkboxes).tolist()}))

    @property
    def n_columns(self) -> int:
        """Modelled columns."""
        return len(self.schema.modelled)

    @property
    def n_coordinates(self) -> int:
        """Coordinates of one joint vector."""
        return sum(column.width for column in self.schema.modelled) + len(self.mm)

    def encode(self, state: JointState) -> NDArray[np.float32]:
        """Joint vectors of a state, shape (n_rows, n_coordinates)."""
        encoded = encode(state.values, self.schema, self.number_scale, by_rank=self.by_rank)
        return np.hstack([encoded, state.meaningful[:, self.mm].astype(np.float32)])

    def decode(self, vectors: NDArray[np.float32]) -> JointState:
        """The state that joint vectors stand for; any leading axes."""
        n_values = self.n_coordinates - len(self.mm)
        encoded = vectors[..., :n_values]
        values = decode(encoded, self.schema, self.number_scale, by_rank=self.by_rank)
        meaningful = np.zeros(values.shape, dtype=bool)
        meaningful[..., self.mm] = vectors[..., n_values:] > 0.5
        return JointState(values, meaningful)

    def known(self, observation: Observation, *, mask_too: bool = False) -> Mask:
        """Which coordinates are known: those of observed values and of settled masks."""
        values = coordinates(observation.observed, self.schema)
        return np.hstack([values, ~observation.candidates[:, self.mm] | mask_too])


def one_mask(meaningful: Mask) -> Masks:
    """A table's mask, as one that all draws share."""
    return lambda rows: meaningful[None, rows]
