import dataclasses
import inspect
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from diffjoint import SelectiveImputer
from diffjoint.errors import InputError
from diffjoint.fitting.options import read_options
from diffjoint.parameters.checks import OF_THE_RUN, PARAMETERS, SETTINGS
from diffjoint.settings import PRESETS, Diffusion, Settings, parse_bytes, settings_for

MOST_PARAMETERS = 24
"""Parameters of the estimator at most: two dozen can be read through."""


def test_the_estimator_has_two_dozen_parameters():
    taken = inspect.signature(SelectiveImputer.__init__).parameters
    assert len(taken.keys() - {"self"}) <= MOST_PARAMETERS
    assert taken.keys() - {"self"} == SelectiveImputer().get_params(deep=False).keys()


def test_the_paper_preset_has_every_number_of_the_papers_table():
    paper = settings_for("paper")
    assert (paper.n_draws, paper.n_steps, paper.n_inpaint_repeats) == (30, 50, 10)
    assert (paper.width, paper.batch_size, paper.learning_rate) == (1024, 4096, 1e-4)
    assert (paper.max_epochs, paper.patience) == (1001, 200)
    assert (paper.log_sigma_mean, paper.log_sigma_std, paper.sigma_data) == (-1.2, 1.2, 0.5)
    assert (paper.sigma_min, paper.sigma_max, paper.rho) == (0.002, 80.0, 7.0)
    assert (paper.n_iterations, paper.fusion, paper.joint) == (10, "or", True)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_number_can_be_set_by_hand(preset):
    for field in dataclasses.fields(Settings):
        value = getattr(PRESETS[preset], field.name)
        other = {bool: not value, str: "mean" if value == "mode" else "mode"}.get(type(value), 7)
        named = {"fusion": "vote", "threshold": 0.7, "sampler": "inpaint", "first_fill": "mean"}
        other = named.get(field.name, other)
        assert getattr(settings_for(preset, **{field.name: other}), field.name) == other


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_draws": 0}, "n_draws must be a whole number of at least 1; got 0"),
        ({"n_draws": 2.5}, "n_draws must be a whole number of at least 1; got 2.5"),
        ({"learning_rate": -1.0}, "learning_rate must be a positive number; got -1.0"),
        ({"learning_rate": "slow"}, "learning_rate must be a positive number; got 'slow'"),
        ({"fusion": "xor"}, "fusion must be one of 'or', 'and', 'uncertainty', 'vote'; got 'xor'"),
        ({"sigma_min": 90.0}, "sigma_min must lie below sigma_max; got 90.0 and 80.0"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_expected(setting, words):
    with pytest.raises(InputError, match=words):
        settings_for("paper", **setting)


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(
        InputError, match="preset must be one of 'fast', 'balanced', 'paper'; got 'slow'"
    ):
        settings_for("slow")


@pytest.mark.parametrize(
    ("limit", "n_bytes"), [(10, 10), ("2KB", 2000), ("1.5 MB", 1_500_000), ("3gb", 3 * 10**9)]
)
def test_sizes_are_read_as_people_write_them(limit, n_bytes):
    assert parse_bytes(limit) == n_bytes


@pytest.mark.parametrize("limit", ["lots", 0, "-1GB", "inf"])
def test_a_size_that_is_none_says_how_to_write_one(limit):
    with pytest.raises(InputError, match="such as '500MB'"):
        parse_bytes(limit)


def test_a_preset_knows_the_papers_sampler_too():
    assert settings_for("fast").sampler == "amortised"
    inpainting = settings_for("fast", sampler="inpaint")
    assert (inpainting.sampler, inpainting.n_iterations, inpainting.max_epochs) == (
        "inpaint",
        2,
        400,
    )
    assert settings_for("paper").sampler == "inpaint"


def test_settings_of_the_diffusion_model_are_named_as_in_settings():
    of_the_run = {"device", "checkpoint"}
    of_the_imputer = {"n_boosters", "threshold"}
    numbers = {field.name for field in dataclasses.fields(Settings)}
    assert set(Diffusion().get_params()) - of_the_run == numbers - of_the_imputer


def test_every_parameter_is_in_the_table():
    assert set(PARAMETERS) == set(SelectiveImputer().get_params(deep=False))
    assert set(Diffusion().get_params()) == (set(SETTINGS) | set(OF_THE_RUN)) - set(PARAMETERS)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"callback": 3}, "callback must be a function of the imputer, or None; got 3"),
        ({"verbose": "no"}, "verbose must be True or False; got 'no'"),
        ({"random_state": "x"}, "random_state must be a whole number from 0 to .*; got 'x'"),
        ({"random_state": -1}, "random_state must be a whole number from 0 to .*; got -1"),
        ({"random_state": 2**32}, "random_state must be a whole number from 0"),
        ({"rules": "age > 3"}, "rules must map columns to conditions; got 'age > 3'"),
        ({"reason_codes": [-9]}, "reason_codes must map columns to codes; .* such as {'income'"),
        ({"column_kinds": 7}, "column_kinds must map columns to kinds; got 7"),
        ({"mm_fill": 0}, "mm_fill must map columns to values; got 0"),
        ({"bounds": (0, 1)}, "bounds must map columns to pairs of a lowest and a highest value"),
        ({"diffusion__device": None}, "device must be 'auto', 'cpu', .*; got None"),
        ({"diffusion__checkpoint": 3}, "checkpoint must be a path; got 3"),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, dict) else "",
)
def test_a_wrong_parameter_is_refused_before_the_table_is_opened(params, words):
    (name,) = params
    with pytest.raises(InputError, match=words) as refused:
        SelectiveImputer().set_params(**params).fit("no table")
    assert refused.value.parameter == name.removeprefix("diffusion__")


@pytest.mark.parametrize(
    "params",
    [
        {"callback": print},
        {"verbose": 2},
        {"verbose": np.False_},
        {"random_state": np.random.RandomState(0)},
        {"random_state": np.int64(7)},
        {"rules": MappingProxyType({})},
        {"diffusion__device": "cuda:1"},
        {"diffusion__checkpoint": Path("runs")},
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else "",
)
def test_a_right_parameter_is_taken(params):
    imputer = SelectiveImputer().set_params(**params)
    assert read_options(imputer.get_params(deep=False)).preset == imputer.preset


def test_a_diffusion_shows_what_was_set():
    assert repr(Diffusion()) == "Diffusion()"
    assert repr(Diffusion(n_steps=8, width=64)) == "Diffusion(n_steps=8, width=64)"


def test_a_diffusion_never_changes():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Diffusion().width = 64
    given = Diffusion(width=64)
    assert given.with_params(width=32) == Diffusion(width=32)
    assert given == Diffusion(width=64)


def test_a_setting_that_a_diffusion_does_not_have_is_named():
    with pytest.raises(InputError, match="Diffusion has no setting 'wdth'; it has sampler,"):
        Diffusion().with_params(wdth=64)
