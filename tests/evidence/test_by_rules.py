"""Rules that the table follows are evidence: as sure as rows bear out, and no surer."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from diffjoint.evidence import fit_evidence, pack, unpack
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.explain import explain_cells
from diffjoint.evidence.rule_learning import NEVER_THERE, learn_rule
from diffjoint.evidence.search_table import open_search
from diffjoint.knowledge.rules import read_rules
from diffjoint.state import row_keys
from diffjoint.state.rules import FAILED, FALSE, NO_RULE, TRUE, UNDECIDED, answers_of_rules
from diffjoint.table import infer_schema, open_table

N_ROWS, GATE, HOURS, PAY = 4_000, 1, 2, 3
ANSWERS = np.array([FALSE, TRUE, UNDECIDED, NO_RULE], dtype=np.int8)


def work_survey(*, lost_along=0.7, seed=0):
    """Age tells who works; hours and pay are asked of those, and lost with the answer on work."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(10, 90, N_ROWS)
    works = rng.random(N_ROWS) < np.where((age > 20) & (age < 65), 0.9, 0.05)
    values = np.column_stack([age, works, rng.normal(size=(N_ROWS, 4))]).astype(float)
    answers = np.full(values.shape, NO_RULE, dtype=np.int8)
    answers[:, [HOURS, PAY]] = np.where(works, TRUE, FALSE)[:, None]
    refuses = rng.random(N_ROWS) < 0.2
    along = refuses[:, None] & (rng.random((N_ROWS, 4)) < lost_along)
    values[:, 2:][along | (rng.random((N_ROWS, 4)) < 0.03)] = np.nan
    values[np.ix_(~works, [HOURS, PAY])] = np.nan
    values[refuses, GATE] = np.nan
    answers[np.ix_(refuses, [HOURS, PAY])] = UNDECIDED
    return values, answers, ~works


def open_table_of(values, answers):
    n_levels = np.zeros(values.shape[1], dtype=int)
    searched, by = [HOURS, PAY], {"keys": row_keys(values, 0), "seed": 0, "answers": answers}
    return open_search(values, np.isnan(values), n_levels, searched, **by).table


def rule_of(**parts):
    usual = {
        "fails": np.full(8, 0.999),
        "missing_logit": logit(0.1),
        "nearest": np.array([0.02, 0.1, 0.1]),
    }
    return RuleEvidence(**usual | parts)


def probability(rule, loss_rate, likely=0.4):
    rows, likely = np.zeros((4, 3)), np.full(4, likely)
    return rule.probability(rows, ANSWERS, likely, logit(loss_rate)).tolist()


def test_where_the_rule_fails_a_cell_is_meaningful_as_surely_as_rows_bear_out():
    assert probability(rule_of(fails=np.full(8, 0.97)), 0.1)[0] == 0.97


def test_where_the_rule_holds_a_cell_is_lost_as_far_as_losses_explain_it():
    assert probability(rule_of(), 0.1)[1] == 0.02
    assert probability(rule_of(), 0.07)[1] == pytest.approx(1 - (0.07 / 0.93) / (0.1 / 0.9))


def test_where_losses_explain_too_little_cells_are_judged_one_by_one():
    assert probability(rule_of(), 0.02)[1] == 0.4


def test_a_cell_behind_a_missing_gate_is_no_surer_than_such_cells_bear_out():
    assert probability(rule_of(), 0.1, likely=0.0)[2] == 0.1
    assert probability(rule_of(), 0.1, likely=1.0)[2] == 0.9


def test_a_column_without_a_rule_is_judged_as_before():
    assert probability(rule_of(), 0.1)[3] == 0.4


def test_an_exception_makes_the_rule_less_sure():
    values, answers, _ = work_survey()
    sure = learn_rule(open_table_of(values, answers), HOURS).fails[0]
    fails = np.flatnonzero(answers[:, HOURS] == FALSE)
    values[fails[:30], HOURS] = 1.0
    assert learn_rule(open_table_of(values, answers), HOURS).fails[0] < sure - 0.01


def test_grounds_that_few_rows_show_are_less_sure():
    """Most rows fail for the gate; that the young are not asked either, five rows show."""
    values, answers, _ = work_survey()
    young = np.flatnonzero(answers[:, HOURS] == FALSE)[:5]
    answers[young, HOURS] = FAILED + 1
    fails = learn_rule(open_table_of(values, answers), HOURS).fails
    assert fails[0] > 0.999
    assert fails[1] == pytest.approx(6 / 7)
    assert fails[2] == 0.5


