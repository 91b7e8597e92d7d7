import numpy as np

from diffjoint.state.keys import canonical_order, row_keys


def few_distinct(n_rows, seed=0):
    return np.random.default_rng(seed).integers(0, 3, (n_rows, 3)).astype(float)


def test_the_canonical_order_does_not_depend_on_the_rows_order():
    values = few_distinct(200)
    shuffled = np.random.default_rng(1).permutation(values)
    np.testing.assert_array_equal(
        values[canonical_order(values)], shuffled[canonical_order(shuffled)]
    )


def test_repeats_of_a_row_keep_their_keys_in_the_canonical_order():
    values = few_distinct(200)
    order = canonical_order(values)
    assert sorted(order) == list(range(200))
    np.testing.assert_array_equal(row_keys(values[order], seed=0), row_keys(values, seed=0)[order])
