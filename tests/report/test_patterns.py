"""Which cells are missing, in how many rows, and together with which."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from diffjoint.report import Report, summarize
from diffjoint.report.missing_charts import correlation_chart, pattern_chart
from diffjoint.report.patterns import MOST_COLUMNS, MOST_PATTERNS, find_patterns
from diffjoint.report.states import IMPUTED, KEPT, LEFT, cell_states
from diffjoint.report.together import MOST_COMPARED, find_together
from tests.report.conftest import findings_of, people


def some_states(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.choice(4, size=(n_rows, n_columns), p=[0.7, 0.1, 0.1, 0.1]).astype(np.int8)


def test_states_are_those_of_the_cells():
    table, married, _ = people(200)
    table["note"] = [f"free text {i}" for i in range(200)]
    table.loc[:9, "note"] = None
    states = cell_states(findings_of(table, {"spouse_age": ~married * 1.0}))
    assert ((states != 0) == table.isna().to_numpy()).all()
    assert (states[:10, 4] == LEFT).all()
    missing = table["spouse_age"].isna().to_numpy()
    assert (states[missing, 3] == np.where(married[missing], IMPUTED, KEPT)).all()


def test_patterns_are_counted_as_by_hand():
    states = some_states(500, 4)
    found = find_patterns(states, list("abcd"))
    names = [column.name for column in found.columns]
    places = ["abcd".index(name) for name in names]
    expected = Counter(map(tuple, (states[:, places] != 0).tolist()))
    assert found.n_complete == expected.pop((False,) * 4)
    assert found.n_incomplete == 500 - found.n_complete
    assert found.n_patterns == len(expected)
    assert {one.is_missing: one.n_rows for one in found.patterns} == expected
    assert [one.n_rows for one in found.patterns] == sorted(expected.values(), reverse=True)
    for name, column in zip(names, found.columns, strict=True):
        cells = states[:, "abcd".index(name)]
        assert (column.n_kept, column.n_left) == ((cells == KEPT).sum(), (cells == LEFT).sum())
        assert column.n_missing == (cells != 0).sum()


def test_the_share_that_is_kept_is_that_of_the_pattern():
    states = np.array([[KEPT, 0], [KEPT, 0], [KEPT, 0], [IMPUTED, 0], [IMPUTED, KEPT]], np.int8)
    first, second = find_patterns(states, ["a", "b"]).patterns
    assert (first.n_rows, first.is_missing, first.kept_share) == (4, (True, False), (0.75, 0.0))
    assert (second.n_rows, second.kept_share) == (1, (0.0, 1.0))


def test_columns_that_are_not_shown_are_one_place():
    states = np.eye(30, dtype=np.int8)
    found = find_patterns(states, [f"c{k}" for k in range(30)])
    assert len(found.columns) == MOST_COLUMNS
    assert found.n_others == 30 - MOST_COLUMNS
    assert found.n_patterns == MOST_COLUMNS + 1, "the other ten are one pattern"
    assert found.patterns[0].n_rows == 10
    assert found.patterns[0].is_missing == (*[False] * MOST_COLUMNS, True)
    assert found.n_covered == 10 + MOST_PATTERNS - 1
    assert "10 other columns" in pattern_chart(found)


def test_a_table_without_missing_cells_has_no_pattern():
    found = find_patterns(np.zeros((9, 3), dtype=np.int8), list("abc"))
    assert (found.columns, found.patterns, found.n_complete) == ((), (), 9)
    page = Report(summarize(findings_of(pd.DataFrame({"a": [1.5, 2.5, 3.5]})), "Whole")).html
    assert "Patterns of missing cells" not in page


def test_a_picture_of_patterns_has_a_mark_for_each_missing_cell_and_a_text():
    states = np.repeat(np.array([[KEPT, KEPT, 0], [0, 0, IMPUTED]], dtype=np.int8), [7, 3], axis=0)
    drawn = pattern_chart(find_patterns(states, ["hours", "commute", "<b>age"]))
    assert drawn.count('<circle class="ring"') == 2
    assert drawn.count('<circle class="imputed"') == 1
    assert "7 rows miss hours, commute; 3 rows miss &lt;b&gt;age" in drawn
    assert "<b>" not in drawn


def test_correlations_are_those_of_being_missing():
    rng = np.random.default_rng(0)
    skipped = rng.random(600) < 0.3
    is_missing = np.column_stack([skipped, skipped ^ (rng.random(600) < 0.1), ~skipped])
    found = find_together(is_missing, ["a", "b", "c"])
    assert np.array(found.correlations) == pytest.approx(np.corrcoef(is_missing.T), abs=1e-3)
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.n_both == (is_missing[:, 0] & is_missing[:, 1]).sum()
    assert pair.expected == pytest.approx(is_missing[:, 0].mean() * is_missing[:, 1].sum(), abs=0.1)


def test_columns_that_miss_cells_independently_are_not_shown():
    is_missing = np.random.default_rng(0).random((2000, 30)) < 0.2
    is_missing[:, 7] = is_missing[:, 21]
    found = find_together(is_missing, [f"c{k}" for k in range(30)])
    assert found.columns == ("c7", "c21")
    assert [block.columns for block in found.blocks] == [("c7", "c21")]
    assert found.block_of("c7") == ("c21",)
    assert found.block_of("c8") == ()


def test_of_many_related_columns_the_clearest_are_shown():
    rng = np.random.default_rng(0)
    skipped = rng.random(800) < 0.4
    noise = rng.random((800, 40)) < np.linspace(0.3, 0.0, 40)
    found = find_together(skipped[:, None] ^ noise, [f"c{k}" for k in range(40)])
    assert found.columns == tuple(f"c{k}" for k in range(40 - MOST_COMPARED, 40))
    assert found.n_others == 40 - MOST_COMPARED
    drawn = correlation_chart(found)
    assert f"{found.pairs[0].first} and {found.pairs[0].second}" in drawn
    assert drawn.count("<rect") >= MOST_COMPARED * (MOST_COMPARED - 1) / 2


@pytest.mark.parametrize("n_rows", [1, 2, 8])
def test_short_tables_have_nothing_missing_together(n_rows):
    found = find_together(np.ones((n_rows, 3), dtype=bool), list("abc"))
    assert (found.columns, found.pairs) == ((), ())


def test_the_page_says_how_many_rows_are_complete_and_what_goes_together():
    table, married, _ = people(400)
    table["pension"] = table["spouse_age"]
    page = Report(summarize(findings_of(table, {"spouse_age": ~married * 1.0}), "A survey")).html
    assert f"{table.notna().all(axis=1).sum()} of 400 rows have no missing cell" in page
    assert "Columns that are missing in the same rows" in page
    rows = table["pension"].isna().sum()
    first = page.partition('id="pair-table"')[2].partition("</tr></tbody>")[0]
    assert f'<td class="number">{rows}</td>' in first
