import numpy as np
import pandas as pd
import pytest
import torch

from diffjoint import SelectiveImputer, load
from diffjoint._progress import NoProgress
from diffjoint.diffusion.algorithm1 import (
    Runtime,
    coordinate_scaling,
    diff_joint,
    initial_state,
    with_means,
)
from diffjoint.settings import Diffusion, settings_for
from diffjoint.state import JointSpace, JointState, Observation, row_keys
from diffjoint.table import code_table, infer_schema, open_table

RUNTIME = Runtime(0, torch.device("cpu"), 10**9, NoProgress())


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["x", "y", "z"], 200)})
    frame.loc[:60, "a"] = np.nan
    frame.loc[40:120, "b"] = None
    table = open_table(frame)
    schema = infer_schema(table)
    values = code_table(table, schema, "error")
    observation = Observation(values, np.isnan(values), row_keys(values, 0))
    return observation, JointSpace(schema, (0, 1), 0.5)


def test_missing_cells_start_at_observed_values_and_none_meaningful(problem):
    observation, _ = problem
    state = initial_state(observation, seed=0)
    there = observation.observed
    np.testing.assert_array_equal(state.values[there], observation.values[there])
    for j in range(2):
        support = set(observation.values[there[:, j], j].tolist())
        assert set(state.values[:, j].tolist()) <= support
    assert not state.meaningful.any()


def test_every_distinct_value_is_as_likely_at_the_start():
    values = np.r_[np.zeros(90), np.ones(10), np.full(9000, np.nan)][:, None]
    observation = Observation(values, np.isnan(values), np.arange(len(values)))
    started = initial_state(observation, seed=0).values[100:, 0]
    assert started.mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_passes_come_one_by_one_and_can_be_taken_up_again(problem, tiny):
    observation, space = problem
    settings = settings_for("paper", **{**tiny, "n_iterations": 3})
    passes = list(diff_joint(observation, space, settings, RUNTIME))
    assert [done.iteration for done in passes] == [0, 1, 2]
    (resumed,) = diff_joint(observation, space, settings, RUNTIME, last=passes[1])
    np.testing.assert_array_equal(resumed.aggregated.values, passes[2].aggregated.values)
    np.testing.assert_array_equal(
        resumed.aggregated.meaningful_score, passes[2].aggregated.meaningful_score
    )


def test_a_warm_start_changes_the_later_passes_only(problem, tiny):
    observation, space = problem
    cold = list(diff_joint(observation, space, settings_for("paper", **tiny), RUNTIME))
    warm_settings = settings_for("paper", **tiny, warm_start=True)
    warm = list(diff_joint(observation, space, warm_settings, RUNTIME))
    assert cold[0].loss == warm[0].loss
    assert cold[1].loss != warm[1].loss


@pytest.mark.slow
@pytest.mark.parametrize("fusion", ["vote", "and"])
def test_vote_and_and_never_leave_the_empty_mask(problem, fusion):
    """The paper's ablation: from an all-zero mask these rules find nothing, ever."""
    observation, space = problem
    settings = settings_for(
        "paper", n_iterations=3, n_draws=5, n_steps=8, n_inpaint_repeats=3, width=32,
        batch_size=64, learning_rate=2e-3, max_epochs=60, sigma_max=10.0, fusion=fusion,
    )  # fmt: skip
    for done in diff_joint(observation, space, settings, RUNTIME):
        assert not done.aggregated.state.meaningful.any()


def test_a_mean_first_fill_has_the_means_of_what_is_known(problem):
    observation, space = problem
    state = initial_state(observation, seed=0)
    vectors = space.encode(state)
    filled = with_means(vectors, observation, space)
    known = space.known(observation)
    np.testing.assert_array_equal(filled[known], vectors[known])
    for place in range(4):
        seen = vectors[known[:, place], place]
        np.testing.assert_allclose(filled[~known[:, place], place], seen.mean(), atol=1e-6)


def test_known_coordinates_of_levels_are_scaled_as_those_of_numbers(problem):
    observation, space = problem
    shift, scale = (part.numpy() for part in coordinate_scaling(observation, space))
    vectors = space.encode(JointState(observation.values, observation.known_meaningful))
    known = space.known(observation)
    for place in range(4):
        scaled = (vectors[known[:, place], place] - shift[place]) * scale[place]
        assert scaled.mean() == pytest.approx(0.0, abs=1e-6)
        assert scaled.std() == pytest.approx(0.5, abs=1e-5)
    assert np.isfinite(shift).all()
    assert (scale > 0).all()


@pytest.mark.slow
def test_diffputer_as_its_code_has_it_fills_every_cell_and_can_be_saved(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["x", "y"], 120)})
    table = table.assign(c=table["a"] + 0.1 * rng.normal(size=120))
    observed = table.mask(rng.random(table.shape) < 0.1)
    small = {"width": 16, "max_epochs": 30, "n_steps": 4, "n_iterations": 2, "n_draws": 3}
    how = Diffusion.diffputer(**small, n_inpaint_repeats=2, learning_rate=5e-3, batch_size=64)
    imputer = SelectiveImputer([], preset="paper", diffusion=how, random_state=0).fit(observed)
    completed = imputer.transform(observed)
    assert completed.notna().all(axis=None)
    assert imputer.settings_.churn == 1.0
    assert imputer.settings_.scheduler_patience == 40
    imputer.save(tmp_path / "model")
    pd.testing.assert_frame_equal(load(tmp_path / "model").transform(observed), completed)
