"""The values view: how likely a cell is missing by what the other cells hold.

Which cells are missing together says nothing of meaning where cells get lost together. So trees are
shown a few cells of each row, chosen at random, whatever the row itself misses: a missing cell in
what they see is nearly always one of ours, and tells them nothing. Rows to be judged are shown as
they are.

That a value is there at all still tells that nothing was lost beside it. So observed cells are not
compared as they stand, but *as if lost*: each with cells missing as in a row in which the cell is
missing. Where missing cells are no more frequent, by their scores, than cells as if lost, they were
lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.correction import NONE, corrected_odds
from diffjoint.evidence.folds import TINY, Judged, logits_in_folds, to_logit
from diffjoint.evidence.missing import FEWEST, MOST_ROWS, rows_outside
from diffjoint.state.rules import Answers
from diffjoint.trees import Features, Trees, constant

N_FOLDS = 3
FEWEST_SHOWN, MOST_SHOWN = 1.2, 8.0
"""Cells of a row that trees are shown on average: at least, at most."""
LOWEST_SHARE, HIGHEST_SHARE = 0.1, 0.5
"""The same as shares of the row, in tables of few columns."""
ENOUGH_ROWS, MOST_COPIES = 8_000, 8
"""Rows to learn from: each row of a smaller table is shown several times, with other cells."""
FIRST_ROWS, FIRST_ROUNDS = 4_000, 25
"""Rows and rounds of a first, rough view, which tells which rows are donors."""
LENT = 0.5
"""Share of the observed cells that trees are shown as if lost."""
LEARNER: dict[str, Any] = {
    "max_iter": 60,
    "learning_rate": 0.15,
    "max_leaf_nodes": 8,
    "l2_regularization": 1.0,
    "min_samples_leaf": 20,
    "max_features": 0.5,
    "early_stopping": False,
}
N_PASSES, MOST_SHOWN_ROWS, N_DONORS = 3, 2_000, 2
"""How often donors are chosen anew; observed rows shown as if lost, and how often each."""
PLATEAU = 0.5
"""Quantile of the scores as if lost at which the ratio of missing to lost is read."""
HARDLY_THERE = 0.95
"""P(missing), as if lost, of contexts in which hardly any cell is there."""
SURELY, SHARP_SHARE = 0.1, 0.1
"""P(lost) up to which a missing cell is surely meaningful; the share of such that makes a column
sharp."""


@dataclass(frozen=True)
class ValuesEvidence:
    """What the values of a row say of one column's missing cell, and what its missing cells add.

    Attributes
    ----------
    trees : tuple of Trees
        One for each fold; grown on rows that showed a few cells each.
    score, missing_logit : arrays of shape (n_knots,)
        Logit of P(missing), had the row the missing cells of one whose cell is missing, by score.
    loss_logit : float
        Logit of P(lost | regular) of the column.
    lift : array of shape (n_columns,)
        What a lost cell elsewhere in the row adds to the log odds of lost against meaningful.
    lift_bias : float
    nearest : float
        Probabilities are no nearer to 0 or 1 than this.
    slope, shift : float
        What labelled cells correct the log odds of P(meaningful | missing) by.
    second : tuple of Trees
        A second look at the whole row, see :mod:`diffjoint.evidence.second_look`; none if empty.
    second_shift : float
        What is added to it, if it was learnt at another loss rate.
    rule : RuleEvidence or None
        What a rule that the table follows says of the column.
    """

    trees: tuple[Trees, ...]
    score: Values
    missing_logit: Values
    loss_logit: float
    lift: Values
    lift_bias: float = 0.0
    nearest: float = 0.0
    slope: float = 1.0
    shift: float = 0.0
    second: tuple[Trees, ...] = ()
    second_shift: float = 0.0
    rule: RuleEvidence | None = None

    def judge(
        self,
        rows: Values,
        folds: NDArray[np.int64],
        lost: Values,
        answers: Answers | None = None,
    ) -> Judged:
        """Return the three rates of every row.

        Parameters
        ----------
        lost : array of shape (n_rows, n_columns)
            How likely each cell of the row is lost, by what the row holds.
        answers : array of shape (n_rows,), optional
            What the column's rule says; without, cells are judged as if there were none.
        """
        by_missing, lifted = self._missing_logit(rows, folds), self._lifted(lost)
        odds = -self._lost_odds(by_missing) - lifted
        if self.second:
            odds = (odds + self._second_look(rows, folds)) / 2
        meaningful, missing_rate = expit(odds), expit(by_missing)
        if self.rule is not None and answers is not None:
            meaningful = self.rule.probability(rows, answers, meaningful, self.loss_logit)
            missing_rate = self.rule.missing_rate(answers, missing_rate)
        if (self.slope, self.shift) != NONE:
            meaningful = corrected_odds(meaningful, self.slope, self.shift)
        meaningful = np.clip(meaningful, self.nearest, 1 - self.nearest)
        loss_rate = np.clip(expit(self.loss_logit + lifted), 2 * TINY, missing_rate)
        return Judged(missing_rate, loss_rate, meaningful * missing_rate, self.nearest)

    def by_values(self, rows: Values, folds: NDArray[np.int64]) -> Values:
        """P(meaningful | missing) by what the row holds alone."""
        likely: Values = expit(-self._lost_odds(self._missing_logit(rows, folds)))
        return likely

    def excess_of(self, rows: Values, folds: NDArray[np.int64], lost: Values) -> Values:
        """Logit of P(missing) less that of P(lost) for every row: P(meaningful) rises with it.

        Its mean with the second look, where there is one.
        """
        excess = logits_in_folds(self.trees, rows, folds)
        excess = excess - self.loss_logit - self._lifted(lost)
        return (excess + self._second_look(rows, folds)) / 2 if self.second else excess

    def loss_pushes(self, lost: Values) -> Values:
        """Return what each lost cell elsewhere adds to the log odds of being lost."""
        return lost * self.lift

    def at_loss_logit(self, loss_logit: float) -> "ValuesEvidence":
        """Return the same with another loss rate."""
        moved = self.second_shift + self.loss_logit - loss_logit
        return replace(self, loss_logit=loss_logit, second_shift=moved)

    def _second_look(self, rows: Values, folds: NDArray[np.int64]) -> Values:
        """Log odds of P(meaningful) by the whole row."""
        return logits_in_folds(self.second, rows, folds) + self.second_shift

    def _missing_logit(self, rows: Values, folds: NDArray[np.int64]) -> Values:
        score = logits_in_folds(self.trees, rows, folds)
        return np.interp(score, self.score, self.missing_logit)

    def _lost_odds(self, missing_logit: Values) -> Values:
        """Log odds of lost against meaningful; all is lost where no more is missing than lost."""
        share = np.exp(np.minimum(0.0, self.loss_logit - missing_logit))
        return to_logit(share)

    def _lifted(self, lost: Values) -> Values:
        """Return what other losses of a row add: at most that every regular cell is lost."""
        most = -np.log(max(float(expit(self.loss_logit)), TINY))
        lifted: Values = np.minimum(lost @ self.lift + self.lift_bias, most)
        return lifted


@dataclass(frozen=True)
class View:
    """The values view of a column before its loss rate is known.

    Attributes
    ----------
    trees, score, missing_logit
        As in :class:`ValuesEvidence`.
    floor : float
        Logit of P(missing) of cells as if lost: what the column loses if its floor is all loss.
    is_sharp : bool
        Whether values tell some of the missing cells clearly from lost ones.
    lost_share : float
        Of the missing cells, those that are lost at that floor.
    unevenness : float
        Median over the missing cells of how far P(missing) lies above the floor, in logits: in a
        column that only loses cells, how much likelier values make a loss.
    surely_missing : float
        Of the missing cells, those in contexts in which hardly any cell is there.
    n_columns : int
        Of the table.
    """

    trees: tuple[Trees, ...]
    score: Values
    missing_logit: Values
    floor: float
    is_sharp: bool
    lost_share: float = 1.0
    unevenness: float = 0.0
    surely_missing: float = 0.0

    n_columns: int = 0

    def at(self, loss_logit: float, nearest: float = 0.0) -> ValuesEvidence:
        """Return the view with a loss rate, and no missing cell counted yet."""
        lift = np.zeros(self.n_columns)
        return ValuesEvidence(
            self.trees, self.score, self.missing_logit, loss_logit, lift, nearest=nearest
        )


def learn_view(
    rows: Values,
    n_levels: NDArray[np.int64],
    is_missing: Mask,
    inputs: Places,
    folds: NDArray[np.int64],
    seed: int,
) -> View:
    """Learn the values view of a column.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    n_levels : array of shape (n_columns,)
    is_missing : bool array of shape (n_rows,)
        Both kinds occur ``FEWEST`` times at least.
    inputs : int array
        The columns to go by.
    folds : array of shape (n_rows,)
        No row is judged by trees that have learnt from it.
    """
    rng, folds = np.random.default_rng(seed), folds % N_FOLDS
    column = _Column(rows, n_levels, is_missing, inputs, folds, rng)
    rough = column.grow(FIRST_ROWS, FIRST_ROUNDS, None)
    start = expit(-logits_in_folds(rough, rows[is_missing], folds[is_missing]))
    lending = column.compare(rough, start + 0.01).lending
    trees = column.grow(ENOUGH_ROWS, LEARNER["max_iter"], lending)
    found = column.compare(trees, lending)
    log_odds = float(np.log(is_missing.sum() / (~is_missing).sum()))
    return View(
        trees,
        found.score,
        found.ratio + log_odds,
        found.plateau + log_odds,
        is_sharp=bool((found.lost < SURELY).mean() >= SHARP_SHARE),
        lost_share=float(found.lost.mean()),
        unevenness=max(0.0, float(np.median(found.at_missing)) - found.plateau),
        surely_missing=float((expit(found.at_missing + log_odds) > HARDLY_THERE).mean()),
        n_columns=rows.shape[1],
    )


@dataclass(frozen=True)
class _Compared:
    """How much more frequent missing cells are than cells as if lost.

    Attributes
    ----------
    score, ratio : arrays of shape (n_knots,)
        The log of it, by the trees' score.
    plateau : float
        The log of it where cells are only lost.
    at_missing : array of shape (n_missing,)
        The log of it at the missing cells.
    lost : array of shape (n_missing,)
        P(lost), compared with the plateau.
    """

    score: Values
    ratio: Values
    plateau: float
    at_missing: Values
    lost: Values

    @property
    def lending(self) -> Values:
        """Return how often each row is a donor: the likelier its missing cell is lost."""
        return self.lost + 0.002


@dataclass(frozen=True)
class _Column:
    """What the view of a column is learnt from, as :func:`learn_view` is given it."""

    rows: Values
    n_levels: NDArray[np.int64]
    is_missing: Mask
    inputs: Places
    folds: NDArray[np.int64]
    rng: np.random.Generator

    def grow(self, n_rows: int, n_rounds: Any, lending: Values | None) -> tuple[Trees, ...]:
        """Grow trees on glimpses, a set for each fold.

        Parameters
        ----------
        n_rows, n_rounds : int
            Rows to learn from, at least while no row is shown too often; rounds of boosting.
        lending : array of shape (n_missing,), optional
            How often rows are donors to half of the observed cells; none are if None.
        """
        return tuple(
            self._grow_one(rows, n_rows, n_rounds, lending)
            for rows in _learnt_from(self.folds, self.rng)
        )

    def _grow_one(
        self, rows: NDArray[np.intp], n_rows: int, n_rounds: int, lending: Values | None
    ) -> Trees:
        is_missing = self.is_missing[rows]
        n_missing = int(is_missing.sum())
        if min(n_missing, len(rows) - n_missing) < FEWEST // 2 or not len(self.inputs):
            rate = float(np.clip(is_missing.mean(), 1e-4, 1 - 1e-4))
            return constant(np.array([logit(rate)]))
        n_copies = int(np.clip(round(n_rows / len(rows)), 1, MOST_COPIES))
        shown = [glimpse(self._lent(rows, lending), self.rng) for _ in range(n_copies)]
        learner = HistGradientBoostingClassifier(
            **LEARNER | {"max_iter": n_rounds}, random_state=int(self.rng.integers(2**31))
        )
        features = self._features.shown(np.tile(rows, n_copies), np.vstack(shown))
        return features.grow(learner, np.tile(is_missing, n_copies))

    @cached_property
    def _features(self) -> Features:
        return Features(self.rows[:, self.inputs], self.n_levels[self.inputs], self.inputs)

    def _lent(self, rows: NDArray[np.intp], lending: Values | None) -> Values:
        """Return the rows, half of the observed cells shown as if lost.

        So that a value that is shown says less of what was not lost beside it.
        """
        shown = self.rows[np.ix_(rows, self.inputs)]
        if lending is None:
            return shown
        weight = np.zeros(len(self.rows))
        weight[self.is_missing] = lending
        weight = weight[rows]
        takes = np.flatnonzero(~self.is_missing[rows] & (self.rng.random(len(rows)) < LENT))
        donors = self.rng.choice(len(rows), len(takes), p=weight / weight.sum())
        shown[takes] = np.where(np.isnan(shown[donors]), np.nan, shown[takes])
        return shown

    def compare(self, trees: tuple[Trees, ...], lending: Values) -> _Compared:
        """Compare missing cells with cells as if lost, choosing donors anew in passes."""
        is_missing = self.is_missing
        missing = logits_in_folds(trees, self.rows[is_missing], self.folds[is_missing])
        for _ in range(N_PASSES):
            as_lost = self._scores_as_lost(trees, lending)
            score, ratio = log_ratio(missing, as_lost)
            plateau = min(0.0, float(np.interp(np.quantile(as_lost, PLATEAU), score, ratio)))
            at = np.interp(missing, score, ratio)
            found = _Compared(score, ratio, plateau, at, np.exp(np.minimum(0.0, plateau - at)))
            lending = found.lending
        return found

    def _scores_as_lost(self, trees: tuple[Trees, ...], lending: Values) -> Values:
        """Score observed cells, each with cells missing as in a row in which it is missing."""
        observed, missing = np.flatnonzero(~self.is_missing), np.flatnonzero(self.is_missing)
        if len(observed) > MOST_SHOWN_ROWS:
            observed = np.sort(self.rng.choice(observed, MOST_SHOWN_ROWS, replace=False))
        scores = []
        for _ in range(N_DONORS):
            donors = self.rng.choice(missing, len(observed), p=lending / lending.sum())
            is_missing = np.isnan(self.rows[donors])
            shown = np.where(is_missing, np.nan, self.rows[observed])
            scores.append(logits_in_folds(trees, shown, self.folds[observed]))
        return np.concatenate(scores)


def unjudged(
    n_columns: int, missing_rate: float, probability: float, nearest: float
) -> ValuesEvidence:
    """One answer for all cells of a column that cannot be told apart.

    Parameters
    ----------
    probability : float
        P(meaningful) of every cell.
    """
    missing_logit = float(logit(np.clip(missing_rate, TINY, 1 - TINY)))
    alike = (constant(np.array([missing_logit])),)
    knots = np.array([missing_logit])
    loss_logit = missing_logit + float(np.log(np.clip(1 - probability, TINY, 1.0)))
    lift = np.zeros(n_columns)
    return ValuesEvidence(alike, knots, knots, loss_logit, lift, nearest=nearest)


def log_ratio(missing: Values, as_lost: Values) -> tuple[Values, Values]:
    """Log of how much more frequent missing cells are than lost ones, rising with the score.

    Returns
    -------
    score, log_ratio : arrays of shape (n_knots,)
    """
    n, m = len(missing), len(as_lost)
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        np.concatenate([missing, as_lost]),
        np.repeat([1.0, 0.0], [n, m]),
        sample_weight=np.repeat([1 / n, 1 / m], [n, m]),
    )
    share = np.clip(curve.y_thresholds_, 0.25 / n / (1 + 0.25 / n), 1 - 0.25 / m)
    return curve.X_thresholds_, logit(share)


def _learnt_from(folds: NDArray[np.int64], rng: np.random.Generator) -> Iterable[NDArray[np.intp]]:
    for fold in range(N_FOLDS):
        rows = rows_outside(folds, fold)
        yield rng.choice(rows, MOST_ROWS, replace=False) if len(rows) > MOST_ROWS else rows


def glimpse(features: Values, rng: np.random.Generator) -> Values:
    """Return the rows with most cells hidden: about five of each are shown, more or fewer."""
    n_features = max(1, features.shape[1])
    low = min(LOWEST_SHARE, FEWEST_SHOWN / n_features)
    high = min(HIGHEST_SHARE, MOST_SHOWN / n_features)
    share = rng.uniform(low, high, (len(features), 1))
    return np.where(rng.random(features.shape) < share, features, np.nan)
