"""Estimate the work of each phase of a fit in one unit: rows through the network.

Relative costs were measured on one core. If they are wrong for a machine, so is the remaining time
that a progress bar shows, and nothing else.
"""

import numpy as np

from diffjoint.evidence import n_folds_alone, n_folds_in_turn
from diffjoint.evidence.missing import MOST_ROWS
from diffjoint.settings import Settings
from diffjoint.state import JointSpace, Observation
from diffjoint.trees import MISSINGNESS_INPUTS, VALUE_INPUTS, InputLimits

ROW_SECONDS, WEIGHT_SECONDS = 1.5e-6, 3e-10
"""Seconds for a row through the network: constant, and by squared width."""
FOLD_SECONDS = 0.045, 3.5e-6, 3e-7
"""Seconds for which cells of a column are missing, by fold: constant, by row, by input cell."""
VALUE_SECONDS = 0.042, 2.5e-6, 9e-7
"""Seconds for the values of a column: constant, by row, by input cell."""
MEAN_OF_NUMBERS = 0.35
"""Share of the work on a column of numbers that goes into their mean; the rest is the variance."""
OF_SEVERAL = 0.7
"""Work on one of several boosters, relative to a single one: they learn faster."""
TRAINING_UNITS = 3
"""Network passes that a training row costs: one forward, and about two for backward."""
BATCHES_PER_EPOCH = 25, 100
"""Fewest and most batches of an epoch if cells are hidden."""


def evidence_units(observation: Observation, settings: Settings) -> int:
    """Return the work on one fold of a searched column."""
    return _units(_trees_seconds(observation, FOLD_SECONDS, MISSINGNESS_INPUTS), settings)


def value_units(observation: Observation, space: JointSpace, settings: Settings) -> int:
    """Return the work on the values of one column, averaged over columns."""
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
    """Return the work that is left in a fit.

    Parameters
    ----------
    by_evidence : bool
        Whether the evidence is learnt first.
    n_passes : int
        Passes of Algorithm 1 that are left; the amortised sampler makes none until it draws.
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
    """Return the work on which cells are meaningful together, which drawn masks need."""
    return n_folds_in_turn(len(space.mm)) * evidence_units(observation, settings)


def training_units(n_rows: int, settings: Settings) -> float:
    """Return the work of training at most."""
    return TRAINING_UNITS * rows_per_epoch(n_rows, settings) * settings.max_epochs


def rows_per_epoch(n_rows: int, settings: Settings) -> int:
    """Return how many rows an epoch has: all, or within limits if cells are hidden."""
    if not settings.is_amortised:
        return n_rows
    fewest, most = (n * settings.batch_size for n in BATCHES_PER_EPOCH)
    return min(max(n_rows, fewest), most)


def sampling_units(observation: Observation, settings: Settings) -> float:
    """Return the work of conditional draws."""
    n_incomplete = int((~observation.observed.all(axis=1)).sum())
    return n_incomplete * settings.n_draws * passes_per_draw(settings)


def passes_per_draw(settings: Settings) -> int:
    """Return the network passes of one draw: Heun steps times inner repeats."""
    repeats = 1 if settings.is_amortised else settings.n_inpaint_repeats
    return repeats * n_network_passes(settings.n_steps)


def n_network_passes(n_steps: int) -> int:
    """Return the network passes of ``n_steps`` Heun steps that end at zero noise."""
    return 2 * n_steps - 1


def _trees_seconds(
    observation: Observation, cost: tuple[float, float, float], most: InputLimits
) -> float:
    """Return the seconds for the trees of one column."""
    least, by_row, by_cell = cost
    n_rows, n_columns = observation.values.shape
    n_seen = min(n_columns - 1, most.total)
    return least + float(min(n_rows, MOST_ROWS) * (by_row + by_cell * n_seen))


def _units(seconds: float, settings: Settings) -> int:
    """Convert seconds to rows through the network; whole numbers, so that they add up exactly."""
    return max(1, round(seconds / (ROW_SECONDS + WEIGHT_SECONDS * settings.width**2)))
