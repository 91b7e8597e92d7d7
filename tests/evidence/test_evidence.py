"""Evidence: q, rho and phi from which cells are missing, on worlds in which they are known."""

import numpy as np
import pytest
from scipy.special import expit, logit

from diffjoint.evidence import fit_evidence, pack, unpack
from diffjoint.evidence.detector import folds_of
from diffjoint.evidence.explain import explain_cells
from diffjoint.evidence.folds import NEW, Judged
from diffjoint.metrics import mm_scores, token_accuracy
from diffjoint.simulate import bayes_posterior, bayesian_network
from diffjoint.state import keyed_uniform, row_keys
from tests.evidence.turns import ready_to_draw

N_LEVELS = np.array([0, 0, 2, 3, 2])
SEARCHED = (0, 3, 4)


def learnt(world, **options):
    values = world.train.observed_table.to_numpy()
    return fit_evidence(values, np.isnan(values), N_LEVELS, SEARCHED, **options)


def judged(world, evidence):
    table = world.test.observed_table
    likely = table * 0.0
    likely[:] = evidence.probability(table.to_numpy(), table.isna().to_numpy())
    return likely


@pytest.fixture(scope="module")
def evidence(network):
    return ready_to_draw(learnt(network), network.train.observed_table.to_numpy())


def test_the_three_rates_are_one_equation():
    rho, phi = np.array([0.1, 0.2]), np.array([0.3, 0.0])
    rates = Judged(rho + (1 - rho) * phi, rho, phi)
    np.testing.assert_allclose(rates.probability, [0.3 / 0.37, 0.0])


def test_a_probability_is_at_most_one_whatever_the_rounding():
    rng = np.random.default_rng(0)
    rho, phi = rng.random(100_000) / 2, 1 - rng.random(100_000) * 1e-15
    assert Judged(rho + (1 - rho) * phi, rho, phi).probability.max() == 1.0


@pytest.mark.slow
def test_calls_come_near_the_bayes_limit(network, evidence):
    likely = judged(network, evidence)
    posterior = bayes_posterior(network.test)
    found = mm_scores(network.test, likely > 0.5, likely)
    limit = mm_scores(network.test, posterior.calls, posterior.meaningful)
    assert found["brier"] < limit["brier"] + 0.01
    assert found["auc"] > limit["auc"] - 0.01
    assert found["calibration_error"] < 0.03


@pytest.mark.slow
def test_observed_cells_and_other_columns_are_never_meaningful(network, evidence):
    likely = judged(network, evidence)
    assert (likely.to_numpy()[network.test.observed_table.notna()] == 0).all()
    assert (likely[["C2", "D1"]] == 0).all(axis=None)


def test_under_mcar_losses_depend_on_nothing(evidence, network):
    assert evidence.drivers == ()
    scores = evidence.scores.of(network.test.observed_table.to_numpy())
    for column in evidence.columns.values():
        np.testing.assert_allclose(column.loss.rate(scores), 0.2, atol=0.015)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "seed"), [("mar", 0), ("mnar", 4)])
def test_losses_that_depend_on_context_are_found_out(mechanism, seed):
    world = bayesian_network(14_000, 6_000, mechanism=mechanism, loss_rate=0.2, seed=seed)
    evidence = learnt(world)
    names = list(world.truth.columns)
    assert {names[d] for d in evidence.drivers} >= set(world.mechanism.drivers)
    driver = names.index(world.mechanism.drivers[0])
    place = list(evidence.drivers).index(driver)
    for j in (3, 4):
        weight = evidence.columns[j].loss.weights[place]
        assert weight == pytest.approx(world.mechanism.weights[0, j], abs=0.35)
    posterior = bayes_posterior(world.test)
    completed = posterior.completed.copy()
    likely = judged(world, evidence)
    for name in ("D2", "D3"):
        missing = world.test.observed_table[name].isna()
        best = posterior.levels[name].idxmax(axis=1).astype(float)
        completed.loc[missing, name] = best.where(likely[name] <= 0.5)[missing]
    limit = token_accuracy(world.test, posterior.completed)
    assert token_accuracy(world.test, completed) > limit - 0.03


