"""Cells that get lost together: what rows hold decides, and a gap elsewhere tells of a loss."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit

from diffjoint.evidence import fit_evidence, pack, unpack
from diffjoint.evidence.explain import explain_cells
from diffjoint.evidence.folds import logits_in_folds
from diffjoint.evidence.loss_rates import (
    Prior,
    apart_from,
    believable,
    rate_prior,
    rates_of,
    tolerance,
)
from diffjoint.evidence.second_look import learn_second_look
from diffjoint.evidence.together import (
    come_together,
    contradiction,
    loss_lift,
    share_borne_out,
)
from diffjoint.evidence.unjudged import CANNOT_TELL, MIDDLE
from diffjoint.evidence.values_view import MOST_SHOWN, glimpse, log_ratio
from diffjoint.simulate import bayesian_network
from diffjoint.state import row_keys
from tests.evidence.turns import ready_to_draw

N_ROWS = 3_000


def section_survey(seed=0, together=True):
    """Age and job gate three answers; a tenth of the rows skips them, all at once or one by one."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(10, 80, N_ROWS).astype(float), rng.integers(0, 2, N_ROWS).astype(float)
    values = np.column_stack([age, job, rng.normal(size=(N_ROWS, 6))])
    applies = (age >= 16) & (job == 1)
    values[~applies, 2:5] = np.nan
    refuses = rng.random((N_ROWS, 1 if together else 6)) < 0.1
    lost = np.zeros(values.shape, dtype=bool)
    lost[:, 2:] = refuses
    meaningful = np.zeros(values.shape, dtype=bool)
    meaningful[~applies, 2:5] = True
    values[lost] = np.nan
    return values, meaningful


def learnt(values, searched=(2, 3, 4), **options):
    n_levels = np.zeros(values.shape[1], dtype=int)
    return fit_evidence(values, np.isnan(values), n_levels, searched, **options)


@pytest.fixture(scope="module")
def together():
    values, meaningful = section_survey()
    return values, meaningful, learnt(values)


def right_calls(values, meaningful, evidence):
    missing = np.isnan(values) & np.isin(np.arange(values.shape[1]), list(evidence.columns))
    likely = evidence.probability(values, missing)
    return ((likely > 0.5) == meaningful)[missing].mean()


@pytest.mark.slow
def test_cells_lost_together_are_told_from_skipped_ones_by_what_rows_hold(together):
    values, meaningful, evidence = together
    assert evidence.leans_on_values
    assert right_calls(values, meaningful, evidence) > 0.98


@pytest.mark.slow
def test_columns_that_only_lose_cells_show_that_rows_lose_them_together():
    """Some rows of the network lose half of their cells, each by itself; most lose hardly one."""
    world = bayesian_network(4_000, 2_000, mechanism="propensity", loss_rate=0.3).train
    values = world.observed_table.to_numpy(dtype=float)
    levels = np.array([0, 0, 2, 3, 2])
    evidence = fit_evidence(values, np.isnan(values), levels, [0, 3, 4])
    assert evidence.leans_on_values
    called = evidence.probability(values, np.isnan(values)) > 0.5
    lost, meaningful = (part.to_numpy() for part in (world.lost, world.meaningful))
    assert (~called[:, [3, 4]])[lost[:, [3, 4]]].mean() > 0.75
    assert called[meaningful].mean() > 0.5


@pytest.mark.slow
def test_cells_lost_one_by_one_are_judged_by_missingness_as_well():
    values, meaningful = section_survey(together=False)
    evidence = learnt(values)
    assert not evidence.leans_on_values
    assert right_calls(values, meaningful, evidence) > 0.98


@pytest.mark.slow
def test_new_rows_are_judged_as_well_as_those_learnt_from(together):
    values, meaningful = section_survey(seed=7)
    assert right_calls(values, meaningful, together[2]) > 0.98


