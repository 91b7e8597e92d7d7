from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm

from diffjoint.errors import InputError
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import bayes_posterior, bayesian_network, household_survey
from diffjoint.simulate.mechanisms import LogisticMechanism

LIFE = ["own-rates", "break-off", "blocks", "propensity", "survey"]
WORLDS = [("mcar", 0.1), ("mcar", 0.4), ("mar", 0.3), ("mnar", 0.2), ("mnar", 0.4)]
WORLDS += [(name, 0.3) for name in LIFE]


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "rate"), WORLDS)
@pytest.mark.parametrize("seed", [0, 2])
def test_posteriors_are_calibrated(mechanism, rate, seed):
    """Of the cells called meaningful with probability p, a share p is, in every band of p."""
    world = bayesian_network(0, 60_000, mechanism=mechanism, loss_rate=rate, seed=seed)
    posterior = bayes_posterior(world)
    for name in world.mm_columns:
        missing = world.observed_table[name].isna()
        p = posterior.meaningful.loc[missing, name].to_numpy()
        truly = world.meaningful.loc[missing, name].to_numpy()
        for low in np.arange(0, 1, 0.1):
            band = (p >= low) & (p <= low + 0.1)
            if band.sum() >= 200:
                noise = 4 * np.sqrt(0.25 / band.sum())
                assert truly[band].mean() == pytest.approx(p[band].mean(), abs=noise)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "rate"), WORLDS)
def test_levels_and_means_are_calibrated(mechanism, rate):
    world = bayesian_network(0, 60_000, mechanism=mechanism, loss_rate=rate, seed=1)
    posterior = bayes_posterior(world)
    for name, table in posterior.levels.items():
        lost = world.observed_table[name].isna()
        for level in table:
            found = (world.truth.loc[lost, name] == level).mean()
            noise = 4 * np.sqrt(0.25 / max(1, lost.sum()))
            assert found == pytest.approx(table.loc[lost, level].mean(), abs=noise)
    lost = world.lost["C2"]
    if lost.any():
        error = world.truth.loc[lost, "C2"] - posterior.mean.loc[lost, "C2"]
        assert error.mean() == pytest.approx(0.0, abs=4 * 5 / np.sqrt(lost.sum()))


@pytest.mark.slow
def test_a_row_by_hand():
    """Only C1 is missing, nothing else tells of it but C2: Bayes' rule in one line."""
    world = bayesian_network(0, 4_000, loss_rate=0.1)
    seen = world.observed_table
    alone = seen["C1"].isna() & (seen["D1"] == 0) & seen.notna().drop(columns="C1").all(axis=1)
    row = seen[alone].iloc[0]
    weight = (0.1 / 5 / (1 / 4 + 0.01 / 25)) / 5
    mean = 25 + weight * (row["C2"] - 52.5)
    spread = (1 / 4 + 0.01 / 25) ** -0.5
    above = norm.sf(27, mean, spread)
    expected = above / (above + 0.1 * (1 - above))
    found = bayes_posterior(world).meaningful.loc[alone, "C1"].iloc[0]
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_row_that_broke_off_by_hand():
    """D1 = 0 rules out that D2 is meaningful, so the row broke off before it, and what is missing
    in D3 tells nothing: it is meaningful where D2 is 1, as often as P(D2 = 1 | D1 = 0) = 0.05."""
    world = bayesian_network(0, 2_000, mechanism="break-off", loss_rate=0.1)
    seen = world.observed_table
    broke_off = seen[["C1", "C2"]].notna().all(axis=1) & (seen["D1"] == 0) & seen["D2"].isna()
    posterior = bayes_posterior(world).meaningful[broke_off]
    assert posterior["D2"].to_numpy() == pytest.approx(0.0)
    assert posterior["D3"].to_numpy() == pytest.approx(0.05)


def test_a_gap_in_a_row_that_went_on_is_meaningful():
    """Under break-off an observed cell proves that nothing before it was lost."""
    world = bayesian_network(0, 2_000, mechanism="break-off", loss_rate=0.3)
    posterior = bayes_posterior(world).meaningful
    seen = world.observed_table
    went_on = seen["C1"].isna() & seen["C2"].notna()
    assert went_on.any()
    assert posterior.loc[went_on, "C1"].to_numpy() == pytest.approx(1.0)


