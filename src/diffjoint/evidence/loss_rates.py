"""A loss rate for every column: its own floor, and what the other columns show.

Rates are drawn, as logits, from a normal distribution: that of the columns that cannot be
meaningful, and of the searched ones whose values tell sharply who is skipped. It is tight where
they agree and wide where they do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, logit

from diffjoint._types import Mask, Values
from diffjoint.evidence.missing import FEWEST

FARTHEST = 1.5
"""Standard deviations above the other rates from which on a floor is not all loss."""
BEYOND, LEAST_BEYOND = 3.0, 0.5
"""Standard deviations, of that size at least, from which on it cannot be loss at all."""
MOSTLY = 0.5
"""Share of a floor that losses must bear out, if it is far beyond the other rates."""
UNEXPLAINED = 0.02
"""Share of a column's meaningful cells that values may leave unexplained."""
TINY = 1e-6
DISAGREE = 3.0
"""Ratio of two columns' loss rates beyond which one rate for all does not hold."""
SAME_BLOCK = 0.7
"""Correlation of two columns' missing cells from which on one says nothing of the other's rate."""
MOST_BESIDE, CLEARLY_MORE = 8, 2.0
"""Columns that only lose cells that a column is compared with, those beside whose losses it is
missing most; standard errors by which it must be missing more often beside each."""
SPREAD, LEAST_SPREAD = 1.5, 0.3
"""Standard deviation of rates in logits where one or two are known; and at least."""


@dataclass(frozen=True)
class Prior:
    """What other columns say of a column's loss rate, in logits."""

    mean: float
    sd: float

    @property
    def highest(self) -> float:
        """Return the highest rate that other columns make believable."""
        return self.mean + FARTHEST * self.sd

    def below(self, floor: float) -> float:
        """Return the rate to expect of a column that loses no more than ``floor``.

        Such that the share of losses in what is missing at the floor is what is to be expected.

        Examples
        --------
        >>> round(Prior(-2.0, 0.3).below(3.0), 2)
        -1.96
        """
        high, variance = floor - self.mean, self.sd**2
        log_share = log_ndtr((high - variance) / self.sd) - log_ndtr(high / self.sd)
        return float(min(floor, self.mean + variance / 2 + log_share))


def rate_prior(
    rates: Mapping[int, float], beside: Sequence[int], least: float = LEAST_SPREAD
) -> Prior | None:
    """Return the distribution of some columns' rates; None if none of them is known.

    Parameters
    ----------
    rates : mapping
    beside : sequence of int
        The columns that count.
    least : float
        The smallest standard deviation, in logits, that is believed.

    Examples
    --------
    >>> from scipy.special import expit
    >>> prior = rate_prior({0: 0.1, 1: 0.1, 2: 0.1}, [0, 1, 2])
    >>> round(float(expit(prior.mean)), 3), round(float(expit(prior.highest)), 2)
    (0.1, 0.15)
    """
    known = np.array([logit(rates[k]) for k in beside if k in rates])
    if not len(known):
        return None
    sd = float(known.std(ddof=1)) if len(known) > 2 else SPREAD
    return Prior(float(known.mean()), max(sd, least))


def disagree(rates: Values) -> bool:
    """Whether columns lose at rates so different that one rate for all does not hold.

    Examples
    --------
    >>> disagree(np.array([0.1, 0.12])), disagree(np.array([0.05, 0.2]))
    (False, True)
    """
    return len(rates) > 1 and bool(rates.max() > DISAGREE * rates.min())


def rates_of(is_missing: Mask, columns: Sequence[int]) -> dict[int, float]:
    """How much of each column is missing, where that is what it loses and can be told.

    Columns with hardly an observed cell say nothing of how cells get lost.
    """
    n_missing, n_rows = is_missing.sum(axis=0), len(is_missing)
    return {
        j: float((n_missing[j] + 0.5) / (n_rows + 1))
        for j in columns
        if n_missing[j] > 0 and n_rows - n_missing[j] >= FEWEST
    }


def least_loss_rate(losses: Mask, is_missing: Mask) -> float:
    """Return the loss rate that a column has at least, by what is lost beside it.

    Whether a cell is meaningful does not depend on what is lost elsewhere in its row. So in rows
    that have lost nothing elsewhere the column is missing at least as often as it is meaningful in
    any row, and what it misses beyond that was lost.

    Parameters
    ----------
    losses : bool array of shape (n_rows, n_columns)
        Missing cells of columns that only lose cells.
    is_missing : bool array of shape (n_rows,)

    Notes
    -----
    With m the share of missing cells, and p that in rows that have lost nothing elsewhere, with a
    standard error added, the rate is 1 - (1 - m) / (1 - p).

    Examples
    --------
    A fifth is meaningful, and half of the other cells are lost where another one is.

    >>> rng = np.random.default_rng(0)
    >>> elsewhere, meaningful, lost = rng.random((3, 10_000)) < [[0.4], [0.2], [0.5]]
    >>> missing = meaningful | (lost & elsewhere)
    >>> round(least_loss_rate(elsewhere[:, None], missing), 2)
    0.2
    """
    beside = losses[:, _lost_along(losses, is_missing)]
    nothing_lost = ~beside.any(axis=1)
    if not beside.shape[1] or nothing_lost.sum() < FEWEST:
        return 0.0
    share, n_rows = float(is_missing[nothing_lost].mean()), int(nothing_lost.sum())
    error = np.sqrt((share * (1 - share) + 1 / n_rows) / n_rows)
    missing = float(is_missing.mean())
    most_meaningful = min(missing, share + float(error), 1 - TINY)
    return 1 - (1 - missing) / (1 - most_meaningful)


