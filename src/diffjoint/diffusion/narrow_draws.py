"""Draws of numbers as narrow as they should be: found on hidden cells, whose truth is known.

A denoiser that was trained for a minute blurs relations that boosted trees see sharply, such as a
sum of other columns, and draws too widely. How much too widely is seen where observed cells are
hidden; draws of such a column are then moved towards what the trees expect, all by the same share.
Columns whose draws are as wide as they should be stay as they are drawn.
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
"""How often rows are asked in all, draws each time, and hidden cells of a column without which
nothing is said of it."""
MOST_TURNS = 5
"""How often a row is asked at most, with other numbers hidden each time: all of them in turn, few
at once, beside the gaps that are there already."""
INSIDE, ENOUGH_ERRORS = 0.8, 2.5
"""What should lie inside the draws' interval, and by how many standard errors more must, for draws
to count as too wide."""
SHARES = np.linspace(0.05, 1.0, 20)
"""How far from what is expected draws may be left, of how far they are."""
STREAM = 1
"""Of the rows' noise; what is drawn for users has another."""


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
    shares = np.ones(space.n_columns)
    rows, asked, hidden = _questions(observation, meaningful, space)
    if not len(numbers := _enough(hidden)):
        return shares
    place = np.cumsum(hidden).reshape(hidden.shape) - 1
    drawn = np.empty((N_DRAWS, int(hidden.sum())))
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
        here = hidden[block.rows]
        drawn[:, place[block.rows][here]] = block.values[:, here]
    taught = observation.take(np.arange(first_held_out(len(meaningful))))
    screen = open_screen(taught.values, space.schema.n_levels)
    for j in numbers:
        cells, column = hidden[:, j], space.schema.modelled[j]
        truth, draws = observation.values[rows[cells], j], drawn[:, place[cells, j]]
        if _is_too_wide(draws, truth):
            learnt = learn_column(taught, space, screen, j, settings.n_boosters, seed)
            expected = learnt.predict_cells(asked.values[cells], column)[0]
            shares[j] = _share(draws, expected, truth, column)
    return shares


def narrowing_units(observation: Observation, space: JointSpace, settings: Settings) -> float:
    """Rows through the network that :func:`find_shares` takes."""
    _, asked, hidden = _questions(observation, observation.known_meaningful, space)
    few = replace(settings, n_draws=N_DRAWS)
    return sampling_units(asked, few) if len(_enough(hidden)) else 0.0


def narrowed(
    block: Draws, expected: Values, gaps: Mask, space: JointSpace, shares: Values
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
        values[:, rows, j] = _moved(values[:, rows, j], expected[rows, j], shares[j], column)
    return replace(block, values=values)


def _questions(
    observation: Observation, meaningful: Mask, space: JointSpace
) -> tuple[NDArray[np.intp], Observation, Mask]:
    """Rows that the denoiser was not taught, those with numbers hidden in turn, and which."""
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
    """Columns with enough hidden cells."""
    return np.flatnonzero(hidden.sum(axis=0) >= FEWEST_CELLS)


def _moved(drawn: Values, expected: Values, share: float, column: Column) -> Values:
    """Draws at a share of their distance from what is expected, by rank."""
    scores, centre = (to_scores(part, column.quantiles) for part in (drawn, expected))
    return on_grid(from_scores(centre + share * (scores - centre), column.quantiles), column)


def _inside(drawn: Values, truth: Values) -> float:
    """Share of true values inside the intervals that hold most of their draws.

    Of draws that are distributions, the truth has any rank among them as likely as any other; the
    ranks that it shares with draws of the same value count as far as they lie inside.

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
    """Whether the draws' intervals hold more than they should, beyond chance."""
    error = np.sqrt(INSIDE * (1 - INSIDE) / len(truth))
    return bool(_inside(drawn, truth) > INSIDE + ENOUGH_ERRORS * error)


def _share(drawn: Values, expected: Values, truth: Values, column: Column) -> float:
    """The share at which the draws' intervals hold as much as they should."""
    held = [_inside(_moved(drawn, expected, share, column), truth) for share in SHARES]
    return float(np.interp(INSIDE, np.maximum.accumulate(held), SHARES))
