"""Count what became of cells, so that the counts of pieces add up to those of the dataset."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from diffjoint.imputer import SelectiveImputer
from diffjoint.results.imputation import Imputation
from diffjoint.table import open_table

COUNTED = ("n_observed", "n_kept", "n_imputed", "n_left", "n_review", "n_unticked")
"""Numbers of cells that an imputation tells."""
_BINS = 10
"""Classes of P(meaningful)."""


class Tally:
    """Counts of rows and cells; sums of counts are the counts of all.

    Attributes
    ----------
    n_rows : int
    cells : Counter
        Cells of the table, by what became of them.
    columns : dict of Counter
        For each column: cells ``missing``, ``kept``, ``imputed`` and ``review``, and missing cells
        of searched columns by tenths of P(meaningful), ``p0`` to ``p9``.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self.cells: Counter[str] = Counter()
        self.columns: dict[str, Counter[str]] = {}

    def add(self, imputer: SelectiveImputer, rows: Any, result: Imputation) -> None:
        """Add what became of some rows."""
        table = open_table(rows)
        self.n_rows += table.n_rows
        self.cells.update({name: getattr(result, name) for name in COUNTED})
        kept, likely, review = (
            open_table(part) for part in (result.meaningful, result.probability, result.review)
        )
        completed, searched = open_table(result.table), {*imputer.mm_columns_}
        for i, name in enumerate(table.names):
            missing = completed.missing(i) | table.missing(i) | kept.column(i).to_numpy()
            own = self.columns.setdefault(name, Counter())
            own["missing"] += int(missing.sum())
            own["kept"] += int(kept.column(i).to_numpy().sum())
            own["imputed"] += int((table.missing(i) & ~completed.missing(i)).sum())
            own["review"] += int(review.column(i).to_numpy().sum())
            if name in searched:
                tenths = likely.column(i).to_numpy()[missing] * _BINS
                places = np.minimum(tenths.astype(int), _BINS - 1)
                own.update({f"p{k}": int(n) for k, n in enumerate(np.bincount(places)) if n})

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {"cells": dict(self.cells), "columns": {n: dict(c) for n, c in self.columns.items()}}


def add_up(tallies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the counts of pieces.

    Examples
    --------
    >>> parts = [{"cells": {"n_kept": 2}, "columns": {"a": {"kept": 2}}}] * 2
    >>> add_up(parts)
    {'cells': {'n_kept': 4}, 'columns': {'a': {'kept': 4}}}
    """
    cells: Counter[str] = Counter()
    columns: dict[str, Counter[str]] = {}
    for one in tallies:
        cells.update(one["cells"])
        for name, counts in one["columns"].items():
            columns.setdefault(name, Counter()).update(counts)
    return {"cells": dict(cells), "columns": {name: dict(own) for name, own in columns.items()}}
