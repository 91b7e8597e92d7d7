"""Which cells of a row are lost together, exactly."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import InputError
from diffjoint.simulate import make_mechanism
from diffjoint.simulate.mechanisms import LifeMechanism, loss_patterns, missing_given_meaningful

LIFE = ["own-rates", "break-off", "blocks", "propensity", "survey"]


def two_columns(**parts):
    """Columns a and b that lose nothing, but for the parts given."""
    nothing = {
        "rates": np.zeros(2),
        "propensities": np.ones(1),
        "shares": np.ones(1),
        "blocks": (),
        "block_rates": np.zeros(0),
        "break_off": np.zeros(2),
    }
    return LifeMechanism("survey", 0.1, ("a", "b"), (), **(nothing | parts))


def test_independent_losses_multiply():
    patterns = loss_patterns(two_columns(rates=np.array([0.1, 0.2])))
    np.testing.assert_allclose(patterns, [[0.72, 0.18], [0.08, 0.02]])


def test_a_block_takes_both_or_leaves_them_to_chance():
    mechanism = two_columns(
        rates=np.array([0.1, 0.2]), blocks=(("a", "b"),), block_rates=np.array([0.5])
    )
    np.testing.assert_allclose(loss_patterns(mechanism), [[0.36, 0.09], [0.04, 0.51]])


def test_a_row_that_breaks_off_before_b_keeps_a():
    patterns = loss_patterns(two_columns(break_off=np.array([0.0, 0.3])))
    np.testing.assert_allclose(patterns, [[0.7, 0.3], [0.0, 0.0]])


def test_rows_of_propensity_two_are_struck_twice():
    """Half of the rows keep a cell with 0.9, half with 0.81."""
    mechanism = two_columns(
        rates=np.array([0.1, 0.1]), propensities=np.array([1.0, 2.0]), shares=np.array([0.5, 0.5])
    )
    both_kept = (0.9**2 + 0.81**2) / 2
    both_lost = (0.1**2 + 0.19**2) / 2
    patterns = loss_patterns(mechanism)
    assert patterns[0, 0] == pytest.approx(both_kept)
    assert patterns[1, 1] == pytest.approx(both_lost)
    assert patterns[0, 1] == pytest.approx((1 - both_kept - both_lost) / 2)


@pytest.mark.parametrize("name", LIFE)
def test_patterns_come_as_often_as_they_should(name):
    table = pd.DataFrame(np.zeros((200_000, 5)), columns=list("abcde"))
    rng = np.random.default_rng(4)
    mechanism = make_mechanism(name, table, 0.25, rng, spare=("b",))
    lost = mechanism.lose(table, rng).to_numpy()
    found = np.bincount(lost @ [16, 8, 4, 2, 1], minlength=32) / len(table)
    expected = loss_patterns(mechanism).ravel()
    assert expected.sum() == pytest.approx(1.0)
    assert (found[expected == 0] == 0).all()
    np.testing.assert_allclose(
        found, expected, atol=5 * np.sqrt(expected.max() / len(table)), rtol=0
    )
    likely = expected > 1e-3
    z = (found - expected)[likely] / np.sqrt(expected[likely] / len(table))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("name", LIFE)
def test_columns_are_lost_in_patterns_as_often_as_alone(name):
    table = pd.DataFrame(np.zeros((1, 5)), columns=list("abcde"))
    mechanism = make_mechanism(name, table, 0.25, np.random.default_rng(0))
    patterns = loss_patterns(mechanism)
    for j, rate in enumerate(mechanism.column_rates):
        assert patterns.take(1, axis=j).sum() == pytest.approx(rate)


def test_a_meaningful_cell_is_missing_whether_lost_or_not():
    """Rows: nothing, b, a, both missing; columns: nothing, b, a, both meaningful."""
    table = missing_given_meaningful(np.array([[0.72, 0.18], [0.08, 0.02]]))
    expected = [
        [0.72, 0.00, 0.00, 0.00],
        [0.18, 0.90, 0.00, 0.00],
        [0.08, 0.00, 0.80, 0.00],
        [0.02, 0.10, 0.20, 1.00],
    ]
    np.testing.assert_allclose(table, expected)


def test_tables_of_many_columns_have_too_many_patterns():
    table = pd.DataFrame(np.zeros((1, 13)), columns=list("abcdefghijklm"))
    mechanism = make_mechanism("survey", table, 0.1, np.random.default_rng(0))
    with pytest.raises(InputError, match="at most 12 columns; got 13"):
        loss_patterns(mechanism)
