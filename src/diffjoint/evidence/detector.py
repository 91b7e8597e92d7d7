"""P(meaningful) of every missing cell, from who is missing beside whom."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffjoint.arrays import Cells, Values
from diffjoint.evidence.column import (
    NEW,
    ColumnEvidence,
    Judged,
    Level,
    Sought,
    at_level,
    fit_column,
)
from diffjoint.evidence.correction import NONE, find_correction
from diffjoint.evidence.implied import consistent, find_implied, keep_to
from diffjoint.evidence.losses import Scores, find_drivers, steepness
from diffjoint.keys import row_keys
from diffjoint.trees import side_by_side

N_FOLDS, FEW_FOLDS, LARGE = 10, 3, 50_000
"""Folds of a table; of a large one, and of what masks are drawn from, few will do."""
N_TYPICAL = 256
"""Cells of each column that are kept to tell what other rows hold."""
FEWEST = 20
"""Lost cells of a column below which its rate says little."""
NO_OTHER_COLUMN = (
    "Columns outside mm_columns have hardly lost a cell, so nothing tells how often cells are "
    "lost. Each column's lowest rate is taken for its losses: cells that are meaningful everywhere "
    "alike will be taken for lost. Set loss_rate if you know it."
)
ALL_SEARCHED = (
    "Every column is in mm_columns, so that none tells how often cells are lost. Each column's "
    "lowest rate is taken for its losses: cells that are meaningful everywhere alike will be taken "
    "for lost. Leave columns that cannot be meaningful out of mm_columns, or set loss_rate."
)
FLAT, FLAT_SHARE, FLAT_QUANTILE, FLAT_ROWS = 0.05, 0.5, 0.25, 2_000
"""A column is in excess alike everywhere if even the lower quarter of its rows is, by this much."""
MOSTLY = 0.5
"""Share of meaningful cells from which on losses are no likely explanation."""
STEEPER = 1.25
"""How much steeper than those of other columns losses of a searched column can be."""
TOGETHER = 0.3
"""Correlation of two columns' losses beyond which cells seem to get lost together."""
DISAGREE = 3.0
"""Ratio of loss rates between columns beyond which one rate for all is doubtful."""


