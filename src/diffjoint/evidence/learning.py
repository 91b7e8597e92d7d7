"""Learn from a table which of its missing cells are meaningful.

Two views of a missing cell: what is missing beside it and what the row holds (:mod:`.column`), and
what the row holds alone (:mod:`.values_view`). Where losses strike cells one by one the first sees
more, and is right. Where cells get lost together it is misled, and calls rest on the second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from diffjoint._types import Mask, Places, Values
from diffjoint.evidence import doubts as say
from diffjoint.evidence.column import (
    ColumnEvidence,
    Judged,
    Level,
    Sought,
    at_level,
    at_own_floor,
    fit_column,
    nearest_to_sure,
)
from diffjoint.evidence.correction import NONE, find_correction
from diffjoint.evidence.detector import (
    FEW_FOLDS,
    MOST_ASKED,
    Evidence,
    LearntColumn,
    folds_of,
    lostness,
    marks_of,
    n_folds_for,
    n_folds_in_turn,
    typical_cells,
)
from diffjoint.evidence.implied import consistent, find_implied, keep_to
from diffjoint.evidence.loss_rates import (
    apart_from,
    believable,
    disagree,
    is_far_beyond,
    rate_prior,
    rates_of,
    tolerance,
)
from diffjoint.evidence.losses import find_drivers, steepness
from diffjoint.evidence.missing import FEWEST
from diffjoint.evidence.second_look import learn_second_look
from diffjoint.evidence.together import (
    CONTRADICTED,
    columns_to_ask,
    come_together,
    contradiction,
    loss_lift,
    most_telling,
    share_borne_out,
)
from diffjoint.evidence.values_view import ValuesEvidence, View, learn_view, unjudged
from diffjoint.trees import Screen, open_screen, side_by_side

STEEPER = 1.25
"""How much steeper than those of other columns losses of a searched column can be."""
CANNOT_TELL, MIDDLE = 0.6, 0.25
"""P(meaningful) where nothing tells, so that a cell is kept and looked at; and how near to 0 or 1
one can be that rests on rates alone."""
MOST_LOSSY, FEWEST_LOSSES, MOST_UNEVEN = 4, 100, 0.8
"""Columns that only lose cells that are asked how values make losses likelier; cells that such a
column must have lost; and how much likelier at most, in logits."""
FEW_SKIPPED = 0.05
"""Share of the missing cells in contexts in which hardly any cell is there that names a column."""
N_LIFTS = 3
"""How often gaps are weighed anew."""

Learnt = TypeVar("Learnt", bound=LearntColumn)
LossRate = float | Mapping[int, float] | None


def fit_evidence(
    values: Values,
    gaps: Mask,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    *,
    loss_rate: LossRate = None,
    known: Values | None = None,
    labelled: Mask | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
    tick: Callable[[int], object] = lambda n_folds: None,
) -> Evidence:
    """Learn from a table which of its missing cells are meaningful.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    gaps : bool array of the same shape
        Missing cells.
    n_levels : array of shape (n_columns,)
    searched : iterable of int
    loss_rate : float or mapping, optional
        P(lost) of regular cells, for all searched columns or by position; estimated if None.
    known : array of shape (n_rows, n_columns), optional
        1 for cells known to be meaningful, 0 for known to be lost, NaN elsewhere.
    labelled : bool array of shape (n_rows, n_columns), optional
        Known cells that were looked up one by one: they may correct what is said of others.
    names : sequence of str
        What to call the columns in doubts; their positions if not given.
    tick : callable
        Called with the number of folds when a searched column has been learnt.

    Notes
    -----
    Masks can be drawn from the result once :func:`learn_in_turn` has learnt how.
    """
    searched = sorted(searched)
    others = np.array([j for j in range(values.shape[1]) if j not in searched], dtype=np.int64)
    drivers, scores = find_drivers(values, n_levels, others, seed)
    n_folds = n_folds_for(len(values))
    known = np.full(values.shape, np.nan) if known is None else known
    looked_up = np.where(labelled, known, np.nan) if labelled is not None else known * np.nan
    folds, scored = folds_of(values, n_folds), scores.of(values)
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(searched, loss_rate)
    screen = open_screen(values, n_levels)
    table = _Table(values, gaps, n_levels, n_folds, folds, scored, known, looked_up, seed, screen)
    search = _Search(
        table, searched, others, drivers, {j: r for j, r in given.items() if r is not None}
    )
    named = [names[j] if names else f"column {j}" for j in range(values.shape[1])]
    views, share = _asked(search, tick)
    leans = share is not None and share > CONTRADICTED
    learn = _by_values if leans else _by_gaps
    columns, implied, doubts = learn(search, views, named, tick)
    return Evidence(
        n_levels,
        n_folds,
        scores,
        tuple(drivers),
        columns,
        {},
        implied,
        typical_cells(values),
        np.unique(marks_of(values)),
        say.of_table(gaps, others, search.unjudged, named, share if leans else None) + doubts,
        leans,
    )


def learn_in_turn(
    evidence: Evidence,
    values: Values,
    gaps: Mask,
    uniform: Values,
    *,
    known: Values,
    labelled: Mask,
    seed: int,
    tick: Callable[[int], object] = lambda n_folds: None,
) -> Evidence:
    """Learn each searched column again, beside a drawn mask of those before it.

    Masks are drawn from the result column by column, so that cells of a row agree with each other.
    Where calls rest on values there is nothing to learn: one random number decides on a row.

    Parameters
    ----------
    evidence : Evidence
        As :func:`fit_evidence` learnt it from the same table.
    uniform : array of shape (n_rows, n_columns)
        Random numbers for the masks that later columns are learnt beside.
    values, gaps, known, labelled, seed, tick
        As in :func:`fit_evidence`.
    """
    if evidence.leans_on_values:
        tick(n_folds_in_turn(len(evidence.columns)))
        return evidence
    looked_up = np.where(labelled, known, np.nan)
    folds, scored = folds_of(values, evidence.n_folds), evidence.scores.of(values)
    by = (evidence.n_levels, evidence.n_folds, folds, scored, known, looked_up, seed)
    table = _Table(values, gaps, *by, open_screen(values, evidence.n_levels))
    return _with_turns(evidence, table, uniform, tick)


@dataclass(frozen=True)
class _Table:
    """What columns are learnt from.

    Attributes
    ----------
    values, gaps, n_levels, known, seed
        As :func:`fit_evidence` is given them.
    n_folds, folds : int, and int array of shape (n_rows,)
    scores : array of shape (n_rows, n_columns)
        What the loss of cells may depend on.
    looked_up : array of shape (n_rows, n_columns)
        ``known`` where it may correct what is said of other cells, NaN elsewhere.
    """

    values: Values
    gaps: Mask
    n_levels: NDArray[np.int64]
    n_folds: int
    folds: NDArray[np.int64]
    scores: Values
    known: Values
    looked_up: Values
    seed: int
    screen: Screen

    def inputs(self, j: int, *, gaps: bool = True) -> Places:
        """Columns that say something about who is missing in one: by values, and by gaps."""
        return self.screen.inputs_for_missingness(j, by_missingness=gaps)

    def view(self, j: int) -> View:
        """The values view of a column."""
        inputs = self.inputs(j, gaps=False)
        return learn_view(
            self.values, self.n_levels, self.gaps[:, j], inputs, self.folds, self.seed
        )

    def column(
        self, j: int, folds: NDArray[np.int64], n_folds: int, sought: Sought
    ) -> ColumnEvidence:
        """A column by values and gaps together."""
        by = (self.inputs(j), folds, n_folds, self.scores, sought, self.seed)
        return fit_column(self.values, self.n_levels, self.gaps[:, j], *by)


def misleading_gaps(
    values: Values, gaps: Mask, n_levels: NDArray[np.int64], searched: Iterable[int], seed: int
) -> dict[int, bool] | None:
    """Say of some columns whether values alone bear out that cells are meaningful.

    Parameters
    ----------
    values, gaps, n_levels
        As in :func:`fit_evidence`.
    searched : iterable of int
        Columns that seem to miss more than losses explain.

    Returns
    -------
    dict or None
        None where gaps do not mislead: cells are not lost together.

    Notes
    -----
    Skip logic is sharp: values bear it out if some of the missing cells are in contexts in which
    hardly any cell is there, or if a column misses far more than the others lose.
    """
    searched = sorted(searched)
    others = np.array([j for j in range(values.shape[1]) if j not in searched], dtype=np.int64)
    n_folds, unknown = n_folds_for(len(values)), np.full(values.shape, np.nan)
    drivers, scores = find_drivers(values, n_levels, others, seed)
    folds, screen = folds_of(values, n_folds), open_screen(values, n_levels)
    by = (n_levels, n_folds, folds, scores.of(values), unknown, unknown, seed, screen)
    search = _Search(_Table(values, gaps, *by), searched, others, drivers, {})
    views, share = _asked(search, lambda n_folds: None)
    if share is None or share <= CONTRADICTED:
        return None
    views |= {j: search.table.view(j) for j in search.judged if j not in views}
    floors = {j: float(expit(view.floor)) for j, view in views.items()}
    rates = rates_of(gaps, others.tolist()) | floors
    return {
        j: view.surely_missing >= FEW_SKIPPED
        or is_far_beyond(view.floor, rate_prior(rates, apart_from(gaps, j, rates)))
        for j, view in views.items()
    }


@dataclass(frozen=True)
class _Search:
    """What is searched for, and what is known of losses.

    Attributes
    ----------
    searched : list of int
    others : int array
        Columns that cannot be meaningful.
    drivers : list of int
        Columns that losses depend on.
    given : mapping
        Loss rates that the user has given, by position.
    """

    table: _Table
    searched: list[int]
    others: NDArray[np.int64]
    drivers: list[int]
    given: Mapping[int, float]

    @property
    def judged(self) -> list[int]:
        """Searched columns with enough missing and observed cells to learn from."""
        return [j for j in self.searched if j not in self.unjudged]

    @property
    def unjudged(self) -> list[int]:
        """Searched columns with too few missing or observed cells."""
        n_missing = self.table.gaps.sum(axis=0)
        fewest = np.minimum(n_missing, len(self.table.gaps) - n_missing)
        return [j for j in self.searched if fewest[j] < FEWEST]

    def sought(self) -> tuple[dict[int, Sought], tuple[str, ...]]:
        """What to find the losses of each searched column by, and what is doubtful in it."""
        table, drivers = self.table, self.drivers
        levels, doubts = _levels(table.gaps, self.others, self.searched, self.given)
        steepest = np.inf
        if drivers:
            steepest = STEEPER * steepness(table.scores, table.gaps, self.others, drivers)
        return {
            j: Sought([d for d in drivers if d != j], replace(level, steepest=steepest))
            for j, level in ((j, levels[j]) for j in self.searched)
        }, doubts


def _asked(search: _Search, tick: Callable[[int], object]) -> tuple[dict[int, View], float | None]:
    """Some columns by values, and how far gaps contradict them, if cells get lost together.

    Returns
    -------
    views : dict
        The values view of the columns asked.
    share : float or None
        Of the cells lost by values, those that gaps call meaningful; None if these are too few,
        or if cells are not lost together.
    """
    table, few = search.table, search.table.folds % FEW_FOLDS
    asked = columns_to_ask(search.judged, MOST_ASKED)
    views = dict(zip(asked, side_by_side(table.view, asked, len(few)), strict=True))
    tick(2 * FEW_FOLDS * min(MOST_ASKED, len(search.searched)))
    floors = {j: view.at(view.floor) for j, view in views.items()}
    lost = lostness(floors, table.values, table.folds)
    lost[:, [j for j in search.searched if j not in views]] = 0.0
    for j in views:  # values say nothing of a row that has none
        lost[table.gaps.sum(axis=1) - table.gaps[:, j] == table.gaps.shape[1] - 1, j] = 0.0
    sharp = [j for j, view in views.items() if view.is_sharp]
    is_vague = np.isin(np.arange(lost.shape[1]), [j for j in search.searched if j not in sharp])
    if not come_together(lost, is_vague):
        return views, None
    by_values = {j: 1 - lost[table.gaps[:, j], j] for j in views}
    telling = most_telling(by_values, sharp)
    by_gaps = {}
    for j in telling:
        sought = Sought([d for d in search.drivers if d != j], Level(None))
        missing, learnt = table.gaps[:, j], table.column(j, few, FEW_FOLDS, sought)
        judged = learnt.judge(table.values[missing], few[missing], table.scores[missing])
        by_gaps[j] = judged.probability
    return views, contradiction(
        {j: by_values[j] for j in telling}, by_gaps, [j for j in sharp if j in telling]
    )


def _by_gaps(
    search: _Search,
    views: Mapping[int, View],
    names: Sequence[str],
    tick: Callable[[int], object],
) -> tuple[dict[int, LearntColumn], Mask, tuple[str, ...]]:
    """Each searched column by values and gaps together; which imply which; what is doubtful."""
    del views
    sought, doubts = search.sought()
    learnt, implied = _learn_alone(search, sought, tick)
    flat = [names[j] for j, level in sought.items() if _is_flat(search.table, learnt[j], j, level)]
    return learnt, implied, doubts + say.of_flat(flat)


def _is_flat(table: "_Table", learnt: LearntColumn, j: int, sought: Sought) -> bool:
    """Whether a column rests on the rate of the others alone."""
    level = sought.level
    if not isinstance(learnt, ColumnEvidence) or level.is_given or level.rate is None:
        return False
    rows = np.linspace(0, len(table.gaps) - 1, min(len(table.gaps), say.FLAT_ROWS)).astype(int)
    judged = learnt.judge(table.values[rows], table.folds[rows], table.scores[rows])
    return say.is_flat(judged.mm_rate)


def _by_values(
    search: _Search,
    views: Mapping[int, View],
    names: Sequence[str],
    tick: Callable[[int], object],
) -> tuple[dict[int, LearntColumn], Mask, tuple[str, ...]]:
    """Each searched column by what rows hold, with a rate of its own, and then by common losses."""
    table, views = search.table, dict(views)
    wanted = [j for j in search.judged if j not in views]
    for j, view in zip(wanted, side_by_side(table.view, wanted, len(table.values)), strict=True):
        views[j] = view
        tick(table.n_folds)
    tick(table.n_folds * (len(search.searched) - len(wanted)))
    plain = _at_rates(search, views)
    lost = lostness(plain, table.values, table.folds)
    columns: dict[int, LearntColumn] = {}
    implied = np.zeros((table.values.shape[1],) * 2, dtype=bool)
    for j in search.searched:
        column = _looked_again(search, j, plain[j], lost) if j in views else plain[j]
        judged = column.judge(table.values, table.folds, lost)
        columns[j] = _corrected(column, judged, table.gaps[:, j], table.looked_up[:, j])
        if (columns[j].slope, columns[j].shift) != NONE:
            judged = columns[j].judge(table.values, table.folds, lost)
        known = table.gaps[:, j] & (table.known[:, j] == 1)
        implied[j, search.searched] = find_implied(judged, table.gaps, j, known)[search.searched]
    among = np.ix_(search.searched, search.searched)
    implied[among] = consistent(implied[among])
    vague = [names[j] for j, view in views.items() if not view.is_sharp and j not in search.given]
    are_rates_known = bool(_known_rates(search, views))
    return columns, implied, say.of_vague(vague, are_rates_known=are_rates_known)


def _known_rates(search: _Search, views: Mapping[int, View]) -> dict[int, float]:
    """What columns lose, where that can be told: those that only lose, and those that are sharp."""
    sharp = {j: float(expit(view.floor)) for j, view in views.items() if view.is_sharp}
    given = {j: float(np.clip(rate, 1e-4, 1 - 1e-4)) for j, rate in search.given.items()}
    return rates_of(search.table.gaps, search.others.tolist()) | sharp | given


def _at_rates(search: _Search, views: Mapping[int, View]) -> dict[int, ValuesEvidence]:
    """Every searched column in the values view, at its loss rate.

    First as far as the rates of other columns make a floor believable; then also as far as losses
    of columns that are believable bear it out.
    """
    table, rates, unevenness = search.table, _known_rates(search, views), _unevenness(search)
    apart = {j: apart_from(table.gaps, j, range(table.gaps.shape[1])) for j in views}

    def rated(j: int, borne_out: float) -> ValuesEvidence:
        view, nearest = views[j], nearest_to_sure(int(table.gaps[:, j].sum()))
        if j in search.given:
            return view.at(float(logit(np.clip(search.given[j], 1e-9, 1 - 1e-9))), nearest)
        loss = believable(
            view.floor + tolerance(unevenness, view.lost_share) * view.is_sharp,
            view.is_sharp,
            rate_prior(rates, [k for k in apart[j] if k in rates]),
            borne_out=borne_out,
        )
        if loss is None:
            return view.at(view.floor + float(np.log(1 - CANNOT_TELL)), MIDDLE)
        return view.at(loss, nearest)

    lost = lostness({j: rated(j, 0.0) for j in views}, table.values, table.folds)
    lost[:, search.unjudged] = 0.0
    at_floor = lostness({j: v.at(v.floor) for j, v in views.items()}, table.values, table.folds)
    return {
        j: rated(j, share_borne_out(lost[:, apart[j]], at_floor[:, j], ~table.gaps[:, j]))
        if j in views
        else _judged_by_rate(search, j)
        for j in search.searched
    }


def _unevenness(search: _Search) -> float:
    """How much likelier values make a loss, as columns show that only lose cells; 0 if none can."""
    gaps = search.table.gaps
    n_missing = gaps.sum(axis=0)
    enough = [j for j in search.others if FEWEST_LOSSES <= n_missing[j] <= len(gaps) - FEWEST]
    asked = sorted(enough, key=lambda j: -n_missing[j])[:MOST_LOSSY]
    found = [search.table.view(j).unevenness for j in asked]
    return min(float(np.quantile(found, 0.5, method="lower")), MOST_UNEVEN) if found else 0.0


def _looked_again(search: _Search, j: int, column: ValuesEvidence, lost: Values) -> ValuesEvidence:
    """The column with what other losses tell, and with a second look at the whole row."""
    table, is_missing = search.table, search.table.gaps[:, j]
    column = _weigh_losses(search, j, column, lost)
    rows, folds = table.values[is_missing], table.folds[is_missing]
    likely = column.judge(rows, folds, lost[is_missing]).probability
    by = (table.inputs(j), likely, folds, table.seed)
    return replace(column, second=learn_second_look(rows, table.n_levels, *by))


def _weigh_losses(search: _Search, j: int, column: ValuesEvidence, lost: Values) -> ValuesEvidence:
    """The column with what other losses of a row tell of a loss.

    Searched columns that are missing along with this one do not count: they would be skipped along
    with it as well.
    """
    table, is_missing = search.table, search.table.gaps[:, j]
    rows, folds = table.values[is_missing], table.folds[is_missing]
    apart = [*search.others.tolist(), *apart_from(table.gaps, j, search.searched)]
    others = np.zeros(lost.shape)
    others[:, apart] = lost[:, apart]
    own = np.zeros(len(lost))
    for _ in range(N_LIFTS):
        own[is_missing] = 1 - column.judge(rows, folds, lost[is_missing]).probability
        lift, bias = loss_lift(others, own)
        column = replace(column, lift=lift, lift_bias=bias)
    return column


def _judged_by_rate(search: _Search, j: int) -> ValuesEvidence:
    """One answer in the middle for a column that has too few cells to learn from.

    A column that misses more than others lose is more likely meaningful. Where nothing is known of
    losses, or the column was never missing, nothing tells.
    """
    gaps = search.table.gaps
    n_missing, n_rows = int(gaps[:, j].sum()), len(gaps)
    missing_rate = (n_missing + 0.5) / (n_rows + 1)
    rates = rates_of(gaps, search.others.tolist())
    prior = rate_prior(rates, list(rates))
    loss = prior.mean if prior else None
    if j in search.given:
        loss = float(logit(np.clip(search.given[j], 1e-9, 1 - 1e-9)))
    likely = CANNOT_TELL
    if loss is not None and (n_missing or j in search.given):
        likely = 1 - float(np.exp(min(0.0, loss - logit(missing_rate))))
    likely = float(np.clip(likely, MIDDLE, 1 - MIDDLE))
    return unjudged(gaps.shape[1], missing_rate, likely, MIDDLE)


def _learn_alone(
    search: _Search, sought: Mapping[int, Sought], tick: Callable[[int], object]
) -> tuple[dict[int, LearntColumn], Mask]:
    """Each searched column by the rest of its row, and which of them imply which others."""
    table = search.table

    def learn(j: int) -> tuple[LearntColumn, Mask]:
        rows, gaps = table.values, table.gaps[:, j]
        learnt: LearntColumn
        if j in unjudged_ones:
            learnt = _judged_by_rate(search, j)
        else:
            learnt = table.column(j, table.folds, table.n_folds, sought[j])
            learnt = at_own_floor(learnt, rows, gaps, table.folds, table.scores, sought[j])
        judged = learnt.judge(rows, table.folds, table.scores)
        column = _corrected(learnt, judged, gaps, table.looked_up[:, j])
        if (column.slope, column.shift) != NONE:
            judged = column.judge(rows, table.folds, table.scores)
        return column, find_implied(judged, table.gaps, j, gaps & (table.known[:, j] == 1))

    unjudged_ones, n_columns = set(search.unjudged), table.values.shape[1]
    searched = list(sought)
    columns, implied = {}, np.zeros((n_columns, n_columns), dtype=bool)
    learnt = side_by_side(learn, searched, len(table.values))
    for j, (column, implies) in zip(searched, learnt, strict=True):
        columns[j], implied[j, searched] = column, implies[searched]
        tick(table.n_folds)
    among = np.ix_(searched, searched)
    implied[among] = consistent(implied[among])
    return columns, implied


def _with_turns(
    evidence: Evidence, table: _Table, uniform: Values, tick: Callable[[int], object]
) -> Evidence:
    """Learn each searched column again, beside a drawn mask of those before it."""
    values, gaps, known = table.values, table.gaps, table.known
    unknown = gaps & np.isin(np.arange(values.shape[1]), list(evidence.columns)) & np.isnan(known)
    meaningful, decided = gaps & (known == 1), ~unknown
    in_turn: dict[int, LearntColumn] = {}
    for j, alone in evidence.columns.items():
        before = list(in_turn)
        rows = np.hstack([values, meaningful[:, before].astype(float)])
        in_turn[j] = alone
        if before and isinstance(alone, ColumnEvidence):
            beside = fit_column(
                rows,
                np.concatenate([table.n_levels, np.zeros(len(before), np.int64)]),
                gaps[:, j],
                _with_masks(table.inputs(j), before, values.shape[1]),
                table.folds,
                FEW_FOLDS,
                table.scores,
                alone.loss,
                table.seed,
            )
            judged = beside.judge(rows, table.folds, table.scores)
            in_turn[j] = _corrected(beside, judged, gaps[:, j], table.looked_up[:, j])
        if before:
            tick(FEW_FOLDS)
        likely = in_turn[j].judge(rows, table.folds, table.scores).probability
        drawn = keep_to(evidence.implied, j, uniform[:, j] < likely, meaningful[None], decided)[0]
        meaningful[:, j] = np.where(unknown[:, j], drawn, meaningful[:, j])
        decided[:, j] = True
    return replace(evidence, in_turn=in_turn)


def _with_masks(inputs: Places, before: list[int], n_columns: int) -> Places:
    """Inputs of a column, and which cells of those of them are meaningful that came before it.

    A row is followed by the masks of all columns before.
    """
    drawn = n_columns + np.flatnonzero(np.isin(before, inputs))
    return np.concatenate([inputs, drawn])


def _corrected(learnt: Learnt, judged: Judged, gaps: Mask, looked_up: Values) -> Learnt:
    """A column that agrees with the labels of its missing cells, where those say enough."""
    known = looked_up[gaps]
    slope, shift = find_correction(judged.probability[gaps], known == 1, ~np.isnan(known))
    if (slope, shift) == NONE:
        return replace(learnt, slope=slope, shift=shift)
    nearest = nearest_to_sure(int(gaps.sum()))
    return replace(learnt, slope=slope, shift=shift, nearest=nearest)


def _levels(
    gaps: Mask,
    others: NDArray[np.int64],
    searched: list[int],
    given: Mapping[int, float],
) -> tuple[dict[int, Level], tuple[str, ...]]:
    """The loss rate of each searched column as far as it is known, and what is doubtful in it."""
    levels = {j: Level(rate, is_given=True) for j, rate in given.items() if j in searched}
    if len(levels) == len(searched):
        return levels, ()
    n_lost = gaps[:, list(rates_of(gaps, others.tolist()))].sum(axis=0)
    if n_lost.sum() < FEWEST:
        levels |= {j: Level(None) for j in searched if j not in levels}
        return levels, (say.NO_OTHER_COLUMN if len(others) else say.ALL_SEARCHED,)
    rates, counted = n_lost / len(gaps), n_lost[n_lost >= FEWEST] / len(gaps)
    shared = float((rates**2).sum() / rates.sum())
    prior = rate_prior(dict(enumerate(counted.tolist())), range(len(counted)), least=0.0)
    believed = max(shared, float(expit(prior.highest))) if prior else shared
    own = disagree(counted)
    level = Level(believed if own else shared, sharp_rate=believed)
    levels |= {j: level for j in searched if j not in levels}
    return levels, say.of_rates(counted, believed) if own else ()


def at_loss_rate(
    evidence: Evidence,
    values: Values,
    gaps: Mask,
    loss_rate: Mapping[int, float],
    folds: NDArray[np.int64],
    looked_up: Values,
) -> Evidence:
    """What :func:`fit_evidence` would say of the table if these loss rates were given to it.

    The trees are those learnt already. Masks cannot be drawn from the result.

    Parameters
    ----------
    loss_rate : mapping
        By position, for every searched column.
    folds : int array of shape (n_rows,)
        As :meth:`Evidence.judges` of the whole table gives them.
    looked_up : array of shape (n_rows, n_columns)
        1 or 0 for cells that were looked up one by one, NaN elsewhere.
    """
    scores, drivers = evidence.scores.of(values), list(evidence.drivers)
    others = np.array([j for j in range(values.shape[1]) if j not in evidence.columns], np.int64)
    steepest = STEEPER * steepness(scores, gaps, others, drivers) if drivers else np.inf
    columns: dict[int, LearntColumn] = {}
    for j, learnt in evidence.columns.items():
        if isinstance(learnt, ValuesEvidence):
            rate = float(np.clip(loss_rate[j], 1e-9, 1 - 1e-9))
            columns[j] = learnt.at_loss_logit(float(logit(rate)))
            continue  # labels corrected it already: their slope and shift stay
        level = Level(loss_rate[j], is_given=True, steepest=steepest)
        sought = Sought([d for d in drivers if d != j], level)
        moved = at_level(learnt, values, gaps[:, j], folds, scores, sought)
        judged = moved.judge(values, folds, scores)
        columns[j] = _corrected(moved, judged, gaps[:, j], looked_up[:, j])
    return replace(evidence, columns=columns, in_turn={})
