"""Compute exact probabilities of the cells of a row being lost together, for few columns."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from diffjoint.errors import InputError
from diffjoint.simulate.mechanisms.life import LifeMechanism

Array = NDArray[np.float64]

MOST_COLUMNS = 12
"""Largest number of columns whose patterns can be listed."""


def loss_patterns(mechanism: LifeMechanism) -> Array:
    """Return P(exactly these cells of a row are lost) for every set of columns.

    Sums over the latent variables of a row: its class, the blocks that it loses, and where it
    breaks off. All terms are positive, so that rare patterns are as exact as common ones.

    Returns
    -------
    array of shape (2, 2, ..., 2)
        One axis per column: 0 for kept, 1 for lost. Sums to 1.

    Examples
    --------
    >>> from diffjoint.simulate.mechanisms.life import make_life_mechanism
    >>> mechanism = make_life_mechanism("break-off", tuple("ab"), 0.1, np.random.default_rng(0))
    >>> loss_patterns(mechanism).round(6).tolist()
    [[0.8, 0.2], [0.0, 0.0]]
    """
    n_columns = len(mechanism.columns)
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"Loss patterns can be listed for at most {MOST_COLUMNS} columns; got {n_columns}."
        )
    patterns = np.zeros((2,) * n_columns)
    for taken, p_taken in _taken_together(mechanism):
        for share, rates in zip(mechanism.shares, mechanism.class_rates, strict=True):
            patterns += p_taken * share * _independent(np.where(taken, 1.0, rates))
    return patterns


def missing_given_meaningful(patterns: Array) -> Array:
    """Return P(these cells are missing | those are meaningful), from P(these are lost).

    A meaningful cell is missing whether it is lost or not; any other is missing if it is lost.

    Returns
    -------
    array of shape (2 ** n_columns, 2 ** n_columns)
        Rows are for the missing cells, columns for the meaningful ones. The index of a set of
        columns is its binary code, in which the first column is the highest digit.

    Examples
    --------
    One column, lost at a rate of 0.3: it is missing at that rate if regular, always if meaningful.

    >>> missing_given_meaningful(np.array([0.7, 0.3])).tolist()
    [[0.7, 0.0], [0.3, 1.0]]
    """
    table = np.zeros((patterns.size, patterns.size))
    for meaningful, lost in product(range(patterns.size), repeat=2):
        table[lost | meaningful, meaningful] += patterns.flat[lost]
    return table


def _taken_together(mechanism: LifeMechanism) -> list[tuple[NDArray[np.bool_], float]]:
    """List the cells that blocks and breaking off can lose, with the probability of each case."""
    ends = np.append(mechanism.break_off, 1.0) * np.append(1.0, (1 - mechanism.break_off).cumprod())
    position = np.arange(len(mechanism.columns))
    cases = []
    for gone in product((False, True), repeat=len(mechanism.blocks)):
        p_gone = np.where(gone, mechanism.block_rates, 1.0 - mechanism.block_rates).prod()
        by_blocks = mechanism.in_block[np.array(gone, dtype=bool)].any(axis=0)
        for end, p_end in enumerate(ends):
            taken = (by_blocks | (position >= end)) & mechanism.exposed
            cases.append((taken, float(p_gone * p_end)))
    return cases


def _independent(rates: Array) -> Array:
    """Return P(pattern) for independent losses, one axis per column."""
    patterns = np.ones(())
    for rate in rates:
        patterns = patterns[..., None] * np.array([1.0 - rate, rate])
    return patterns
