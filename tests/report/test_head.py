"""Some rows of the completed table, each cell in its state."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.report import Report, summarize
from diffjoint.report.head import HEAD_ROWS, MOST_COLUMNS, take_head
from diffjoint.report.states import IMPUTED, KEPT, OBSERVED, cell_states
from diffjoint.results.explain import plain_text
from tests.report.conftest import findings_of, people


def head_of(table, likely=None, n_rows=HEAD_ROWS, **options):
    made = findings_of(table, likely, **options)
    return take_head(made, cell_states(made), n_rows)


@pytest.fixture(scope="module")
def survey():
    table, married, _ = people(300)
    table.insert(0, "name", [f"Person {i} with a long free text" for i in range(300)])
    return table, {"spouse_age": np.where(married, 0.3, 0.9)}


def test_cells_have_their_value_and_state(survey):
    table, likely = survey
    head = head_of(*survey)
    assert head.columns == ("married", "age", "income", "spouse_age")
    assert (head.n_passed, head.n_others) == (1, 0)
    seen = set()
    for row, cells in zip(head.rows, head.cells, strict=True):
        for column, cell in zip(head.columns, cells, strict=True):
            value = table[column].iloc[row]
            seen.add(cell.state)
            if not pd.isna(value):
                assert cell.state == OBSERVED
                assert cell.text == (value if isinstance(value, str) else plain_text(float(value)))
            elif column == "spouse_age":
                assert cell.state == (KEPT if likely[column][row] > 0.5 else IMPUTED)
                assert cell.probability == likely[column][row]
                assert cell.is_doubtful == (cell.probability == 0.3)
                assert (cell.text == "NA") == (cell.state == KEPT)
            else:
                assert (cell.state, cell.probability) == (IMPUTED, None)
                assert cell.text not in ("", "NA", "nan", "None")
    assert seen == {OBSERVED, IMPUTED, KEPT}


def test_rows_of_each_sort_come_first(survey):
    table, _ = survey
    for n_rows in (3, 8, 20):
        head = head_of(*survey, n_rows=n_rows)
        assert len(head.rows) == n_rows
        assert list(head.rows) == sorted(set(head.rows))
        states = {frozenset(cell.state for cell in cells) - {OBSERVED} for cells in head.cells}
        assert {frozenset([IMPUTED]), frozenset([KEPT]), frozenset([IMPUTED, KEPT])} <= states
    assert table.iloc[list(head.rows)].isna().any(axis=1).all()


def test_a_whole_table_shows_its_first_rows():
    table = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "x"]})
    head = head_of(table)
    assert head.rows == (0, 1, 2)
    assert {cell.state for cells in head.cells for cell in cells} == {OBSERVED}
    assert "The first rows." in Report(summarize(findings_of(table), "Whole")).html


def test_wide_tables_show_columns_with_missing_cells_before_others():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 60)), columns=[f"c{k}" for k in range(60)])
    table.loc[:9, ["c33", "c55"]] = np.nan
    head = head_of(table)
    assert len(head.columns) == MOST_COLUMNS
    assert head.columns[-2:] == ("c33", "c55")
    assert head.n_others == 60 - MOST_COLUMNS


def test_rows_are_not_shown_if_that_is_asked_for(survey):
    made = findings_of(*survey)
    assert 'id="head-table"' in Report(summarize(made, "Survey")).html
    hidden = Report(summarize(made, "Survey", 0)).html
    assert 'id="head-table"' not in hidden
    assert 'href="#rows"' not in hidden


def test_columns_that_are_passed_through_are_never_shown(survey):
    page = Report(summarize(findings_of(*survey), "Survey")).html
    assert "with a long free text" not in page
    assert "Columns that are passed through are not shown." in page


def test_states_are_told_in_words_too(survey):
    page = Report(summarize(findings_of(*survey), "Survey")).html
    rows = page.partition('id="head-table"')[2].partition("</table>")[0]
    assert rows.count('class="cell-kept"') == rows.count("> kept</span>") > 0
    assert rows.count('class="cell-imputed"') == rows.count("> filled in</span>") > 0
