"""Sum up parts of a table so that the sums of all parts are those of the whole.

Whatever the parts and their order, merged sketches are equal: counts add up, and numbers are
counted in cells of a grid. Where a column has too many of them, pairs of cells become one, as often
as is needed; a part never needs wider cells than the whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.report.counted import distribution_of
from diffjoint.report.distributions import Distribution
from diffjoint.report.findings import Findings
from diffjoint.report.kept import KeptCells
from diffjoint.report.summarize import ColumnSummary, count_likely
from diffjoint.results.whole_check import CallCounts, count_calls
from diffjoint.table import Column, Kind

MOST_CELLS = 512
"""Largest number of cells of the grid in which values of a column are counted."""
FINEST = 2.0**-20
"""Width of the finest cells of the grid, in standard deviations; of whole numbers it is 1."""
FARTHEST = 2.0**62
"""Largest position on the grid."""
COUNTED = ("n_missing", "n_kept", "n_imputed", "n_left", "n_review", "n_settled_kept")
"""Counts of a column, as a summary names them."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ValueCounts:
    """How often the values of a column occur.

    Attributes
    ----------
    doublings : int
        How often the width of the finest cell is doubled.
    cells : int array
        Cells of the grid that hold values, in ascending order; the codes of levels.
    observed, imputed : int arrays of the same shape
        How many values lie in each.
    """

    doublings: int
    cells: Counts
    observed: Counts
    imputed: Counts

    @classmethod
    def of(cls, observed: Values, imputed: Values, column: Column) -> "ValueCounts":
        """Count values of a column."""
        seen, filled = (
            np.unique(_on_grid(cells, column), return_counts=True) for cells in (observed, imputed)
        )
        return _joined(0, seen, filled)

    def merged(self, other: "ValueCounts") -> "ValueCounts":
        """Return how often the values of both parts occur."""
        doublings = max(self.doublings, other.doublings)
        cells = np.concatenate([one.cells >> (doublings - one.doublings) for one in (self, other)])
        observed = np.concatenate([self.observed, other.observed])
        imputed = np.concatenate([self.imputed, other.imputed])
        return _joined(doublings, (cells, observed), (cells, imputed))

    def distribution(self, column: Column) -> Distribution | None:
        """Return the distribution that a report shows."""
        width = _width(column) * 2.0**self.doublings
        is_exact = self.doublings == 0 and (column.is_categorical or column.kind is Kind.INTEGER)
        points = self.cells.astype(np.float64) + (0.0 if is_exact else 0.5)
        return distribution_of(points * width, self.observed, self.imputed, column)


@dataclass(frozen=True)
class ColumnSketch:
    """Summary of a column of a part of a table.

    Attributes
    ----------
    counts : int array
        As ``COUNTED`` names them.
    likely : int array
        Histogram of P(meaningful), see :class:`ColumnSummary`; without entries if not searched.
    calls : CallCounts or None
        What a self-check counts; None if the column is not searched.
    values : ValueCounts or None
        None for columns that are passed through.
    """

    counts: Counts
    likely: Counts
    calls: CallCounts | None
    values: ValueCounts | None

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(self.counts[COUNTED.index("n_missing")])

    def merged(self, other: "ColumnSketch") -> "ColumnSketch":
        """Return the summary of both parts."""
        calls, values = self.calls, self.values
        return ColumnSketch(
            self.counts + other.counts,
            self.likely + other.likely,
            None if calls is None or other.calls is None else calls.merged(other.calls),
            None if values is None or other.values is None else values.merged(other.values),
        )

    def summary(self, like: ColumnSummary, column: Column) -> ColumnSummary:
        """Return the summary that a report shows; its words are those of another one."""
        named = dict(zip(COUNTED, self.counts.tolist(), strict=True))
        shown = self.values.distribution(column) if self.values and named["n_missing"] else None
        n_kept, n_told = named["n_kept"], named["n_settled_kept"]
        why = like.kept or KeptCells(0, 0, "", "", (), column.is_checkbox)
        kept = replace(why, n_told=n_told, n_found=n_kept - n_told) if n_kept else None
        likely = tuple(self.likely.tolist())
        return replace(like, **named, likely=likely, distribution=shown, kept=kept)


