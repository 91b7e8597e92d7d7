"""How much work the phases of a fit are, in one unit: rows through the network.

The phases run at different speeds. What they cost beside each other was measured on one core; where
it is off, so is the time left that a progress bar shows, and nothing else.
"""

import numpy as np

from diffjoint.evidence import n_folds_alone, n_folds_in_turn
from diffjoint.evidence.missing import MOST_ROWS
from diffjoint.settings import Settings
from diffjoint.state import JointSpace, Observation
from diffjoint.trees import MISSINGNESS_INPUTS, VALUE_INPUTS, InputLimits

ROW_SECONDS, WEIGHT_SECONDS = 1.5e-6, 3e-10
"""A row through the network: at least, and by the square of its width."""
FOLD_SECONDS = 0.045, 3.5e-6, 3e-7
"""Who is missing in a column, for each fold: at least, by row, and by cell of the rest."""
VALUE_SECONDS = 0.042, 2.5e-6, 9e-7
"""What a column held: at least, by row, and by cell of the rest."""
MEAN_OF_NUMBERS = 0.35
"""Of the work on a column of numbers, what goes into their mean; the rest is their spread."""
OF_SEVERAL = 0.7
"""Work on one of several boosters, beside that on one alone: they learn faster."""
TRAINING_UNITS = 3
"""A training row costs about three network passes: forward, and twice that backward."""
BATCHES_PER_EPOCH = 25, 100
"""Fewest and most batches of an epoch in which cells are hidden."""


def evidence_units(observation: Observation, settings: Settings) -> int:
    """Work on one fold of a searched column."""
    return _units(_trees_seconds(observation, FOLD_SECONDS, MISSINGNESS_INPUTS), settings)


def value_units(observation: Observation, space: JointSpace, settings: Settings) -> int:
    """Work on what one column held, the mean over columns."""
    is_level = np.array([column.is_categorical for column in space.schema.modelled])
    boosted = np.where(is_level, 1.0, MEAN_OF_NUMBERS).mean()
    n_alone = OF_SEVERAL * settings.n_boosters if settings.n_boosters > 1 else 1.0
    n_times = 1.0 - boosted + boosted * n_alone
    seconds = _trees_seconds(observation, VALUE_SECONDS, VALUE_INPUTS)
    return _units(n_times * seconds, settings)


def fit_units(
    observation: Observation,
    space: JointSpace,
    settings: Settings,
    *,
    by_evidence: bool,
    n_passes: int,
) -> float:
    """All that is left to do in a fit.

    Parameters
    ----------
    by_evidence : bool
        Whether who is missing is learnt first.
    n_passes : int
        Passes of Algorithm 1 that are left; the amortised sampler makes none until it has to draw.
    """
    n_folds = n_folds_alone(len(observation.values), len(space.mm)) if by_evidence else 0
    units = n_folds * evidence_units(observation, settings)
    if settings.is_amortised:
        return units + space.n_columns * value_units(observation, space, settings)
    if by_evidence:
        units += in_turn_units(observation, space, settings)
    training = training_units(len(observation.values), settings)
    return units + n_passes * (training + sampling_units(observation, settings))


def in_turn_units(observation: Observation, space: JointSpace, settings: Settings) -> int:
    """Work on which cells are skipped together, which drawn masks need."""
    return n_folds_in_turn(len(space.mm)) * evidence_units(observation, settings)


def training_units(n_rows: int, settings: Settings) -> float:
    """Rows through the network that training takes at most, in forward passes."""
    return TRAINING_UNITS * rows_per_epoch(n_rows, settings) * settings.max_epochs


def rows_per_epoch(n_rows: int, settings: Settings) -> int:
    """All rows; when cells are hidden, so many that an epoch of any table is worth its name."""
    if not settings.is_amortised:
        return n_rows
    fewest, most = (n * settings.batch_size for n in BATCHES_PER_EPOCH)
    return min(max(n_rows, fewest), most)


def sampling_units(observation: Observation, settings: Settings) -> float:
    """Rows through the network that conditional draws take."""
    n_incomplete = int((~observation.observed.all(axis=1)).sum())
    return n_incomplete * settings.n_draws * passes_per_draw(settings)


def passes_per_draw(settings: Settings) -> int:
    """Network passes of one draw: its Heun steps, each walked as often as the sampler does."""
    repeats = 1 if settings.is_amortised else settings.n_inpaint_repeats
    return repeats * n_network_passes(settings.n_steps)


def n_network_passes(n_steps: int) -> int:
    """Network passes of ``n_steps`` Heun steps that end at zero noise."""
    return 2 * n_steps - 1


def _trees_seconds(
    observation: Observation, cost: tuple[float, float, float], most: InputLimits
) -> float:
    """Trees for one column, by the size of the table and the columns that they see."""
    least, by_row, by_cell = cost
    n_rows, n_columns = observation.values.shape
    n_seen = min(n_columns - 1, most.total)
    return least + float(min(n_rows, MOST_ROWS) * (by_row + by_cell * n_seen))


def _units(seconds: float, settings: Settings) -> int:
    """Rows that go through the network in that time; whole, so that they add up."""
    return max(1, round(seconds / (ROW_SECONDS + WEIGHT_SECONDS * settings.width**2)))
