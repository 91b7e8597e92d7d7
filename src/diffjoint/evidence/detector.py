"""P(meaningful) of every missing cell: what was learnt of a table, for any rows like its own."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from diffjoint._types import Mask, Values
from diffjoint.evidence.column import ColumnEvidence
from diffjoint.evidence.folds import NEW, Judged
from diffjoint.evidence.implied import keep_to
from diffjoint.evidence.losses import Scores
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.state import row_keys
from diffjoint.state.rules import Answers

LearntColumn = ColumnEvidence | ValuesEvidence
"""What was learnt of a column: by values and missingness together, or by values first."""
N_FOLDS, FEW_FOLDS, LARGE = 6, 3, 50_000
"""Folds of a table; ``FEW_FOLDS`` for more than ``LARGE`` rows, and to draw masks. ``N_FOLDS`` must
be a multiple of ``FEW_FOLDS``."""
N_TYPICAL = 256
"""Cells of each column that are kept to tell what other rows hold."""
MOST_ASKED = 12
"""Searched columns that are asked whether cells get lost together."""


@dataclass(frozen=True)
class Evidence:
    """What the table itself says about its missing cells.

    Attributes
    ----------
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    n_folds : int
    scores : Scores
    drivers : tuple of int
        Columns that losses depend on.
    columns : dict
        What was learnt of each searched column, by position.
    in_turn : dict
        The same, given also which cells of the searched columns before it are meaningful.
    implied : bool array of shape (n_columns, n_columns)
        For each searched column, those that are meaningful wherever it is.
    typical : array of shape (n_typical, n_columns)
        What each column holds, NaN included, in ascending order: cells, not rows.
    seen : array of shape (n_distinct,)
        A number for each row learnt from, in ascending order; see :func:`marks_of`.
    doubts : tuple of str
        What the answer rests on and the table cannot confirm.
    leans_on_values : bool
        Whether cells get lost together in this table, so that calls rest on what rows hold, and a
        cell missing elsewhere in the row is evidence of a loss.
    """

    n_levels: NDArray[np.int64]
    n_folds: int
    scores: Scores
    drivers: tuple[int, ...]
    columns: Mapping[int, LearntColumn]
    in_turn: Mapping[int, LearntColumn]
    implied: Mask
    typical: Values
    seen: NDArray[np.uint32]
    doubts: tuple[str, ...] = ()
    leans_on_values: bool = False

    def judge(
        self,
        values: Values,
        folds: NDArray[np.int64] | None = None,
        answers: Answers | None = None,
    ) -> dict[int, Judged]:
        """Return q, rho and phi of the cells of each searched column, missing or not.

        Parameters
        ----------
        folds : int array of shape (n_rows,), optional
            As :meth:`judging_folds` of the whole table gives them, if these are some rows of it.
        answers : int array of shape (n_rows, n_columns), optional
            What rules say of the cells, see :mod:`diffjoint.state.rules`.
        """
        folds = self.judging_folds(row_keys(values, seed=0)) if folds is None else folds
        context, every = self.context(values, folds), slice(None)
        return {j: self.judge_some(j, every, values, folds, context, answers) for j in self.columns}

    def judge_some(
        self,
        column: int,
        rows: NDArray[np.intp] | slice,
        values: Values,
        folds: NDArray[np.int64],
        context: Values,
        answers: Answers | None,
    ) -> Judged:
        """Return q, rho and phi of the cells of one searched column in some of the rows.

        Parameters
        ----------
        context : array of shape (n_rows, n_columns)
            As :meth:`context` gives it.
        """
        learnt, by = self.columns[column], (values[rows], folds[rows], context[rows])
        return learnt.judge(*by, None if answers is None else answers[rows, column])

    def loss_rates(self, judged: Mapping[int, Judged]) -> dict[int, float]:
        """Return the mean P(lost) of regular cells of each searched column, over judged rows."""
        return {
            j: float(expit(learnt.loss_logit))
            if isinstance(learnt, ValuesEvidence)
            else float(judged[j].loss_rate.mean())
            for j, learnt in self.columns.items()
        }

    def context(self, values: Values, folds: NDArray[np.int64]) -> Values:
        """Return what the loss of a cell may depend on, shape (n_rows, n_columns).

        Scores of what rows hold; where cells get lost together, how likely each is lost.
        """
        if not self.leans_on_values:
            return self.scores.of(values)
        return lostness(self.columns, values, folds)

    def probability(
        self,
        values: Values,
        candidates: Mask,
        folds: NDArray[np.int64] | None = None,
        answers: Answers | None = None,
    ) -> Values:
        """Return P(meaningful) of every candidate cell; 0 elsewhere. The rest: :meth:`judge`."""
        likely = np.zeros(values.shape)
        folds = self.judging_folds(row_keys(values, seed=0)) if folds is None else folds
        context = self.context(values, folds)
        for j in self.columns:
            rows = np.flatnonzero(candidates[:, j])
            likely[rows, j] = self.judge_some(j, rows, values, folds, context, answers).probability
        return likely

    def folds(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fold of each row of a whole table, by its :func:`row_keys` of seed 0."""
        return folds_of(keys, self.n_folds)

    def judging_folds(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fold that judges each row of a whole table; ``NEW`` if it was not learnt from.

        Masks of such a row are drawn from one fold: they need not be as certain, but coherent.

        Parameters
        ----------
        keys : array of shape (n_rows,)
            Those of seed 0, see :func:`diffjoint.state.keys.row_keys`.
        """
        return np.where(np.isin(marks_of(keys), self.seen), self.folds(keys), NEW)

    def draw(
        self,
        values: Values,
        candidates: Mask,
        uniform: Values,
        known: Values,
        folds: NDArray[np.int64] | None = None,
        answers: Answers | None = None,
    ) -> Mask:
        """Draw a mask column by column, each given those before: cells agree with each other.

        Parameters
        ----------
        uniform : array of shape (n_rows, n_columns)
            Random numbers between 0 and 1.
        known : array of the same shape
            1 for cells known to be meaningful, 0 for cells known to be lost, NaN elsewhere.
        folds : int array of shape (n_rows,), optional
            As :meth:`folds` gives them, if they are at hand.
        answers : int array of shape (n_rows, n_columns), optional
            What rules say of the cells.
        """
        folds = self.folds(row_keys(values, seed=0)) if folds is None else folds
        mask: Mask = self.draws(values, candidates, uniform[None], known, folds, answers)[0]
        return mask

    def draws(
        self,
        values: Values,
        candidates: Mask,
        uniform: Values,
        known: Values,
        folds: NDArray[np.int64],
        answers: Answers | None = None,
    ) -> Mask:
        """Draw several masks, as :meth:`draw` draws one.

        A row is asked about once for all draws in which the columns before are alike, and only
        where the answer counts.

        Parameters
        ----------
        uniform : array of shape (n_draws, n_rows, n_columns)
        folds : int array of shape (n_rows,)
            As :meth:`folds` of the whole table gives them, if these are some rows of it.
        """
        if self.leans_on_values:
            return self._draw_alike(values, candidates, uniform, known, folds, answers)
        if not self.in_turn:
            raise ValueError("Masks are drawn from what learn_in_turn has learnt. Call it first.")
        scores = self.scores.of(values)
        meaningful = np.broadcast_to(candidates & (known == 1), uniform.shape).copy()
        decided = ~candidates | ~np.isnan(known)
        before: list[int] = []
        for j, learnt in self.in_turn.items():
            rows = np.flatnonzero(~decided[:, j])
            others = meaningful[:, rows]
            beside = others[:, :, before]
            draw, place, which = _distinct(beside)
            asked = rows[place]
            extended = np.hstack([values[asked], beside[draw, place].astype(float)])
            said = None if answers is None else answers[asked, j]
            likely = learnt.judge(extended, folds[asked], scores[asked], said).probability
            drawn = uniform[:, rows, j] < likely[which]
            meaningful[:, rows, j] = keep_to(self.implied, j, drawn, others, decided[rows])
            decided[:, j] = True
            before.append(j)
        return meaningful

    def _draw_alike(
        self,
        values: Values,
        candidates: Mask,
        uniform: Values,
        known: Values,
        folds: NDArray[np.int64],
        answers: Answers | None,
    ) -> Mask:
        """Draw masks in which one random number decides on all cells of a row.

        Each cell is meaningful as often as its probability says, and cells of a row that are
        skipped for one reason are so together.
        """
        meaningful = np.broadcast_to(candidates & (known == 1), uniform.shape).copy()
        decided = ~candidates | ~np.isnan(known)
        context = self.context(values, folds)
        for j in self.columns:
            rows = np.flatnonzero(~decided[:, j])
            likely = self.judge_some(j, rows, values, folds, context, answers).probability
            drawn = uniform[:, rows, 0] < likely
            others = meaningful[:, rows]
            meaningful[:, rows, j] = keep_to(self.implied, j, drawn, others, decided[rows])
            decided[:, j] = True
        return meaningful


def lostness(
    columns: Mapping[int, LearntColumn], values: Values, folds: NDArray[np.int64]
) -> Values:
    """Return how likely each cell is lost, by what its row holds; in other columns it surely is.

    Parameters
    ----------
    columns : mapping
        Searched columns by position; those that were learnt by values have a say.
    """
    lost = np.isnan(values).astype(float)
    for j, learnt in columns.items():
        rows = np.flatnonzero(lost[:, j])
        if isinstance(learnt, ValuesEvidence):
            lost[rows, j] = 1 - learnt.by_values(values[rows], folds[rows])
    return lost


def n_folds_for(n_rows: int) -> int:
    """Return the number of folds of a table with so many rows."""
    return FEW_FOLDS if n_rows > LARGE else N_FOLDS


def n_folds_alone(n_rows: int, n_searched: int) -> int:
    """Count the folds of all columns, without those that masks are drawn from.

    Some columns are asked in either view whether cells get lost together; then each is learnt.
    """
    asked = 2 * FEW_FOLDS * min(MOST_ASKED, n_searched)
    return asked + n_searched * n_folds_for(n_rows)


def n_folds_in_turn(n_searched: int) -> int:
    """Count the folds of all columns but the first, learnt again so that masks can be drawn."""
    return max(n_searched - 1, 0) * FEW_FOLDS


def folds_of(keys: NDArray[np.int64], n_folds: int) -> NDArray[np.int64]:
    """Return a fold for each row by the key of what it holds: the same wherever the row stands.

    Repeats of a row are spread over the folds: they would otherwise be held out together, and
    with them all that is known of such rows.
    """
    return (keys.view(np.uint64) % np.uint64(n_folds)).astype(np.int64)


def marks_of(keys: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return a number for each row by the key of what it holds, to know it again by.

    Short, so that a model stays small. If another row has it by chance, one fold judges that row.
    """
    return (keys.view(np.uint64) >> np.uint64(32)).astype(np.uint32)


def typical_cells(values: Values) -> Values:
    """Return equally spaced order statistics of each column: equally many, and no row."""
    places = ((np.arange(N_TYPICAL) + 0.5) / N_TYPICAL * len(values)).astype(int)
    cells: Values = np.sort(values, axis=0)[places]
    return cells


def _distinct(masks: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Find draws and rows that hold each row's masks once, and which each draw's row is.

    Parameters
    ----------
    masks : bool array of shape (n_draws, n_rows, n_columns)
    """
    n_draws, n_rows, _ = masks.shape
    which = np.broadcast_to(np.arange(n_rows), (n_draws, n_rows)).ravel()
    first = np.arange(n_rows)
    packed = np.packbits(masks, axis=2)
    for byte in packed.reshape(n_draws * n_rows, packed.shape[2]).T:
        _, first, which = np.unique(which * 256 + byte, return_index=True, return_inverse=True)
    return *np.divmod(first, max(n_rows, 1)), which.reshape(n_draws, n_rows)