def test_drawn_masks_agree_with_each_other(network, evidence):
    """D3 is meaningful whenever D2 is, in the world and in nearly every drawn table."""
    values = network.test.observed_table.to_numpy()
    unknown = np.full(values.shape, np.nan)
    uniform = np.random.default_rng(1).random(values.shape)
    mask = evidence.draw(values, np.isnan(values), uniform, unknown)
    assert mask[mask[:, 3], 4].mean() > 0.95
    likely = judged(network, evidence).to_numpy()
    independent = np.isnan(values) & (uniform < likely)
    assert independent[independent[:, 3], 4].mean() < mask[mask[:, 3], 4].mean()


def test_masks_drawn_together_are_those_drawn_one_by_one(network, evidence):
    """Also of some rows alone, if these keep the folds that they have in the table."""
    values = network.test.observed_table.to_numpy()
    candidates, unknown = np.isnan(values), np.full(values.shape, np.nan)
    unknown[:50, 3] = 1.0
    uniform = np.random.default_rng(2).random((4, *values.shape))
    folds = evidence.folds(row_keys(values, 0))
    masks = evidence.draws(values, candidates, uniform, unknown, folds)
    for mask, numbers in zip(masks, uniform, strict=True):
        np.testing.assert_array_equal(mask, evidence.draw(values, candidates, numbers, unknown))
    rows = np.arange(0, len(values), 7)
    some = evidence.draws(
        values[rows], candidates[rows], uniform[:, rows], unknown[rows], folds[rows]
    )
    np.testing.assert_array_equal(some, masks[:, rows])
    assert masks[:, :50, 3][:, candidates[:50, 3]].all()


def test_drawn_masks_are_as_likely_as_said(network, evidence):
    values = network.test.observed_table.to_numpy()
    unknown = np.full(values.shape, np.nan)
    rng = np.random.default_rng(1)
    masks = [
        evidence.draw(values, np.isnan(values), rng.random(values.shape), unknown) for _ in range(5)
    ]
    said = judged(network, evidence).to_numpy()
    for j in SEARCHED:
        missing = np.isnan(values[:, j])
        drawn = np.mean([mask[missing, j].mean() for mask in masks])
        assert drawn == pytest.approx(said[missing, j].mean(), abs=0.02)


def test_known_cells_are_drawn_as_known(network, evidence):
    values = network.test.observed_table.to_numpy()
    known = np.full(values.shape, np.nan)
    missing = np.flatnonzero(np.isnan(values[:, 3]))
    known[missing[:50], 3], known[missing[50:100], 3] = 1.0, 0.0
    mask = evidence.draw(
        values, np.isnan(values), np.random.default_rng(0).random(values.shape), known
    )
    assert mask[missing[:50], 3].all()
    assert not mask[missing[50:100], 3].any()


@pytest.mark.slow
def test_a_given_rate_is_used_as_it_is(network):
    evidence = learnt(network, loss_rate={0: 0.3, 3: 0.0})
    scores = evidence.scores.of(network.test.observed_table.to_numpy())
    assert evidence.columns[0].loss.rate(scores).mean() == pytest.approx(0.3)
    assert evidence.columns[3].loss.rate(scores).mean() == pytest.approx(0.0, abs=1e-6)
    assert evidence.columns[4].loss.rate(scores).mean() == pytest.approx(0.2, abs=0.015)
    likely = judged(network, evidence)
    missing = network.test.observed_table["D2"].isna()
    assert (likely.loc[missing, "D2"] > 0.99).all(), "nothing is lost, so all is meaningful"


def test_a_column_with_losses_alone_is_called_lost():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4_000, 4))
    values[rng.random(values.shape) < 0.2] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(4, dtype=int), [1, 2])
    likely = evidence.probability(values, np.isnan(values))
    assert (likely[np.isnan(values)] > 0.5).mean() < 0.01


def test_folds_follow_the_rows():
    values = np.random.default_rng(0).normal(size=(1_000, 3))
    folds = folds_of(row_keys(values, 0), 5)
    np.testing.assert_array_equal(folds_of(row_keys(values[::-1], 0), 5)[::-1], folds)
    assert np.bincount(folds).min() > 150
    repeated = folds_of(row_keys(np.zeros((1_000, 3)), 0), 5)
    assert np.bincount(repeated, minlength=5).min() > 150, "repeats are spread"


