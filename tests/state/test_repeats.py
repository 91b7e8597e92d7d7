import numpy as np
import pytest

from diffjoint.state import (
    KeyCounts,
    as_part_of_a_table,
    content_keys,
    counts_before,
    number_repeats,
    row_keys,
)


def test_counts_before_a_part_are_those_of_the_parts_before_it():
    keys = [np.array(part, dtype=np.uint64) for part in ([3, 2**64 - 1, 3], [], [2**64 - 1], [3])]
    before = counts_before([KeyCounts.of(part) for part in keys])
    assert [dict(zip(p.keys.tolist(), p.counts.tolist(), strict=True)) for p in before] == [
        {}, {}, {2**64 - 1: 1}, {3: 2},
    ]  # fmt: skip


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_rows_have_the_keys_of_the_whole_table_in_any_parts(n_parts):
    rng = np.random.default_rng(n_parts)
    values = rng.integers(0, 3, (200, 3)).astype(float)
    parts = np.array_split(values, n_parts)
    before = counts_before([KeyCounts.of(content_keys(part, seed=5)) for part in parts])
    found = []
    for part, counts in zip(parts, before, strict=True):
        with as_part_of_a_table(counts):
            found.append(row_keys(part, seed=5))
    np.testing.assert_array_equal(np.concatenate(found), row_keys(values, seed=5))


def test_nothing_comes_before_a_table_by_itself():
    keys = np.array([7, 7], dtype=np.uint64)
    with as_part_of_a_table(KeyCounts.of(keys)):
        inside = number_repeats(keys)
    assert not {*inside} & {*number_repeats(keys)}


def test_a_start_counts_as_what_came_before():
    key = np.array([9], dtype=np.uint64)
    start = KeyCounts.of(np.repeat(key, 4))
    first, second = counts_before([KeyCounts.of(key), KeyCounts.of(key)], start)
    assert (first.look_up(key)[0], second.look_up(key)[0]) == (4, 5)
