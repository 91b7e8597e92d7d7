"""Summarise findings in numbers: counts, distributions, drivers and cells to review."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint._extras import is_there
from diffjoint._types import Values
from diffjoint.errors import in_python
from diffjoint.report.check import CheckSummary, summarize_check
from diffjoint.report.distributions import (
    Distribution,
    Statistics,
    find_distribution,
    find_statistics,
)
from diffjoint.report.drivers import Driver, Splitter
from diffjoint.report.findings import Findings
from diffjoint.report.head import HEAD_ROWS, Head, take_head
from diffjoint.report.kept import KeptCells, say_why_kept
from diffjoint.report.patterns import Patterns, find_patterns
from diffjoint.report.states import IMPUTED, KEPT, OBSERVED, States, cell_states
from diffjoint.report.together import Together, find_together
from diffjoint.report.words import shorten
from diffjoint.results.explain import NO_REASON, plain_text
from diffjoint.skip_rules.find import FoundRule
from diffjoint.table import Column, cells_of, fill_column

MOST_REVIEWED = 2_000
"""Largest number of cells to list for review."""
MAP_ROWS = 160
"""Largest number of rows in the map."""
MAP_CELLS = 24_000
"""Largest number of cells in the map; maps of wide tables have fewer rows."""
GRID = np.arange(101) / 100
"""Thresholds that the page can try."""
PACKAGES = ("diffjoint", "numpy", "pandas", "scikit-learn", "torch", "narwhals", "pyarrow")


@dataclass(frozen=True)
class ColumnSummary:
    """Summary of one column.

    Attributes
    ----------
    name, kind, values : str
        Name of the column, its kind, and its levels or range in words.
    is_searched : bool
        Whether its missing cells can be meaningful.
    n_missing, n_kept, n_imputed, n_left, n_review : int
        Number of missing cells; of those kept as NA, imputed, and left as they were; and of
        doubtful cells.
    n_settled_kept : int
        Number of kept cells whose call does not depend on the threshold, for example by a rule.
    likely : tuple of int
        Histogram of P(meaningful) of the other missing cells: at 0, then in each hundredth up to 1
        (upper end included).
    distribution : Distribution or None
    drivers : tuple of Driver
        Conditions under which cells of the column are often kept as NA.
    kept : KeptCells or None
        Why cells are kept as NA; None if none are.
    observed, imputed, drawn : Statistics or None
        Statistics of the observed cells, of the imputed ones, and of these in all draws together;
        None if there are none.
    """

    name: str
    kind: str
    values: str
    is_searched: bool
    n_missing: int
    n_kept: int = 0
    n_imputed: int = 0
    n_left: int = 0
    n_review: int = 0
    n_settled_kept: int = 0
    likely: tuple[int, ...] = ()
    distribution: Distribution | None = None
    drivers: tuple[Driver, ...] = ()
    kept: KeptCells | None = None
    observed: Statistics | None = None
    imputed: Statistics | None = None
    drawn: Statistics | None = None


@dataclass(frozen=True)
class ReviewCell:
    """A doubtful cell, which a person should look at.

    Attributes
    ----------
    row : int
        Position of the row.
    index : str
        Label of the row; empty if it equals the position.
    column : str
    probability : float
    call : str
        "meaningful" or "lost".
    imputed : str
        Imputed value; empty if the cell is kept as NA.
    reason : str
        Explanation of the call.
    is_settled : bool
        Whether a rule decides the call, whatever the probability is.
    """

    row: int
    index: str
    column: str
    probability: float
    call: str
    imputed: str
    reason: str
    is_settled: bool


@dataclass(frozen=True)
class Summary:
    """Numbers and words of a report; :meth:`to_dict` gives them as plain data for JSON.

    Attributes
    ----------
    title : str
    n_rows, n_columns, n_observed, n_kept, n_imputed, n_left, n_review : int
        Number of rows and columns, and of cells that were observed, kept as NA, imputed, left
        missing in columns that are passed through, and doubtful.
    is_probability : bool
        Whether the detector gives probabilities; False for scores.
    threshold : float
    band : pair of float or None
        Range of probabilities in which a cell is doubtful.
    columns : tuple of ColumnSummary
        In the order of the table.
    map_rows : tuple of str
        Some rows of the table, one digit per cell: 0 observed, 1 imputed, 2 kept, 3 left.
    head : Head
        Some rows of the completed table.
    patterns : Patterns
        Which cells of rows are missing, and in how many rows.
    together : Together
        Which columns are missing in the same rows.
    review : tuple of ReviewCell
        Doubtful cells, the most doubtful first, at most ``MOST_REVIEWED``.
    doubts : tuple of str
    history : tuple of dict
    settings, versions : dict
    check : CheckSummary or None
        Self-check, if there was one.
    rules : tuple of FoundRule
        Rules that the table of ``fit`` follows, gates before what they open.
    n_sampled : int or None
        Rows of a dataset that drivers, patterns and map were made from; None if it was all of
        them.
    n_draws, n_learnt : int
        Number of draws, and of rows that they were learnt from; 0 without draws.
    """

    title: str
    n_rows: int
    n_columns: int
    n_observed: int
    n_kept: int
    n_imputed: int
    n_left: int
    n_review: int
    is_probability: bool
    threshold: float
    band: tuple[float, float] | None
    columns: tuple[ColumnSummary, ...]
    map_rows: tuple[str, ...]
    head: Head
    patterns: Patterns
    together: Together
    review: tuple[ReviewCell, ...]
    doubts: tuple[str, ...]
    history: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    check: CheckSummary | None = None
    rules: tuple[FoundRule, ...] = ()
    n_sampled: int | None = None
    n_draws: int = 0
    n_learnt: int = 0

    @property
    def n_cells(self) -> int:
        """Number of cells of the table."""
        return self.n_rows * self.n_columns

    @property
    def n_missing(self) -> int:
        """Number of cells that were missing."""
        return self.n_kept + self.n_imputed + self.n_left

    @property
    def n_looked_at(self) -> int:
        """Number of rows in which patterns were looked for."""
        return self.n_rows if self.n_sampled is None else self.n_sampled

    @property
    def n_told(self) -> int:
        """Number of kept cells that a rule, a reason code or a label decides."""
        return sum(column.kept.n_told for column in self.columns if column.kept)

    @property
    def n_with_cause(self) -> int:
        """Number of other kept cells in columns where another column shows when."""
        kept = [column.kept for column in self.columns if column.kept]
        return sum(one.n_found for one in kept if one.cause)

    @property
    def n_without_cause(self) -> int:
        """Number of kept cells that nothing in the table shows a cause of."""
        return self.n_kept - self.n_told - self.n_with_cause

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return asdict(self)


def summarize(findings: Findings, title: str, n_rows: int = HEAD_ROWS) -> Summary:
    """Count, bin and order everything that the report shows, with some rows of the table."""
    table, schema = findings.table, findings.schema
    states, names = cell_states(findings), [column.name for column in schema.columns]
    together = find_together(states != OBSERVED, names)
    splitter = Splitter(findings.values, findings.is_missing, schema)
    place = {int(position): j for j, position in enumerate(schema.modelled_positions)}
    columns = tuple(
        _column(findings, place[position], splitter, together)
        if position in place
        else _passed_through(column, int(table.missing(position).sum()))
        for position, column in enumerate(schema.columns)
    )
    n_kept, n_imputed, n_left = (
        sum(getattr(column, name) for column in columns)
        for name in ("n_kept", "n_imputed", "n_left")
    )
    return Summary(
        title=title,
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        n_observed=table.n_rows * table.n_columns - n_kept - n_imputed - n_left,
        n_kept=n_kept,
        n_imputed=n_imputed,
        n_left=n_left,
        n_review=int(findings.review.sum()),
        is_probability=findings.explainer is not None,
        threshold=findings.threshold,
        band=findings.band,
        columns=columns,
        map_rows=_map(states),
        head=take_head(findings, states, n_rows),
        patterns=find_patterns(states, names),
        together=together,
        review=_review(findings),
        doubts=tuple(map(in_python, findings.doubts)),
        history=tuple(dict(done) for done in findings.history),
        settings={name: shorten(str(value), 200) for name, value in findings.settings.items()},
        versions=_versions(),
        check=_check(findings, columns),
        rules=tuple(findings.rules),
        n_draws=0 if findings.drawn is None else len(findings.drawn.values),
        n_learnt=0 if findings.drawn is None else findings.drawn.n_learnt,
    )


def count_likely(likely: Values) -> NDArray[np.int64]:
    """Return the histogram of P(meaningful): at 0, then in each hundredth up to 1."""
    return np.bincount(np.searchsorted(GRID, likely, side="left"), minlength=len(GRID))


def _check(findings: Findings, columns: Sequence[ColumnSummary]) -> CheckSummary | None:
    if findings.check is None:
        return None
    return summarize_check(findings.check, {c.name for c in columns if c.n_imputed})


def _passed_through(column: Column, n_missing: int) -> ColumnSummary:
    words = column.in_words()
    return ColumnSummary(column.name, str(column.kind), words, False, n_missing, n_left=n_missing)


def _column(findings: Findings, j: int, splitter: Splitter, together: Together) -> ColumnSummary:
    column = findings.schema.modelled[j]
    is_missing, called, judged = (
        cells[:, j] for cells in (findings.is_missing, findings.called, findings.judged)
    )
    kept = is_missing & called
    n_missing, n_kept = int(is_missing.sum()), int(kept.sum())
    n_settled = int((kept & ~judged).sum())
    beside = together.block_of(column.name)
    drivers = splitter.drivers(kept, j, beside) if n_kept else ()
    likely: tuple[int, ...] = ()
    if j in findings.searched:
        likely = tuple(count_likely(findings.probability[judged, j]).tolist())
    values, drawn = findings.values[:, j], _drawn(findings, j)
    seen, imputed = values[~is_missing & ~np.isnan(values)], values[is_missing & ~called]
    return ColumnSummary(
        column.name,
        str(column.kind),
        column.in_words(),
        j in findings.searched,
        n_missing,
        n_kept,
        n_missing - n_kept,
        0,
        int(findings.review[:, j].sum()),
        n_settled,
        likely,
        find_distribution(column, seen, imputed, drawn) if n_missing else None,
        drivers,
        say_why_kept(
            n_kept,
            n_settled,
            drivers,
            next((rule for rule in findings.rules if rule.target == j), None),
            beside,
            is_checkbox=column.is_checkbox,
            meaning=findings.meanings.get(j, ""),
        )
        if n_kept
        else None,
        find_statistics(column, seen),
        find_statistics(column, imputed),
        find_statistics(column, np.concatenate(drawn) if drawn else imputed[:0]),
    )


def _drawn(findings: Findings, j: int) -> list[Values]:
    """Return the values of the filled-in cells of a column in each draw."""
    if findings.drawn is None:
        return []
    rows = findings.drawn.rows
    is_filled = findings.is_missing[rows, j] & ~findings.called[rows, j]
    return [values[is_filled, j] for values in findings.drawn.values] if is_filled.any() else []


def _map(states: States) -> tuple[str, ...]:
    """Return the map: rows at equal distances, sorted by which cells are missing."""
    n_rows, n_columns = states.shape
    n_shown = max(20, min(MAP_ROWS, MAP_CELLS // max(1, n_columns), n_rows))
    states = states[np.unique(np.linspace(0, n_rows - 1, n_shown).astype(np.intp))]
    by_kept = np.argsort((states == KEPT).sum(axis=0), kind="stable")
    keys = [*(states == IMPUTED).T[::-1], *(states == KEPT).T[by_kept]]
    ordered = states[np.lexsort(keys)[::-1]]
    return tuple("".join(map(str, row)) for row in ordered.tolist())


def _review(findings: Findings) -> tuple[ReviewCell, ...]:
    cells = np.argwhere(findings.review)
    doubt = np.abs(findings.probability[findings.review] - 0.5)
    cells = cells[np.argsort(doubt, kind="stable")[:MOST_REVIEWED]]
    if not len(cells):
        return ()
    rows, columns = cells.T.tolist()
    reasons = [NO_REASON] * len(cells)
    if findings.explainer is not None:
        explanations = findings.explainer.explain(list(zip(rows, columns, strict=True)))
        reasons = [explanation.reason for explanation in explanations]
    filled = _filled(findings, cells)
    index = _index(findings, rows)
    return tuple(
        ReviewCell(
            i,
            index[n],
            findings.schema.modelled[j].name,
            float(findings.probability[i, j]),
            "meaningful" if findings.called[i, j] else "lost",
            "" if findings.called[i, j] else filled[n],
            reasons[n],
            not bool(findings.judged[i, j]),
        )
        for n, (i, j) in enumerate(zip(rows, columns, strict=True))
    )


def _filled(findings: Findings, cells: NDArray[np.intp]) -> list[str]:
    """Return the imputed values of some cells as text, as the completed table shows them."""
    texts = [""] * len(cells)
    for j in np.unique(cells[:, 1]).tolist():
        places = np.flatnonzero(cells[:, 1] == j)
        rows = cells[places, 0]
        position = findings.schema.modelled_positions[j]
        series = findings.table.column(int(position))[rows.tolist()]
        everything = np.arange(len(rows))
        column = findings.schema.modelled[j]
        filled = fill_column(series, column, everything, findings.values[rows, j])
        for place, value in zip(places.tolist(), cells_of(filled, everything), strict=True):
            texts[place] = shorten(plain_text(value), 80)
    return texts


def _index(findings: Findings, rows: Sequence[int]) -> list[str]:
    """Return the labels of some rows; empty where they equal the position."""
    table = findings.table
    if table.is_array or not table.frame.implementation.is_pandas_like():
        return [""] * len(rows)
    labels = nw.to_native(table.frame).index[list(rows)].tolist()
    texts = [shorten(str(label)) for label in labels]
    return ["" if text == str(row) else text for text, row in zip(texts, rows, strict=True)]


def _versions() -> dict[str, str]:
    """Return what the table was completed with; torch is not always there."""
    there = [name for name in PACKAGES if name != "torch" or is_there(name)]
    return {"Python": platform.python_version(), **{name: version(name) for name in there}}
