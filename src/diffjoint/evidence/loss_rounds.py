"""Losses of one searched column, learnt round by round where they alone explain what is missing."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.isotonic import IsotonicRegression

from diffjoint._types import Mask, Values
from diffjoint.evidence.folds import TINY, to_logit
from diffjoint.evidence.losses import MOST, LossExamples, LossModel, constant_loss, fit_loss

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


def find_loss(
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
    return np.asarray(rising_share(excess, is_missing, rho).predict(excess))


def rising_share(excess: Values, is_missing: Mask, rho: Values) -> IsotonicRegression:
    """P(meaningful) by excess: the mean of (missing - rho) / (1 - rho), never falling.

    Contexts whose excess is noise are averaged with their neighbours, to nothing.
    """
    share = (is_missing - rho) / (1 - rho)
    weight = (1 - rho) ** 2 / np.maximum(rho * (1 - rho), 0.01)
    rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return rising.fit(excess, share, sample_weight=weight)
