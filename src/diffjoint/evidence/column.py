"""One searched column: how likely its cell is missing, lost, meaningful, given the rest of the row.

q = P(missing), rho = P(lost | regular) and phi = P(meaningful) obey q = rho + (1 - rho) phi. q is
learnt from which cells are missing (:mod:`.missing`), rho from where only loss explains it
(:mod:`.loss_rounds`), and phi is what is left.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.correction import NONE, corrected
from diffjoint.evidence.folds import Judged, logits_in_folds, rows_by_fold, to_logit
from diffjoint.evidence.loss_rounds import (
    ENOUGH_ERRORS,
    KnownRate,
    LossSearch,
    find_loss,
    rising_share,
)
from diffjoint.evidence.losses import LossModel
from diffjoint.evidence.missing import learn_in_folds, rows_outside
from diffjoint.state.rules import Answers
from diffjoint.trees import Trees

ROWS_FOR_FLOOR = 1_000
"""Rows without which a column's own floor does not tell more than the other columns' rate."""
CLEARLY, SHARP_SHARE = 0.9, 0.1
"""P(meaningful) from which on a cell is so for sure; share of such that makes a column sharp."""


@dataclass(frozen=True)
class ColumnEvidence:
    """What was learnt about one column.

    Attributes
    ----------
    trees : tuple of Trees
        One for each fold, learnt on the rows of the others.
    loss : LossModel
    excess, mm_rate : tuples of arrays
        P(meaningful) as a rising function of logit q - logit rho: its knots, for each fold
        from the rows of the others.
    slope, shift : float
        What labelled cells correct the log odds of P(meaningful | missing) by.
    nearest : float
        Probabilities are no nearer to 0 or 1 than this.
    rule : RuleEvidence or None
        What a rule that the table follows says of the column.
    """

    trees: tuple[Trees, ...]
    loss: LossModel
    excess: tuple[Values, ...]
    mm_rate: tuple[Values, ...]
    slope: float = 1.0
    shift: float = 0.0
    nearest: float = 0.0
    rule: RuleEvidence | None = None

    @property
    def loss_logit(self) -> float:
        """Logit of P(lost | regular) in a usual row."""
        return self.loss.bias

    def judge(
        self,
        rows: Values,
        folds: NDArray[np.int64],
        scores: Values,
        answers: Answers | None = None,
    ) -> Judged:
        """Return the three rates of every row.

        Parameters
        ----------
        answers : array of shape (n_rows,), optional
            What the column's rule says; without, cells are judged as if there were none.
        """
        rho, phi = self.loss.rate(scores), np.zeros(len(rows))
        usual = to_logit(rho)
        for fold, some, weight in rows_by_fold(folds, len(self.trees)):
            excess = self.trees[fold].logit(rows[some]) - usual[some]
            phi[some] += weight * np.interp(excess, self.excess[fold], self.mm_rate[fold])
        phi = np.minimum(phi, 1.0)
        if (self.slope, self.shift) != NONE:
            phi = corrected(phi, rho, self.slope, self.shift)
        judged = Judged(rho + (1 - rho) * phi, rho, phi, self.nearest)
        if self.rule is None or answers is None:
            return judged
        return self.rule.settle(judged, answers, self.loss_logit)

    def excess_of(self, rows: Values, folds: NDArray[np.int64], scores: Values) -> Values:
        """Logit q - logit rho for every row: P(meaningful) rises with it."""
        return logits_in_folds(self.trees, rows, folds) - to_logit(self.loss.rate(scores))

    def loss_pushes(self, scores: Values, typical: Values) -> Values:
        """Return what each cell adds to logit rho, which is linear in the scores.

        Parameters
        ----------
        scores, typical : arrays of shape (n_rows, n_columns)
            Scores of the rows, and of what rows usually hold.
        """
        pushes, drivers = np.zeros(scores.shape), self.loss.drivers
        pushes[:, drivers] = (scores[:, drivers] - typical[:, drivers].mean(axis=0)) * (
            self.loss.weights
        )
        return pushes


@dataclass(frozen=True)
class ColumnTask:
    """A column to learn, and by what.

    Attributes
    ----------
    rows : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : array of shape (n_columns,)
    is_missing : bool array of shape (n_rows,)
        Whether the column's own cell is.
    inputs : int array
        The columns to go by.
    folds : array of shape (n_rows,)
        No row is judged by trees that have learnt from it.
    """

    rows: Values
    n_levels: NDArray[np.int64]
    is_missing: Mask
    inputs: Places
    folds: NDArray[np.int64]


def fit_column(
    task: ColumnTask, n_folds: int, scores: Values, loss: LossModel | LossSearch, seed: int
) -> ColumnEvidence:
    """Learn a column from its rows.

    Parameters
    ----------
    n_folds : int
        Trees to grow; if fewer than there are folds, each is for several of them.
    scores : array of shape (n_rows, n_columns)
        What losses may depend on, see :mod:`diffjoint.evidence.losses`.
    loss : LossModel or LossSearch
        The column's losses, if they are known already, or what to find them by.
    """
    rows, is_missing, folds = task.rows, task.is_missing, task.folds % n_folds
    trees = learn_in_folds(rows, is_missing, task.n_levels, task.inputs, folds, n_folds, seed)
    logits = logits_in_folds(trees, rows, folds)
    if isinstance(loss, LossSearch):
        loss = find_loss(logits, is_missing, scores, loss)
    return _beside(loss, trees, logits, is_missing, folds, scores)


def at_known_rate(
    learnt: ColumnEvidence,
    rows: Values,
    is_missing: Mask,
    folds: NDArray[np.int64],
    scores: Values,
    loss_search: LossSearch,
) -> ColumnEvidence:
    """Set the same trees beside other losses, as if the column had been learnt with those.

    How likely a cell is missing does not depend on how much is lost, so that no tree is grown.
    """
    logits = logits_in_folds(learnt.trees, rows, folds)
    loss = find_loss(logits, is_missing, scores, loss_search)
    return _beside(loss, learnt.trees, logits, is_missing, folds, scores)


def at_own_floor(
    learnt: ColumnEvidence,
    rows: Values,
    is_missing: Mask,
    folds: NDArray[np.int64],
    scores: Values,
    loss_search: LossSearch,
) -> ColumnEvidence:
    """Return the column at a higher loss rate than others have, if it is clear who is skipped.

    Where some cells are meaningful for sure even if all that is missing elsewhere was lost, the
    column loses what it misses elsewhere, as far as that is believable. Losses that depend on
    values are left as they are.
    """
    known = loss_search.known
    if loss_search.drivers or known.is_given or known.sharp_rate is None or known.rate is None:
        return learnt
    if len(is_missing) < ROWS_FOR_FLOOR:
        return learnt
    higher = replace(loss_search, known=KnownRate(known.sharp_rate, steepest=known.steepest))
    moved = at_known_rate(learnt, rows, is_missing, folds, scores, higher)
    likely = moved.judge(rows[is_missing], folds[is_missing], scores[is_missing]).probability
    is_sharp = (likely > CLEARLY).mean() >= SHARP_SHARE
    return moved if is_sharp else learnt


def _beside(
    loss: LossModel,
    trees: tuple[Trees, ...],
    logits: Values,
    is_missing: Mask,
    folds: NDArray[np.int64],
    scores: Values,
) -> ColumnEvidence:
    """Return what is left of the missing cells beside the losses.

    Shares of meaningful cells that are smaller than what the loss rate can be known by are none.
    """
    rho = loss.rate(scores)
    excess = logits - to_logit(rho)
    knots, rates = [], []
    least = ENOUGH_ERRORS * float(np.sqrt((rho * (1 - rho)).mean() / len(rho)))
    for fold in range(len(trees)):
        rows = rows_outside(folds, fold)
        curve = rising_share(excess[rows], is_missing[rows], rho[rows])
        knots.append(curve.X_thresholds_)
        rates.append(np.where(curve.y_thresholds_ <= least, 0.0, curve.y_thresholds_))
    nearest = nearest_to_sure(int(is_missing.sum()))
    return ColumnEvidence(trees, loss, tuple(knots), tuple(rates), nearest=nearest)


def nearest_to_sure(n_missing: int) -> float:
    """How near to 0 or 1 a probability can be that so many missing cells bear out.

    Examples
    --------
    >>> nearest_to_sure(98)
    0.01
    """
    return 1 / (n_missing + 2)
