"""Fill values by another imputer: it gets numbers, and its answers become valid cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from diffjoint._progress import Progress
from diffjoint._types import Values
from diffjoint.errors import InputError
from diffjoint.state import JointSpace, Observation
from diffjoint.table import dummy_levels, from_dummies, to_dummies


@dataclass(frozen=True)
class Wrapped:
    """A fitted imputer that works on numbers and dummy-coded categories.

    Attributes
    ----------
    space : JointSpace
    imputer : estimator
    levels : tuple of int arrays
        As :func:`diffjoint.table.dummy_levels` returns them.
    """

    space: JointSpace
    imputer: Any
    levels: tuple[Values, ...]

    def predict(self, observation: Observation) -> tuple[Values, Values]:
        """Return values with every missing cell filled, and NaN uncertainties."""
        missing = ~observation.observed
        schema = self.space.schema
        given = to_dummies(observation.values, schema, self.levels)
        filled = _checked(self.imputer.transform(given), given, self.imputer)
        values = np.where(missing, from_dummies(filled, schema, self.levels), observation.values)
        return values, np.where(missing, np.nan, 0.0)


def learn_wrapped(
    imputer: Any, observation: Observation, space: JointSpace, seed: int, progress: Progress
) -> Wrapped:
    """Fit a copy of an imputer; a ``random_state`` that it leaves at None is set from the seed."""
    progress.phase(f"values by {type(imputer).__name__}")
    levels = dummy_levels(observation.values, space.schema)
    copy = clone(imputer)
    unset_seeds = {
        name: seed % 2**32
        for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    copy.set_params(**unset_seeds)
    given = to_dummies(observation.values, space.schema, levels)
    fitted = copy.fit(given)
    progress.advance(1)
    return Wrapped(space, fitted, levels)


def _checked(answer: Any, given: Values, imputer: Any) -> Values:
    """Return what the imputer gave as an array; raise if it is not a filled table."""
    name = type(imputer).__name__
    filled = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer)
    if filled.shape != given.shape:
        raise InputError(
            f"{name} must give back the columns it gets, {given.shape}; it gave {filled.shape}. "
            "Set add_indicator=False and keep_empty_features=True where it has them.",
            parameter="imputer",
        )
    filled = filled.astype(np.float64)
    if not np.isfinite(filled[np.isnan(given)]).all():
        raise InputError(
            f"{name} must fill every cell with a finite number; it left some out.",
            parameter="imputer",
        )
    return filled
