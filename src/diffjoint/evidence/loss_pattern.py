"""Whether cells get lost one by one or together, which decides the view that calls rest on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from diffjoint._types import Mask, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.detector import (
    FEW_FOLDS,
    MOST_ASKED,
    lostness,
)
from diffjoint.evidence.loss_rates import (
    apart_from,
    is_far_beyond,
    rate_prior,
    rates_of,
)
from diffjoint.evidence.loss_rounds import KnownRate, LossSearch
from diffjoint.evidence.search_table import Search, open_search
from diffjoint.evidence.together import (
    CONTRADICTED,
    columns_to_ask,
    come_together,
    contradiction,
    lose_together,
    most_telling,
)
from diffjoint.evidence.unexplained import in_same_rows, missing_alike, unexplained
from diffjoint.evidence.values_view import View
from diffjoint.state import row_keys
from diffjoint.trees import side_by_side

FEW_SKIPPED = 0.2
"""Share of the missing cells in contexts in which hardly any cell is there that names a column.

Where fewer are skipped, a single value of another column must say where."""


@dataclass(frozen=True)
class LossPattern:
    """How cells of a table get lost: one by one, or together.

    Attributes
    ----------
    views : dict
        The values view of the columns that were asked.
    together : bool
    reason : str
        What shows that they get lost together, in words; empty if they do not.
    """

    views: dict[int, View]
    together: bool = False
    reason: str = ""


def find_loss_pattern(search: Search, tick: Callable[[int], object]) -> LossPattern:
    """Find out whether cells get lost together, so that missingness misleads.

    Columns that only lose cells may show it; if not, some searched columns are asked whether what
    is missing beside a cell contradicts what its row holds.
    """
    table, few = search.table, search.table.folds % FEW_FOLDS
    asked = columns_to_ask(search.judged, MOST_ASKED)
    views = dict(zip(asked, side_by_side(table.view, asked, len(few)), strict=True))
    tick(2 * FEW_FOLDS * min(MOST_ASKED, len(search.searched)))
    if lose_together(table.is_missing, table.scores, search.others.tolist(), search.drivers):
        return LossPattern(views, True, say.LOST_TOGETHER_ELSEWHERE)
    floors = {j: view.at(view.floor) for j, view in views.items()}
    lost = lostness(floors, table.values, table.folds)
    lost[:, [j for j in search.searched if j not in views]] = 0.0
    for j in views:  # values say nothing of a row that has none
        lost[
            table.is_missing.sum(axis=1) - table.is_missing[:, j] == table.is_missing.shape[1] - 1,
            j,
        ] = 0.0
    sharp = [j for j, view in views.items() if view.is_sharp]
    is_vague = np.isin(np.arange(lost.shape[1]), [j for j in search.searched if j not in sharp])
    if not come_together(lost, is_vague):
        return LossPattern(views)
    by_values = {j: 1 - lost[table.is_missing[:, j], j] for j in views}
    share = _share_contradicted(search, by_values, sharp)
    if share is None or share <= CONTRADICTED:
        return LossPattern(views)
    return LossPattern(views, True, say.contradicted(share))


def _share_contradicted(
    search: Search, by_values: Mapping[int, Values], sharp: list[int]
) -> float | None:
    """Of the cells lost by values, the share that missingness calls meaningful; None if too few."""
    table, few = search.table, search.table.folds % FEW_FOLDS
    telling = most_telling(by_values, sharp)
    by_missingness = {}
    for j in telling:
        loss_search = LossSearch([d for d in search.drivers if d != j], KnownRate(None))
        missing, learnt = table.is_missing[:, j], table.column(j, few, FEW_FOLDS, loss_search)
        judged = learnt.judge(table.values[missing], few[missing], table.scores[missing])
        by_missingness[j] = judged.probability
    return contradiction(
        {j: by_values[j] for j in telling}, by_missingness, [j for j in sharp if j in telling]
    )


def borne_out_by_rows(
    values: Values,
    is_missing: Mask,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    seed: int,
) -> dict[int, bool]:
    """Say of some columns whether what rows hold bears out that cells are meaningful.

    Parameters
    ----------
    values, is_missing, n_levels
        As in :func:`fit_evidence`.
    searched : iterable of int
        Columns that seem to miss more than losses explain.

    Returns
    -------
    dict
        By column.

    Notes
    -----
    Where cells get lost together values must bear it out. Skip logic is sharp: some of the missing
    cells must be in contexts in which hardly any cell is there, or a column must miss far more than
    the others lose. Elsewhere only columns that are missing together for no reason that the table
    holds are not borne out. If they are missing in some of these rows alone they only lose cells,
    and may show that cells get lost together.
    """
    keys, left, dropped = row_keys(values, 0), sorted(searched), list[int]()
    while left:
        search = open_search(values, is_missing, n_levels, left, keys=keys, seed=seed)
        found = find_loss_pattern(search, lambda n_folds: None)
        vague = [] if found.together else unexplained(search)
        groups = missing_alike(is_missing, vague)
        dropped, left = [*dropped, *vague], [j for j in left if j not in vague]
        if found.together or all(in_same_rows(is_missing, group) for group in groups):
            break
    unsure = dict.fromkeys(dropped, False)
    if not left or not found.together:
        return unsure | dict.fromkeys(left, True)
    views = found.views | {j: search.table.view(j) for j in search.judged if j not in found.views}
    floors = {j: float(expit(view.floor)) for j, view in views.items()}
    rates = rates_of(is_missing, search.others.tolist()) | floors
    return unsure | {
        j: view.surely_missing >= FEW_SKIPPED
        or is_far_beyond(view.floor, rate_prior(rates, apart_from(is_missing, j, rates)))
        for j, view in views.items()
    }
