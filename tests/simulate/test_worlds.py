import numpy as np
import pandas as pd
import pytest

from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.simulate.bayesian_network import draw_network


@pytest.fixture(scope="module")
def network():
    return draw_network(400_000, np.random.default_rng(0))


def test_c1_is_meaningfully_missing_above_27(network):
    """P(N(25, 2) > 27) = P(Z > 1) = 0.1587."""
    assert network["C1"].isna().mean() == pytest.approx(0.1587, abs=0.003)
    assert network["C1"].max() <= 27


def test_c2_follows_c1_weakly(network):
    assert network["C2"].mean() == pytest.approx(52.5, abs=0.05)
    assert network["C2"].std() == pytest.approx(np.hypot(5, 0.2), abs=0.03)


def test_d2_is_missing_exactly_where_the_rule_says(network):
    rule = (network["D1"] == 1) & (network["C2"] <= 55) & (network["C1"] <= 26)
    assert network.loc[rule, "D2"].isna().all()
    assert not network.loc[network["D1"] == 0, "D2"].isna().any()


@pytest.mark.parametrize(
    ("where", "shares"),
    [
        ("D1 == 0", (0.05, 0.05, 0.9)),
        ("D1 == 1 and C1 <= 26 and C2 > 55", (0.7, 0.1, 0.2)),
        ("D1 == 1 and C1 > 26 and C2 > 55", (0.3, 0.6, 0.1)),
        ("D1 == 1 and C1 > 26 and C2 <= 55", (0.2, 0.3, 0.5)),
    ],
)
def test_d2_has_the_papers_shares(network, where, shares):
    found = network.query(where)["D2"].value_counts(normalize=True)
    assert [found[level] for level in (0, 1, 2)] == pytest.approx(shares, abs=0.02)


def test_d3_follows_d2(network):
    heads = network.groupby("D2")["D3"].mean()
    assert heads[0] == pytest.approx(0.2, abs=0.02)
    assert heads[2] == pytest.approx(0.8, abs=0.02)
    silent = (network["D2"] == 1) | network["D2"].isna()
    assert (network["D3"].isna() == silent).all()


def test_a_world_tells_meaningful_from_lost():
    world = bayesian_network(1400, 600, loss_rate=0.2, seed=3)
    seen = world.observed_table
    assert (seen.isna() == (world.meaningful | world.lost)).all(axis=None)
    assert (len(world.train.truth), len(world.test.truth)) == (1400, 600)
    assert world.lost.to_numpy().mean() == pytest.approx(0.2, abs=0.02)
    pd.testing.assert_frame_equal(world.test.observed_table, seen.iloc[1400:])


def test_the_same_seed_gives_the_same_world():
    first, again, other = (bayesian_network(50, 50, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first.observed_table, again.observed_table)
    assert not first.truth.equals(other.truth)


def test_the_survey_keeps_its_skip_logic_and_its_ids():
    world = household_survey(500)
    assert not world.lost["person_id"].any()
    jobless = world.truth["employed"] == "no"
    assert (world.truth["commute"].isna() == jobless).all()
