"""One searched column: how likely its cell is missing, lost, meaningful, given the rest of the row.

q = P(missing), rho = P(lost | regular) and phi = P(meaningful) obey q = rho + (1 - rho) phi. q is
learnt from who is missing, rho from where only loss explains it, and phi is what is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.isotonic import IsotonicRegression

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.correction import NONE, corrected
from diffjoint.evidence.losses import MOST, LossExamples, LossModel, constant_loss, fit_loss
from diffjoint.evidence.missing import learn_in_folds, rows_outside
from diffjoint.trees import Trees

NO_EXCESS = 0.05
"""Share of meaningful cells up to which a context counts as one in which cells are only lost."""
LOWEST_SHARE = 0.3
"""Share of the rows, least likely missing, that are first taken for such contexts."""
STARTS, MORE_ROWS, AS_GOOD = (LOWEST_SHARE, 0.5, 0.7, 0.9), 0.02, 10.0
"""Shares to start from; how many more rows other losses must explain to be preferred, and how much
log-likelihood they may cost then. If they explain no more, they must gain as much."""
UNUSUAL = 0.007
"""Log-likelihood, for each row, that losses must gain to be e times as steep, or as flat, as those
of any column that cannot be meaningful."""
FLOOR_SHARE = 0.1
"""Share of the rows, with the fewest meaningful cells, that show how few there are at least."""
N_ROUNDS = 12
STEEPEST, MOSTLY = 4.0, 0.5
"""How much steeper losses are taken to be than what is seen of them, at most; not at all where
most of what is seen is meaningful."""
ROWS_FOR_FLOOR = 1_000
"""Rows without which a column's own floor does not tell more than the other columns' rate."""
CLEARLY, SHARP_SHARE = 0.9, 0.1
"""P(meaningful) from which on a cell is so for sure; share of such that makes a column sharp."""
TINY = 1e-6
NEW = -1
"""The fold of a row that was not learnt from: all folds judge it, and their mean counts."""
ENOUGH_ROWS = 200
ENOUGH_ERRORS = 3.0


@dataclass(frozen=True)
class KnownRate:
    """What is known of a column's mean loss rate.

    Attributes
    ----------
    rate : float or None
        None: nothing; the column's own floor is taken.
    is_given : bool
        Whether the user said so; otherwise it is the rate of other columns, and an upper bound.
    steepest : float
        Standard deviation over the rows of the loss's logit, at most.
    sharp_rate : float or None
        The upper bound for a column in which it is clear who is skipped; None: the same.
    """

    rate: float | None
    is_given: bool = False
    steepest: float = np.inf
    sharp_rate: float | None = None


@dataclass(frozen=True)
class LossSearch:
    """Losses that are to be found.

    Attributes
    ----------
    drivers : list of int
        Columns that they may depend on.
    known : KnownRate
    examples : LossExamples
        How losses of columns that cannot be meaningful depend on drivers.
    """

    drivers: list[int]
    known: KnownRate
    examples: LossExamples = field(default_factory=LossExamples)


@dataclass(frozen=True)
class Judged:
    """What is said of every row's cell in one column."""

    missing_rate: Values
    loss_rate: Values
    mm_rate: Values
    nearest: float = 0.0

    @property
    def probability(self) -> Values:
        """P(meaningful | missing); where nothing is lost, what is missing is meaningful.

        It is no nearer to 0 or 1 than ``nearest``: what few rows bear out is not sure.
        """
        share = self.mm_rate / np.maximum(self.missing_rate, TINY)
        share = np.where(self.loss_rate <= TINY, 1.0, np.minimum(share, 1.0))  # rounding aside
        return np.clip(share, self.nearest, 1 - self.nearest)


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
    """

    trees: tuple[Trees, ...]
    loss: LossModel
    excess: tuple[Values, ...]
    mm_rate: tuple[Values, ...]
    slope: float = 1.0
    shift: float = 0.0
    nearest: float = 0.0

    def judge(self, rows: Values, folds: NDArray[np.int64], scores: Values) -> Judged:
        """Return the three rates of every row."""
        rho, phi = self.loss.rate(scores), np.zeros(len(rows))
        usual = to_logit(rho)
        for fold, some, weight in rows_by_fold(folds, len(self.trees)):
            excess = self.trees[fold].logit(rows[some]) - usual[some]
            phi[some] += weight * np.interp(excess, self.excess[fold], self.mm_rate[fold])
        phi = np.minimum(phi, 1.0)
        if (self.slope, self.shift) != NONE:
            phi = corrected(phi, rho, self.slope, self.shift)
        return Judged(rho + (1 - rho) * phi, rho, phi, self.nearest)

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


def rows_by_fold(
    folds: NDArray[np.int64], n_folds: int
) -> Iterator[tuple[int, NDArray[np.intp], Values]]:
    """Go through the folds, with the rows that each judges and its weight in them.

    Fewer folds than rows were dealt into take several of them together.
    """
    is_new = folds == NEW
    for fold in range(n_folds):
        rows = np.flatnonzero(is_new | (folds % n_folds == fold))
        if len(rows):
            yield fold, rows, np.where(is_new[rows], 1.0 / n_folds, 1.0)


def fit_column(
    rows: Values,
    n_levels: NDArray[np.int64],
    is_missing: Mask,
    inputs: Places,
    folds: NDArray[np.int64],
    n_folds: int,
    scores: Values,
    loss: LossModel | LossSearch,
    seed: int,
) -> ColumnEvidence:
    """Learn a column from its rows.

    Parameters
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
    n_folds : int
        Trees to grow; if fewer than there are folds, each is for several of them.
    scores : array of shape (n_rows, n_columns)
        What losses may depend on, see :mod:`diffjoint.evidence.losses`.
    loss : LossModel or LossSearch
        The column's losses, if they are known already, or what to find them by.
    """
    folds = folds % n_folds
    trees = learn_in_folds(rows, is_missing, n_levels, inputs, folds, n_folds, seed)
    logits = logits_in_folds(trees, rows, folds)
    if isinstance(loss, LossSearch):
        loss = _find_loss(logits, is_missing, scores, loss)
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
    loss = _find_loss(logits, is_missing, scores, loss_search)
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
        curve = _rising(excess[rows], is_missing[rows], rho[rows])
        knots.append(curve.X_thresholds_)
        rates.append(np.where(curve.y_thresholds_ <= least, 0.0, curve.y_thresholds_))
    nearest = nearest_to_sure(int(is_missing.sum()))
    return ColumnEvidence(trees, loss, tuple(knots), tuple(rates), nearest=nearest)


def _find_loss(
    logits: Values, is_missing: Mask, scores: Values, loss_search: LossSearch
) -> LossModel:
    """Return the losses that best explain who is missing where hardly a cell is meaningful.

    Where the rounds end depends on where they start, and a share of meaningful cells that is alike
    everywhere is not told from losses by its fit alone. So losses shaped like those of columns that
    cannot be meaningful are tried as well, and unusually steep or flat ones must explain more.
    Where the first start finds no losses there are none.
    """
    drivers, known = loss_search.drivers, loss_search.known
    tried = []
    for share in STARTS if drivers else ():
        start = logits <= np.quantile(logits, share)
        fitted = _rounds(start, logits, is_missing, scores, drivers, known)
        if fitted is not None:
            tried.append(fitted)
        elif not tried:
            break
    if not tried:
        return constant_loss(_constant_rate(logits, is_missing, known))
    tried += _losses_by_example(logits, is_missing, scores, loss_search)
    best, most = None, -np.inf
    for fitted in tried:
        unusual = loss_search.examples.excess_steepness(fitted.loss.steepness(scores))
        worth = fitted.fit - UNUSUAL * len(logits) * unusual
        if best is None or fitted.is_better_than(best, worth - most):
            best, most = fitted, worth
    assert best is not None
    return best.loss


@dataclass(frozen=True)
class _FittedLoss:
    """Losses at which rounds have ended.

    Attributes
    ----------
    loss : LossModel
    share : float
        Of the rows, those in which losses alone explain what is missing.
    fit : float
        Log-likelihood of who is missing.
    """

    loss: LossModel
    share: float
    fit: float

    def is_better_than(self, other: "_FittedLoss", gain: float) -> bool:
        """Return whether these losses are preferred, given what they gain in log-likelihood."""
        return gain > (-AS_GOOD if self.share > other.share + MORE_ROWS else AS_GOOD)


def _losses_by_example(
    logits: Values, is_missing: Mask, scores: Values, loss_search: LossSearch
) -> list[_FittedLoss]:
    """Return losses shaped like those of other columns, and their opposites, at the known rate."""
    if loss_search.known.rate is None:
        return []
    rate, tried = min(loss_search.known.rate, float(is_missing.mean())), []
    for shape in loss_search.examples.shapes:
        weights = np.array([shape.get(driver, 0.0) for driver in loss_search.drivers])
        for signed in (weights, -weights) if weights.any() else ():
            shaped = LossModel(np.asarray(loss_search.drivers, dtype=np.int64), signed, 0.0)
            loss = shaped.with_mean_rate(scores, rate)
            tried.append(_fitted_at(loss, logits, is_missing, scores)[0])
    return tried


def _fitted_at(
    loss: LossModel, logits: Values, is_missing: Mask, scores: Values
) -> tuple[_FittedLoss, Mask]:
    """Return how well losses explain who is missing, and the rows in which they alone do."""
    rho = loss.rate(scores)
    rates = _mm_rates(logits, is_missing, rho)
    regular: Mask = rates < np.quantile(rates, FLOOR_SHARE) + NO_EXCESS
    fit = _fit(rho + (1 - rho) * rates, is_missing)
    return _FittedLoss(loss, float(regular.mean()), fit), regular


def _rounds(
    regular: Mask,
    logits: Values,
    is_missing: Mask,
    scores: Values,
    drivers: list[int],
    known: KnownRate,
) -> _FittedLoss | None:
    """Learn losses from some rows, choose rows anew by them, and so on."""
    fitted = None
    for _ in range(N_ROUNDS):
        found = fit_loss(scores, is_missing, regular, drivers)
        if found is None:
            break
        found = found.no_steeper(scores, known.steepest, regular)
        loss = _at_known_rate(found, float(is_missing[regular].mean()), scores, known)
        fitted, again = _fitted_at(loss, logits, is_missing, scores)
        if (again == regular).mean() > 0.998:
            break
        regular = again
    return fitted


def _fit(missing_rate: Values, is_missing: Mask) -> float:
    likely = np.where(is_missing, missing_rate, 1 - missing_rate)
    return float(np.log(np.maximum(likely, TINY)).sum())


def _at_known_rate(
    found: LossModel, missing_rate: float, scores: Values, known: KnownRate
) -> LossModel:
    """Return the losses found, brought to the rate that is known.

    Where a column misses more than is lost, even in its best contexts, a share of meaningful
    cells lies over all of it and flattens what is seen of the losses: by the ratio of the
    slopes of q and rho in their logits, which is taken out again.
    """
    own = float(found.rate(scores).mean())
    if known.rate is None or (own <= known.rate and not known.is_given):
        return found
    if missing_rate > known.rate > 0.0:
        meaningful = (missing_rate - known.rate) / (1 - known.rate)
        slope = (1 - meaningful) * known.rate * (1 - known.rate)
        steeper = min(missing_rate * (1 - missing_rate) / slope, STEEPEST)
        if meaningful < MOSTLY:
            found = LossModel(found.drivers, found.weights * steeper, found.bias)
    return found.with_mean_rate(scores, known.rate)


def _constant_rate(logits: Values, is_missing: Mask, known: KnownRate) -> float:
    """Return the rate given; or the floor of what is missing where it is below the shared rate."""
    if known.is_given and known.rate is not None:
        return known.rate
    rate = known.rate
    if rate is None:
        regular = logits <= np.quantile(logits, LOWEST_SHARE)
        rate = float(is_missing[regular].mean())
    for _ in range(N_ROUNDS):
        regular = _mm_rates(logits, is_missing, np.full(len(logits), min(rate, MOST))) < NO_EXCESS
        floor = float(is_missing[regular].mean()) if regular.sum() >= ENOUGH_ROWS else rate
        error = np.sqrt(max(rate * (1 - rate), TINY) / max(1, regular.sum()))
        if abs(floor - rate) < ENOUGH_ERRORS * error or (known.rate is not None and floor > rate):
            break
        rate = floor
    return rate


def _mm_rates(logits: Values, is_missing: Mask, rho: Values) -> Values:
    excess = logits - to_logit(rho)
    return np.asarray(_rising(excess, is_missing, rho).predict(excess))


def _rising(excess: Values, is_missing: Mask, rho: Values) -> IsotonicRegression:
    """P(meaningful) by excess: the mean of (missing - rho) / (1 - rho), never falling.

    Contexts whose excess is noise are averaged with their neighbours, to nothing.
    """
    share = (is_missing - rho) / (1 - rho)
    weight = (1 - rho) ** 2 / np.maximum(rho * (1 - rho), 0.01)
    rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return rising.fit(excess, share, sample_weight=weight)


def nearest_to_sure(n_missing: int) -> float:
    """How near to 0 or 1 a probability can be that so many missing cells bear out.

    Examples
    --------
    >>> nearest_to_sure(98)
    0.01
    """
    return 1 / (n_missing + 2)


def logits_in_folds(trees: tuple[Trees, ...], rows: Values, folds: NDArray[np.int64]) -> Values:
    """Return the logits of each row by the trees of its fold; by all, on average, if it is new."""
    logits = np.zeros(len(rows))
    for fold, some, weight in rows_by_fold(folds, len(trees)):
        logits[some] += weight * trees[fold].logit(rows[some])
    return logits


def to_logit(p: Values) -> Values:
    """Logits of probabilities, finite at 0 and 1."""
    clipped: Values = logit(np.clip(p, TINY, 1 - TINY))
    return clipped
