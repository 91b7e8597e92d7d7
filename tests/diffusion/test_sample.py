import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from diffjoint._effort import sampling_units
from diffjoint._progress import NoProgress
from diffjoint.diffusion.edm import new_denoiser
from diffjoint.diffusion.sample import conditional_sample, inpaint
from diffjoint.diffusion.train import model_update
from diffjoint.settings import settings_for
from diffjoint.state import JointSpace, JointState, Observation, row_keys
from diffjoint.table import code_table, infer_schema, open_table

SETTINGS = settings_for(
    "paper", n_draws=5, n_steps=4, n_inpaint_repeats=2, width=16, max_epochs=1, batch_size=64
)


def make(n=40, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n), "c": rng.normal(size=n)}
    )
    frame.loc[: n // 4, "a"] = np.nan
    frame.loc[n // 8 : n // 3, "b"] = None
    table = open_table(frame)
    schema = infer_schema(table)
    values = code_table(table, schema, "error")
    candidates = np.isnan(values) & np.array([False, True, False])
    space = JointSpace(schema, (1,), 0.5)
    return space, Observation(values, candidates, row_keys(values, 0))


def draw(space, observation, settings=SETTINGS, memory_limit=10**9, stream=0):
    denoiser = new_denoiser(
        space.n_coordinates, settings.width, 0.5, torch.Generator().manual_seed(0)
    )
    blocks = conditional_sample(
        denoiser,
        observation,
        space,
        settings,
        stream=stream,
        memory_limit=memory_limit,
        progress=NoProgress(),
    )
    return list(blocks)


def test_rows_with_nothing_missing_are_never_sampled():
    space, observation = make()
    (block,) = draw(space, observation)
    incomplete = np.flatnonzero(np.isnan(observation.values).any(axis=1))
    np.testing.assert_array_equal(block.rows, incomplete)
    n_passes = 2 * (2 * 4 - 1)
    assert sampling_units(observation, SETTINGS) == len(incomplete) * 5 * n_passes


def test_observed_cells_keep_their_value_in_every_draw():
    space, observation = make()
    (block,) = draw(space, observation)
    known = observation.observed[block.rows]
    for values in block.values:
        np.testing.assert_allclose(values[known], observation.values[block.rows][known], rtol=1e-5)


def test_only_candidates_are_ever_drawn_meaningful():
    space, observation = make()
    (block,) = draw(space, observation)
    assert not block.meaningful[:, ~observation.candidates[block.rows]].any()


@pytest.mark.parametrize("memory_limit", [1, 20_000, 60_000])
def test_the_memory_limit_cuts_blocks_and_changes_no_draw(memory_limit):
    space, observation = make(200)
    (whole,) = draw(space, observation)
    blocks = draw(space, observation, memory_limit=memory_limit)
    assert len(blocks) > 1
    joined = np.concatenate([block.values for block in blocks], axis=1)
    np.testing.assert_array_equal(joined, whole.values)


def test_a_row_drawn_alone_is_drawn_as_in_its_table():
    space, observation = make()
    (whole,) = draw(space, observation)
    for place, row in enumerate(whole.rows[:5]):
        (alone,) = draw(space, observation.take(np.array([row])))
        np.testing.assert_array_equal(alone.values[:, 0], whole.values[:, place])


def test_more_draws_start_with_the_same_ones():
    space, observation = make()
    (few,) = draw(space, observation)
    more = settings_for("paper", n_draws=9, n_steps=4, n_inpaint_repeats=2, width=16)
    (many,) = draw(space, observation, more)
    np.testing.assert_array_equal(many.values[:5], few.values)


def test_streams_and_draws_differ():
    space, observation = make()
    (first,) = draw(space, observation)
    (other,) = draw(space, observation, stream=1)
    missing = ~observation.observed[first.rows, 0]
    assert not np.allclose(first.values[:, missing, 0], other.values[:, missing, 0])
    assert not np.allclose(first.values[0, missing, 0], first.values[1, missing, 0])


def test_known_coordinates_are_noised_while_they_are_held():
    """What the denoiser is shown of a known coordinate has the noise of its level."""
    shown = []

    class Watcher:
        def __call__(self, vectors, level):
            shown.append((level.item(), vectors[:, 0].std().item()))
            return torch.zeros_like(vectors)

    settings = settings_for("paper", n_steps=6, n_inpaint_repeats=1)
    source = torch.Generator().manual_seed(0)
    clean = torch.zeros(4000, 2)
    known = torch.tensor([True, False]).expand(4000, 2)
    inpaint(Watcher(), clean, known, lambda: torch.randn(4000, 2, generator=source), settings)
    for level, spread in shown[2::2]:
        assert spread == pytest.approx(level, rel=0.05)


@pytest.mark.slow
def test_draws_follow_the_conditional_distribution():
    """b agrees with a in 19 rows of 20; drawn b given a must do so too, nearly."""
    rng = np.random.default_rng(0)
    n = 1500
    a = rng.random(n) < 0.4
    b = np.where(rng.random(n) < 0.95, a, ~a)
    frame = pd.DataFrame({"a": np.where(a, "p", "q"), "b": np.where(b, "p", "q")})
    table = open_table(frame)
    schema = infer_schema(table)
    space = JointSpace(schema, (), 0.5)
    values = code_table(table, schema, "error")
    state = JointState(values, np.zeros(values.shape, dtype=bool))
    settings = settings_for(
        "paper", width=64, batch_size=256, learning_rate=2e-3, max_epochs=60,
        n_steps=12, n_inpaint_repeats=8, sigma_max=10.0, sigma_min=0.01,
    )  # fmt: skip
    vectors = torch.from_numpy(space.encode(state))
    trained = model_update(vectors, settings, torch.Generator().manual_seed(0), NoProgress())
    known = torch.zeros_like(vectors, dtype=torch.bool)
    known[:, :2] = True
    source = torch.Generator().manual_seed(1)
    with torch.inference_mode():
        drawn = inpaint(
            trained.denoiser, vectors, known,
            lambda: torch.randn(vectors.shape, generator=source), settings,
        )  # fmt: skip
    agree = space.decode(drawn.numpy()).values[:, 1] == values[:, 0]
    assert 0.88 < agree.mean() < 0.99


def test_churn_makes_each_step_start_from_more_noise():
    """What the denoiser is told of the noise is what was added, EDM's share of its own."""
    shown = []

    def watch(vectors, level):
        shown.append((level.item(), vectors.std().item()))
        return torch.zeros_like(vectors)

    source = torch.Generator().manual_seed(0)
    clean, known = torch.zeros(4000, 2), torch.zeros(4000, 2, dtype=torch.bool)

    def noise():
        return torch.randn(4000, 2, generator=source)

    still = settings_for("paper", n_steps=5, n_inpaint_repeats=1)
    for churn, more in ((0.0, 1.0), (1.0, 1.2), (1e6, 2**0.5)):
        shown.clear()
        settings = dataclasses.replace(still, churn=churn)
        inpaint(watch, clean, known, noise, settings)
        level, spread = shown[0]
        assert level == pytest.approx(80.0 * more)
        assert spread == pytest.approx(level, rel=0.05)
