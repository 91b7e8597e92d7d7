"""Draws of numbers as narrow as they should be: found on hidden cells, whose truth is known.

A denoiser that was trained for a minute blurs relations that boosted trees see sharply, such as a
sum of other columns, and draws too widely. How much too widely is seen where observed cells are
hidden; draws of such a column are then moved towards what the trees expect, all by the same share.
Columns whose draws are as wide as they should be stay as they are drawn.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diffjoint.arrays import Cells, Values
from diffjoint.conditional_sample import conditional_sample, sampling_units
from diffjoint.config import Settings
from diffjoint.edm import Denoiser
from diffjoint.expect import learn_column
from diffjoint.model_update import first_held_out
from diffjoint.progress import Progress
from diffjoint.state import Draws, JointSpace, Observation, one_mask
from diffjoint.table import from_scores, on_grid, to_scores

MOST_ROWS, N_DRAWS, FEWEST_CELLS = 2_000, 20, 100
"""Rows in which cells are hidden, draws of each, and hidden cells of a column without which nothing
is said of it."""
HIDDEN = 0.1
"""Share of the observed cells that is hidden: few, beside the gaps that are there already."""
INSIDE, ENOUGH_ERRORS = 0.8, 2.0
"""What should lie inside the draws' interval, and by how many standard errors more must, for draws
to count as too wide."""
SHARES = np.linspace(1.0, 0.05, 39)
"""How far from what is expected draws may be left, of how far they are."""
N_TIMES = 4
"""How often other cells of the same row may be hidden."""
STREAM = 1
"""Of the rows' noise; what is drawn for users has another."""


def find_shares(
    denoiser: Denoiser,
    observation: Observation,
    meaningful: Cells,
    space: JointSpace,
    settings: Settings,
    seed: int,
    memory_limit: int,
    progress: Progress,
) -> Values:
    """For each column the share of their distance from what is expected that draws are left with.

    Neither the denoiser nor what is expected here has been learnt from the rows that are asked.

    Parameters
    ----------
    observation : Observation
        The rows that the denoiser was given to learn from.
    meaningful : bool array of shape (n_rows, n_columns)
        A mask to draw values under.

    Returns
    -------
    array of shape (n_columns,)
        1 where draws stay as they are.
    """
    rows = _held_out(len(meaningful))
    asked, hidden = _questions(observation, meaningful, rows, seed)
    drawn = np.tile(asked.values, (N_DRAWS, 1, 1))
    for block in conditional_sample(
        denoiser,
        asked,
        space,
        replace(settings, n_draws=N_DRAWS),
        stream=STREAM,
        memory_limit=memory_limit,
        progress=progress,
        masks=one_mask(meaningful[rows]),
    ):
        drawn[:, block.rows] = block.values
    taught = observation.take(np.arange(first_held_out(len(meaningful))))
    shares = np.ones(space.n_columns)
    for j, column in enumerate(space.schema.modelled):
        cells = hidden[:, j]
        truth, draws = observation.values[rows[cells], j], drawn[:, cells, j]
        if column.is_categorical or not _is_too_wide(draws, truth):
            continue
        rest = np.delete(asked.values[cells], j, axis=1)
        expected = learn_column(taught, space, j, seed).cells(rest, column)[0]
        shares[j] = _share(
            *(to_scores(part, column.quantiles) for part in (draws, expected, truth))
        )
    return shares


def sharpening_units(observation: Observation, settings: Settings, seed: int) -> float:
    """Rows through the network that :func:`find_shares` takes."""
    rows = _held_out(len(observation.values))
    asked, _ = _questions(observation, observation.known_meaningful, rows, seed)
    return sampling_units(asked, replace(settings, n_draws=N_DRAWS))


def sharpened(
    block: Draws, expected: Values, gaps: Cells, space: JointSpace, shares: Values
) -> Draws:
    """Draws with their numbers moved towards what is expected, by rank.

    Parameters
    ----------
    expected : array of shape (n_rows, n_columns)
        Of the block's rows.
    gaps : bool array of the same shape
        Cells that were drawn.
    shares : array of shape (n_columns,)
        As :func:`find_shares` gives them.
    """
    values = block.values.copy()
    for j in np.flatnonzero(shares < 1.0):
        column, rows = space.schema.modelled[j], gaps[:, j]
        centre = to_scores(expected[rows, j], column.quantiles)
        scores = to_scores(values[:, rows, j], column.quantiles)
        moved = from_scores(centre + shares[j] * (scores - centre), column.quantiles)
        values[:, rows, j] = on_grid(moved, column)
    return replace(block, values=values)


def _held_out(n_rows: int) -> NDArray[np.intp]:
    """Rows that the denoiser was not taught, over again if they are few."""
    rows = np.arange(first_held_out(n_rows), n_rows)
    return np.resize(rows, min(N_TIMES * len(rows), MOST_ROWS))


def _questions(
    observation: Observation, meaningful: Cells, rows: NDArray[np.intp], seed: int
) -> tuple[Observation, Cells]:
    """Some rows with observed cells hidden, and which those are."""
    chosen, rng = observation.take(rows), np.random.default_rng([seed, 3])
    hidden = chosen.observed & (rng.random(chosen.values.shape) < HIDDEN)
    values, none = np.where(hidden, np.nan, chosen.values), np.zeros(hidden.shape, dtype=bool)
    return Observation(values, none, chosen.keys, meaningful[rows]), hidden


def _interval(drawn: Values) -> tuple[Values, Values]:
    """Between what ends most of the draws of each cell lie, shape (n_draws, n_cells) before."""
    low, high = np.quantile(drawn, [(1 - INSIDE) / 2, (1 + INSIDE) / 2], axis=0, method="weibull")
    return low, high


def _is_too_wide(drawn: Values, truth: Values) -> bool:
    """Whether the draws' intervals hold more than they should, beyond chance."""
    if len(truth) < FEWEST_CELLS:
        return False
    low, high = _interval(drawn)
    error = np.sqrt(INSIDE * (1 - INSIDE) / len(truth))
    inside = ((low <= truth) & (truth <= high)).mean()
    return bool(inside > INSIDE + ENOUGH_ERRORS * error)


def _share(drawn: Values, expected: Values, truth: Values) -> float:
    """The largest share at which the draws' intervals hold no more than they should."""
    low, high = (end - expected for end in _interval(drawn))
    off = truth - expected
    for share in SHARES:
        if ((share * low <= off) & (off <= share * high)).mean() <= INSIDE:
            return float(share)
    return float(SHARES[-1])
