"""Narrow draws of numbers that are too wide, by a factor found on hidden cells.

A denoiser that was trained for a minute blurs relations that boosted trees learn precisely, such as
a sum of other columns, and its draws are too wide. How much too wide is measured on observed cells
that are hidden. Draws of such a column are moved towards the prediction of the trees, all to the
same share of their distance. Other columns keep their draws.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._effort import sampling_units
from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.diffusion.edm import Denoiser
from diffjoint.diffusion.sample import conditional_sample
from diffjoint.diffusion.train import first_held_out
from diffjoint.settings import Settings
from diffjoint.state import Draws, JointSpace, Observation, one_mask
from diffjoint.table import Column, from_scores, on_grid, to_scores
from diffjoint.trees import open_screen
from diffjoint.values.boosted import learn_column

MOST_ROWS, N_DRAWS, FEWEST_CELLS = 4_000, 20, 200
"""Rows to draw at most, repeats included; draws of each; fewest hidden cells to judge a column."""
MOST_TURNS = 5
"""Repeats of a row at most, each with other numbers hidden: few at once, in turn, in addition to
the cells that are missing already."""
INSIDE, ENOUGH_ERRORS = 0.8, 2.5
"""Nominal coverage of the draws' intervals, and by how many standard errors the coverage must
exceed it for draws to count as too wide."""
SHARES = np.linspace(0.05, 1.0, 20)
"""Shares of their distance from the prediction at which draws may be left."""
STREAM = 1
"""Stream of the rows' noise; draws for users have another."""


def find_shares(
    denoiser: Denoiser,
    observation: Observation,
    meaningful: Mask,
    space: JointSpace,
    settings: Settings,
    seed: int,
    memory_limit: int,
    progress: Progress,
) -> Values:
    """Find, for each column, the share of their distance from the prediction to leave draws at.

    The rows that this is found on were used to train neither the denoiser nor the predictions.

    Parameters
    ----------
    observation : Observation
        The rows of ``fit``; the last of them are held out from training.
    meaningful : bool array of shape (n_rows, n_columns)
        The mask to draw values under.

    Returns
    -------
    array of shape (n_columns,)
        1 for columns whose draws are not too wide.
    """
    shares = np.ones(space.n_columns)
    rows, partly_hidden, hidden = _hide_in_turn(observation, meaningful, space)
    if not len(numbers := _enough(hidden)):
        return shares
    place = np.cumsum(hidden).reshape(hidden.shape) - 1
    drawn = np.empty((N_DRAWS, int(hidden.sum())))
    for block in conditional_sample(
        denoiser,
        partly_hidden,
        space,
        replace(settings, n_draws=N_DRAWS),
        stream=STREAM,
        memory_limit=memory_limit,
        progress=progress,
        masks=one_mask(meaningful[rows]),
    ):
        here = hidden[block.rows]
        drawn[:, place[block.rows][here]] = block.values[:, here]
    taught = observation.take(np.arange(first_held_out(len(meaningful))))
    screen = open_screen(taught.values, space.schema.n_levels)
    for j in numbers:
        cells, column = hidden[:, j], space.schema.modelled[j]
        truth, draws = observation.values[rows[cells], j], drawn[:, place[cells, j]]
        if _is_too_wide(draws, truth):
            learnt = learn_column(taught, space, screen, j, settings.n_boosters, seed)
            expected = learnt.predict_cells(partly_hidden.values[cells], column)[0]
            shares[j] = _share(draws, expected, truth, column)
    return shares


def narrowing_units(observation: Observation, space: JointSpace, settings: Settings) -> float:
    """Return the rows through the network that :func:`find_shares` takes."""
    _, partly_hidden, hidden = _hide_in_turn(observation, observation.known_meaningful, space)
    few = replace(settings, n_draws=N_DRAWS)
    return sampling_units(partly_hidden, few) if len(_enough(hidden)) else 0.0


def narrowed(
    block: Draws, expected: Values, missing: Mask, space: JointSpace, shares: Values
) -> Draws:
    """Move the numbers of draws towards their predictions, by rank.

    Parameters
    ----------
    expected : array of shape (n_rows, n_columns)
        Predictions for the block's rows.
    missing : bool array of the same shape
        Cells that were drawn.
    shares : array of shape (n_columns,)
        As :func:`find_shares` returns them.
    """
    values = block.values.copy()
    for j in np.flatnonzero(shares < 1.0):
        column, rows = space.schema.modelled[j], missing[:, j]
        values[:, rows, j] = _moved(values[:, rows, j], expected[rows, j], shares[j], column)
    return replace(block, values=values)


def _hide_in_turn(
    observation: Observation, meaningful: Mask, space: JointSpace
) -> tuple[NDArray[np.intp], Observation, Mask]:
    """Return held-out rows (with repeats), what is left of them, and the numbers hidden in turn."""
    is_number = np.array([not column.is_categorical for column in space.schema.modelled])
    n_turns = max(1, min(int(is_number.sum()), MOST_TURNS))
    turn_of = np.where(is_number, (np.cumsum(is_number) - 1) % n_turns, -1)
    held_out = np.arange(first_held_out(len(meaningful)), len(meaningful))[: MOST_ROWS // n_turns]
    rows, turns = np.tile(held_out, n_turns), np.repeat(np.arange(n_turns), len(held_out))
    hidden = observation.observed[rows] & (turn_of == turns[:, None])
    asks = hidden.any(axis=1)
    rows, hidden = rows[asks], hidden[asks]
    chosen = observation.take(rows)
    values, none = np.where(hidden, np.nan, chosen.values), np.zeros(hidden.shape, dtype=bool)
    return rows, Observation(values, none, chosen.keys, meaningful[rows]), hidden


def _enough(hidden: Mask) -> NDArray[np.intp]:
    """Return the columns with enough hidden cells to judge."""
    return np.flatnonzero(hidden.sum(axis=0) >= FEWEST_CELLS)


def _moved(drawn: Values, expected: Values, share: float, column: Column) -> Values:
    """Move draws to a share of their distance from the prediction, by rank."""
    scores, centre = (to_scores(part, column.quantiles) for part in (drawn, expected))
    return on_grid(from_scores(centre + share * (scores - centre), column.quantiles), column)


def _inside(drawn: Values, truth: Values) -> float:
    """Return the coverage: the share of true values inside the central intervals of their draws.

    If draws are calibrated, the rank of the truth among them is uniform. A truth that is tied with
    draws has a range of ranks, and counts by the share of it inside the interval.

    Parameters
    ----------
    drawn : array of shape (n_draws, n_cells)
    truth : array of shape (n_cells,)
    """
    n_below, n_alike = (drawn < truth).sum(axis=0), (drawn == truth).sum(axis=0)
    low = n_below / (len(drawn) + 1)
    high = (n_below + n_alike + 1) / (len(drawn) + 1)
    within = np.minimum(high, (1 + INSIDE) / 2) - np.maximum(low, (1 - INSIDE) / 2)
    return float((np.maximum(within, 0.0) / (high - low)).mean())


def _is_too_wide(drawn: Values, truth: Values) -> bool:
    """Return whether the coverage exceeds the nominal one by more than chance."""
    error = np.sqrt(INSIDE * (1 - INSIDE) / len(truth))
    return bool(_inside(drawn, truth) > INSIDE + ENOUGH_ERRORS * error)


def _share(drawn: Values, expected: Values, truth: Values, column: Column) -> float:
    """Return the share at which the coverage is the nominal one."""
    held = [_inside(_moved(drawn, expected, share, column), truth) for share in SHARES]
    return float(np.interp(INSIDE, np.maximum.accumulate(held), SHARES))
