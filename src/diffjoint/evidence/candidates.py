"""Columns that miss more than losses explain: where a missing cell may be meaningful.

Three signs name a column. *Contexts*: boosted trees predict missingness better than any loss could,
see :mod:`diffjoint.evidence.best_losses`. *Never there*: beside some observed value all its cells
are missing, see :mod:`diffjoint.evidence.never_there`. *Excess*: it misses more than the rate that
other columns agree on, and not completely at random. Where cells get lost together, what is missing
beside a cell misleads: then only those columns stay named that values bear out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence.best_losses import (
    LossFeatures,
    association,
    log_likelihood,
    loss_logits,
    together,
)
from diffjoint.evidence.detector import folds_of
from diffjoint.evidence.loss_pattern import borne_out_by_rows
from diffjoint.evidence.missing import FEWEST, learn_missing
from diffjoint.evidence.never_there import Contexts
from diffjoint.state import row_keys
from diffjoint.trees import open_screen, side_by_side

FALSE_FIND_RATE = 0.05
"""How often, at most, a table whose cells are only lost has a column named."""
MOST_ROWS = 20_000
"""Rows that are looked at."""
N_FOLDS = 3
N_WAYS, WAYS_OF_NEVER = 2, 10
"""Ways that a column can be named; and what it takes to be named for being nowhere there: a fifth
of the false finds of another way, since losses may be steeper than they were found to be."""
LEAST_GAIN = 0.004
"""Share of what is uncertain about which cells are missing that losses may leave to contexts."""
FAR_MORE = 5.0
"""How many times as much as others a column misses of which it must be said."""
LEAST_EXCESS = 0.02
"""Share of the cells that a column must miss beyond the rate that others agree on."""
AGREE = 3.0
"""Standard errors within which two columns lose at the same rate."""
FEWEST_AGREEING, AGREEING_SHARE = 2, 1 / 3
"""Columns, and share of those with missing cells, that agree on a rate."""

NOTHING_MISSING = "no missing cell"
TOO_FEW = f"fewer than {FEWEST} missing or observed cells"
LOSSES = "losses explain it"
TOGETHER = "lost together with other cells"
CONTEXTS = "contexts say more than losses can"
NEVER_THERE = "never there beside some value of another column"
EXCESS = "misses more than others, not at random"
UNTOLD = "misses far more than others, and equally often in all rows"


@dataclass(frozen=True)
class Candidate:
    """What speaks for and against meaningful cells in one column.

    Attributes
    ----------
    missing_rate : float
    excess : float or None
        How much more it misses than the rate that other columns agree on; None if they do not.
    auc : float or None
        How well the rest of the row says whether the cell is missing, on rows held out; None if
        there is too little to learn from.
    gain : float or None
        Share of what is uncertain about that which contexts say beyond what losses could.
    p_value : float
        How likely columns that only lose cells show as much, corrected for all columns.
    is_named : bool
    reason : str
    """

    missing_rate: float
    excess: float | None
    auc: float | None
    gain: float | None
    p_value: float
    is_named: bool
    reason: str


def find_candidates(
    values: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    *,
    seed: int = 0,
    false_find_rate: float = FALSE_FIND_RATE,
    tick: Callable[[], object] = lambda: None,
) -> list[Candidate]:
    """Say of every column whether losses alone explain what it misses.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    is_missing : bool array of the same shape
        Missing cells.
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    seed : int
    false_find_rate : float
        How often, at most, a table whose cells are only lost has a column named.
    tick : callable
        Called for each column.

    Notes
    -----
    At most ``MOST_ROWS`` rows are looked at, chosen by what they hold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> married = rng.integers(0, 2, 1000).astype(float)
    >>> values = np.column_stack([married, rng.normal(size=(1000, 3))])
    >>> values[married == 0, 1] = np.nan
    >>> values[rng.random(values.shape) < 0.1] = np.nan
    >>> found = find_candidates(values, np.isnan(values), np.array([2, 0, 0, 0]))
    >>> [candidate.is_named for candidate in found]
    [False, True, False, False]
    """
    chosen = np.argsort(row_keys(values, seed=0), kind="stable")[:MOST_ROWS]
    values, is_missing = values[chosen], is_missing[chosen]
    signs = _look_for_signs(values, is_missing, n_levels, seed, tick)
    rates = is_missing.sum(axis=0) / max(1, len(is_missing))
    never = _holm({j: sign.never_there_p for j, sign in signs.items()}, WAYS_OF_NEVER)
    found = _decide(rates, signs, never, len(is_missing), false_find_rate)
    named = [j for j, candidate in enumerate(found) if candidate.is_named]
    if not named:
        return found
    borne_out = borne_out_by_rows(values, is_missing, n_levels, named, seed)
    sharp = {j: never[j] <= false_find_rate for j in named}
    return _only(found, {j: borne_out[j] or sharp[j] for j in named})


def _only(found: list[Candidate], borne_out: Mapping[int, bool]) -> list[Candidate]:
    """Return the candidates with those alone named that rows bear out."""
    return [
        replace(candidate, is_named=False, p_value=1.0, reason=TOGETHER)
        if candidate.is_named and not borne_out[j]
        else candidate
        for j, candidate in enumerate(found)
    ]


@dataclass(frozen=True)
class _Signs:
    """What one column shows of meaningful cells, before columns are compared."""

    missing_rate: float
    auc: float
    gain: float
    context_p: float
    never_there_p: float
    association_p: float


def _look_for_signs(
    values: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    seed: int,
    tick: Callable[[], object],
) -> dict[int, _Signs]:
    """Return the signs of every column with enough missing and observed cells to learn from."""
    n_missing = is_missing.sum(axis=0)
    enough = np.minimum(n_missing, len(is_missing) - n_missing) >= FEWEST
    judged: list[int] = np.flatnonzero(enough).tolist()
    signs: dict[int, _Signs] = {}
    screen = open_screen(values, n_levels)
    if judged:
        features = LossFeatures(values, n_levels, screen)
        contexts, folds = Contexts(values, n_levels), folds_of(row_keys(values, seed=0), N_FOLDS)

        def look(j: int) -> _Signs:
            inputs = screen.inputs_for_missingness(j)
            beside = _Beside(values, n_levels, features.beside(j, inputs), contexts, inputs)
            return _signs_of(beside, is_missing[:, j], folds, seed)

        for j, sign in zip(judged, side_by_side(look, judged, len(values)), strict=True):
            signs[j] = sign
            tick()
    for _ in range(values.shape[1] - len(judged)):
        tick()
    return signs


@dataclass(frozen=True)
class _Beside:
    """What stands beside a column.

    Attributes
    ----------
    values, n_levels
        The table.
    features : array of shape (n_rows, n_features)
        What losses of the column could be linear in.
    contexts : Contexts
    inputs : int array
        The columns to go by.
    """

    values: Values
    n_levels: NDArray[np.int64]
    features: Values
    contexts: Contexts
    inputs: Places


def _signs_of(beside: _Beside, is_missing: Mask, folds: NDArray[np.int64], seed: int) -> _Signs:
    """Compare trees with losses, on rows that neither has seen."""
    values, features = beside.values, beside.features
    by_losses = loss_logits(features, is_missing, folds, seed)
    rows, levels = np.column_stack([values, by_losses]), np.append(beside.n_levels, 0)
    inputs = np.append(beside.inputs, values.shape[1])
    by_trees = np.empty(len(values))
    for fold in np.unique(folds):
        learn = folds != fold
        grown = learn_missing(rows[learn], is_missing[learn], levels, inputs, seed)
        by_trees[~learn] = grown.logit(rows[~learn])
    by_both = together(np.column_stack([by_losses, by_trees]), is_missing)
    better = log_likelihood(by_both, is_missing) - log_likelihood(by_losses, is_missing)
    rate = float(is_missing.mean())
    uncertain = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    error = max(float(better.std()), 1e-9) / np.sqrt(len(better))
    z = (better.mean() - LEAST_GAIN * uncertain) / error
    return _Signs(
        missing_rate=rate,
        auc=float(roc_auc_score(is_missing, by_both)),
        gain=float(better.mean() / uncertain),
        context_p=float(norm.sf(z)),
        never_there_p=beside.contexts.p_value(is_missing, beside.inputs),
        association_p=association(features, is_missing),
    )


def _decide(
    rates: Values,
    signs: dict[int, _Signs],
    never: dict[int, float],
    n_rows: int,
    false_find_rate: float,
) -> list[Candidate]:
    """Look at contexts first; columns that they do not name tell the shared rate.

    Parameters
    ----------
    never : dict
        Corrected p-values of columns being nowhere there in some context.
    """
    by_context = _holm({j: sign.context_p for j, sign in signs.items()}, N_WAYS)
    best = {j: min(p, never[j]) for j, p in by_context.items()}
    named = {j for j, p in best.items() if p <= false_find_rate}
    rest = [j for j in signs if j not in named]
    shared = _shared_rate(rates, rest, n_rows, is_alone_enough=bool(named))
    by_excess = _holm({j: _excess_p(sign, shared, n_rows) for j, sign in signs.items()}, N_WAYS)
    candidates = []
    for j, rate in enumerate(rates.tolist()):
        if j not in signs:
            reason = TOO_FEW if rate > 0 else NOTHING_MISSING
            candidates.append(Candidate(rate, None, None, None, 1.0, False, reason))
            continue
        p = min(best[j], by_excess[j])
        excess = None if shared is None else rate - shared
        usual = UNTOLD if shared is not None and _is_far_more(rate, shared, n_rows) else LOSSES
        reason = _why(by_context[j], never[j], by_excess[j], false_find_rate, usual)
        auc, gain = signs[j].auc, signs[j].gain
        candidates.append(Candidate(rate, excess, auc, gain, p, p <= false_find_rate, reason))
    return candidates


def _why(
    by_context: float, never_there: float, by_excess: float, false_find_rate: float, usual: str
) -> str:
    """Return the first sign that names a column, in words; ``usual`` if none does."""
    signs = ((CONTEXTS, by_context), (NEVER_THERE, never_there), (EXCESS, by_excess))
    return next((why for why, p in signs if p <= false_find_rate), usual)


def _shared_rate(
    rates: Values, columns: list[int], n_rows: int, is_alone_enough: bool
) -> float | None:
    """Return the rate that most columns agree on, the lower one of two; None if too few do.

    Of two columns that differ the lower one is taken for the shared rate, but only in a table that
    is known to have meaningful cells: one column alone says little of how cells get lost.
    """
    best: list[int] = []
    for j in sorted(columns, key=lambda k: float(rates[k])):
        error = np.sqrt(2 * rates[j] * (1 - rates[j]) / n_rows)
        agreeing = [k for k in columns if abs(rates[k] - rates[j]) <= AGREE * error]
        if len(agreeing) > len(best):
            best = agreeing
    fewest = 1 if is_alone_enough and len(columns) == 2 else FEWEST_AGREEING
    if len(best) < max(fewest, AGREEING_SHARE * len(columns)):
        return None
    return float(rates[best].mean())


def _is_far_more(rate: float, shared: float, n_rows: int) -> bool:
    """Return whether a column misses far more than the rate that others agree on."""
    error = np.sqrt(max(shared * (1 - shared), 1 / n_rows) / n_rows)
    return bool(rate > FAR_MORE * shared + LEAST_EXCESS + AGREE * error)


def _excess_p(sign: _Signs, shared: float | None, n_rows: int) -> float:
    """Return how likely losses at the shared rate, or losses at random, look like this."""
    if shared is None or sign.missing_rate - shared < LEAST_EXCESS:
        return 1.0
    error = np.sqrt(shared * (1 - shared) * 2 / n_rows)
    return max(float(norm.sf((sign.missing_rate - shared) / error)), sign.association_p)


def _holm(p_values: dict[int, float], n_ways: int) -> dict[int, float]:
    """P-values corrected for the columns and for the ways that a column can be named."""
    corrected, highest = {}, 0.0
    ordered = sorted(p_values, key=lambda j: p_values[j])
    for place, j in enumerate(ordered):
        highest = max(highest, min(1.0, n_ways * (len(ordered) - place) * p_values[j]))
        corrected[j] = highest
    return corrected
