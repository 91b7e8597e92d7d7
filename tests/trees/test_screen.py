"""Which columns a model sees, in tables in which the associated columns are known."""

import numpy as np
import pytest

from diffjoint.trees import MISSINGNESS_INPUTS, VALUE_INPUTS, open_screen
from diffjoint.trees.screen import MOST_ROWS

N_ROWS, N_COLUMNS, ANSWER, GATE = 1_500, 201, 7, 150
MOST, MOST_ABOUT = MISSINGNESS_INPUTS.total, VALUE_INPUTS.total
FEWEST, FEWEST_ABOUT = (
    most.total - most.missing_together for most in (MISSINGNESS_INPUTS, VALUE_INPUTS)
)


def noise(n_columns=N_COLUMNS, n_rows=N_ROWS, seed=0):
    """Return columns of noise; one cell in ten is lost."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, n_columns))
    values[rng.random(values.shape) < 0.1] = np.nan
    return values, np.zeros(n_columns, dtype=np.int64), rng


def gated(skipped=(ANSWER,), seed=0):
    """Return columns of noise, some of which are skipped by a gate of two levels."""
    values, n_levels, rng = noise(seed=seed)
    gate = rng.integers(0, 2, N_ROWS).astype(float)
    values[np.ix_(gate == 1, list(skipped))] = np.nan
    values[:, GATE], n_levels[GATE] = gate, 2
    return values, n_levels


def seen_by(values, n_levels, column, with_gaps=True):
    """Return the columns that a model of which cells are missing in a column sees."""
    return open_screen(values, n_levels).inputs_for_missingness(column, by_missingness=with_gaps)


@pytest.mark.parametrize("with_gaps", [True, False])
def test_a_gate_among_two_hundred_columns_of_noise_is_found(with_gaps):
    seen = seen_by(*gated(), ANSWER, with_gaps)
    assert GATE in seen
    assert len(seen) <= MOST


def test_columns_that_are_skipped_together_do_not_crowd_out_their_gate():
    """Any of sixty columns predicts the others; the gate alone is the cause."""
    values, n_levels = gated(skipped=range(60))
    for column in (0, 30, 59):
        seen = seen_by(values, n_levels, column)
        assert GATE in seen
        assert (seen < 60).sum() >= MISSINGNESS_INPUTS.missing_together, (
            "those that are missing along with it, too"
        )


def test_columns_that_are_lost_together_do_not_crowd_out_a_gate():
    values, n_levels = gated()
    refused = np.random.default_rng(1).random(N_ROWS) < 0.2
    values[np.ix_(refused, range(ANSWER, 100))] = np.nan
    assert GATE in seen_by(values, n_levels, ANSWER)


def test_a_column_that_is_missing_along_with_another_is_seen_for_it():
    """No value is associated with which cells are missing; a missing cell elsewhere is."""
    values, n_levels, rng = noise()
    values[np.ix_(rng.random(N_ROWS) < 0.3, [ANSWER, 90])] = np.nan
    assert 90 in seen_by(values, n_levels, ANSWER)


def test_columns_in_another_order_are_seen_alike():
    """Every column differs from every other in what it says, so that none is seen by its place."""
    values, n_levels = gated()
    order = np.random.default_rng(1).permutation(N_COLUMNS)
    place = np.argsort(order)
    turned, levels = values[:, order], n_levels[order]
    seen = seen_by(values, n_levels, ANSWER)
    assert sorted(order[seen_by(turned, levels, place[ANSWER])]) == seen.tolist()
    about = open_screen(values, n_levels).inputs_for_values(ANSWER)
    assert (
        sorted(order[open_screen(turned, levels).inputs_for_values(place[ANSWER])])
        == about.tolist()
    )


@pytest.mark.slow
def test_a_column_is_never_its_own_input():
    values, n_levels = gated(skipped=range(60))
    screen = open_screen(values, n_levels)
    for j in range(N_COLUMNS):
        assert j not in screen.inputs_for_missingness(j)
        assert j not in screen.inputs_for_values(j)


def test_inputs_are_places_in_ascending_order():
    values, n_levels = gated(skipped=range(60))
    for seen in (seen_by(values, n_levels, 0), open_screen(values, n_levels).inputs_for_values(0)):
        assert seen.dtype == np.int64
        assert (np.diff(seen) > 0).all()


@pytest.mark.parametrize("n_columns", [1, 2, MOST + 1])
def test_models_of_narrow_tables_see_all_other_columns(n_columns):
    values, n_levels, _ = noise(n_columns)
    screen = open_screen(values, n_levels)
    for j in (0, n_columns - 1):
        others = [k for k in range(n_columns) if k != j]
        assert seen_by(values, n_levels, j).tolist() == others
        assert screen.inputs_for_values(j).tolist() == others


def test_models_of_wider_tables_see_some():
    values, n_levels, _ = noise(MOST_ABOUT + 2)
    assert FEWEST <= len(seen_by(values, n_levels, 0)) <= MOST
    assert FEWEST_ABOUT <= len(open_screen(values, n_levels).inputs_for_values(0)) <= MOST_ABOUT


def test_columns_that_say_the_same_leave_room_for_one_that_says_another_thing():
    """Forty copies of one cause are each stronger than the other cause."""
    values, n_levels, rng = noise()
    copies = values[:, [100]] + 0.1 * rng.normal(size=(N_ROWS, 40))
    values[:, ANSWER] = 3 * values[:, 100] + values[:, 170] + rng.normal(size=N_ROWS)
    values[:, 20:60] = copies
    assert 170 in open_screen(values, n_levels).inputs_for_values(ANSWER)


def test_columns_without_a_value_or_with_one_alone_do_no_harm():
    """Neither hides a gate nor breaks anything when it is asked about itself."""
    values, n_levels = gated()
    values[:, 20:30], values[:, 30:40], values[:, 40:50] = np.nan, 5.0, 0.0
    n_levels[25:30], n_levels[40:50] = 3, 1
    assert GATE in seen_by(values, n_levels, ANSWER)
    screen = open_screen(values, n_levels)
    for j in (20, 25, 30, 40):
        assert len(screen.inputs_for_values(j)) >= FEWEST_ABOUT
        assert len(screen.inputs_for_missingness(j)) >= FEWEST


@pytest.mark.parametrize("n_levels_of_all", [0, 3])
def test_a_table_without_a_value_can_be_looked_at(n_levels_of_all):
    screen = open_screen(np.full((30, 60), np.nan), np.full(60, n_levels_of_all))
    assert len(screen.inputs_for_values(3)) >= FEWEST_ABOUT


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_hardly_a_row_is_enough_to_be_looked_at(n_rows):
    values, n_levels, _ = noise(60, n_rows)
    assert len(seen_by(values, n_levels, 3)) >= FEWEST
    assert len(open_screen(values, n_levels).inputs_for_values(3)) >= FEWEST_ABOUT


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1.0, 1e9, 1e150])
def test_a_number_is_told_by_what_it_goes_with_whatever_its_unit(unit):
    """By a number that makes it larger, and by one that makes it larger at both ends."""
    values, n_levels, rng = noise()
    values[:, ANSWER] = values[:, 100] + values[:, 170] ** 2 + rng.normal(size=N_ROWS)
    values[:, ANSWER] *= unit
    assert {100, 170} <= set(open_screen(values, n_levels).inputs_for_values(ANSWER))


def test_an_offset_does_not_hide_what_a_number_goes_with():
    values, n_levels, rng = noise()
    values[:, ANSWER] = 1e6 + values[:, 100] + rng.normal(size=N_ROWS)
    assert 100 in open_screen(values, n_levels).inputs_for_values(ANSWER)


@pytest.mark.parametrize("n_levels_of_it", [2, 3, 40])
def test_a_category_is_told_by_what_it_goes_with(n_levels_of_it):
    """By a number whose middle part makes the first level likelier, and by another category."""
    values, n_levels, rng = noise()
    other = rng.integers(0, 5, N_ROWS)
    level = rng.integers(0, n_levels_of_it, N_ROWS)
    level[(np.abs(values[:, 100]) < 0.3) | (other == 2)] = 0
    values[:, ANSWER], n_levels[ANSWER] = level, n_levels_of_it
    values[:, 170], n_levels[170] = other, 5
    values[rng.random(N_ROWS) < 0.2, ANSWER] = np.nan
    assert {100, 170} <= set(open_screen(values, n_levels).inputs_for_values(ANSWER))


def test_a_gate_of_many_levels_is_found_by_its_common_ones():
    values, n_levels, rng = noise()
    gate = np.where(rng.random(N_ROWS) < 0.3, 99, rng.integers(0, 99, N_ROWS)).astype(float)
    values[gate == 99, ANSWER] = np.nan
    values[:, GATE], n_levels[GATE] = gate, 100
    assert GATE in seen_by(values, n_levels, ANSWER)


def test_a_column_that_says_more_is_the_stronger():
    values, n_levels, rng = noise()
    target = (values[:, 10] > 0) * 1.0
    values[:, 11] = np.where(rng.random(N_ROWS) < 0.8, values[:, 10], values[:, 11])
    screen = open_screen(values, n_levels)
    target = target[screen.rows]
    strength = screen.strength(((target - target.mean()) / target.std())[:, None])
    assert strength[10] > strength[11] > np.delete(strength, [10, 11]).max()
    assert np.abs(np.delete(strength, [10, 11]).mean()) < 1, "noise says nothing, on average"


def test_of_many_rows_some_from_all_over_the_table_are_looked_at():
    """A gate that is only asked of the last rows is found."""
    values, n_levels, rng = noise(50, 3 * MOST_ROWS)
    gate = rng.integers(0, 2, len(values)).astype(float)
    late = np.arange(len(values)) >= 2 * MOST_ROWS
    values[late & (gate == 1), 0] = np.nan
    values[:, 49] = np.where(late, gate, np.nan)
    screen = open_screen(values, n_levels)
    assert len(screen.rows) == MOST_ROWS
    assert (screen.rows[0], screen.rows[-1]) == (0, len(values) - 1)
    assert 49 in seen_by(values, n_levels, 0)