def test_pushes_and_average_add_up_where_calls_rest_on_values(together):
    values, _, evidence = together
    rows = np.flatnonzero(np.isnan(values[:, 2]))[:20]
    found = explain_cells(evidence, values, rows, 2)
    folds = evidence.judging_folds(row_keys(values, 0))[rows]
    context = evidence.context(values[rows], folds)
    excess = evidence.columns[2].excess_of(values[rows], folds, context)
    np.testing.assert_allclose(found.base + found.pushes.sum(axis=1), excess)
    gaps_elsewhere = np.isnan(values[rows][:, 5:]).all(axis=1)
    assert (found.pushes[gaps_elsewhere, 5:].sum(axis=1) < 0).all(), "towards lost"


def test_what_was_learnt_comes_back_from_a_file(together):
    values, _, evidence = together
    evidence = replace(evidence, doubts=("a name\nof two lines", "another"))
    again = unpack(pack(evidence))
    is_missing = np.isnan(values)
    assert again.doubts == evidence.doubts
    np.testing.assert_array_equal(
        again.probability(values, is_missing), evidence.probability(values, is_missing)
    )
    assert again.leans_on_values


@pytest.mark.slow
def test_a_given_loss_rate_is_honoured(together):
    values, _, _ = together
    is_missing = np.isnan(values)
    kept = [
        (learnt(values, loss_rate=rate).probability(values, is_missing)[is_missing] > 0.5).mean()
        for rate in (0.001, 0.1)
    ]
    assert kept[0] > kept[1] + 0.02


@pytest.mark.slow
def test_masks_drawn_where_calls_rest_on_values_agree_with_each_other():
    """D3 is meaningful wherever D2 is."""
    world = bayesian_network(6_000, 3_000, mechanism="survey", loss_rate=0.1, seed=1)
    train, test = (part.observed_table.to_numpy() for part in (world.train, world.test))
    evidence = fit_evidence(train, np.isnan(train), np.array([0, 0, 2, 3, 2]), (0, 3, 4))
    assert evidence.leans_on_values
    assert ready_to_draw(evidence, train) is evidence, "there is nothing more to learn"
    numbers = np.random.default_rng(1).random((5, *test.shape))
    unknown = np.full(test.shape, np.nan)
    masks = evidence.draws(
        test, np.isnan(test), numbers, unknown, evidence.folds(row_keys(test, 0))
    )
    assert masks[..., 4][masks[..., 3]].mean() > 0.97
    likely = evidence.probability(test, np.isnan(test), evidence.folds(row_keys(test, 0)))
    for j in (0, 3, 4):
        missing = np.isnan(test[:, j])
        drawn, said = masks[:, missing, j].mean(), likely[missing, j].mean()
        assert drawn == pytest.approx(said, abs=0.04)


