"""Judge columns that have too few cells to learn from; agree with cells that were looked up."""

from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.special import logit

from diffjoint._types import Mask, Values
from diffjoint.evidence.column import nearest_to_sure
from diffjoint.evidence.correction import NONE, find_correction
from diffjoint.evidence.detector import (
    LearntColumn,
)
from diffjoint.evidence.folds import Judged
from diffjoint.evidence.loss_rates import (
    rate_prior,
    rates_of,
)
from diffjoint.evidence.search_table import Search
from diffjoint.evidence.values_view import ValuesEvidence, unjudged

CANNOT_TELL, MIDDLE = 0.6, 0.25
"""P(meaningful) where nothing tells, so that a cell is kept and looked at; and how near to 0 or 1
one can be that rests on rates alone."""
Learnt = TypeVar("Learnt", bound=LearntColumn)


def judged_by_rate(search: Search, j: int) -> ValuesEvidence:
    """One answer in the middle for a column that has too few cells to learn from.

    A column that misses more than others lose is more likely meaningful. Where nothing is known of
    losses, or the column was never missing, nothing tells.
    """
    is_missing = search.table.is_missing
    n_missing, n_rows = int(is_missing[:, j].sum()), len(is_missing)
    missing_rate = (n_missing + 0.5) / (n_rows + 1)
    rates = rates_of(is_missing, search.others.tolist())
    prior = rate_prior(rates, list(rates))
    loss = prior.mean if prior else None
    if j in search.given:
        loss = float(logit(np.clip(search.given[j], 1e-9, 1 - 1e-9)))
    likely = CANNOT_TELL
    if loss is not None and (n_missing or j in search.given):
        likely = 1 - float(np.exp(min(0.0, loss - logit(missing_rate))))
    likely = float(np.clip(likely, MIDDLE, 1 - MIDDLE))
    return unjudged(is_missing.shape[1], missing_rate, likely, MIDDLE)


def with_labels(learnt: Learnt, judged: Judged, is_missing: Mask, looked_up: Values) -> Learnt:
    """Correct a column by the labels of its missing cells, where those say enough."""
    known = looked_up[is_missing]
    slope, shift = find_correction(judged.probability[is_missing], known == 1, ~np.isnan(known))
    if (slope, shift) == NONE:
        return replace(learnt, slope=slope, shift=shift)
    nearest = nearest_to_sure(int(is_missing.sum()))
    return replace(learnt, slope=slope, shift=shift, nearest=nearest)
