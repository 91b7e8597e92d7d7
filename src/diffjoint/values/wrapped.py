"""Another imputer for the values: it sees coded numbers, and its answers become valid cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from diffjoint._progress import Progress
from diffjoint._types import Values
from diffjoint.errors import InputError
from diffjoint.state import JointSpace, Observation
from diffjoint.table import Column, on_grid


@dataclass(frozen=True)
class Wrapped:
    """A fitted imputer, and how the table is put to it.

    Numbers are in standard deviations from their mean, so that distances and penalties treat
    columns alike. A category is a 0/1 coordinate for each level but the most frequent one: with a
    coordinate for every level each would be told exactly by the others, which are missing with it.

    Attributes
    ----------
    space : JointSpace
    imputer : estimator
    levels : tuple of int arrays
        A category's levels, the most frequent first; empty for numbers.
    """

    space: JointSpace
    imputer: Any
    levels: tuple[Values, ...]

    def of(self, observation: Observation) -> tuple[Values, Values]:
        """Values with every gap filled; how uncertain they are, the imputer does not say: NaN."""
        gaps = ~observation.observed
        given = as_numbers(observation.values, self.space, self.levels)
        filled = _checked(self.imputer.transform(given), given, self.imputer)
        values, start = observation.values.copy(), 0
        for j, (column, levels) in enumerate(
            zip(self.space.schema.modelled, self.levels, strict=True)
        ):
            width = _width(column, levels)
            block, start = filled[:, start : start + width], start + width
            values[gaps[:, j], j] = _decoded(block[gaps[:, j]], column, levels)
        return values, np.where(gaps, np.nan, 0.0)


def learn_wrapped(
    imputer: Any, observation: Observation, space: JointSpace, seed: int, progress: Progress
) -> Wrapped:
    """Fit a copy of an imputer to the table; randomness it left open is fixed by the seed."""
    progress.phase(f"values by {type(imputer).__name__}")
    levels = tuple(
        _by_frequency(observation.values[:, j]) if column.is_categorical else np.empty(0)
        for j, column in enumerate(space.schema.modelled)
    )
    copy = clone(imputer)
    is_open = {
        name: seed % 2**32
        for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    copy.set_params(**is_open)
    given = as_numbers(observation.values, space, levels)
    fitted = copy.fit(given)
    progress.advance(1)
    return Wrapped(space, fitted, levels)


def as_numbers(values: Values, space: JointSpace, levels: tuple[Values, ...]) -> Values:
    """The table as another imputer sees it; NaN where missing."""
    blocks = []
    for j, (column, order) in enumerate(zip(space.schema.modelled, levels, strict=True)):
        codes = values[:, [j]]
        if column.is_categorical:
            blocks.append(np.where(np.isnan(codes), np.nan, codes == order[None, 1:]))
        else:
            blocks.append((codes - column.mean) / (column.scale or 1.0))
    return np.hstack(blocks)


def _by_frequency(codes: Values) -> Values:
    """The levels that occur, the most frequent first."""
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    ordered: Values = levels[np.argsort(-counts, kind="stable")]
    return ordered


def _width(column: Column, levels: Values) -> int:
    """Coordinates of a column: one for each level but the first, or one for a number."""
    return max(len(levels) - 1, 0) if column.is_categorical else 1


def _decoded(block: Values, column: Column, levels: Values) -> Values:
    """The nearest level; or a number on the column's grid, within what was observed or set."""
    if column.is_categorical and not len(levels):
        return np.zeros(len(block))
    if column.is_categorical:
        rest = 1.0 - block.sum(axis=1, keepdims=True)
        nearest: Values = levels[np.hstack([rest, block]).argmax(axis=1)]
        return nearest
    numbers = column.mean + block[:, 0] * column.scale
    return np.clip(on_grid(numbers, column), *column.limits)


def _checked(answer: Any, given: Values, imputer: Any) -> Values:
    """The other imputer's answer, if it is one."""
    name = type(imputer).__name__
    filled = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer)
    if filled.shape != given.shape:
        raise InputError(
            f"{name} must give back the columns it gets, {given.shape}; it gave {filled.shape}. "
            "Set add_indicator=False and keep_empty_features=True where it has them."
        )
    filled = filled.astype(np.float64)
    if not np.isfinite(filled[np.isnan(given)]).all():
        raise InputError(f"{name} must fill every cell with a finite number; it left some out.")
    return filled