@pytest.mark.slow
def test_a_pair_lost_together_is_not_called_meaningful_for_sure():
    """Two lab values missing in the same few patients, and nothing else ever missing."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 8))
    values[rng.choice(400, 30, replace=False), :2] = np.nan
    is_missing = np.isnan(values)
    likely = learnt(values, (0, 1)).probability(values, is_missing)[is_missing]
    assert (likely > 0.2).all()
    assert (likely < 0.8).all()
    given = learnt(values, (0, 1), loss_rate=0.1).probability(values, is_missing)[is_missing]
    assert (given < 0.5).mean() > 0.9, "the remedy that the doubt names changes the answer"


def test_a_gap_where_fit_saw_none_is_not_judged_for_sure():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 4))
    values[rng.random(500) < 0.2, 1] = np.nan
    evidence = learnt(values, (0, 1))
    new = np.zeros((1, 4))
    new[0, 0] = np.nan
    likely = evidence.probability(new, np.isnan(new))[0, 0]
    assert likely == pytest.approx(CANNOT_TELL), "kept, and in the review list"


@pytest.mark.slow
@pytest.mark.parametrize("n_observed", [0, 13])
def test_a_column_with_hardly_an_observed_cell_gets_one_answer_in_the_middle(n_observed):
    values, _ = section_survey(together=False)
    values[n_observed:, 5] = np.nan
    evidence = learnt(values, (2, 3, 4, 5), names=list("abcdefgh"))
    is_missing = np.isnan(values)
    likely = evidence.probability(values, is_missing)[is_missing[:, 5], 5]
    assert len(set(likely)) == 1
    assert MIDDLE <= likely[0] <= 1 - MIDDLE
    assert any(doubt.startswith("f has fewer than 20") for doubt in evidence.doubts)
    labelled = learnt(values, (2, 3, 4, 5), loss_rate={5: 0.9999})
    assert labelled.probability(values, is_missing)[is_missing[:, 5], 5].max() < 0.5, "the remedy"


def test_no_probability_is_surer_than_the_cells_that_bear_it_out(together):
    values, _, evidence = together
    is_missing = np.isnan(values)
    likely = evidence.probability(values, is_missing)
    for j in evidence.columns:
        nearest = 1 / (is_missing[:, j].sum() + 2)
        assert likely[is_missing[:, j], j].min() >= nearest
        assert likely[is_missing[:, j], j].max() <= 1 - nearest


def test_about_five_cells_of_a_row_are_shown():
    rng = np.random.default_rng(0)
    for n_columns in (4, 20, 200):
        shown = ~np.isnan(glimpse(np.zeros((2_000, n_columns)), rng))
        assert shown.sum(axis=1).mean() == pytest.approx(
            min(0.3 * n_columns, (1.2 + MOST_SHOWN) / 2), rel=0.15
        )


def test_missing_cells_no_more_frequent_than_lost_ones_have_a_ratio_of_one():
    scores = np.random.default_rng(0).normal(size=4_000)
    score, ratio = log_ratio(scores[:2_000], scores[2_000:])
    assert np.abs(np.interp(np.quantile(scores, [0.2, 0.5, 0.8]), score, ratio)).max() < 0.3
    assert (np.diff(ratio) >= 0).all()


def test_gaps_contradict_values_as_far_as_they_say_otherwise_of_lost_cells():
    by_values = {0: np.array([0.0] * 60 + [0.9] * 60)}
    by_missingness = {0: np.array([0.8] * 60 + [0.0] * 60)}
    assert contradiction(by_values, by_missingness, sharp=[0]) == pytest.approx(0.8)
    assert contradiction({0: np.full(5, 0.0)}, {0: np.full(5, 1.0)}, sharp=[0]) is None


def test_columns_whose_values_tell_little_are_asked_only_if_no_others_can_be():
    by_values = {0: np.full(60, 0.0), 1: np.full(300, 0.0)}
    by_missingness = {0: np.full(60, 0.2), 1: np.full(300, 0.9)}
    assert contradiction(by_values, by_missingness, sharp=[0]) == pytest.approx(0.2)
    assert contradiction(by_values, by_missingness, sharp=[]) > 0.75


@pytest.mark.parametrize("seed", range(8))
def test_one_column_alone_is_not_lost_together_with_anything(seed):
    lost = (np.random.default_rng(seed).random((997, 1)) < 0.3).astype(float)
    assert not come_together(lost, np.array([False]))


@pytest.mark.slow
def test_a_loss_rate_of_nothing_leaves_room_for_doubt(together):
    values, _, _ = together
    evidence, is_missing = learnt(values, loss_rate=0.0), np.isnan(values)
    likely = evidence.probability(values, is_missing)[:, 2][is_missing[:, 2]]
    assert 0.99 < likely.max() < 1.0


def test_losses_beside_its_cells_bear_a_floor_out():
    """Of 200 cells at the floor, half have lost something else too; of observed ones, a tenth."""
    lost = np.repeat([1.0, 0.0], [200, 2_000])
    beside = np.concatenate([np.arange(200) < 100, np.arange(2_000) < 200]).astype(float)[:, None]
    share = share_borne_out(beside, lost, lost == 0)
    assert 0.35 < share < (0.5 - 0.1) / (1 - 0.1)
    usual = np.concatenate([np.arange(200) < 20, np.arange(2_000) < 200]).astype(float)[:, None]
    assert share_borne_out(usual, lost, lost == 0) == 0.0
    assert share_borne_out(beside[:, :0], lost, lost == 0) == 0.0
    prior = Prior(float(logit(0.1)), 0.5)
    borne_out = believable(float(logit(0.9)), True, prior, borne_out=0.8)
    assert borne_out == pytest.approx(logit(0.9) + np.log(0.8))


def test_a_column_may_be_as_uneven_as_lossy_columns_are_if_it_loses_much():
    assert tolerance(0.0, 0.5) == 0.0
    assert tolerance(0.8, 0.9) == pytest.approx(0.8, abs=0.01)
    assert tolerance(0.8, 0.001) < 0.1


def test_a_second_look_learns_what_was_said_from_whole_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 3))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    likely = np.where(np.nan_to_num(rows[:, 0]) > 0, 0.95, 0.05)
    folds = np.arange(600) % 3
    by = (rows, np.zeros(3, np.int64), np.arange(3))
    trees = learn_second_look(*by, likely, folds, seed=0)
    said = logits_in_folds(trees, rows, folds)
    assert ((said > 0) == (likely > 0.5)).mean() > 0.98
    assert learn_second_look(*by, np.ones(600), folds, seed=0) == ()


def test_losses_that_come_one_by_one_lift_nothing():
    rng = np.random.default_rng(0)
    others = (rng.random((4_000, 3)) < 0.2).astype(float)
    lost = (rng.random(4_000) < 0.2).astype(float)
    assert np.abs(loss_lift(others, lost)[0]).max() < 0.2
    weights, _ = loss_lift(others, others[:, 1])
    assert weights[1] > 1


def test_rates_that_agree_make_a_tight_prior_and_others_a_wide_one():
    tight = rate_prior(dict(enumerate([0.1, 0.1, 0.11])), [0, 1, 2])
    wide = rate_prior(dict(enumerate([0.01, 0.1, 0.4])), [0, 1, 2])
    assert tight.sd < wide.sd
    assert rate_prior({}, []) is None


def test_a_sharp_column_loses_its_floor_as_far_as_that_is_believable():
    prior = Prior(float(logit(0.1)), 0.5)
    assert believable(float(logit(0.15)), True, prior) == pytest.approx(logit(0.15))
    assert believable(float(logit(0.9)), True, prior) == pytest.approx(prior.highest)
    assert believable(float(logit(0.9)), True, None) == pytest.approx(logit(0.9))


def test_a_column_of_which_values_tell_nothing_rests_on_the_others():
    prior = Prior(float(logit(0.1)), 0.3)
    assert believable(3.0, False, prior) == pytest.approx(prior.mean + 0.3**2 / 2, abs=0.01)
    assert believable(-9.0, False, prior) <= -9.0
    assert believable(0.0, False, None) is None


def test_columns_hardly_observed_say_nothing_of_losses():
    is_missing = np.zeros((100, 3), dtype=bool)
    is_missing[:30, 0] = is_missing[:95, 1] = True
    assert set(rates_of(is_missing, [0, 1, 2])) == {0}
    is_missing[:30, 2] = True
    assert apart_from(is_missing, 0, [0, 1, 2]) == [1]


def two_tubes(n_rows: int = 700) -> np.ndarray:
    """Return a table that loses cells one by one, but for two columns that lose theirs together."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_rows, 7))
    values[:, 2] = rng.integers(0, 2, n_rows)
    values[values[:, 2] == 0, 3] = np.nan
    values[rng.random(n_rows) < 0.06, :2] = np.nan
    values[rng.random(values.shape) < 0.03] = np.nan
    return values


@pytest.mark.slow
def test_a_pair_lost_together_among_cells_lost_one_by_one_is_not_judged_for_sure():
    values = two_tubes()
    evidence = learnt(values, (0, 1, 3), names=list("abcdefg"))
    assert not evidence.leans_on_values
    is_missing = np.isnan(values)
    likely = evidence.probability(values, is_missing)
    pair = likely[:, :2][is_missing[:, :2]]
    assert (pair >= MIDDLE).all()
    assert (pair <= 1 - MIDDLE).all()
    skipped = is_missing[:, 3] & (values[:, 2] == 0)
    assert (likely[skipped, 3] > 0.95).all(), "what a gate tells is as sure as before"
    assert any(doubt.startswith("a, b are missing in much the same") for doubt in evidence.doubts)
    given = learnt(values, (0, 1, 3), loss_rate={0: 0.1, 1: 0.1})
    assert (given.probability(values, is_missing)[:, :2][is_missing[:, :2]] < 0.5).all()