def _lost_along(losses: Mask, is_missing: Mask) -> list[int]:
    """Return the columns beside whose losses one is missing clearly more often than elsewhere."""
    n_rows, n_lost = len(losses), losses.sum(axis=0)
    enough = np.flatnonzero(np.minimum(n_lost, n_rows - n_lost) >= FEWEST)
    missing = is_missing.mean()
    more = losses[is_missing][:, enough].sum(axis=0) / n_lost[enough] - missing
    error = np.sqrt(missing * (1 - missing) * (1 / n_lost[enough] - 1 / n_rows))
    clearly = more > CLEARLY_MORE * error
    strongest = np.argsort(-more / error, kind="stable")[:MOST_BESIDE]
    return [int(enough[k]) for k in strongest if clearly[k]]


def is_far_beyond(floor: float, prior: Prior | None) -> bool:
    """Whether a column misses so much that it cannot be what other columns lose.

    Examples
    --------
    >>> is_far_beyond(2.0, Prior(-2.0, 1.0)), is_far_beyond(0.0, Prior(-2.0, 1.0))
    (True, False)
    """
    return prior is not None and floor > prior.mean + BEYOND * max(prior.sd, LEAST_BEYOND)


def apart_from(is_missing: Mask, column: int, columns: Iterable[int]) -> list[int]:
    """Those of the columns that are not missing along with one column."""
    varies = is_missing.std(axis=0) > 0
    return [
        k
        for k in columns
        if k != column
        and not (varies[k] and varies[column] and correlation(is_missing, column, k) > SAME_BLOCK)
    ]


def tolerance(unevenness: float, lost_share: float) -> float:
    """How far above a column's floor cells are still lost, in logits.

    Where values make losses likelier, as columns that only lose cells show, a context that misses
    more than the floor need not hold meaningful cells. Where hardly anything is lost, what seems to
    be a loss in such a context is rather one of the many meaningful cells.

    Parameters
    ----------
    unevenness : float
        How much likelier values make a loss in columns that only lose cells, in logits.
    lost_share : float
        Of the column's missing cells, those that are lost at its floor.

    Examples
    --------
    >>> tolerance(0.0, 0.5), round(tolerance(0.8, 0.5), 2), round(tolerance(0.8, 0.01), 2)
    (0.0, 0.79, 0.31)
    """
    more_lost = lost_share / max(1 - lost_share, UNEXPLAINED) * np.expm1(unevenness)
    return float(unevenness * more_lost / (more_lost + UNEXPLAINED))


def believable(
    floor: float, is_sharp: bool, prior: Prior | None, *, borne_out: float = 0.0
) -> float | None:
    """Return the loss rate of a column in logits; None if nothing tells it.

    Parameters
    ----------
    floor : float
        Logit of how often it is missing where values say that it need not be.
    is_sharp : bool
        Whether values tell clearly who is skipped: then the floor is its loss, as far as other
        columns make that believable. If not, its loss is what is to be expected from those.
    borne_out : float
        Share of the cells at the floor, at least, that must be lost for the losses beside them. So
        much of the floor is loss, whatever other columns lose. Of a floor far beyond what others
        lose it must be most: where hardly a cell is observed, a few that seem to be lost would
        make nearly all of the others lost as well.

    Examples
    --------
    >>> prior = Prior(-2.0, 0.5)
    >>> believable(0.0, True, prior), round(believable(-0.9, True, prior, borne_out=0.9), 2)
    (-1.25, -1.01)
    >>> believable(2.0, True, prior, borne_out=0.3)
    -1.25
    """
    if prior is None:
        return floor if is_sharp else None
    if is_sharp and borne_out < MOSTLY and is_far_beyond(floor, prior):
        return prior.highest
    if is_sharp:
        return max(min(floor, prior.highest), floor + float(np.log(max(borne_out, TINY))))
    return prior.below(floor)


def correlation(is_missing: Mask, a: int, b: int) -> float:
    """Return the correlation of missing cells in two columns; neither may be constant."""
    x, y = (is_missing[:, k] - is_missing[:, k].mean() for k in (a, b))
    return float((x @ y) / np.sqrt((x @ x) * (y @ y)))
