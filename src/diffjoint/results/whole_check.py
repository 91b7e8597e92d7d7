"""Widen the self-check of some rows to a whole dataset: what can be, is counted in all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from diffjoint._types import Values
from diffjoint.results.self_check import SelfCheck, thresholds_to_try
from diffjoint.results.verdict import ALL
from diffjoint.results.wrong_calls import estimate_lost

UNITS = 2**30
"""Probabilities are summed in these units, as whole numbers: sums do not depend on their order."""
COUNTED = (
    "Missing cells, calls that are wrong by their own probabilities and calls under other "
    "thresholds were counted in all rows."
)


@dataclass(frozen=True)
class CallCounts:
    """What a self-check counts in the missing cells of a searched column.

    Attributes
    ----------
    n_cells : int
    wrong : int
        Sum of the probabilities that calls are wrong, in ``UNITS``.
    kept : tuple of int
        Cells called meaningful under each threshold that is tried, the present one first.
    """

    n_cells: int
    wrong: int
    kept: tuple[int, ...]

    def merged(self, other: "CallCounts") -> "CallCounts":
        """Return the counts of both parts."""
        kept = tuple(a + b for a, b in zip(self.kept, other.kept, strict=True))
        return CallCounts(self.n_cells + other.n_cells, self.wrong + other.wrong, kept)

    def to_list(self) -> list[int]:
        """Return the counts as a list."""
        return [self.n_cells, self.wrong, *self.kept]

    @classmethod
    def from_list(cls, counts: Sequence[int]) -> "CallCounts":
        """Return the counts that :meth:`to_list` gave."""
        n_cells, wrong, *kept = counts
        return cls(n_cells, wrong, tuple(kept))


def count_calls(likely: Values, threshold: float) -> CallCounts:
    """Count calls on missing cells of a column from their P(meaningful).

    Examples
    --------
    >>> counts = count_calls(np.array([0.25, 0.875]), threshold=0.5)
    >>> counts.n_cells, counts.wrong / UNITS, counts.kept
    (2, 0.375, (1, 1, 1, 1, 1))
    """
    wrong = np.where(likely > threshold, 1 - likely, likely)
    kept = tuple(int((likely > other).sum()) for other in thresholds_to_try(threshold).values())
    return CallCounts(len(likely), int(np.rint(wrong * UNITS).astype(np.int64).sum()), kept)


def widen_check(
    check: SelfCheck,
    calls: Mapping[str, CallCounts],
    n_missing: Mapping[str, int],
    threshold: float,
) -> SelfCheck:
    """Put the counts of all rows in the place of those of the rows that were checked.

    Parameters
    ----------
    check : SelfCheck
        Of some rows.
    calls : mapping
        Counts by searched column.
    n_missing : mapping
        Missing cells of each column.
    """
    values = check.values.assign(n_missing=[n_missing[name] for name in check.values["column"]])
    if not len(check.missing):
        return replace(check, values=values)
    wrong = [_wrong(record, calls[record["column"]]) for record in _records(check.wrong_calls)]
    names = list(thresholds_to_try(threshold))
    counted = [line for k, name in enumerate(names) for line in _changed(name, k, calls)]
    others = check.calls[~check.calls["change"].isin(names)]
    every = pd.concat([pd.DataFrame.from_records(counted), others], ignore_index=True)
    return replace(
        check,
        values=values,
        wrong_calls=pd.DataFrame.from_records(wrong),
        calls=every,
        notes=(*check.notes, COUNTED),
    )


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): cell for name, cell in one.items()} for one in frame.to_dict("records")]


def _wrong(record: dict[str, Any], counts: CallCounts) -> dict[str, Any]:
    n_cells = counts.n_cells
    return {
        **record,
        "n_missing": n_cells,
        "expected_wrong": counts.wrong / UNITS / n_cells if n_cells else np.nan,
        "n_lost": estimate_lost(n_cells, n_cells - counts.kept[0], record["false_calls"]),
    }


def _changed(change: str, place: int, calls: Mapping[str, CallCounts]) -> list[dict[str, Any]]:
    """Return a line for all columns together, and one for each column."""
    # what is kept at a threshold is kept at lower ones, too: numbers tell how many calls change
    flipped = {name: abs(one.kept[place] - one.kept[0]) for name, one in calls.items()}
    lines = [(ALL, sum(one.n_cells for one in calls.values()), sum(flipped.values()))]
    lines += [(name, one.n_cells, flipped[name]) for name, one in calls.items()]
    kept = [sum(one.kept[place] for one in calls.values())]
    kept += [one.kept[place] for one in calls.values()]
    return [
        {
            "change": change,
            "column": name,
            "n_cells": n_cells,
            "kept": n_kept / n_cells if n_cells else np.nan,
            "flipped": n_flipped / n_cells if n_cells else np.nan,
        }
        for (name, n_cells, n_flipped), n_kept in zip(lines, kept, strict=True)
    ]
