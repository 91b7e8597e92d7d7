import numpy as np
import pandas as pd
import pytest

from diffjoint import Diffusion, SelectiveImputer
from diffjoint._progress import NoProgress
from diffjoint.simulate import bayesian_network
from diffjoint.state import JointSpace, Observation, row_keys
from diffjoint.table import code_table, infer_schema, open_table
from diffjoint.values.boosted import MOST_CLASSES, _classes, expectation_from, learn_values
from tests.conftest import FLAT_COLUMNS, TINY, new_imputer


def opened(frame, **kinds):
    table = open_table(frame)
    schema = infer_schema(table, kinds)
    values = code_table(table, schema, "error")
    space = JointSpace(schema, (), 0.5)
    return space, Observation(values, np.zeros(values.shape, dtype=bool), row_keys(values, 0))


def learn(frame, n_boosters=1, **kinds):
    space, observation = opened(frame, **kinds)
    return learn_values(observation, space, n_boosters, 0, NoProgress()), observation


def lines(n=2_000, seed=0):
    """A number that follows another with a spread of its own, and a level that follows both."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = 3 * x + np.where(x > 0, 2.0, 0.5) * rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": y, "side": np.where(y > 0, "up", "down")})


def test_a_lost_number_gets_its_mean_and_the_spread_about_it():
    """Also where another column is always lost with it, and would have told more."""
    frame = lines()
    frame.loc[:399, "y"] = np.nan
    frame.loc[:399, "side"] = None
    expectation, observation = learn(frame)
    values, uncertainty = expectation.predict(observation)
    x, gap = frame["x"].to_numpy()[:400], slice(400)
    inside = np.abs(x) < 1.5
    assert np.abs(values[gap, 1] - 3 * x)[inside].mean() < 0.4
    assert uncertainty[gap, 1][x > 0.3].mean() == pytest.approx(2.0, rel=0.15)
    assert uncertainty[gap, 1][x < -0.3].mean() == pytest.approx(0.5, rel=0.2)


def test_several_boosters_are_nearer_the_truth_than_one():
    def error(n_boosters, seed):
        rng = np.random.default_rng(seed)
        features = pd.DataFrame(rng.normal(size=(900, 4))).add_prefix("x")
        mean = 2 * np.sin(2 * features["x0"]) + features["x1"]
        frame = features.assign(y=(mean + rng.normal(size=900)).where(np.arange(900) >= 300))
        expectation, observation = learn(frame, n_boosters)
        return np.abs(expectation.predict(observation)[0][:300, 4] - mean[:300]).mean()

    several, one = (np.mean([error(n, seed) for seed in range(6)]) for n in (5, 1))
    assert several < 0.9 * one


def test_a_lost_level_gets_the_likeliest_and_certainty_has_no_entropy():
    frame = lines()
    frame.loc[:399, "side"] = None
    expectation, observation = learn(frame)
    values, entropy = expectation.predict(observation)
    truth = (lines()["y"].to_numpy()[:400] > 0).astype(float)
    assert (values[:400, 2] == truth).mean() > 0.97
    clear = np.abs(frame["y"].to_numpy()[:400]) > 1
    assert entropy[:400, 2][clear].mean() < 0.1


def test_observed_cells_stay_and_are_certain():
    frame = lines()
    frame.loc[:99, "y"] = np.nan
    expectation, observation = learn(frame)
    values, uncertainty = expectation.predict(observation)
    there = observation.observed
    np.testing.assert_array_equal(values[there], observation.values[there])
    assert (uncertainty[there] == 0).all()
    assert np.isfinite(values).all()


def test_a_row_with_nothing_observed_gets_what_is_usual():
    frame = lines(400)
    frame.loc[0] = [np.nan, np.nan, None]
    expectation, observation = learn(frame)
    values, _ = expectation.predict(observation)
    assert np.isfinite(values[0]).all()
    assert abs(values[0, 0]) < 1


@pytest.mark.parametrize("n", [2, 3, 8, 25])
def test_a_handful_of_rows_is_enough_to_answer(n):
    frame = lines(n)
    frame.loc[0, "y"] = np.nan
    frame.loc[n - 1, "side"] = None
    expectation, observation = learn(frame, side="categorical", y="continuous", x="continuous")
    values, uncertainty = expectation.predict(observation)
    assert np.isfinite(values).all()
    assert np.isfinite(uncertainty).all()


def test_rare_levels_share_a_class_and_the_rarest_are_left_out():
    target = np.concatenate([np.repeat(3.0, 50), np.repeat(0.0, 20), [1.0] * 6, [2.0] * 5])
    levels, shares, classes = _classes(target)
    assert levels.tolist() == [3.0, 0.0, 1.0]
    assert shares.tolist() == [1.0, 1.0, 6 / 11]
    assert classes[[0, 50, 70, -1]].tolist() == [0, 1, 2, 2]
    levels, _, classes = _classes(target[:-5])
    assert levels.tolist() == [3.0, 0.0]
    assert classes[-1] == -1


def test_of_many_levels_only_the_frequent_have_a_class_of_their_own():
    levels, _, classes = _classes(np.repeat(np.arange(60.0), 12))
    assert len(levels) == MOST_CLASSES + 1
    assert classes.max() == MOST_CLASSES


def test_arrays_hold_all_that_is_expected():
    frame = lines()
    frame.loc[:399, ["y", "side"]] = np.nan
    expectation, observation = learn(frame)
    again = expectation_from(expectation.arrays(), expectation.space)
    for ours, theirs in zip(
        again.predict(observation), expectation.predict(observation), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert expectation_from({}, expectation.space) is None


@pytest.mark.slow
@FLAT_COLUMNS
def test_values_come_close_to_what_can_be_known_of_the_network():
    world = bayesian_network(6_000, 3_000, mechanism="mcar", loss_rate=0.3, seed=3)
    imputer = new_imputer(world.mm_columns, **TINY, random_state=0)
    test = world.test
    completed = imputer.fit(world.train.observed_table).transform(test.observed_table)
    lost = test.lost["C2"]
    error = (completed["C2"] - test.truth["C2"])[lost]
    mean_error = (world.train.observed_table["C2"].mean() - test.truth["C2"])[lost]
    assert np.sqrt((error**2).mean()) < 0.99 * np.sqrt((mean_error**2).mean())


@pytest.mark.slow
def test_draws_know_what_is_observed():
    """Amortised draws of y follow x, and spread as y does about it."""
    frame = lines(1_500)
    frame.loc[:299, "y"] = np.nan
    frame["side"] = "same"
    imputer = SelectiveImputer([], diffusion=Diffusion(max_epochs=25), random_state=0).fit(frame)
    draws = np.stack(
        [t["y"].to_numpy()[:300] for t in imputer.sample(frame, 20, draws="diffusion")]
    )
    x = frame["x"].to_numpy()[:300]
    assert np.corrcoef(draws.mean(axis=0), 3 * x)[0, 1] > 0.95
    spread = draws.std(axis=0)
    assert spread[x > 0.3].mean() > 1.5 * spread[x < -0.3].mean()
    assert np.isfinite(draws).all()


def test_levels_that_share_a_class_do_not_outweigh_a_frequent_one():
    rng = np.random.default_rng(0)
    level = np.where(rng.random(1_500) < 0.2, "top", rng.integers(0, 60, 1_500).astype(str))
    frame = pd.DataFrame({"x": rng.normal(size=1_500), "level": level})
    frame.loc[:299, "level"] = None
    expectation, observation = learn(frame, level="categorical")
    values, entropy = expectation.predict(observation)
    chosen = [expectation.space.schema.modelled[1].levels[int(v)] for v in values[:300, 1]]
    assert np.mean([name == "top" for name in chosen]) > 0.8
    assert entropy[:300, 1].mean() > 2.5


def test_noise_in_a_small_table_is_not_learnt():
    """Values stay near the mean where nothing tells them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 5)), columns=list("abcde"))
    frame.loc[:39, "a"] = np.nan
    expectation, observation = learn(frame)
    values, _ = expectation.predict(observation)
    assert np.abs(values[:40, 0] - np.nanmean(observation.values[:, 0])).mean() < 0.35


@pytest.mark.slow
@pytest.mark.parametrize("by", ["trees", "diffusion"])
def test_cells_that_are_missing_together_are_drawn_together(by):
    rng = np.random.default_rng(0)
    a = rng.normal(size=2_000)
    frame = pd.DataFrame({"a": a, "b": a + 0.3 * rng.normal(size=2_000)})
    seen = frame.mask(rng.random(frame.shape) < 0.3)
    seen.loc[:199] = np.nan
    imputer = SelectiveImputer([], random_state=0).fit(seen)
    drawn = imputer.sample(seen, 1, draws=by)[0].iloc[:200]
    assert drawn.corr().iloc[0, 1] > 0.8
