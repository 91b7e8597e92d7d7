"""A denoiser's output is kept near the data, and near the data it is left alone."""

import numpy as np
import torch

from diffjoint.diffusion.clamp import clamped, output_limits
from diffjoint.diffusion.history import loss_jump
from diffjoint.diffusion.sample import inpaint
from diffjoint.state import JointState
from tests.diffusion.test_sample import SETTINGS, make


def test_the_limits_hold_every_row_of_the_data_and_no_number_far_beyond():
    space, observation = make()
    low, high = output_limits(space)
    whole = observation.values[~np.isnan(observation.values).any(axis=1)]
    vectors = space.encode(JointState(whole, np.zeros(whole.shape, dtype=bool)))
    assert ((low.numpy() < vectors) & (vectors < high.numpy())).all()
    assert low[1:4].tolist() == [-1.0] * 3
    assert high[1:4].tolist() == [2.0] * 3
    assert high[0] < 3 * 0.5 * 4


def test_a_denoiser_that_runs_away_does_so_no_more():
    """The identity times two: each repeat doubles what is off the data."""
    space, _ = make()
    clean = torch.zeros(30, space.n_coordinates)
    known = torch.zeros(30, space.n_coordinates, dtype=torch.bool)
    settings = SETTINGS

    def noise():
        return torch.ones(30, space.n_coordinates)

    def grows(noisy, sigma):
        return 2 * noisy

    free = inpaint(grows, clean, known, noise, settings)
    kept = inpaint(clamped(grows, space), clean, known, noise, settings)
    low, high = output_limits(space)
    assert free.abs().max() > 100 * high.abs().max()
    assert ((low - 1e-4 <= kept) & (kept <= high + 1e-4)).all()


def test_a_loss_that_jumps_is_reported_once_it_does():
    steady = [{"iteration": 1, "loss": 0.2}, {"iteration": 2, "loss": 0.29}]
    rising = [*steady, {"iteration": 3, "loss": 0.9}]
    assert loss_jump(steady[:1], 800) is None
    assert loss_jump(steady, 800) is None
    assert "from 0.29 in pass 2 to 0.9 in pass 3" in loss_jump(rising, 800)
    assert loss_jump(rising, 2) is None
