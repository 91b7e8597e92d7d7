"""What every detector gives: a belief about the mask."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from diffjoint._progress import Progress
from diffjoint._types import Mask, Values
from diffjoint.evidence import NEW, CellReasons, LossRate
from diffjoint.state import JointSpace, Masks, Observation, keyed_uniform
from diffjoint.storage.bundles import Arrays


class Belief(ABC):
    """What a detector thinks of the mask, for any rows.

    A detector needs :meth:`probability` and :meth:`arrays`. The rest is for those that learn from
    folds, draw masks whose cells agree, or can explain themselves.

    Attributes
    ----------
    detector : str
        The name of the detector whose belief this is.
    can_explain : bool
        Whether :meth:`explain_cells` says anything.
    doubts : tuple of str
        What the table could not tell; users are warned of it.
    """

    detector: ClassVar[str]
    can_explain: ClassVar[bool] = False
    doubts: tuple[str, ...] = ()

    @property
    def losses_go_together(self) -> bool:
        """Whether cells of a row are found to get lost together."""
        return False

    @abstractmethod
    def probability(
        self, observation: Observation, folds: NDArray[np.int64] | None = None
    ) -> Values:
        """Return P(meaningful) of every candidate cell; 0 elsewhere, 1 where that is known.

        Parameters
        ----------
        folds : int array of shape (n_rows,), optional
            As :meth:`judging_folds` of the whole table gives them, if these are some rows of it.
        """

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the belief as plain arrays, for :attr:`Detector.read`."""

    def judging_folds(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the folds that judge the rows of a whole table, by the keys of what they hold."""
        return np.full(len(keys), NEW, dtype=np.int64)

    def ready_to_draw(self, observation: Observation, seed: int, progress: Progress) -> "Belief":
        """Learn what drawing masks needs from the table of ``fit``; return the belief with it."""
        return self

    def draw(self, observation: Observation, stream: int) -> Mask:
        """Draw a mask in which each cell is meaningful as often as its probability says."""
        uniform = keyed_uniform(observation.keys, stream, observation.values.shape[1])
        drawn = uniform < self.probability(observation)
        mask: Mask = np.where(np.isnan(observation.known), drawn, observation.known == 1)
        return mask & (observation.candidates | observation.known_meaningful)

    def draws(self, observation: Observation, streams: range) -> Masks:
        """Draw a mask for each stream, some rows at a time."""

        def of(rows: NDArray[np.intp]) -> Mask:
            some = observation.take(rows)
            return np.stack([self.draw(some, stream) for stream in streams])

        return of

    def explain_cells(
        self, observation: Observation, rows: NDArray[np.intp], column: int
    ) -> CellReasons:
        """Return the rates of a column's cells in some rows, and what speaks for them."""
        raise TypeError(f"the detector {self.detector!r} does not explain its calls")


def _refuse_arrays(arrays: Arrays, n_levels: NDArray[np.int64], searched: list[int]) -> None:
    if arrays:
        raise ValueError("its belief has arrays that its detector does not use")


@dataclass(frozen=True)
class Detector:
    """A way to tell meaningful missing cells from lost ones.

    Attributes
    ----------
    learn : callable
        Takes an observation, its space, the loss rate, a seed and the progress to advance. It
        returns a belief; None if the draws decide, or there is nothing to decide.
    read : callable
        Takes what :meth:`Belief.arrays` gave and returns the belief; None if there was none.
    check : callable
        Takes such arrays from a file, the levels of the columns and the searched columns. It raises
        ``ValueError`` if the belief could not be used.
    """

    learn: Callable[[Observation, JointSpace, LossRate, int, Progress], Belief | None]
    read: Callable[[Arrays], Belief | None]
    check: Callable[[Arrays, NDArray[np.int64], list[int]], object] = _refuse_arrays
