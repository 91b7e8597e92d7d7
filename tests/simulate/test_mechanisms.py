import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import InputError
from diffjoint.simulate import bayesian_network
from diffjoint.simulate.mechanisms import make_mechanism


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60_000, 10)), columns=[f"c{i}" for i in range(10)])
    table["c1"] = rng.choice(["low", "mid", "high"], len(table))
    return table.mask(rng.random(table.shape) < 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcar", "mar", "mnar"])
@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3, 0.4])
def test_the_realised_rate_is_the_asked_rate(truth, name, rate):
    for seed in range(3):
        mechanism = make_mechanism(name, truth, rate, np.random.default_rng(seed))
        lost = mechanism.lose(truth, np.random.default_rng(9))
        assert lost.to_numpy().mean() == pytest.approx(rate, abs=0.005)


@pytest.mark.parametrize(("rate", "n_drivers"), [(0.2, 3), (0.3, 3), (0.4, 1)])
def test_the_share_of_driving_columns(truth, rate, n_drivers):
    mechanism = make_mechanism("mnar", truth, rate, np.random.default_rng(0))
    assert len(mechanism.drivers) == n_drivers


def test_mcar_ignores_the_table(truth):
    mechanism = make_mechanism("mcar", truth, 0.2, np.random.default_rng(0))
    np.testing.assert_allclose(mechanism.probability(truth), 0.2)


def test_mar_never_loses_its_drivers_and_depends_on_them_alone(truth):
    mechanism = make_mechanism("mar", truth, 0.2, np.random.default_rng(0))
    probability = mechanism.probability(truth)
    driving = truth.columns.isin(mechanism.drivers)
    assert (probability[:, driving] == 0).all()
    shuffled = truth.copy()
    others = truth.columns[~driving]
    shuffled[others] = truth[others].sample(frac=1, random_state=0).to_numpy()
    np.testing.assert_array_equal(mechanism.probability(shuffled), probability)
    assert probability[:, ~driving].std(axis=0).min() > 0.05


def test_mnar_loses_its_drivers_completely_at_random(truth):
    mechanism = make_mechanism("mnar", truth, 0.2, np.random.default_rng(0))
    driving = truth.columns.isin(mechanism.drivers)
    np.testing.assert_allclose(mechanism.probability(truth)[:, driving], 0.2)


def test_a_meaningfully_missing_driver_counts_as_its_mean(truth):
    mechanism = make_mechanism("mar", truth, 0.2, np.random.default_rng(0))
    driving = [mechanism.mean, np.full(len(mechanism.drivers), np.nan)]
    np.testing.assert_allclose(*(mechanism.logit(row[None]) for row in driving))


def test_spared_columns_are_never_lost_and_drive_nothing(truth):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        mechanism = make_mechanism("mnar", truth, 0.3, rng, spare=("c0", "c5"))
        assert not {"c0", "c5"} & set(mechanism.drivers)
        assert not mechanism.lose(truth, rng)[["c0", "c5"]].any(axis=None)


def test_train_and_test_rows_share_one_mechanism():
    world = bayesian_network(500, 500, mechanism="mar", loss_rate=0.3)
    assert world.train.mechanism is world.test.mechanism


@pytest.mark.parametrize(
    ("name", "rate", "words"),
    [
        ("random", 0.1, "mechanism must be one of 'mcar', .*'propensity', 'survey'; got 'random'"),
        ("mcar", 0.0, "loss_rate must lie between 0 and 1"),
        ("mcar", 1.0, "loss_rate must lie between 0 and 1"),
        ("mar", 0.95, "A loss rate of 0.95 is too high for MAR"),
    ],
)
def test_what_cannot_be_is_refused(truth, name, rate, words):
    with pytest.raises(InputError, match=words):
        make_mechanism(name, truth, rate, np.random.default_rng(0))
