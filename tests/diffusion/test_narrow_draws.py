"""Draws that are too wide are moved towards what is expected."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from diffjoint import Diffusion, SelectiveImputer, load
from diffjoint.diffusion.narrow_draws import _hide_in_turn, _inside, _is_too_wide, _share, narrowed
from diffjoint.diffusion.train import first_held_out
from diffjoint.state import Draws, JointSpace, Observation, row_keys
from diffjoint.table import code_table, infer_schema, open_table

N_CELLS = 1_000


def draws_of(width, seed=0):
    """What is expected, what is so, and draws whose spread is so many times what it should be."""
    rng = np.random.default_rng(seed)
    expected = rng.normal(size=N_CELLS)
    truth = expected + rng.normal(size=N_CELLS)
    return expected + width * rng.normal(size=(20, N_CELLS)), expected, truth


@pytest.mark.parametrize("width", [0.5, 1.0])
def test_draws_that_are_narrow_enough_are_not_too_wide(width):
    drawn, _, truth = draws_of(width)
    assert not _is_too_wide(drawn, truth)


def test_draws_that_are_too_wide_are_found_out():
    drawn, _, truth = draws_of(1.5)
    assert _is_too_wide(drawn, truth)


@pytest.mark.parametrize("grid", [0.0, 0.5, 2.0, 10.0], ids=["none", "fine", "coarse", "all alike"])
def test_values_that_many_cells_share_count_as_far_as_they_should(grid):
    """Draws from the truth hold 80%, however many of them tie."""
    drawn, _, truth = draws_of(1.0)
    if grid:
        drawn, truth = np.round(drawn / grid), np.round(truth / grid)
    assert _inside(drawn, truth) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("width", [1.5, 2.0, 4.0])
def test_as_much_is_taken_away_as_was_too_much(width):
    drawn, expected, truth = draws_of(width)
    column = infer_schema(open_table(pd.DataFrame({"x": drawn.ravel()}))).modelled[0]
    assert _share(drawn, expected, truth, column) == pytest.approx(1 / width, abs=0.1)


def test_zeros_that_are_certain_do_not_make_other_draws_narrow():
    """No income for those without a job, and none of the others' is too wide."""
    rng = np.random.default_rng(0)
    job = rng.random(N_CELLS) < 0.5
    truth = np.where(job, np.round(rng.normal(40, 8, N_CELLS)), 0.0)
    drawn = np.where(job, np.round(rng.normal(40, 8, (20, N_CELLS))), 0.0)
    assert not _is_too_wide(drawn, truth)


def test_only_drawn_numbers_of_wide_columns_move():
    table = pd.DataFrame(
        {"wide": [0, 10, 20, 30, 40] * 5, "fine": np.linspace(0, 1, 25), "level": list("abcde") * 5}
    )
    schema = infer_schema(open_table(table), {"wide": "integer"})
    space = JointSpace(schema, (), 0.5, by_rank=True)
    values = np.tile(np.array([[40.0, 1.0, 4.0], [0.0, 0.0, 0.0]]), (3, 1, 1))
    expected = np.array([[20.0, 0.5, 2.0], [20.0, 0.5, 2.0]])
    gaps = np.array([[True, True, True], [False, True, True]])
    block = Draws(np.arange(2), values, np.zeros(values.shape, dtype=bool))
    moved = narrowed(block, expected, gaps, space, np.array([0.5, 1.0, 1.0])).values
    assert np.isin(moved[:, 0, 0], np.arange(21, 40)).all()
    moved[:, 0, 0] = 40.0
    np.testing.assert_array_equal(moved, values)


@pytest.fixture(scope="module")
def sums():
    """A column that is the sum of two others, which a denoiser learns slowly."""
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(rng.normal(size=(3_000, 2)), columns=["a", "b"])
    whole["sum"] = whole["a"] + whole["b"]
    lost = rng.random(whole.shape) < 0.1
    imputer = SelectiveImputer(
        [], random_state=0, diffusion=Diffusion(max_epochs=4, width=32, n_steps=8)
    )
    return whole, whole.mask(lost), imputer.fit(whole.mask(lost))


def spread_and_error(imputer, whole, table):
    rows = table["sum"].isna() & table[["a", "b"]].notna().all(axis=1)
    drawn = np.stack([one.loc[rows, "sum"] for one in imputer.sample(table, 10, draws="diffusion")])
    return drawn.std(axis=0).mean(), np.abs(drawn - whole.loc[rows, "sum"].to_numpy()).mean()


@pytest.mark.slow
def test_draws_are_narrower_and_closer_where_trees_know_better(sums):
    whole, table, imputer = sums
    spread, error = spread_and_error(imputer, whole, table)
    as_drawn = copy(imputer)
    model = replace(imputer._fitted.model, shares=None)
    as_drawn._fitted = replace(imputer._fitted, model=model)
    wide, off = spread_and_error(as_drawn, whole, table)
    assert spread < 0.8 * wide
    assert error < 0.8 * off


def test_a_saved_imputer_draws_the_same(sums, tmp_path):
    _, table, imputer = sums
    imputer.save(tmp_path / "model", draws="diffusion")
    again = load(tmp_path / "model").sample(table[:50], 2, draws="diffusion")
    for one, other in zip(imputer.sample(table[:50], 2, draws="diffusion"), again, strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("n_numbers", [1, 3, 40])
def test_every_number_of_a_row_is_hidden_once(n_numbers):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(9_000, n_numbers)))
    table = table.mask(rng.random(table.shape) < 0.3).set_axis(map(str, range(n_numbers)), axis=1)
    table["level"] = rng.choice(list("ab"), len(table))
    opened = open_table(table)
    schema = infer_schema(opened)
    space = JointSpace(schema, (), 0.5, by_rank=True)
    values = code_table(opened, schema, "error")
    none = np.zeros(values.shape, dtype=bool)
    observation = Observation(values, none, row_keys(values, 0))
    rows, partly_hidden, hidden = _hide_in_turn(observation, none, space)
    places = np.argwhere(hidden)
    assert len({(rows[i], j) for i, j in places}) == len(places)
    assert not hidden[:, -1].any()
    np.testing.assert_array_equal(partly_hidden.values, np.where(hidden, np.nan, values[rows]))
    assert (hidden.sum(axis=1) <= max(1, n_numbers / 4)).all()
    there = observation.observed[np.unique(rows), :-1]
    np.testing.assert_array_equal(hidden[:, :-1].sum(axis=0), there.sum(axis=0))
    assert there.sum(axis=0).min() >= 500
    assert rows.min() >= first_held_out(len(table))
