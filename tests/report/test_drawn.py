"""Draws in the report of a fitted imputer."""

import numpy as np
import pytest

from diffjoint import load
from diffjoint.errors import InputError
from diffjoint.report import drawn
from diffjoint.simulate import household_survey
from tests.conftest import TINY, new_imputer

SEARCHED = ["spouse_age"]


@pytest.fixture(scope="module")
def survey():
    return household_survey(260).observed_table[["age", "married", "spouse_age", "income"]]


@pytest.fixture(scope="module")
def imputer(survey):
    return new_imputer(SEARCHED, **TINY, random_state=0).fit(survey)


@pytest.fixture(scope="module")
def told(imputer):
    return imputer.report(n_draws=3).summary


def test_filled_in_cells_are_drawn_and_others_are_not(told):
    assert told.n_draws == 3
    for column in told.columns:
        assert (column.drawn.n_cells if column.drawn else 0) == 3 * column.n_imputed
    assert told.columns[2].n_kept > 0


def test_draws_vary_as_observed_values_do(told):
    """What is expected varies less: draws are for those who look at distributions."""
    age = told.columns[0]
    assert float(age.imputed.deviation) < 0.9 * float(age.observed.deviation)
    assert float(age.drawn.deviation) > float(age.imputed.deviation)


def test_a_report_leaves_the_imputer_as_it_was_and_is_repeatable(imputer, told):
    assert imputer._fitted.model.tree_draws is None
    assert imputer.report(n_draws=3).summary.columns == told.columns


def test_a_report_does_not_depend_on_draws_that_were_made_before_it(survey):
    imputer = new_imputer(SEARCHED, **TINY, random_state=0).fit(survey)
    before = imputer.report(n_draws=3).summary.columns
    for n_draws in (1, 3):
        imputer.sample(survey, n_draws)
        assert imputer.report(n_draws=3).summary.columns == before


def test_the_usual_number_is_drawn_unless_the_table_is_wide(imputer, monkeypatch):
    monkeypatch.setattr(drawn, "USUAL_DRAWS", 2)
    assert imputer.report().summary.n_draws == 2
    monkeypatch.setattr(drawn, "MOST_COORDINATES", 4)
    assert imputer.report().summary.n_draws == 0
    assert imputer.report(n_draws=1).summary.n_draws == 1


def test_long_tables_are_learnt_and_drawn_in_part(imputer, survey, monkeypatch):
    monkeypatch.setattr(drawn, "MOST_LEARNT", 60)
    monkeypatch.setattr(drawn, "FEWEST_LEARNT", 50)
    monkeypatch.setattr(drawn, "MOST_DRAWN", 40)
    made = imputer.report(n_draws=2).summary
    assert made.n_learnt == 60
    n_lost = sum(column.n_imputed for column in made.columns)
    n_drawn = sum(column.drawn.n_cells for column in made.columns if column.drawn) / 2
    assert 0 < n_drawn < n_lost
    assert survey.notna().all(axis=1).sum() < len(survey) - 40


def test_new_rows_are_drawn_from_what_fit_saw(imputer):
    rows = household_survey(40, seed=5).observed_table[["age", "married", "spouse_age", "income"]]
    made = imputer.report(rows, n_draws=2).summary
    assert (made.n_draws, made.n_rows) == (2, 40)


def test_what_cannot_draw_makes_a_report_without_draws(imputer, survey, tmp_path):
    imputer.save(tmp_path / "model")
    assert load(tmp_path / "model").report(survey, n_draws=2).summary.n_draws == 0
    whole = new_imputer([], **TINY, random_state=0).fit(survey.dropna())
    assert whole.report(n_draws=2).summary.n_draws == 0


@pytest.mark.parametrize("wrong", [{"n_draws": -1}, {"n_draws": 1.5}, {"n_rows": -3}])
def test_numbers_that_are_none_are_refused(imputer, wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        imputer.report(**wrong)


def test_rows_can_be_left_out(imputer):
    assert len(imputer.report(n_rows=3).summary.head.rows) == 3
    assert imputer.report(n_rows=0).summary.head.rows == ()


def test_values_of_a_draw_are_in_the_range_that_was_observed(imputer, survey):
    age = imputer.report(n_draws=4).summary.columns[0].drawn
    assert float(age.lowest) >= np.nanmin(survey["age"])
    assert float(age.highest) <= np.nanmax(survey["age"])