def test_new_rows_are_judged_by_all_folds_and_those_learnt_from_by_one(network, evidence):
    """The mean of all folds is steadier, but no row may judge itself."""
    seen, new = (part.observed_table.to_numpy() for part in (network.train, network.test))
    judges = evidence.judging_folds(row_keys(np.vstack([seen[:500], new]), 0))
    np.testing.assert_array_equal(judges[:500], evidence.folds(row_keys(seen[:500], 0)))
    has_number = ~np.isnan(new[:, :2]).all(axis=1)
    assert (judges[500:][has_number] == NEW).all(), "no other row holds the same number"
    assert not (judges[500:][~has_number] == NEW).all(), "a row that repeats one learnt from"
    column, scores = evidence.columns[3], evidence.scores.of(new)
    by_fold = [
        column.judge(new, np.full(len(new), fold), scores).mm_rate
        for fold in range(evidence.n_folds)
    ]
    by_all = column.judge(new, np.full(len(new), NEW), scores).mm_rate
    np.testing.assert_allclose(by_all, np.mean(by_fold, axis=0), atol=1e-12)
    likely = evidence.probability(new, np.isnan(new))
    n_missing = np.isnan(seen).sum(axis=0)[list(SEARCHED)]
    assert likely.max() == 1 - 1 / (n_missing.max() + 2), "no surer than so many cells bear out"


def test_a_new_row_is_pushed_as_its_judges_say_on_average(network, evidence):
    values = network.test.observed_table.to_numpy()
    rows = np.flatnonzero(np.isnan(values[:, 3]) & ~np.isnan(values[:, 1]))[:20]
    found = explain_cells(evidence, values, rows, 3)
    column = evidence.columns[3]
    logits = np.mean([trees.logit(values[rows]) for trees in column.trees], axis=0)
    excess = logits - logit(column.loss.rate(evidence.scores.of(values[rows])))
    np.testing.assert_allclose(found.base + found.pushes.sum(axis=1), excess, atol=1e-9)
    likely = evidence.probability(values, np.isnan(values))[rows, 3]
    np.testing.assert_allclose(found.judged.probability, likely, atol=1e-12)


def test_packed_evidence_comes_back(network, evidence):
    again = unpack(pack(evidence))
    values = network.test.observed_table.to_numpy()
    np.testing.assert_array_equal(
        again.probability(values, np.isnan(values)), evidence.probability(values, np.isnan(values))
    )
    np.testing.assert_array_equal(again.typical, evidence.typical)
    uniform, unknown = np.random.default_rng(0).random(values.shape), np.full(values.shape, np.nan)
    np.testing.assert_array_equal(
        again.draw(values, np.isnan(values), uniform, unknown),
        evidence.draw(values, np.isnan(values), uniform, unknown),
    )


@pytest.mark.parametrize("n_rows", [2, 3, 7, 15, 45])
def test_small_tables_are_judged_and_come_back(n_rows):
    rng = np.random.default_rng(n_rows)
    for _ in range(5):
        values = rng.normal(size=(n_rows, 3)).round(1)
        values[rng.random(values.shape) < 0.4] = np.nan
        evidence = fit_evidence(values, np.isnan(values), np.zeros(3, dtype=int), [1, 2])
        evidence = ready_to_draw(evidence, values)
        new = rng.normal(size=(50, 3))
        new[:, 1] = np.nan
        likely = evidence.probability(new, np.isnan(new))
        assert ((likely >= 0) & (likely <= 1)).all()
        again = unpack(pack(evidence)).probability(new, np.isnan(new))
        np.testing.assert_array_equal(again, likely)


def test_a_lone_column_can_be_searched():
    values = np.random.default_rng(0).normal(size=(200, 1))
    values[:60] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(1, dtype=int), [0])
    assert len(set(evidence.probability(values, np.isnan(values))[:60, 0])) == 1


@pytest.mark.slow
@pytest.mark.parametrize("loss_rate", [0.005, None])
def test_a_level_far_below_what_is_missing_can_be_met(loss_rate):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        c = rng.lognormal(size=1_500)
        z = (c - c.mean()) / c.std()
        values = np.column_stack([c, rng.normal(size=(1_500, 3))])
        for k in (1, 2):
            values[rng.random(1_500) < expit(-5 + z), k] = np.nan
        values[rng.random(1_500) < expit(0.3 * z), 3] = np.nan
        evidence = fit_evidence(
            values, np.isnan(values), np.zeros(4, dtype=int), [3], loss_rate=loss_rate
        )
        ready_to_draw(evidence, values)


