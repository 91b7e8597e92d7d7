import itertools
import math

import numpy as np
import pytest
import torch

from diffjoint._effort import n_network_passes
from diffjoint.diffusion.edm import (
    denoising_loss,
    draw_keys,
    heun_step,
    keyed_normal,
    new_denoiser,
    sampling_sigmas,
    training_sigmas,
)
from diffjoint.state import row_keys


class PerfectDenoiser:
    """E[clean | noisy] for data that is normal with standard deviation 1/2: known exactly."""

    sigma_data = 0.5
    calls = 0

    def __call__(self, noisy, sigma):
        self.calls += 1
        return noisy * self.sigma_data**2 / (self.sigma_data**2 + sigma**2)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_schedule_runs_from_sigma_max_to_sigma_min_to_zero():
    sigmas = sampling_sigmas(50, 0.002, 80.0, 7.0)
    assert len(sigmas) == 51
    assert sigmas[0] == pytest.approx(80.0)
    assert sigmas[-2] == pytest.approx(0.002)
    assert sigmas[-1] == 0.0
    assert all(a > b for a, b in itertools.pairwise(sigmas))


def test_the_logarithm_of_training_noise_has_the_asked_mean_and_spread():
    logs = training_sigmas(100_000, -1.2, 1.2, generator()).log()
    assert logs.shape == (100_000, 1)
    assert logs.mean().item() == pytest.approx(-1.2, abs=0.02)
    assert logs.std().item() == pytest.approx(1.2, abs=0.02)


def test_preconditioning_returns_the_input_where_there_is_no_noise():
    denoiser = new_denoiser(4, 16, 0.5, generator())
    vectors = torch.randn(8, 4, generator=generator())
    cleaned = denoiser(vectors, torch.full((1, 1), 1e-6))
    torch.testing.assert_close(cleaned, vectors, atol=1e-5, rtol=0)


def test_preconditioning_computed_by_hand():
    """With a network that returns its input plus its noise level, everything is known."""
    denoiser = new_denoiser(2, 16, 0.5, generator())
    denoiser.network.forward = lambda vectors, noise_level: vectors + noise_level
    noisy, sigma = torch.tensor([[3.0, -1.0]]), 1.2
    variance = sigma**2 + 0.25
    inside = noisy / variance**0.5 + math.log(sigma) / 4
    expected = 0.25 / variance * noisy + sigma * 0.5 / variance**0.5 * inside
    torch.testing.assert_close(denoiser(noisy, torch.full((1, 1), sigma)), expected)


def test_the_loss_sees_noisy_vectors():
    """A denoiser that returns what it is given errs by exactly the noise."""

    class Echo:
        sigma_data = 0.5

        def __call__(self, noisy, sigma):
            return noisy

    noise = torch.tensor([[1.0, -2.0]])
    sigma = torch.tensor([[0.5]])
    weight = (0.25 + 0.25) / 0.0625
    expected = weight * 0.25 * (1 + 4) / 2
    assert denoising_loss(Echo(), torch.ones(1, 2), sigma, noise).item() == pytest.approx(expected)


def test_the_noise_of_each_row_is_told_to_the_network():
    denoiser = new_denoiser(2, 16, 0.5, generator())
    same = torch.ones(2, 2)
    cleaned = denoiser(same, torch.tensor([[0.1], [5.0]]))
    assert not torch.allclose(cleaned[0], cleaned[1])


def test_one_noise_level_for_all_rows_equals_one_each():
    denoiser = new_denoiser(3, 16, 0.5, generator())
    vectors = torch.randn(5, 3, generator=generator())
    together = denoiser(vectors, torch.full((1, 1), 0.7))
    torch.testing.assert_close(together, denoiser(vectors, torch.full((5, 1), 0.7)))


def test_weights_depend_on_the_generator_and_leave_the_global_one_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = new_denoiser(3, 8, 0.5, generator(7)).state_dict()
    again = new_denoiser(3, 8, 0.5, generator(7)).state_dict()
    other = new_denoiser(3, 8, 0.5, generator(8)).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["network.project.weight"], other["network.project.weight"])


def test_the_loss_of_a_perfect_denoiser_is_the_variance_that_cannot_be_known():
    clean = 0.5 * torch.randn(200_000, 1, generator=generator())
    noise = torch.randn(clean.shape, generator=generator(1))
    sigma = torch.full((1, 1), 0.5)
    posterior_variance = 0.25 * 0.25 / (0.25 + 0.25)
    weight = (0.25 + 0.25) / (0.5 * 0.5) ** 2
    loss = denoising_loss(PerfectDenoiser(), clean, sigma, noise)
    assert loss.item() == pytest.approx(weight * posterior_variance, rel=0.02)


def test_heun_steps_carry_noise_to_data_of_the_right_spread():
    sigmas = sampling_sigmas(30, 0.002, 80.0, 7.0)
    vectors = 80.0 * torch.randn(50_000, 1, generator=generator())
    denoiser = PerfectDenoiser()
    for sigma, next_sigma in itertools.pairwise(sigmas):
        vectors = heun_step(denoiser, vectors, sigma, next_sigma)
    assert vectors.std().item() == pytest.approx(0.5, rel=0.02)
    assert denoiser.calls == n_network_passes(30)


def test_heun_is_second_order():
    def error(n_steps):
        sigmas = torch.linspace(2.0, 0.5, n_steps + 1).tolist()
        vectors = torch.ones(1, 1, dtype=torch.float64)
        for sigma, next_sigma in itertools.pairwise(sigmas):
            vectors = heun_step(PerfectDenoiser(), vectors, sigma, next_sigma)
        exact = math.sqrt((0.25 + 0.25) / (0.25 + 4.0))
        return abs(vectors.item() - exact)

    assert error(20) / error(40) == pytest.approx(4.0, rel=0.15)


def test_keyed_noise_is_standard_normal_and_uncorrelated():
    keys = torch.from_numpy(row_keys(np.arange(50_000.0)[:, None], seed=3))
    first, second = keyed_normal(keys, 0, 5), keyed_normal(keys, 1, 5)
    both = torch.cat([first, second], dim=1)
    assert both.mean(dim=0).abs().max().item() < 0.02
    torch.testing.assert_close(torch.cov(both.T), torch.eye(10), atol=0.03, rtol=0)
    fourth_moment = (both**4).mean().item()
    assert fourth_moment == pytest.approx(3.0, abs=0.1)


def test_keyed_noise_of_a_row_does_not_depend_on_its_neighbours():
    keys = torch.from_numpy(row_keys(np.random.default_rng(0).normal(size=(100, 3)), seed=0))
    chosen = torch.arange(64).flip(0)
    assert torch.equal(keyed_normal(keys[:64], 5, 4)[chosen], keyed_normal(keys[chosen], 5, 4))


def test_draws_and_streams_have_noise_of_their_own():
    rows = torch.from_numpy(row_keys(np.zeros((1, 1)), seed=0)).expand(64)
    keys = draw_keys(rows, torch.arange(64), stream=0)
    assert len(torch.unique(keys)) == 64
    assert not set(keys.tolist()) & set(draw_keys(rows, torch.arange(64), stream=1).tolist())


def test_row_keys_follow_the_rows_and_tell_repeats_apart():
    values = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [2.0, -0.0]])
    keys = row_keys(values, seed=0)
    assert len(set(keys.tolist())) == 4
    assert set(row_keys(values[::-1], seed=0).tolist()) == set(keys.tolist())
    assert row_keys(values[:1], seed=0)[0] == keys[0]
    assert row_keys(values[:1], seed=1)[0] != keys[0]
