"""What relates columns in all observed rows is found, and nothing that does not."""

import numpy as np
import pytest

from diffjoint.relations import (
    Relations,
    check_relations,
    find_bands,
    find_equations,
    find_lookups,
    find_orders,
    find_relations,
    pack_relations,
    unpack_relations,
)

N = 600


def lose(table: np.ndarray, share: float = 0.2) -> np.ndarray:
    lost = np.random.default_rng(1).random(table.shape) < share
    return np.where(lost, np.nan, table)


def numbers(n_columns: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 50, (N, n_columns)).astype(float)


def test_sums_are_found_whatever_cells_are_missing():
    a, b, c, other = numbers(4).T
    found = find_equations(lose(np.column_stack([a, a + b, other, b])), range(4))
    assert [(set(one.columns), one.columns[0]) for one in found] == [({0, 1, 3}, 1)]
    found = find_equations(lose(np.column_stack([a, b, c, other, a + b + c])), range(5))
    assert [set(one.columns) for one in found] == [{0, 1, 2, 4}]


def test_a_column_that_is_nearly_always_nothing_is_part_of_its_sum():
    """The sum holds nearly always without it: a fortieth of the houses has a mansard."""
    rng = np.random.default_rng(0)
    floors = rng.integers(1, 900, (2_000, 2)).astype(float)
    mansard = np.where(rng.random(2_000) < 0.025, rng.integers(1, 90, 2_000), 0).astype(float)
    values = np.column_stack([floors, mansard, floors.sum(axis=1) + mansard])
    values[rng.random(values.shape) < 0.2] = np.nan
    (equation,) = find_equations(values, range(4))
    assert set(equation.columns) == {0, 1, 2, 3}
    assert equation.share == 1.0
    other = values.copy()
    other[:, 2] = rng.permutation(other[:, 2])
    (equation,) = find_equations(other, range(4))
    assert 2 not in equation.columns