@dataclass(frozen=True)
class Evidence:
    """What the table itself says about its missing cells.

    Attributes
    ----------
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    n_folds : int
    scores : Scores
    drivers : tuple of int
        Columns that losses depend on.
    columns : dict
        What was learnt of each searched column, by position.
    in_turn : dict
        The same, given also which cells of the searched columns before it are meaningful.
    implied : bool array of shape (n_columns, n_columns)
        For each searched column, those that are meaningful wherever it is.
    typical : array of shape (n_typical, n_columns)
        What each column holds, NaN included, in ascending order: cells, not rows.
    seen : array of shape (n_distinct,)
        A number for each row learnt from, in ascending order; see :func:`marks_of`.
    doubts : tuple of str
        What the answer rests on and the table cannot confirm.
    """

    n_levels: NDArray[np.int64]
    n_folds: int
    scores: Scores
    drivers: tuple[int, ...]
    columns: Mapping[int, ColumnEvidence]
    in_turn: Mapping[int, ColumnEvidence]
    implied: Cells
    typical: Values
    seen: NDArray[np.uint32]
    doubts: tuple[str, ...] = ()

    def judge(self, values: Values, folds: NDArray[np.int64] | None = None) -> dict[int, Judged]:
        """Q, rho and phi of the cells of each searched column, missing or not.

        Parameters
        ----------
        folds : int array of shape (n_rows,), optional
            As :meth:`judges` of the whole table gives them, if these are some rows of it.
        """
        folds, scores = self.judges(values) if folds is None else folds, self.scores.of(values)
        return {
            j: learnt.judge(np.delete(values, j, axis=1), folds, scores)
            for j, learnt in self.columns.items()
        }

    def probability(
        self, values: Values, candidates: Cells, folds: NDArray[np.int64] | None = None
    ) -> Values:
        """P(meaningful) of every candidate cell; 0 elsewhere. Folds are as in :meth:`judge`."""
        likely = np.zeros(values.shape)
        folds, scores = self.judges(values) if folds is None else folds, self.scores.of(values)
        for j, learnt in self.columns.items():
            rows = np.flatnonzero(candidates[:, j])
            rest = np.delete(values[rows], j, axis=1)
            likely[rows, j] = learnt.judge(rest, folds[rows], scores[rows]).probability
        return likely

    def folds(self, values: Values) -> NDArray[np.int64]:
        """The fold of each row; repeats of a row are told apart, so give the whole table."""
        return folds_of(values, self.n_folds)

    def judges(self, values: Values) -> NDArray[np.int64]:
        """The fold that judges each row of a whole table: all of them, if it was not learnt from.

        Masks of such a row are drawn from one fold: they need not be as certain, but coherent.
        """
        is_seen = np.isin(marks_of(values), self.seen)
        return np.where(is_seen, self.folds(values), NEW)

    def draw(self, values: Values, candidates: Cells, uniform: Values, known: Values) -> Cells:
        """A mask drawn column by column, each given those before: cells agree with each other.

        Parameters
        ----------
        uniform : array of shape (n_rows, n_columns)
            Random numbers between 0 and 1.
        known : array of the same shape
            1 for cells known to be meaningful, 0 for cells known to be lost, NaN elsewhere.
        """
        folds = self.folds(values)
        mask: Cells = self.draws(values, candidates, uniform[None], known, folds)[0]
        return mask

    def draws(
        self,
        values: Values,
        candidates: Cells,
        uniform: Values,
        known: Values,
        folds: NDArray[np.int64],
    ) -> Cells:
        """Several masks, as :meth:`draw` gives one.

        A row is asked about once for all draws in which the columns before are alike, and only
        where the answer counts.

        Parameters
        ----------
        uniform : array of shape (n_draws, n_rows, n_columns)
        folds : int array of shape (n_rows,)
            As :meth:`folds` of the whole table gives them, if these are some rows of it.
        """
        scores = self.scores.of(values)
        meaningful = np.broadcast_to(candidates & (known == 1), uniform.shape).copy()
        decided = ~candidates | ~np.isnan(known)
        before: list[int] = []
        for j, learnt in self.in_turn.items():
            rows = np.flatnonzero(~decided[:, j])
            others = meaningful[:, rows]
            beside = others[:, :, before]
            draw, place, which = _distinct(beside)
            asked = rows[place]
            features = np.hstack(
                [np.delete(values[asked], j, axis=1), beside[draw, place].astype(float)]
            )
            likely = learnt.judge(features, folds[asked], scores[asked]).probability
            drawn = uniform[:, rows, j] < likely[which]
            meaningful[:, rows, j] = keep_to(self.implied, j, drawn, others, decided[rows])
            decided[:, j] = True
            before.append(j)
        return meaningful


