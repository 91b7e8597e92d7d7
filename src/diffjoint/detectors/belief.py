"""What every detector gives: a belief about the mask."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diffjoint._bundles import Arrays
from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.evidence import CellReasons
from diffjoint.state import Masks, Observation


class Belief(Protocol):
    """What a detector thinks of the mask, for any rows."""

    doubts: tuple[str, ...]

    def probability(
        self, observation: Observation, folds: NDArray[np.int64] | None = None
    ) -> Values:
        """Return P(meaningful) of every candidate cell; 0 elsewhere, 1 where that is known."""

    def judging_folds(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the folds that judge the rows of a whole table, by the keys of what they hold."""

    def draw(self, observation: Observation, stream: int) -> Mask:
        """Draw a mask in which the cells of a row agree with each other."""

    def draws(self, observation: Observation, streams: range) -> Masks:
        """Draw a mask for each stream, some rows at a time."""

    def ready_to_draw(self, observation: Observation, seed: int, progress: Progress) -> "Belief":
        """Learn what drawing masks needs from the table of ``fit``; return the belief with it."""

    def explain_cells(
        self, observation: Observation, rows: NDArray[np.intp], column: int
    ) -> CellReasons:
        """Return the rates of a column's cells in some rows, and what speaks for them."""

    def arrays(self) -> Arrays:
        """Return the belief as plain arrays."""