@pytest.mark.slow
def test_own_rates_agree_with_independent_losses():
    """Rates of their own are losses without drivers: both ways to the posterior meet."""
    world = bayesian_network(0, 3_000, mechanism="own-rates", loss_rate=0.3)
    own, none = world.mechanism, np.zeros(0)
    independent = LogisticMechanism(
        "mcar", 0.3, own.columns, (), np.zeros((0, 5)), logit(own.rates), none, none, {}
    )
    found, expected = (bayes_posterior(w) for w in (world, replace(world, mechanism=independent)))
    np.testing.assert_allclose(found.meaningful, expected.meaningful, atol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)
    for name, table in expected.levels.items():
        np.testing.assert_allclose(found.levels[name], table, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", LIFE)
def test_the_posterior_is_the_frequency_in_every_discrete_context(mechanism):
    """Rows that miss both numbers look alike if D1, D2 and D3 do: count the meaningful ones."""
    world = bayesian_network(0, 400_000, mechanism=mechanism, loss_rate=0.4, seed=6)
    both_missing = world.observed_table[["C1", "C2"]].isna().all(axis=1).to_numpy()
    world = replace(world, is_train=~both_missing).test
    posterior, seen = bayes_posterior(world).meaningful, world.observed_table
    n_compared = 0
    for _, rows in seen.fillna(-1.0).groupby(["D1", "D2", "D3"]).groups.items():
        for name in world.mm_columns:
            p, n_rows = posterior.loc[rows, name], len(rows)
            assert p.max() - p.min() < 1e-9
            if seen.loc[rows, name].isna().all():
                noise = 4.5 * np.sqrt(max(p.iloc[0] * (1 - p.iloc[0]), 1 / n_rows) / n_rows)
                share = world.meaningful.loc[rows, name].mean()
                assert share == pytest.approx(p.iloc[0], abs=noise)
                n_compared += 1
    assert n_compared >= 3


def test_d3_is_meaningful_where_d2_says_so():
    world = bayesian_network(0, 2_000)
    posterior = bayes_posterior(world)
    silent = world.observed_table["D2"] == 1
    assert (posterior.meaningful.loc[silent, "D3"] > 1 - 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "accuracy", "f1"),
    [(0.1, 93.7, 92.9), (0.2, 89.0, 84.9), (0.3, 84.7, 79.9), (0.4, 79.5, 74.2)],
)
def test_the_limit_under_mcar(rate, accuracy, f1):
    """Figures computed independently of this code, to a point."""
    world = bayesian_network(0, 60_000, loss_rate=rate, seed=5)
    posterior = bayes_posterior(world)
    assert 100 * token_accuracy(world, posterior.completed) == pytest.approx(accuracy, abs=0.7)
    assert 100 * mm_scores(world, posterior.calls)["f1"] == pytest.approx(f1, abs=0.7)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["mcar", "mnar"])
def test_no_other_decision_beats_the_limit(mechanism):
    world = bayesian_network(0, 60_000, mechanism=mechanism, loss_rate=0.3, seed=3)
    posterior = bayes_posterior(world)
    best = token_accuracy(world, posterior.completed)
    modes = world.observed_table.fillna(world.observed_table.mode().iloc[0])
    assert best > token_accuracy(world, modes)
    assert best > token_accuracy(world, world.observed_table)
    if world.lost["C2"].any():
        means = world.observed_table.fillna(world.observed_table.mean())
        errors = [lost_errors(world, table)["rmse"] for table in (posterior.completed, means)]
        assert errors[0] < errors[1]


def test_other_worlds_have_no_known_limit():
    with pytest.raises(InputError, match="The Bayes limit is known for Bayesian-network worlds"):
        bayes_posterior(household_survey(50))


@pytest.mark.slow
def test_the_limit_of_accuracy_is_the_likeliest_state():
    """NA is kept where it is likelier than every value, not where it is likelier than all."""
    world = bayesian_network(0, 100_000, loss_rate=0.4)
    posterior = bayes_posterior(world)
    halved = world.observed_table.copy()
    for name in ("D2", "D3"):
        best = posterior.levels[name].idxmax(axis=1).astype(float)
        halved[name] = halved[name].where(halved[name].notna() | posterior.calls[name], best)
    assert token_accuracy(world, posterior.completed) > token_accuracy(world, halved)


@pytest.mark.slow
def test_calls_for_f1_have_the_higher_f1():
    world = bayesian_network(0, 60_000, mechanism="mnar", loss_rate=0.4, seed=0)
    posterior = bayes_posterior(world)
    at_half = mm_scores(world, posterior.calls)["f1"]
    assert mm_scores(world, posterior.calls_for_f1)["f1"] > at_half + 0.003
