"""Losses of life: uneven over columns, many in one row, and blind to values."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import InputError
from diffjoint.simulate import bayesian_network, household_survey, make_mechanism, make_world

LIFE = ["own-rates", "break-off", "blocks", "propensity", "survey"]


def table(n_columns, n_rows=20_000):
    return pd.DataFrame(np.zeros((n_rows, n_columns)), columns=[f"c{i}" for i in range(n_columns)])


def losses(name, n_columns, rate, seed=0):
    """A mechanism and what it takes from a table."""
    rng = np.random.default_rng(seed)
    mechanism = make_mechanism(name, table(n_columns), rate, rng)
    return mechanism, mechanism.lose(table(n_columns), rng).to_numpy()


def overdispersion(lost):
    """Variance of the losses per row, relative to that of independent ones."""
    rates = lost.mean(axis=0)
    return lost.sum(axis=1).var() / (rates * (1 - rates)).sum()


@pytest.mark.parametrize("name", LIFE)
@pytest.mark.parametrize("n_columns", [5, 30])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.4, 0.7])
def test_the_expected_rate_is_the_asked_rate(name, n_columns, rate):
    mechanism = make_mechanism(name, table(n_columns), rate, np.random.default_rng(3))
    assert mechanism.column_rates.mean() == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize("name", LIFE)
@pytest.mark.parametrize("n_columns", [5, 30])
def test_each_column_loses_what_the_mechanism_says(name, n_columns):
    mechanism, lost = losses(name, n_columns, 0.2, seed=1)
    noise = 4.5 * np.sqrt(0.25 / len(lost))
    np.testing.assert_allclose(lost.mean(axis=0), mechanism.column_rates, atol=noise)
    np.testing.assert_array_equal(
        mechanism.probability(table(n_columns, 2)), [mechanism.column_rates] * 2
    )


def test_break_off_of_three_columns_by_hand():
    """With q the chance to go on, (0 + 1 - q + 1 - q^2) / 3 = 0.2, so q^2 + q = 1.4."""
    mechanism, _ = losses("break-off", 3, 0.2)
    goes_on = (np.sqrt(1 + 4 * 1.4) - 1) / 2
    np.testing.assert_allclose(mechanism.break_off, [0, 1 - goes_on, 1 - goes_on], rtol=1e-9)


def test_a_row_that_breaks_off_loses_everything_from_there_on():
    _, lost = losses("break-off", 12, 0.2)
    assert not lost[:, 0].any()
    assert (lost == np.logical_or.accumulate(lost, axis=1)).all()
    assert 0.2 < lost.any(axis=1).mean() < 0.6


def test_blocks_are_lost_whole_or_not_at_all():
    mechanism, lost = losses("blocks", 23, 0.2)
    by_name = pd.DataFrame(lost, columns=table(23).columns)
    assert sum(mechanism.blocks, ()) == tuple(table(23).columns)
    for block, rate in zip(mechanism.blocks, mechanism.block_rates, strict=True):
        assert 2 <= len(block) <= 6
        gone = by_name[list(block)]
        assert (gone.any(axis=1) == gone.all(axis=1)).all()
        assert gone.all(axis=1).mean() == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize("n_columns", range(2, 50))
def test_blocks_hold_two_to_six_columns(n_columns):
    for seed in range(5):
        mechanism = make_mechanism("blocks", table(n_columns, 1), 0.2, np.random.default_rng(seed))
        lengths = [len(block) for block in mechanism.blocks]
        assert sum(lengths) == n_columns
        assert min(lengths) >= 2
        assert max(lengths) <= 6


@pytest.mark.parametrize("seed", range(8))
def test_five_columns_make_a_block_of_two_and_one_of_three(seed):
    mechanism, _ = losses("blocks", 5, 0.2, seed)
    assert sorted(map(len, mechanism.blocks)) == [2, 3]


def test_columns_have_rates_of_their_own():
    mechanism, lost = losses("own-rates", 40, 0.1)
    assert mechanism.column_rates.min() < 0.02
    assert 0.2 < mechanism.column_rates.max() < 0.4
    assert overdispersion(lost) == pytest.approx(1.0, abs=0.1)


def test_rows_differ_in_propensity_and_columns_do_not():
    mechanism, lost = losses("propensity", 30, 0.1)
    assert mechanism.column_rates == pytest.approx(0.1)
    per_row = np.sort(lost.sum(axis=1))[::-1]
    assert per_row[: len(lost) // 10].sum() > 0.4 * per_row.sum()


@pytest.mark.parametrize("n_columns", [20, 30, 45])
@pytest.mark.parametrize("seed", range(3))
def test_a_survey_looks_like_real_ones(n_columns, seed):
    _, lost = losses("survey", n_columns, 0.1, seed)
    per_row = lost.sum(axis=1)
    assert 2 < overdispersion(lost) < 15
    assert 0.83 < per_row[per_row > 1].sum() / per_row.sum() < 0.99
    rates = lost.mean(axis=0)
    assert rates.min() < 0.05
    assert 0.15 < rates.max() < 0.3


def test_a_survey_of_five_columns_loses_cells_together():
    world = bayesian_network(0, 20_000, mechanism="survey", loss_rate=0.2)
    assert overdispersion(world.lost.to_numpy()) > 1.5


@pytest.mark.parametrize("name", LIFE)
def test_values_do_not_matter(name):
    zeros, other = table(6, 500), table(6, 500) + np.random.default_rng(0).normal(size=(500, 6))
    of_zeros, of_other = (
        make_mechanism(name, t, 0.3, np.random.default_rng(1)) for t in (zeros, other)
    )
    lost = of_zeros.lose(zeros, np.random.default_rng(2))
    pd.testing.assert_frame_equal(lost, of_other.lose(other, np.random.default_rng(2)))
    assert of_zeros.drivers == ()


@pytest.mark.parametrize("name", LIFE)
def test_same_seed_same_losses(name):
    worlds = [make_world("bayesian-network", rows=300, mechanism=name, seed=s) for s in (1, 1, 2)]
    pd.testing.assert_frame_equal(worlds[0].lost, worlds[1].lost)
    assert not worlds[0].lost.equals(worlds[2].lost)


@pytest.mark.parametrize("name", LIFE)
def test_spared_columns_are_never_lost_and_do_not_count(name):
    rng = np.random.default_rng(0)
    mechanism = make_mechanism(name, table(9), 0.2, rng, spare=("c0", "c4"))
    lost = mechanism.lose(table(9), rng)
    assert not lost[["c0", "c4"]].any(axis=None)
    assert lost.drop(columns=["c0", "c4"]).to_numpy().mean() == pytest.approx(0.2, abs=0.01)


def test_a_row_breaks_off_across_spared_columns():
    world = household_survey(3_000, mechanism="break-off", loss_rate=0.3)
    lost = world.lost.drop(columns="person_id").to_numpy()
    assert (lost == np.logical_or.accumulate(lost, axis=1)).all()
    assert not lost[:, 0].any()


def test_meaningful_cells_that_are_struck_stay_meaningful():
    world = bayesian_network(0, 5_000, mechanism="survey", loss_rate=0.3)
    assert (world.lost & world.meaningful).any(axis=None)
    pd.testing.assert_frame_equal(world.meaningful, world.truth.isna())


def test_a_survey_says_all_that_drives_it():
    about = losses("survey", 5, 0.1)[0].describe()
    assert set(about) == {
        "name", "loss_rate", "drivers", "spare", "rates", "rows", "blocks", "break_off"
    }  # fmt: skip
    assert [row["share"] for row in about["rows"]] == [0.6, 0.3, 0.1]
    assert about["break_off"]["c0"] == 0.0
    assert "blocks" not in losses("own-rates", 5, 0.1)[0].describe()


@pytest.mark.parametrize(
    ("name", "n_columns", "rate", "words"),
    [
        ("break-off", 5, 0.8, "A loss rate of 0.8 is too high for 'break-off' on 5 columns"),
        ("break-off", 1, 0.1, "'break-off' needs at least two columns"),
        ("blocks", 1, 0.1, "'blocks' needs at least two columns"),
        ("survey", 5, 1.0, "loss_rate must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(name, n_columns, rate, words):
    with pytest.raises(InputError, match=words):
        make_mechanism(name, table(n_columns, 10), rate, np.random.default_rng(0))
