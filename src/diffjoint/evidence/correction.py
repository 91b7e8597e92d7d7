"""Cells whose kind someone has looked up, used to correct what is said of the others."""

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2, ks_2samp
from sklearn.linear_model import LogisticRegression

from diffjoint._types import Mask, Values

FEWEST = 30
"""Labelled cells of each kind below which nothing is corrected."""
UNLIKE = 0.05
"""How often a random pick of labels is taken for a choice."""
SIGNIFICANCE = 0.01
"""How often odds that agree with their labels are corrected."""
FARTHEST = 1e-3
"""Probabilities nearer to 0 or 1 than this are taken as that near."""
NONE = (1.0, 0.0)


def find_correction(likely: Values, meaningful: Mask, labelled: Mask) -> tuple[float, float]:
    """Slope and shift that make log odds agree with the labels; (1, 0) if that is not called for.

    It is called for where there are enough labels, where they look like a random pick of the
    column's missing cells, and where they clearly disagree with what is said of them. Labels on
    those cells alone that were easy to tell say nothing of the others.

    Parameters
    ----------
    likely : array of shape (n_cells,)
        P(meaningful) of a column's missing cells.
    meaningful, labelled : bool arrays of the same shape
        Whether a cell's kind was looked up, and the kind.
    """
    truth = meaningful[labelled]
    if min(truth.sum(), (~truth).sum()) < FEWEST:
        return NONE
    odds = _log_odds(likely)
    known, others = odds[labelled], odds[~labelled]
    if len(others) and ks_2samp(known, others, method="asymp").pvalue < UNLIKE:
        return NONE
    fitted = LogisticRegression(C=1.0).fit(known[:, None], truth)
    slope, shift = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    if slope <= 0:  # the odds say nothing, and must not be turned round by chance
        slope, shift = 0.0, float(logit(truth.mean()))
    gain = _log_likelihood(slope * known + shift, truth) - _log_likelihood(known, truth)
    if 2 * gain < chi2.ppf(1 - SIGNIFICANCE, df=2):
        return NONE
    return slope, shift


def corrected(mm_rate: Values, loss_rate: Values, slope: float, shift: float) -> Values:
    """P(meaningful) before it is known that the cell is missing, from corrected odds."""
    missing_rate = loss_rate + (1 - loss_rate) * mm_rate
    after = corrected_odds(mm_rate / np.maximum(missing_rate, FARTHEST), slope, shift)
    rate: Values = after * loss_rate / (1 - after * (1 - loss_rate))
    return rate


def corrected_odds(likely: Values, slope: float, shift: float) -> Values:
    """P(meaningful | missing) with corrected log odds."""
    after: Values = expit(slope * _log_odds(likely) + shift)
    return after


def _log_odds(likely: Values) -> Values:
    odds: Values = logit(np.clip(likely, FARTHEST, 1 - FARTHEST))
    return odds


def _log_likelihood(odds: Values, truth: Mask) -> float:
    return float(-np.logaddexp(0, np.where(truth, -odds, odds)).sum())