def test_one_lost_cell_elsewhere_does_not_tell_the_rate():
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 2, 2_000).astype(float)
    answer = np.where((gate == 0) | (rng.random(2_000) < 0.2), np.nan, 1.0 * gate)
    other = rng.normal(size=2_000)
    other[0] = np.nan
    values = np.column_stack([gate, answer, other])
    evidence = fit_evidence(values, np.isnan(values), np.array([2, 0, 0]), [1])
    assert evidence.doubts == ()
    likely = evidence.probability(values, np.isnan(values))[:, 1]
    assert (likely[np.isnan(answer) & (gate == 1)] < 0.3).all()


@pytest.mark.slow
def test_small_tables_with_losses_alone_are_rarely_called():
    called = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(300, 6))
        values[rng.random(values.shape) < 0.2] = np.nan
        evidence = fit_evidence(values, np.isnan(values), np.zeros(6, dtype=int), [2])
        likely = evidence.probability(values, np.isnan(values))[:, 2]
        called.append((likely[np.isnan(values[:, 2])] > 0.5).mean())
    assert np.mean(called) < 0.08


# Labels


def labels_on(world, chosen):
    """What is known of the chosen cells, and which those are, among the training rows."""
    is_missing = world.train.observed_table.isna().to_numpy()
    labelled = is_missing & chosen
    return {
        "known": np.where(labelled, world.train.meaningful.to_numpy(), np.nan),
        "labelled": labelled,
    }


@pytest.fixture(scope="module")
def small():
    return bayesian_network(4_000, 2_000, loss_rate=0.2, seed=1)


def brier(world, evidence):
    likely = judged(world, evidence)
    return mm_scores(world.test, likely > 0.5, likely)["brier"]


@pytest.mark.slow
def test_labels_picked_at_random_mend_a_wrong_loss_rate(small):
    at_random = np.random.default_rng(0).random(small.train.truth.shape) < 0.3
    told = learnt(small, loss_rate=0.1, **labels_on(small, at_random))
    assert brier(small, told) < 0.7 * brier(small, learnt(small, loss_rate=0.1))
    packed = unpack(pack(told))
    np.testing.assert_array_equal(judged(small, packed), judged(small, told))
    rates = told.judge(small.test.observed_table.to_numpy())[4]
    np.testing.assert_allclose(
        rates.missing_rate, rates.loss_rate + (1 - rates.loss_rate) * rates.mm_rate
    )


@pytest.mark.slow
def test_labels_on_easy_cells_alone_change_nothing(small):
    """Whoever labels what is certain says nothing of what is not."""
    plain = learnt(small)
    table = small.train.observed_table.to_numpy()
    likely = plain.probability(table, np.isnan(table))
    certain = (likely < 0.15) | (likely > 0.85)
    told = learnt(small, **labels_on(small, certain))
    np.testing.assert_array_equal(judged(small, told), judged(small, plain))


@pytest.mark.slow
def test_labels_that_agree_change_little(small):
    at_random = np.random.default_rng(0).random(small.train.truth.shape) < 0.3
    told = learnt(small, **labels_on(small, at_random))
    assert brier(small, told) < brier(small, learnt(small)) + 0.005


@pytest.mark.slow
def test_drawn_masks_are_as_coherent_as_the_truth():
    """In the network D3 is meaningful wherever D2 is."""
    world = bayesian_network(6_000, 3_000, mechanism="mcar", loss_rate=0.1, seed=1)
    train, test = (part.observed_table.to_numpy() for part in (world.train, world.test))
    evidence = fit_evidence(train, np.isnan(train), N_LEVELS, (0, 3, 4))
    evidence = ready_to_draw(evidence, train)
    candidates = np.isnan(test) & np.array([True, False, False, True, True])
    both, d2 = 0, 0
    for stream in range(3):
        uniform = keyed_uniform(row_keys(test, 0), stream, test.shape[1])
        drawn = evidence.draw(test, candidates, uniform, np.where(candidates, np.nan, 0.0))
        d2 += drawn[:, 3].sum()
        both += (drawn[:, 3] & drawn[:, 4]).sum()
    assert both == d2 > 0
