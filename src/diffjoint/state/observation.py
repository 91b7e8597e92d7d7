"""Represent what is known of a table before anything is inferred."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.state.keys import row_keys
from diffjoint.state.rules import Answers, SkipRule, answers_of_rules


@dataclass(frozen=True)
class Observation:
    """What is known of a table before anything is inferred.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Coded values; NaN where unknown.
    candidates : bool array of the same shape
        Missing cells of the searched columns that may be meaningful or lost.
    keys : int array of shape (n_rows,)
        Keys that the noise of each row is made from.
    known_meaningful : bool array of the values' shape
        Missing cells that are known to be meaningful. Missing cells that are neither these nor
        candidates are known to be lost.
    labelled : bool array of the values' shape
        Known cells that the user has labelled cell by cell.
    rules : tuple of SkipRule
        Rules that the table follows, gates before the columns that they open.
    """

    values: Values
    candidates: Mask
    keys: NDArray[np.int64]
    known_meaningful: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    labelled: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    rules: tuple[SkipRule, ...] = ()

    def __post_init__(self) -> None:
        for name in ("known_meaningful", "labelled"):
            if getattr(self, name).size == 0:
                object.__setattr__(self, name, np.zeros(self.values.shape, dtype=bool))

    @property
    def observed(self) -> Mask:
        """Cells whose value is known, the paper's omega."""
        return ~np.isnan(self.values)

    @cached_property
    def fold_keys(self) -> NDArray[np.int64]:
        """Keys of what the rows of a whole table hold, whatever the seed: they tell its folds."""
        return row_keys(self.values, seed=0)

    @property
    def known(self) -> Values:
        """What is known of the mask: 1 meaningful, 0 not meaningful, NaN for candidates."""
        known: Values = self.known_meaningful.astype(np.float16)
        known[self.candidates] = np.nan
        return known

    @cached_property
    def answers(self) -> Answers | None:
        """What the rules say of every cell; None if there are none."""
        return (
            answers_of_rules(self.rules, self.values, self.known_meaningful) if self.rules else None
        )

    def take(self, rows: NDArray[np.intp]) -> "Observation":
        """Return some rows, or all rows in another order."""
        return Observation(
            self.values[rows],
            self.candidates[rows],
            self.keys[rows],
            self.known_meaningful[rows],
            self.labelled[rows],
            self.rules,
        )