def test_grounds_are_the_gates_without_which_a_rule_fails_too():
    frame = pd.DataFrame(
        {"age": [8, 8, 30, 30, None], "job": [1, 0, 0, 1, 0], "pay": [None, None, None, 5, None]}
    )
    table = open_table(frame.astype("Float64"))
    schema = infer_schema(table, dict.fromkeys(frame, "continuous"))
    values = frame.to_numpy(dtype=float)
    rules = read_rules({"pay": "age >= 16 and job == 1"}, table, schema)
    said = answers_of_rules(rules, values, np.zeros(values.shape, dtype=bool))[:, 2]
    assert said.tolist() == [FAILED + 2, FAILED + 3, FAILED + 1, TRUE, FAILED + 1]


def test_cells_behind_a_missing_gate_are_told_by_rows_whose_gate_is_there():
    values, answers, skipped = work_survey()
    table = open_table_of(values, answers)
    rule = learn_rule(table, HOURS)
    waits = (answers[:, HOURS] == UNDECIDED) & np.isnan(values[:, HOURS])
    said = rule.probability(values[waits], answers[waits, HOURS], np.full(waits.sum(), 0.5), 0.0)
    truth = skipped[waits]
    assert ((said > 0.5) == truth).mean() > 0.85
    sure = (said < 0.1) | (said > 0.9)
    wrong = ((said > 0.5) != truth)[sure].mean()
    assert sure.mean() > 0.3
    assert wrong < 0.12
    assert said.mean() == pytest.approx(truth.mean(), abs=0.06)


def test_a_column_never_observed_beside_a_missing_gate_may_be_skipped_with_it():
    values, answers, _ = work_survey(lost_along=1.0)
    rule = learn_rule(open_table_of(values, answers), HOURS)
    waits = answers[:, HOURS] == UNDECIDED
    said = rule.probability(values[waits], answers[waits, HOURS], np.zeros(waits.sum()), 0.0)
    assert (said >= NEVER_THERE).all()
    assert not rule.undecided


def smokers(*, n_gates_lost, lost_along=0.03, seed=0):
    """Packs are asked of those who ever smoked; the year of quitting of those who stopped."""
    rng = np.random.default_rng(seed)
    gate = rng.choice(3, 1_200, p=[0.5, 0.3, 0.2]).astype(float)
    values = np.column_stack([rng.normal(size=len(gate)), gate, *rng.normal(size=(3, len(gate)))])
    answers = np.full(values.shape, NO_RULE, dtype=np.int8)
    answers[:, HOURS] = np.where(gate > 0, TRUE, FALSE)
    answers[:, PAY] = np.where(gate == 1, TRUE, FALSE)
    skipped = answers == FALSE
    gone = rng.permutation(len(gate))[:n_gates_lost]
    lost = rng.random(values.shape) < 0.03
    lost[np.ix_(gone, [HOURS, PAY])] |= rng.random((n_gates_lost, 1)) < lost_along
    values[lost | skipped], values[gone, GATE] = np.nan, np.nan
    answers[np.ix_(gone, [HOURS, PAY])] = UNDECIDED
    return values, answers, skipped, gone


@pytest.mark.parametrize(("n_gates_lost", "least"), [(8, 0.25), (30, 0.5), (300, 0.5)])
def test_a_missing_gate_among_gates_of_one_question_misleads_no_one(n_gates_lost, least):
    """Packs are there, so they smoked; most who have no year of quitting never quit."""
    values, answers, skipped, gone = smokers(n_gates_lost=n_gates_lost)
    rule = learn_rule(open_table_of(values, answers), PAY)
    rows = gone[np.isnan(values[gone, PAY]) & ~np.isnan(values[gone, HOURS])]
    said = rule.probability(values[rows], answers[rows, PAY], np.zeros(len(rows)), 0.0)
    assert skipped[rows, PAY].mean() > 0.8
    assert (said >= least).all()


def test_columns_lost_along_with_their_gate_are_told_from_skipped_ones():
    """In half of the rows without a gate all is lost: then nothing tells who was skipped."""
    values, answers, skipped, gone = smokers(n_gates_lost=300, lost_along=0.5)
    rule = learn_rule(open_table_of(values, answers), PAY)
    is_there = ~np.isnan(values[gone, HOURS])
    for packs, expected in ((is_there, 0.9), (~is_there, 0.75)):
        rows = gone[packs & np.isnan(values[gone, PAY])]
        said = rule.probability(values[rows], answers[rows, PAY], np.zeros(len(rows)), 0.0)
        assert said.mean() == pytest.approx(skipped[rows, PAY].mean(), abs=0.1)
        assert said.mean() == pytest.approx(expected, abs=0.15)