@dataclass(frozen=True)
class TableSketch:
    """Summary of a part of a table.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnSketch
        In the order of the table.
    """

    n_rows: int
    columns: tuple[ColumnSketch, ...]

    def merged(self, other: "TableSketch") -> "TableSketch":
        """Return the summary of both parts."""
        columns = zip(self.columns, other.columns, strict=True)
        n_rows = self.n_rows + other.n_rows
        return TableSketch(n_rows, tuple(one.merged(another) for one, another in columns))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the summary as a few arrays, to be written."""
        values = [column.values for column in self.columns if column.values]
        calls = [column.calls.to_list() for column in self.columns if column.calls]
        names = ("cells", "observed", "imputed")
        flat = {
            name: np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in values)])
            for name in names
        }
        return {
            **flat,
            "n_rows": np.array(self.n_rows),
            "counts": np.array([column.counts for column in self.columns], dtype=np.int64),
            "likely": np.array([c.likely for c in self.columns if len(c.likely)], dtype=np.int64),
            "calls": np.array(calls, dtype=np.int64),
            "is_searched": np.array([column.calls is not None for column in self.columns]),
            "is_modelled": np.array([column.values is not None for column in self.columns]),
            "levels": np.array([one.doublings for one in values], dtype=np.int64),
            "sizes": np.array([len(one.cells) for one in values], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "TableSketch":
        """Return the summary that :meth:`arrays` gave."""
        ends = np.cumsum(arrays["sizes"])[:-1]
        parts = [np.split(arrays[name], ends) for name in ("cells", "observed", "imputed")]
        levels = arrays["levels"].tolist()
        values = iter(ValueCounts(*one) for one in zip(levels, *parts, strict=True))
        likely = iter(arrays["likely"])
        calls = iter(CallCounts.from_list(one) for one in arrays["calls"].tolist())
        kinds = (arrays["counts"], arrays["is_searched"], arrays["is_modelled"])
        columns = (
            ColumnSketch(
                counts,
                next(likely) if is_searched else np.empty(0, np.int64),
                next(calls) if is_searched else None,
                next(values) if is_modelled else None,
            )
            for counts, is_searched, is_modelled in zip(*kinds, strict=True)
        )
        return cls(int(arrays["n_rows"]), tuple(columns))


def sketch(findings: Findings, candidates: Mask, score: Values) -> TableSketch:
    """Sum up what was found in a part of a table.

    Parameters
    ----------
    candidates : bool array of shape (n_rows, n_modelled)
        Missing cells that the detector judged.
    score : array of the same shape
        P(meaningful) by the detector.
    """
    table, schema = findings.table, findings.schema
    place = {int(position): j for j, position in enumerate(schema.modelled_positions)}
    columns = []
    for position in range(table.n_columns):
        if position in place:
            j = place[position]
            columns.append(_column(findings, j, candidates[:, j], score[:, j]))
        else:
            n_missing = int(table.missing(position).sum())
            counts = _counts(n_missing=n_missing, n_left=n_missing)
            columns.append(ColumnSketch(counts, np.empty(0, np.int64), None, None))
    return TableSketch(table.n_rows, tuple(columns))


def _column(findings: Findings, j: int, candidates: Mask, score: Values) -> ColumnSketch:
    column, values = findings.schema.modelled[j], findings.values[:, j]
    is_missing, called, judged = (
        cells[:, j] for cells in (findings.is_missing, findings.called, findings.judged)
    )
    kept = is_missing & called
    is_searched = j in findings.searched
    counts = _counts(
        n_missing=int(is_missing.sum()),
        n_kept=int(kept.sum()),
        n_imputed=int((is_missing & ~called).sum()),
        n_review=int(findings.review[:, j].sum()),
        n_settled_kept=int((kept & ~judged).sum()),
    )
    return ColumnSketch(
        counts,
        count_likely(findings.probability[judged, j]) if is_searched else np.empty(0, np.int64),
        count_calls(score[candidates], findings.threshold) if is_searched else None,
        ValueCounts.of(
            values[~is_missing & ~np.isnan(values)], values[is_missing & ~called], column
        ),
    )


def _counts(**named: int) -> Counts:
    return np.array([named.get(name, 0) for name in COUNTED], dtype=np.int64)


def _width(column: Column) -> float:
    """Return the width of the finest cells of a column's grid."""
    if column.is_categorical or column.kind is Kind.INTEGER:
        return 1.0
    return (column.scale or 1.0) * FINEST


def _on_grid(values: Values, column: Column) -> Counts:
    places = np.floor(values / _width(column))
    return np.clip(places, -FARTHEST, FARTHEST).astype(np.int64)


def _joined(
    doublings: int, observed: tuple[Counts, Counts], imputed: tuple[Counts, Counts]
) -> ValueCounts:
    """Join counts by their cells; make cells wider until there are few enough."""
    cells, more = np.unique(np.concatenate([observed[0], imputed[0]])), 0
    while len(cells) > MOST_CELLS:
        cells, more = np.unique(cells >> 1), more + 1
    counts = []
    for places, own in (observed, imputed):
        total = np.zeros(len(cells), dtype=np.int64)
        np.add.at(total, np.searchsorted(cells, places >> more), own)
        counts.append(total)
    return ValueCounts(doublings + more, cells, *counts)
