"""Tables of many columns: models see some of them, and calls are right all the same."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer
from diffjoint.errors import InputError
from diffjoint.evidence import explain_cells, find_candidates, fit_evidence, pack, unpack
from diffjoint.state import row_keys
from diffjoint.trees import MISSINGNESS_INPUTS
from tests.evidence.turns import ready_to_draw

N_ROWS, N_COLUMNS = 1_500, 60
JOB, MARRIED = 50, 55
BY_JOB, BY_MARRIED = [3, 17, 40], [8, 30]
SEARCHED = sorted(BY_JOB + BY_MARRIED)


def wide_survey(seed=0):
    """Two gates among sixty columns, each of which skips some; a tenth of all cells is lost."""
    rng = np.random.default_rng(seed)
    values, n_levels = rng.normal(size=(N_ROWS, N_COLUMNS)), np.zeros(N_COLUMNS, dtype=np.int64)
    values[:, 20:35], n_levels[20:35] = rng.integers(0, 4, (N_ROWS, 15)), 4
    meaningful = np.zeros(values.shape, dtype=bool)
    for gate, skipped in ((JOB, BY_JOB), (MARRIED, BY_MARRIED)):
        values[:, gate], n_levels[gate] = rng.integers(0, 2, N_ROWS), 2
        meaningful[np.ix_(values[:, gate] == 0, skipped)] = True
    values[meaningful | (rng.random(values.shape) < 0.1)] = np.nan
    return values, n_levels, meaningful


@pytest.fixture(scope="module")
def survey():
    values, n_levels, meaningful = wide_survey()
    evidence = fit_evidence(values, np.isnan(values), n_levels, SEARCHED)
    return values, meaningful, ready_to_draw(evidence, values)


def right_calls(values, meaningful, evidence):
    missing = np.isnan(values) & np.isin(np.arange(N_COLUMNS), SEARCHED)
    likely = evidence.probability(values, missing)
    return ((likely > 0.5) == meaningful)[missing].mean()


@pytest.mark.slow
def test_cells_are_called_right_among_sixty_columns(survey):
    assert right_calls(*survey) > 0.97


@pytest.mark.slow
def test_new_rows_are_called_right_too(survey):
    values, _, meaningful = wide_survey(seed=1)
    assert right_calls(values, meaningful, survey[2]) > 0.97


def test_each_column_is_told_by_its_gate_and_not_by_all_others(survey):
    _, _, evidence = survey
    for gate, skipped in ((JOB, BY_JOB), (MARRIED, BY_MARRIED)):
        for j in skipped:
            for trees in evidence.columns[j].trees:
                assert gate in trees.inputs
                assert j not in trees.inputs
                assert len(trees.inputs) <= MISSINGNESS_INPUTS.total


def test_the_gate_pushes_most(survey):
    values, meaningful, evidence = survey
    rows = np.flatnonzero(meaningful[:, 3] & ~np.isnan(values[:, JOB]))[:100]
    pushes = explain_cells(evidence, values, rows, 3).pushes
    assert pushes.shape == (len(rows), N_COLUMNS)
    assert (pushes.argmax(axis=1) == JOB).mean() > 0.9


def test_drawn_masks_agree_with_each_other(survey):
    """Cells that one gate skips are skipped together, where nothing else of the row tells."""
    values, _, evidence = survey
    candidates = np.isnan(values) & np.isin(np.arange(N_COLUMNS), SEARCHED)
    unknown = np.full(values.shape, np.nan)
    uniform = np.random.default_rng(2).random((4, *values.shape))
    masks = evidence.draws(
        values, candidates, uniform, unknown, evidence.folds(row_keys(values, 0))
    )
    gone = candidates[:, BY_JOB].all(axis=1) & np.isnan(values[:, JOB])
    assert gone.sum() > 40
    drawn = masks[:, gone][:, :, BY_JOB]
    assert (drawn.all(axis=2) | ~drawn.any(axis=2)).mean() > 0.95
    said = evidence.probability(values, candidates, evidence.folds(row_keys(values, 0)))
    for j in SEARCHED:
        missing = candidates[:, j]
        assert masks[:, missing, j].mean() == pytest.approx(said[missing, j].mean(), abs=0.03)


def test_what_was_learnt_comes_back(survey):
    values, _, evidence = survey
    again, is_missing = unpack(pack(evidence)), np.isnan(values)
    np.testing.assert_array_equal(
        again.probability(values, is_missing), evidence.probability(values, is_missing)
    )
    uniform, unknown = np.random.default_rng(0).random(values.shape), np.full(values.shape, np.nan)
    np.testing.assert_array_equal(
        again.draw(values, is_missing, uniform, unknown),
        evidence.draw(values, is_missing, uniform, unknown),
    )


@pytest.mark.slow
def test_the_columns_that_gates_skip_are_named_and_no_other():
    """Columns that miss nothing, or hold nothing, stand before them and between them."""
    values, n_levels, _ = wide_survey()
    rng = np.random.default_rng(3)
    for j in [*range(3), *range(9, 16), *range(41, 49)]:
        values[:, j] = rng.normal(size=N_ROWS)
    values[:, 4], values[:, 21] = np.nan, np.nan
    found = find_candidates(values, np.isnan(values), n_levels)
    assert [j for j, candidate in enumerate(found) if candidate.is_named] == SEARCHED


@pytest.mark.slow
def test_columns_without_a_value_or_with_one_alone_do_no_harm():
    values, n_levels, meaningful = wide_survey()
    values[:, 0:2], values[:, 4:6] = np.nan, 1.0
    n_levels[1] = 3
    evidence = fit_evidence(values, np.isnan(values), n_levels, SEARCHED)
    assert right_calls(values, meaningful, evidence) > 0.97


@pytest.mark.slow
def test_masks_are_not_drawn_before_they_are_learnt():
    values, n_levels, _ = wide_survey()
    some = values[:400]
    evidence = fit_evidence(some, np.isnan(some), n_levels, BY_MARRIED)
    assert evidence.in_turn == {}
    unknown, uniform = np.full(some.shape, np.nan), np.zeros(some.shape)
    with pytest.raises(ValueError, match="learn_in_turn"):
        evidence.draw(some, np.isnan(some), uniform, unknown)
    assert list(ready_to_draw(evidence, some).in_turn) == BY_MARRIED


def questions(n_columns, n_rows=400):
    """Answers of which half are skipped where a gate says no."""
    rng = np.random.default_rng(0)
    gate = rng.random(n_rows) < 0.5
    table = pd.DataFrame(rng.normal(size=(n_rows, n_columns)).round(2)).add_prefix("q")
    table.loc[~gate, table.columns[: n_columns // 2]] = np.nan
    table = table.mask(rng.random(table.shape) < 0.1)
    return table.assign(gate=np.where(gate, "yes", "no"))


@pytest.mark.slow
def test_processes_side_by_side_give_the_same_answer_as_one():
    table = questions(30)
    searched = list(table.columns[:15])

    def impute(n_threads):
        imputer = SelectiveImputer(searched, random_state=0, n_threads=n_threads)
        return imputer.fit(table).impute(table)

    one, two = impute(1), impute(2)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    pd.testing.assert_frame_equal(one.probability, two.probability, check_exact=True)


@pytest.mark.slow
def test_more_columns_than_can_be_learnt_in_minutes_are_refused_with_what_to_do():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2_001)).round(3)).add_prefix("q")
    with pytest.raises(
        InputError, match="at most 2,000 columns to model; it has 2,001.*pass-through"
    ):
        SelectiveImputer("auto").fit(table)
