import math

import pytest
import torch

from diffjoint._effort import training_units
from diffjoint._progress import NoProgress
from diffjoint.diffusion.edm import denoising_loss
from diffjoint.diffusion.sample import sample_amortised
from diffjoint.diffusion.train import Hiding, model_update
from diffjoint.errors import TrainingError
from diffjoint.settings import settings_for


class Listener(NoProgress):
    def __init__(self):
        self.units = 0.0
        self.losses = []

    def advance(self, units, loss=None):
        self.units += units
        if loss is not None:
            self.losses.append(loss)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def clouds(n=256):
    side = torch.rand(n, 1, generator=generator()) < 0.5
    return torch.where(side, 0.5, -0.5) + 0.02 * torch.randn(n, 2, generator=generator(1))


def settings(**overrides):
    quick = {"width": 32, "batch_size": 64, "learning_rate": 3e-3, "max_epochs": 60, "patience": 60}
    return settings_for("paper", **{**quick, **overrides})


def test_training_lowers_the_loss():
    listener = Listener()
    model_update(clouds(), settings(), generator(), listener)
    assert min(listener.losses[-10:]) < 0.5 * listener.losses[0]


def test_the_best_weights_are_kept():
    listener = Listener()
    trained = model_update(clouds(), settings(), generator(), listener)
    assert trained.loss == min(listener.losses)


def test_the_weights_returned_are_those_of_the_best_epoch():
    """Training one epoch less, where the last was worse, must give the same weights."""
    listener = Listener()
    vectors = clouds(64)
    trained = model_update(vectors, settings(max_epochs=30), generator(), listener)
    best = listener.losses.index(min(listener.losses)) + 1
    assert best < 30
    stopped = model_update(vectors, settings(max_epochs=best), generator(), NoProgress())
    pairs = zip(trained.denoiser.parameters(), stopped.denoiser.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_training_stops_when_the_loss_has_not_improved_for_the_patience():
    listener = Listener()
    trained = model_update(clouds(), settings(patience=2), generator(), listener)
    assert trained.n_epochs < 60
    best = listener.losses.index(min(listener.losses)) + 1
    assert trained.n_epochs == best + 2


def test_progress_reaches_its_end_even_when_training_stops_early():
    listener = Listener()
    model_update(clouds(), settings(patience=2), generator(), listener)
    assert listener.units == 3 * 256 * 60


def test_the_same_generator_gives_the_same_weights():
    first = model_update(clouds(), settings(max_epochs=3), generator(), NoProgress())
    again = model_update(clouds(), settings(max_epochs=3), generator(), NoProgress())
    pairs = zip(first.denoiser.parameters(), again.denoiser.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_warm_start_goes_on_from_the_given_denoiser_and_leaves_it_alone():
    vectors = clouds()
    start = model_update(vectors, settings(), generator(), NoProgress()).denoiser
    before = [parameter.clone() for parameter in start.parameters()]
    listener = Listener()
    model_update(vectors, settings(max_epochs=3), generator(5), listener, start=start)
    assert all(torch.equal(a, b) for a, b in zip(before, start.parameters(), strict=True))
    cold = Listener()
    model_update(vectors, settings(max_epochs=3), generator(5), cold)
    assert listener.losses[0] < 0.7 * cold.losses[0]


def test_a_scheduler_cuts_the_learning_rate_on_a_plateau():
    fast = settings(max_epochs=40, learning_rate=0.05)
    cut = settings(max_epochs=40, learning_rate=0.05, scheduler_patience=1)
    plain = model_update(clouds(), fast, generator(), NoProgress())
    scheduled = model_update(clouds(), cut, generator(), NoProgress())
    assert plain.loss != scheduled.loss


def test_a_loss_that_is_not_a_number_is_explained():
    vectors = clouds()
    vectors[3, 0] = math.nan
    with pytest.raises(TrainingError, match=r"loss became nan in epoch 1.*Lower learning_rate"):
        model_update(vectors, settings(), generator(), NoProgress())


@pytest.mark.slow
def test_the_denoiser_learns_where_the_data_lies():
    vectors = clouds(1024)
    trained = model_update(vectors, settings(max_epochs=100), generator(), NoProgress())
    noise = torch.randn(vectors.shape, generator=generator(3))
    sigma = torch.full((1, 1), 0.3)
    with torch.no_grad():
        loss = denoising_loss(trained.denoiser, vectors, sigma, noise)
        blind = ((1 / 0.3**2 + 1 / 0.25) * (vectors**2)).mean()
    assert loss.item() < 0.3 * blind.item()


def hidden(n=2_000, n_columns=6):
    observed = torch.rand(n, n_columns, generator=generator(2)) < 0.8
    hiding = Hiding(observed, torch.tensor([1, 3, 1, 1, 2, 1]))
    return observed, *hiding.pattern(torch.arange(n), 11, generator(3))


def test_only_observed_cells_are_hidden_and_never_shown_as_well():
    observed, known, asked = hidden()
    cells = observed.repeat_interleave(torch.tensor([1, 3, 1, 1, 2, 1]), dim=1)
    assert not (asked[:, :9] & ~cells).any()
    assert torch.equal(known[:, :9] | asked[:, :9], cells)
    assert not (known & asked).any()


def test_the_mask_is_always_shown_and_every_row_has_something_hidden():
    observed, known, asked = hidden()
    assert known[:, 9:].all()
    assert not asked[:, 9:].any()
    assert asked.any(dim=1)[observed.any(dim=1)].all()


@pytest.mark.slow
def test_a_conditional_denoiser_learns_from_hidden_cells_what_goes_with_what():
    vectors = clouds(2_000)
    hiding = Hiding(torch.ones(len(vectors), 2, dtype=torch.bool), torch.tensor([1, 1]))
    quick = settings_for(
        "fast", width=32, batch_size=128, max_epochs=40, n_steps=8, learning_rate=5e-3
    )
    denoiser = model_update(vectors, quick, generator(), NoProgress(), hiding=hiding).denoiser
    known = torch.tensor([[True, False]]).expand(400, 2)
    noise = generator(7)
    with torch.inference_mode():
        drawn = sample_amortised(
            denoiser,
            vectors[:400],
            known,
            torch.zeros_like(known),
            lambda: torch.randn(400, 2, generator=noise),
            quick,
        )
    assert torch.equal(drawn[:, 0], vectors[:400, 0])
    assert ((drawn[:, 1] > 0) == (vectors[:400, 0] > 0)).float().mean() > 0.97


def test_an_epoch_of_hiding_has_a_size_worth_its_name():
    quick = settings_for("fast", batch_size=10, max_epochs=1)
    assert training_units(30, quick) == 3 * 250
    assert training_units(600, quick) == 3 * 600
    assert training_units(10**6, quick) == 3 * 1_000
