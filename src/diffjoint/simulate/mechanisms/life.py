"""Losses as they happen in life: uneven over columns, and many in one row."""

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
"""How much more than usual a careful, a usual and a reluctant row loses; the mean is 1."""
PROPENSITY_SHARES = (0.6, 0.3, 0.1)
"""Which share of the rows each of them is."""
LONGEST_BLOCK = 6
MOST_UNEVEN = 4.0
"""A column's own rate is drawn between 0 and this many times the mean, while rates are small."""


@dataclass(frozen=True)
class LifeMechanism:
    """Lose cells by what a row and a column are, never by the values of cells.

    Three things take cells of a row, independently of each other given the row's propensity m:

    - each cell j by itself, with probability 1 - (1 - rates[j]) ** m;
    - each block of adjacent columns as a whole, with probability block_rates[b];
    - the row's end: it breaks off just before column j with probability break_off[j], given that
      it got that far, and everything from there on is lost.

    A meaningful cell may be struck like any other; it stays meaningful.

    Attributes
    ----------
    name : {"own-rates", "break-off", "blocks", "propensity", "survey"}
    loss_rate : float
        The rate asked for, over the columns that are not spared.
    columns : tuple of str
    spare : tuple of str
        Columns that are never lost.
    rates : array of shape (n_columns,)
        P(lost by itself) of each column's cells in rows of propensity 1.
    propensities, shares : arrays of shape (n_classes,)
        The classes of rows: their propensity, and how many rows belong to each.
    blocks : tuple of tuple of str
        Columns that are lost together.
    block_rates : array of shape (n_blocks,)
    break_off : array of shape (n_columns,)

    Notes
    -----
    All that is hidden in a row is discrete, so what an oracle needs follows by summation: see
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
        """No column: losses do not depend on values."""
        return ()

    @property
    def exposed(self) -> NDArray[np.bool_]:
        """Columns that can be lost."""
        return np.array([column not in self.spare for column in self.columns])

    @property
    def in_block(self) -> NDArray[np.bool_]:
        """Which columns each block holds, shape (n_blocks, n_columns)."""
        members = [[column in block for column in self.columns] for block in self.blocks]
        return np.array(members, dtype=bool).reshape(len(self.blocks), len(self.columns))

    @property
    def class_rates(self) -> Array:
        """P(lost by itself) in rows of each class, shape (n_classes, n_columns)."""
        by_class: Array = 1.0 - (1.0 - self.rates) ** self.propensities[:, None]
        return by_class

    @property
    def column_rates(self) -> Array:
        """P(lost) of each column's cells, whatever took them."""
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
        """Return its parts by name; those that take nothing are left out."""
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
    """Which share of the losses comes by which way, while losses are few."""

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
        blocks = _cut(exposed, rng)
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
    """Numbers from 0 to ``MOST_UNEVEN`` with mean 1 over all draws, small ones more often."""
    drawn: Array = MOST_UNEVEN * rng.beta(1.0, MOST_UNEVEN - 1.0, n)
    return drawn


def _cut(columns: tuple[str, ...], rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
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
    """Turn relative hazards into probabilities, scaled so that the whole loses what was asked."""

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
