import numpy as np
import pytest

from diffjoint.report.counted import distribution_of
from diffjoint.report.distributions import MOST_BINS
from diffjoint.report.sketch import MOST_CELLS, ValueCounts
from diffjoint.results.whole_check import CallCounts, count_calls
from diffjoint.table import Column, Kind

NUMBERS = Column("dose", Kind.CONTINUOUS, scale=3.0)
WHOLE = Column("age", Kind.INTEGER, scale=20.0)
LEVELS = Column("town", Kind.CATEGORICAL, levels=("Bonn", "Rom", "Ulm"))


def values_of(column, n, seed=0):
    rng = np.random.default_rng(seed)
    if column.is_categorical:
        return rng.integers(0, 3, n).astype(float)
    if column.kind is Kind.INTEGER:
        return rng.integers(-3, 90, n).astype(float)
    return rng.lognormal(1, 2, n)


def as_data(counts):
    return counts.doublings, *(
        part.tolist() for part in (counts.cells, counts.observed, counts.imputed)
    )


@pytest.mark.parametrize("column", [NUMBERS, WHOLE, LEVELS], ids=lambda column: column.name)
def test_parts_in_any_order_add_up_to_the_whole(column):
    seen, filled = values_of(column, 3_000), values_of(column, 400, seed=1)
    whole = ValueCounts.of(seen, filled, column)
    parts = [
        ValueCounts.of(seen[first::7], filled[first * 50 :][:50], column) for first in range(7)
    ]
    parts.append(ValueCounts.of(seen[:0], filled[350:], column))
    for order in (range(8), [5, 2, 7, 0, 1, 6, 3, 4]):
        merged = parts[order[0]]
        for k in order[1:]:
            merged = merged.merged(parts[k])
        assert as_data(merged) == as_data(whole)
    assert whole.observed.sum() == 3_000
    assert whole.imputed.sum() == 400
    assert len(whole.cells) <= MOST_CELLS


def test_cells_get_wider_only_where_there_are_too_many():
    assert ValueCounts.of(values_of(WHOLE, 3_000), np.empty(0), WHOLE).doublings == 0
    assert ValueCounts.of(values_of(NUMBERS, 3_000), np.empty(0), NUMBERS).doublings > 0
    far = np.array([0.0, 1e300, -1e300, 1e-300])
    assert len(ValueCounts.of(far, np.empty(0), NUMBERS).cells) == 3


@pytest.mark.parametrize("column", [WHOLE, LEVELS], ids=lambda column: column.name)
def test_whole_numbers_and_levels_are_shown_as_if_in_memory(column):
    seen, filled = values_of(column, 3_000), values_of(column, 400, seed=1)
    points = np.unique(seen)
    counts = [(part[:, None] == points).sum(axis=0) for part in (seen, filled)]
    shown = ValueCounts.of(seen, filled, column).distribution(column)
    assert shown == distribution_of(points, *counts, column)


def test_numbers_are_shown_nearly_as_in_memory():
    seen = np.random.default_rng(0).normal(10, 3, 20_000)
    shown = ValueCounts.of(seen, seen[:500], NUMBERS).distribution(NUMBERS)
    exact = distribution_of(np.sort(seen), *np.ones((2, 20_000), dtype=int), NUMBERS)
    edges = [np.array([float(label) for label in one.labels]) for one in (shown, exact)]
    assert len(edges[0]) == MOST_BINS + 1
    np.testing.assert_allclose(edges[0], edges[1], atol=0.1)
    assert np.abs(np.array(shown.observed) - exact.observed).max() < 0.02 * len(seen)


def test_calls_add_up_whatever_the_parts():
    likely = np.random.default_rng(0).random(1_000)
    whole = count_calls(likely, 0.4)
    parts = [count_calls(part, 0.4) for part in np.array_split(likely, 9)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    assert merged == whole == CallCounts.from_list(whole.to_list())
    assert whole.kept[0] == (likely > 0.4).sum()
