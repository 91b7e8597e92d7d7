"""Losses as in real surveys: at different rates in columns, and together in rows."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from diffjoint.errors import InputError
from diffjoint.settings import LifeName

Array = NDArray[np.float64]

PROPENSITIES = (0.25, 1.0, 5.5)
"""Relative hazards of careful, average and reluctant rows; the mean over rows is 1."""
PROPENSITY_SHARES = (0.6, 0.3, 0.1)
"""Share of the rows in each of these classes."""
LONGEST_BLOCK = 6
"""Largest number of columns in a block."""
MOST_UNEVEN = 4.0
"""Largest rate of a column as a multiple of the mean rate, while rates are small."""


@dataclass(frozen=True)
class LifeMechanism:
    """Loses cells depending on their row and column, but not on any values.

    Cells of a row are lost in three ways, which are independent given the row's propensity m:

    - each cell j by itself, with probability 1 - (1 - rates[j]) ** m;
    - each block of adjacent columns as a whole, with probability block_rates[b];
    - everything from column j on, if the row breaks off there, with probability break_off[j] given
      that it has not broken off before.

    A meaningful cell can be lost like any other; it stays meaningful.

    Attributes
    ----------
    name : {"own-rates", "break-off", "blocks", "propensity", "survey"}
    loss_rate : float
        Requested share of lost cells, over the columns that are not spared.
    columns : tuple of str
    spare : tuple of str
        Columns that are never lost.
    rates : array of shape (n_columns,)
        P(lost by itself) of each column's cells in rows of propensity 1.
    propensities, shares : arrays of shape (n_classes,)
        Classes of rows: their propensity, and their share of the rows.
    blocks : tuple of tuple of str
        Columns that are lost together.
    block_rates : array of shape (n_blocks,)
    break_off : array of shape (n_columns,)

    Notes
    -----
    All latent variables of a row are discrete, so that exact probabilities are sums; see
    ``loss_patterns``.
    """

    name: LifeName
    loss_rate: float
    columns: tuple[str, ...]
    spare: tuple[str, ...]
    rates: Array
    propensities: Array
    shares: Array
    blocks: tuple[tuple[str, ...], ...]
    block_rates: Array
    break_off: Array

    @property
    def drivers(self) -> tuple[str, ...]:
        """Empty: losses do not depend on values."""
        return ()

    @property
    def exposed(self) -> NDArray[np.bool_]:
        """Mask of the columns that can be lost."""
        return np.array([column not in self.spare for column in self.columns])

    @property
    def in_block(self) -> NDArray[np.bool_]:
        """Mask of the columns of each block, shape (n_blocks, n_columns)."""
        members = [[column in block for column in self.columns] for block in self.blocks]
        return np.array(members, dtype=bool).reshape(len(self.blocks), len(self.columns))

    @property
    def class_rates(self) -> Array:
        """P(lost by itself) in rows of each class, shape (n_classes, n_columns)."""
        by_class: Array = 1.0 - (1.0 - self.rates) ** self.propensities[:, None]
        return by_class

    @property
    def column_rates(self) -> Array:
        """P(lost) of each column's cells, in any of the three ways."""
        alone = self.shares @ (1.0 - self.class_rates)
        in_blocks = np.where(self.in_block, 1.0 - self.block_rates[:, None], 1.0).prod(axis=0)
        kept = alone * in_blocks * (1.0 - self.break_off).cumprod()
        return np.where(self.exposed, 1.0 - kept, 0.0)

    def probability(self, truth: pd.DataFrame) -> Array:
        """Return P(lost) of every cell, the same in every row, shape (n_rows, n_columns)."""
        return np.tile(self.column_rates, (len(truth), 1))

    def lose(self, truth: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Draw which cells are lost."""
        row_class = rng.choice(len(self.shares), len(truth), p=self.shares)
        lost = rng.random(truth.shape) < self.class_rates[row_class]
        lost |= (rng.random((len(truth), len(self.blocks))) < self.block_rates) @ self.in_block
        ends_here = rng.random(truth.shape) < self.break_off
        lost |= np.logical_or.accumulate(ends_here, axis=1)
        return pd.DataFrame(lost & self.exposed, index=truth.index, columns=truth.columns)

    def describe(self) -> dict[str, Any]:
        """Return the parameters by name, without those that lose nothing."""
        about: dict[str, Any] = {
            "name": self.name,
            "loss_rate": self.loss_rate,
            "drivers": [],
            "spare": list(self.spare),
        }
        if self.rates.any():
            about["rates"] = dict(zip(self.columns, self.rates.tolist(), strict=True))
        if len(self.propensities) > 1:
            classes = zip(self.propensities.tolist(), self.shares.tolist(), strict=True)
            about["rows"] = [{"propensity": m, "share": share} for m, share in classes]
        if self.blocks:
            blocks = zip(self.blocks, self.block_rates.tolist(), strict=True)
            about["blocks"] = [{"columns": list(block), "rate": rate} for block, rate in blocks]
        if self.break_off.any():
            about["break_off"] = dict(zip(self.columns, self.break_off.tolist(), strict=True))
        return about


@dataclass(frozen=True)
class _Mix:
    """Shares of the losses by way of losing cells, while losses are few."""

    cells: float = 0.0
    blocks: float = 0.0
    break_off: float = 0.0
    own_rates: bool = False
    classes: bool = False


_MIXES: dict[LifeName, _Mix] = {
    "own-rates": _Mix(cells=1.0, own_rates=True),
    "break-off": _Mix(break_off=1.0),
    "blocks": _Mix(blocks=1.0),
    "propensity": _Mix(cells=1.0, classes=True),
    "survey": _Mix(cells=0.7, blocks=0.2, break_off=0.1, own_rates=True, classes=True),
}


def make_life_mechanism(
    name: LifeName,
    columns: tuple[str, ...],
    loss_rate: float,
    rng: np.random.Generator,
    *,
    spare: tuple[str, ...] = (),
) -> LifeMechanism:
    """Draw a mechanism that loses a share ``loss_rate`` of the columns that are not spared.

    Examples
    --------
    >>> mechanism = make_life_mechanism("break-off", tuple("abc"), 0.2, np.random.default_rng(0))
    >>> mechanism.column_rates.round(2).tolist(), round(float(mechanism.column_rates.mean()), 6)
    ([0.0, 0.22, 0.38], 0.2)
    """
    mix = _MIXES[name]
    exposed = tuple(column for column in columns if column not in spare)
    if len(exposed) < 2 and (mix.blocks or mix.break_off):
        raise InputError(
            f"{name!r} needs at least two columns that can be lost; got {len(exposed)}. "
            "Spare fewer columns, or take 'mcar'.",
            parameter="spare",
        )
    may_be_lost = np.array([column in exposed for column in columns])
    alone, block, end = np.zeros(len(columns)), np.zeros(0), np.zeros(len(columns))
    blocks: tuple[tuple[str, ...], ...] = ()
    if mix.cells:
        uneven = _uneven(len(exposed), rng) if mix.own_rates else np.ones(len(exposed))
        alone[may_be_lost] = mix.cells * uneven
    if mix.blocks:
        blocks = _cut_into_blocks(exposed, rng)
        block = mix.blocks * _uneven(len(blocks), rng)
    if mix.break_off:
        end[np.flatnonzero(may_be_lost)[1:]] = mix.break_off * 2 / (len(exposed) - 1)
    hazards = LifeMechanism(
        name=name,
        loss_rate=loss_rate,
        columns=columns,
        spare=spare,
        rates=alone,
        propensities=np.array(PROPENSITIES if mix.classes else (1.0,)),
        shares=np.array(PROPENSITY_SHARES if mix.classes else (1.0,)),
        blocks=blocks,
        block_rates=block,
        break_off=end,
    )
    return _scaled(hazards)


def _uneven(n: int, rng: np.random.Generator) -> Array:
    """Draw numbers from 0 to ``MOST_UNEVEN`` with expected value 1."""
    drawn: Array = MOST_UNEVEN * rng.beta(1.0, MOST_UNEVEN - 1.0, n)
    return drawn


def _cut_into_blocks(
    columns: tuple[str, ...], rng: np.random.Generator
) -> tuple[tuple[str, ...], ...]:
    """Cut the columns into blocks of 2 to a quarter of them, none of a single column."""
    longest = int(np.clip(len(columns) // 4, 2, LONGEST_BLOCK))
    lengths: list[int] = []
    while (left := len(columns) - sum(lengths)) > 0:
        length = min(left, int(rng.integers(2, longest + 1)))
        if left - length == 1:
            length += 1 if length == 2 else -1
        lengths.append(length)
    edges = np.cumsum([0, *rng.permutation(lengths)])
    return tuple(columns[start:stop] for start, stop in pairwise(edges))


def _scaled(hazards: LifeMechanism) -> LifeMechanism:
    """Scale relative hazards to probabilities such that the table loses ``loss_rate``."""

    def at(log_scale: float) -> LifeMechanism:
        scale = np.exp(log_scale)
        return replace(
            hazards,
            rates=-np.expm1(-scale * hazards.rates),
            block_rates=-np.expm1(-scale * hazards.block_rates),
            break_off=-np.expm1(-scale * hazards.break_off),
        )

    def too_much(log_scale: float) -> float:
        rates = at(log_scale).column_rates[hazards.exposed]
        return float(rates.mean() - hazards.loss_rate)

    if too_much(_LARGEST) <= 0.0:
        raise InputError(
            f"A loss rate of {hazards.loss_rate} is too high for {hazards.name!r} on "
            f"{hazards.exposed.sum()} columns: rows break off after the first column at the "
            "earliest. Lower it.",
            parameter="loss_rate",
        )
    return at(float(brentq(too_much, -_LARGEST, _LARGEST)))


_LARGEST = 60.0