def test_columns_that_are_never_there_together_are_no_sum_and_say_nothing():
    """Such as two forms of a questionnaire: any warning would be an error here."""
    table = numbers(4)
    table[: N // 2, 0] = np.nan
    table[N // 2 :, 1] = np.nan
    assert not find_equations(table, range(4))


def test_a_long_sum_can_be_solved_for_each_of_its_columns():
    a, b, c = numbers(3).T
    table = np.column_stack([a, b, c, a + b + c])
    (equation,) = find_equations(lose(table), range(4))
    for column in range(4):
        np.testing.assert_allclose(equation.solve(column, table), table[:, column], atol=1e-9)


def test_rounded_products_and_other_units_are_found():
    hours, rate = numbers(2).T + 1
    rate = rate / 7
    pay = np.round(hours * rate, 2)
    degrees = hours * 1.8 + 32
    found = find_equations(lose(np.column_stack([hours, rate, pay, degrees])), range(4))
    line, product = found
    assert set(line.columns) == {0, 3}
    assert product.columns[0] == 2
    assert product.is_product
    assert product.weights[0] == 1.0


def test_nearly_a_sum_is_none():
    a, b, noise = numbers(3).T
    nearly = a + b + (noise > 40)
    assert find_equations(np.column_stack([a, b, nearly]), range(3)) == ()
    rarely = np.where(np.arange(N) < 8, b, 0)
    assert not find_equations(np.column_stack([a, rarely, a + rarely]), [0, 1, 2])


def test_a_town_is_looked_up_by_its_code_and_not_the_other_way_round():
    code = np.random.default_rng(0).integers(0, 40, N).astype(float)
    town, price = code // 5, 10.0 + code**2
    table = lose(np.column_stack([code, town, price]))
    found = find_lookups(table, np.array([40, 8, 0]))
    assert [(one.source, one.target) for one in found] == [(0, 1), (0, 2)]
    np.testing.assert_array_equal(found[1].look_up(np.array([[3.0, np.nan, np.nan]])), [19.0])
    mixed = np.column_stack([code, np.where(np.arange(N) == 7, 0, town + 1)])
    assert find_lookups(mixed, np.array([40, 9])) == ()


def test_levels_with_a_row_each_decide_nothing():
    names = np.arange(60.0)
    assert find_lookups(np.column_stack([names, names % 2]), np.array([60, 2])) == ()


def test_age_groups_are_bands_of_the_age():
    age = np.random.default_rng(0).integers(18, 90, N).astype(float)
    group = np.digitize(age, [30, 50, 70]).astype(float)
    (band,) = find_bands(lose(np.column_stack([group, age])), np.array([4, 0]), [1])
    np.testing.assert_array_equal(band.look_up(np.array([[np.nan, 18.0], [0, 71.0]])), [0, 3])
    low, high = band.limits(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    assert (low[0], high[0]) == (30, 49)
    assert (low[1], high[1]) == (-np.inf, np.inf)
    blurred = np.where(np.arange(N) == 0, 3, group)
    blurred[0], age[0] = 3, 20
    assert find_bands(np.column_stack([blurred, age]), np.array([4, 0]), [1]) == ()


def test_orders_need_more_than_other_ranges():
    part, rest, far = numbers(3).T
    table = lose(np.column_stack([part, part + rest, far + 200]))
    np.testing.assert_array_equal(find_orders(table, range(3)), [[0, 1]])


def test_one_mistake_in_a_thousand_rows_hides_no_order():
    rng = np.random.default_rng(0)
    built = rng.integers(1900, 2000, 2_000).astype(float)
    values = np.column_stack([built, built + rng.integers(0, 60, 2_000)])
    values[:2, 1] = built[:2] - 1
    assert find_orders(values, [0, 1]).tolist() == [[0, 1]]
    values[:4, 1] = built[:4] - 1
    assert find_orders(values, [0, 1]).tolist() == []
    assert find_orders(values[3:500], [0, 1]).tolist() == []


def test_cells_that_wait_to_be_drawn_decide_nothing():
    relations = find_relations(
        np.column_stack([*numbers(2).T, numbers(2).sum(axis=1)]), ZERO, [0, 1, 2]
    )
    cells = np.array([[2.0, 3.0, 9.0], [2.0, 3.0, 9.0]])
    waiting = np.array([[False, False, True], [False, False, False]])
    np.testing.assert_array_equal(relations.decided(0, cells, waiting), [np.nan, 6.0])
    assert relations.broken(cells)[:, 0].all()


ZERO = np.zeros(3, dtype=np.int64)


def every_kind() -> tuple[np.ndarray, np.ndarray]:
    a, b = numbers(2).T
    code = np.arange(N) % 12.0
    table = np.column_stack([a, b, a + b, code, code // 3, np.digitize(a, [20, 35]), a * (b + 1)])
    return table, np.array([0, 0, 0, 12, 4, 3, 0])


def test_relations_come_back_from_arrays():
    table, n_levels = every_kind()
    relations = find_relations(table, n_levels, [0, 1, 2, 6])
    assert all([relations.equations, relations.lookups, relations.bands, len(relations.orders)])
    arrays = pack_relations(relations)
    check_relations(arrays, n_levels)
    back = unpack_relations(arrays)
    assert back.equations == relations.equations
    for column in range(table.shape[1]):
        np.testing.assert_array_equal(back.decided(column, table), relations.decided(column, table))
        np.testing.assert_array_equal(back.limits(column, table), relations.limits(column, table))
    empty = pack_relations(Relations())
    check_relations(empty, n_levels)
    assert not unpack_relations(empty).equations


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("relation_columns", lambda array: array + 3),
        ("relation_weights", lambda array: array * 0),
        ("relation_looked_up", lambda array: array + 0.5),
        ("relation_low", lambda array: array * np.nan),
        ("relation_orders", lambda array: array + 3),
        ("relation_bands", lambda array: array[:, ::-1]),
    ],
)
def test_arrays_that_are_no_relations_are_refused(name, change):
    table, n_levels = every_kind()
    arrays = pack_relations(find_relations(table, n_levels, [0, 1, 2, 6]))
    with pytest.raises(ValueError, match="its"):
        check_relations(arrays | {name: change(arrays[name])}, n_levels)