def gather(
    values: Values,
    gaps: Cells,
    n_levels: NDArray[np.int64],
    searched: Iterable[int],
    uniform: Values,
    *,
    loss_rate: float | Mapping[int, float] | None = None,
    known: Values | None = None,
    labelled: Cells | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
    for_draws: bool = True,
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
    uniform : array of shape (n_rows, n_columns)
        Random numbers for the masks that later columns are learnt beside.
    loss_rate : float or mapping, optional
        P(lost) of regular cells, for all searched columns or by position; estimated if None.
    known : array of shape (n_rows, n_columns), optional
        1 for cells known to be meaningful, 0 for known to be lost, NaN elsewhere.
    labelled : bool array of shape (n_rows, n_columns), optional
        Known cells that were looked up one by one: they may correct what is said of others.
    names : sequence of str
        What to call the columns in doubts; their positions if not given.
    for_draws : bool
        Whether masks will be drawn. If not, columns are not learnt again in turn.
    tick : callable
        Called with the number of folds when a searched column has been learnt: each alone, all but
        the first again in turn.
    """
    searched = sorted(searched)
    others = np.array([j for j in range(values.shape[1]) if j not in searched], dtype=np.int64)
    drivers, scores = find_drivers(values, n_levels, others, seed)
    n_folds = n_folds_for(len(values))
    known = np.full(values.shape, np.nan) if known is None else known
    looked_up = np.where(labelled, known, np.nan) if labelled is not None else known * np.nan
    folds, scored = folds_of(values, n_folds), scores.of(values)
    table = _Table(values, gaps, n_levels, n_folds, folds, scored, known, looked_up, seed)
    levels, doubts = _levels(gaps, others, searched, loss_rate)
    steepest = STEEPER * steepness(scored, gaps, others, drivers) if drivers else np.inf
    sought = {
        j: Sought([d for d in drivers if d != j], replace(levels[j], steepest=steepest))
        for j in searched
    }
    columns, implied = _learn_alone(table, sought, tick)
    flat = [j for j in searched if _is_flat(columns[j], j, table, levels[j])]
    doubts += _doubts_on_columns(gaps, others, searched)
    doubts += _doubts_on_levels([names[j] if names else f"column {j}" for j in flat])
    evidence = Evidence(
        n_levels,
        n_folds,
        scores,
        tuple(drivers),
        columns,
        {},
        implied,
        typical_cells(values),
        np.unique(marks_of(values)),
        doubts,
    )
    return _with_turns(evidence, table, uniform, tick) if for_draws else evidence


@dataclass(frozen=True)
class _Table:
    """What columns are learnt from.

    Attributes
    ----------
    values, gaps, n_levels, known, seed
        As :func:`gather` is given them.
    n_folds, folds : int, and int array of shape (n_rows,)
    scores : array of shape (n_rows, n_columns)
        What the loss of cells may depend on.
    looked_up : array of shape (n_rows, n_columns)
        ``known`` where it may correct what is said of other cells, NaN elsewhere.
    """

    values: Values
    gaps: Cells
    n_levels: NDArray[np.int64]
    n_folds: int
    folds: NDArray[np.int64]
    scores: Values
    known: Values
    looked_up: Values
    seed: int


def _learn_alone(
    table: _Table, sought: Mapping[int, Sought], tick: Callable[[int], object]
) -> tuple[dict[int, ColumnEvidence], Cells]:
    """Each searched column by the rest of its row, and which of them imply which others."""

    def learn(j: int) -> tuple[ColumnEvidence, Cells]:
        rest, gaps = np.delete(table.values, j, axis=1), table.gaps[:, j]
        rest_levels = np.delete(table.n_levels, j)
        by = (table.folds, table.n_folds, table.scores, sought[j], table.seed)
        learnt = fit_column(rest, rest_levels, gaps, *by)
        judged = learnt.judge(rest, table.folds, table.scores)
        column = _corrected(learnt, judged, gaps, table.looked_up[:, j])
        if (column.slope, column.shift) != NONE:
            judged = column.judge(rest, table.folds, table.scores)
        return column, find_implied(judged, table.gaps, j, gaps & (table.known[:, j] == 1))

    searched, n_columns = list(sought), table.values.shape[1]
    columns, implied = {}, np.zeros((n_columns, n_columns), dtype=bool)
    learnt = side_by_side(learn, searched, len(table.values))
    for j, (column, implies) in zip(searched, learnt, strict=True):
        columns[j], implied[j, searched] = column, implies[searched]
        tick(table.n_folds)
    among = np.ix_(searched, searched)
    implied[among] = consistent(implied[among])
    return columns, implied


def at_loss_rate(
    evidence: Evidence,
    values: Values,
    gaps: Cells,
    loss_rate: Mapping[int, float],
    folds: NDArray[np.int64],
    looked_up: Values,
) -> Evidence:
    """What :func:`gather` would say of the table if these loss rates were given to it.

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
    columns = {}
    for j, learnt in evidence.columns.items():
        rest = np.delete(values, j, axis=1)
        level = Level(loss_rate[j], is_given=True, steepest=steepest)
        sought = Sought([d for d in drivers if d != j], level)
        moved = at_level(learnt, rest, gaps[:, j], folds, scores, sought)
        judged = moved.judge(rest, folds, scores)
        columns[j] = _corrected(moved, judged, gaps[:, j], looked_up[:, j])
    return replace(evidence, columns=columns, in_turn={})


def n_folds_for(n_rows: int) -> int:
    """Folds of a table with so many rows."""
    return FEW_FOLDS if n_rows > LARGE else N_FOLDS


def n_folds_of_all(n_rows: int, n_searched: int) -> int:
    """Folds of all columns together: each learnt alone, all but the first again in turn."""
    return n_searched * n_folds_for(n_rows) + max(n_searched - 1, 0) * FEW_FOLDS


def folds_of(values: Values, n_folds: int) -> NDArray[np.int64]:
    """A fold for each row by what it holds, so that a row has the same wherever it stands.

    Repeats of a row are spread over the folds: they would otherwise be held out together, and
    with them all that is known of such rows.
    """
    return (row_keys(values, seed=0).view(np.uint64) % np.uint64(n_folds)).astype(np.int64)


def marks_of(values: Values) -> NDArray[np.uint32]:
    """A number for each row by what it holds, to know it again by.

    Short, so that a model stays small. If another row has it by chance, one fold judges that row.
    """
    return (row_keys(values, seed=0).view(np.uint64) >> np.uint64(32)).astype(np.uint32)


def typical_cells(values: Values) -> Values:
    """Equally spaced order statistics of each column on its own: equally many, and no row."""
    places = ((np.arange(N_TYPICAL) + 0.5) / N_TYPICAL * len(values)).astype(int)
    cells: Values = np.sort(values, axis=0)[places]
    return cells


def _with_turns(
    evidence: Evidence, table: _Table, uniform: Values, tick: Callable[[int], object]
) -> Evidence:
    """Learn each searched column again, beside a drawn mask of those before it."""
    values, gaps, known = table.values, table.gaps, table.known
    unknown = gaps & np.isin(np.arange(values.shape[1]), list(evidence.columns)) & np.isnan(known)
    meaningful, decided = gaps & (known == 1), ~unknown
    in_turn: dict[int, ColumnEvidence] = {}
    for j, alone in evidence.columns.items():
        before = list(in_turn)
        features = _features(values, meaningful, j, before)
        in_turn[j] = alone
        if before:
            beside = fit_column(
                features,
                np.concatenate([np.delete(table.n_levels, j), np.zeros(len(before), np.int64)]),
                gaps[:, j],
                table.folds,
                FEW_FOLDS,
                table.scores,
                alone.loss,
                table.seed,
            )
            judged = beside.judge(features, table.folds, table.scores)
            in_turn[j] = _corrected(beside, judged, gaps[:, j], table.looked_up[:, j])
            tick(FEW_FOLDS)
        likely = in_turn[j].judge(features, table.folds, table.scores).probability
        drawn = keep_to(evidence.implied, j, uniform[:, j] < likely, meaningful[None], decided)[0]
        meaningful[:, j] = np.where(unknown[:, j], drawn, meaningful[:, j])
        decided[:, j] = True
    return replace(evidence, in_turn=in_turn)


def _distinct(masks: Cells) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Draws and rows that hold each row's masks once, and which of these each draw's row is.

    Parameters
    ----------
    masks : bool array of shape (n_draws, n_rows, n_columns)
    """
    n_draws, n_rows, _ = masks.shape
    which = np.broadcast_to(np.arange(n_rows), (n_draws, n_rows)).ravel()
    first = np.arange(n_rows)
    packed = np.packbits(masks, axis=2)
    for byte in packed.reshape(n_draws * n_rows, packed.shape[2]).T:
        _, first, which = np.unique(which * 256 + byte, return_index=True, return_inverse=True)
    return *np.divmod(first, max(n_rows, 1)), which.reshape(n_draws, n_rows)


def _corrected(
    learnt: ColumnEvidence, judged: Judged, gaps: Cells, looked_up: Values
) -> ColumnEvidence:
    """A column that agrees with the labels of its missing cells, where those say enough."""
    known = looked_up[gaps]
    slope, shift = find_correction(judged.probability[gaps], known == 1, ~np.isnan(known))
    return replace(learnt, slope=slope, shift=shift)


def _features(values: Values, meaningful: Cells, column: int, before: list[int]) -> Values:
    """The rest of the row, and which cells of the columns before are meaningful."""
    rest = np.delete(values, column, axis=1)
    return np.hstack([rest, meaningful[:, before].astype(float)])


def _levels(
    gaps: Cells,
    others: NDArray[np.int64],
    searched: list[int],
    loss_rate: float | Mapping[int, float] | None,
) -> tuple[dict[int, Level], tuple[str, ...]]:
    """The loss rate of each searched column as far as it is known, and what is doubtful in it."""
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(searched, loss_rate)
    rate_of = {j: given.get(j) for j in searched}
    levels = {j: Level(rate, is_given=True) for j, rate in rate_of.items() if rate is not None}
    if len(levels) == len(searched):
        return levels, ()
    n_lost = gaps[:, others].sum(axis=0)
    rates = n_lost[n_lost > 0] / len(gaps)
    if n_lost.sum() < FEWEST:
        levels |= {j: Level(None) for j in searched if j not in levels}
        return levels, (NO_OTHER_COLUMN if len(others) else ALL_SEARCHED,)
    shared = float((rates**2).sum() / rates.sum())
    levels |= {j: Level(shared) for j in searched if j not in levels}
    counted = n_lost[n_lost >= FEWEST] / len(gaps)
    if len(counted) > 1 and counted.max() > DISAGREE * counted.min():
        return levels, (
            f"Columns outside mm_columns have lost between {counted.min():.1%} and "
            f"{counted.max():.1%} of their cells, so that one rate for all ({shared:.1%}) is "
            "doubtful. Set loss_rate, for each column if you can.",
        )
    return levels, ()


def _doubts_on_columns(
    gaps: Cells, others: NDArray[np.int64], searched: list[int]
) -> tuple[str, ...]:
    """What makes the evidence itself weak."""
    doubts = []
    lossy = gaps[:, others][:, gaps[:, others].sum(axis=0) >= FEWEST].astype(float)
    if lossy.shape[1] > 1 and lossy.std(axis=0).all():
        strongest = np.triu(np.corrcoef(lossy.T), 1).max()
        if strongest > TOGETHER:
            doubts.append(
                "Columns outside mm_columns lose their cells together (correlation up to "
                f"{strongest:.2f}), as when a row breaks off, or as if they were meaningful. Name "
                "them in mm_columns if they can be; otherwise cells of mm_columns lost with them "
                "may be called meaningful."
            )
    n_missing = gaps[:, searched].sum(axis=0)
    scarce = np.minimum(n_missing, len(gaps) - n_missing) < FEWEST
    few = int((scarce & (n_missing > 0)).sum())
    if few:
        doubts.append(
            f"{few} of the {len(searched)} mm_columns have fewer than {FEWEST} missing or fewer "
            f"than {FEWEST} observed cells: their cells are judged by how often the column is "
            "missing alone, not by their rows."
        )
    return tuple(doubts)


def _is_flat(learnt: ColumnEvidence, column: int, table: _Table, level: Level) -> bool:
    """Whether a column is missing more than others lose, about alike in all rows."""
    n_rows, n_missing = len(table.gaps), int(table.gaps[:, column].sum())
    few = min(n_missing, n_rows - n_missing) < FEWEST
    if few or level.is_given or level.rate is None:
        return False
    rows = np.linspace(0, n_rows - 1, min(n_rows, FLAT_ROWS)).astype(int)
    features = np.delete(table.values[rows], column, axis=1)
    mm_rate = learnt.judge(features, table.folds[rows], table.scores[rows]).mm_rate
    flat = np.quantile(mm_rate, FLAT_QUANTILE) > max(FLAT, FLAT_SHARE * mm_rate.mean())
    return bool(flat and mm_rate.mean() < MOSTLY)


def _doubts_on_levels(flat: list[str]) -> tuple[str, ...]:
    if not flat:
        return ()
    return (
        f"Cells of {', '.join(flat)} are missing more often than cells are lost elsewhere, and "
        "about equally often in all rows. Whether they are meaningful or this column loses more "
        "cannot be told from the table: the loss rate of the other columns is taken. Set loss_rate "
        "for it if you know better.",
    )