@pytest.fixture(scope="module")
def with_rules():
    values, answers, skipped = work_survey()
    levels = np.zeros(values.shape[1], dtype=int)
    evidence = fit_evidence(values, np.isnan(values), levels, [HOURS, PAY], answers=answers)
    return values, answers, skipped, evidence


@pytest.mark.slow
def test_calls_keep_to_the_rule_and_new_rows_are_judged_as_well(with_rules):
    *_, evidence = with_rules
    assert evidence.leans_on_values
    for seed, least in ((0, 0.96), (7, 0.96)):
        values, answers, skipped = work_survey(seed=seed)
        missing = np.isnan(values)
        likely = evidence.probability(values, missing, answers=answers)
        for j in (HOURS, PAY):
            settled = missing[:, j] & (answers[:, j] != UNDECIDED)
            assert ((likely[:, j] > 0.5) == skipped)[settled].mean() == 1.0
            assert ((likely[:, j] > 0.5) == skipped)[missing[:, j]].mean() > least


def test_what_was_learnt_of_rules_comes_back_from_a_file(with_rules):
    values, answers, _, evidence = with_rules
    again, missing = unpack(pack(evidence)), np.isnan(values)
    np.testing.assert_array_equal(
        again.probability(values, missing, answers=answers),
        evidence.probability(values, missing, answers=answers),
    )


def test_reasons_say_which_cells_the_rule_decides(with_rules):
    values, answers, _, evidence = with_rules
    rows = np.flatnonzero(np.isnan(values[:, HOURS]))[:200]
    reasons = explain_cells(evidence, values, rows, HOURS, answers=answers)
    np.testing.assert_array_equal(reasons.by_rule, answers[rows, HOURS])
    waits = reasons.by_rule == UNDECIDED
    at_all = (reasons.base + reasons.pushes.sum(axis=1))[waits]
    said = reasons.judged.probability[waits]
    inside = (said > 0.05) & (said < 0.95)
    np.testing.assert_allclose(at_all[inside], logit(said[inside]), atol=1e-6)


@pytest.mark.slow
def test_where_cells_are_lost_one_by_one_rules_make_no_cell_less_sure():
    values, answers, skipped = work_survey(lost_along=0.0)
    levels, missing = np.zeros(values.shape[1], dtype=int), np.isnan(values)
    said = []
    for given in (None, answers):
        evidence = fit_evidence(values, missing, levels, [HOURS, PAY], answers=given)
        assert not evidence.leans_on_values
        said.append(evidence.probability(values, missing, answers=given)[:, HOURS])
    without, beside = said
    holds, fails = (missing[:, HOURS] & (answers[:, HOURS] == answer) for answer in (TRUE, FALSE))
    assert (beside[holds] <= without[holds] + 1e-9).all()
    assert (beside[fails] >= without[fails] - 1e-9).all()
    open_cells = missing[:, HOURS] & (answers[:, HOURS] == UNDECIDED)
    np.testing.assert_array_equal(beside[open_cells], without[open_cells])
    assert ((beside > 0.5) == skipped)[holds | fails].all()


def block_behind_a_gate(seed=5, n_rows=1_500):
    """Ask 25 columns of those who are ill, a third; 5% of all cells are lost, one by one."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_rows) < 0.3
    factors = rng.normal(size=(n_rows, 4))
    others = factors @ rng.normal(size=(4, 58)) + rng.normal(size=(n_rows, 58))
    values = np.column_stack([np.where(ill, 1.0, 0.0), others])
    answers = np.full(values.shape, NO_RULE, dtype=np.int8)
    block = list(range(34, 59))
    values[np.ix_(~ill, block)] = np.nan
    skipped = np.isnan(values)
    values[(rng.random(values.shape) < 0.05)] = np.nan
    open_gate = np.isnan(values[:, 0])
    answers[:, block] = np.where(open_gate, UNDECIDED, np.where(ill, TRUE, FALSE))[:, None]
    return values, answers, skipped, block


@pytest.mark.slow
def test_a_cell_lost_from_a_long_block_is_not_kept_beside_an_open_gate():
    values, answers, skipped, block = block_behind_a_gate()
    missing = np.isnan(values)
    evidence = fit_evidence(
        values, missing, np.zeros(values.shape[1], dtype=int), block, answers=answers
    )
    assert not evidence.leans_on_values
    likely = evidence.probability(values, missing, answers=answers)
    lost = missing & ~skipped & (answers == TRUE)
    assert lost[:, block].sum() > 400
    assert (likely[lost] < 0.5).all()
    assert (likely[missing & skipped & (answers == FALSE)] > 0.9).all()
