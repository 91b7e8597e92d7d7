"""The parts of draws by trees: regressions, donors, levels that never meet, weighed proposals."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from diffjoint.draws import linear
from diffjoint.draws.choose import choose_plan
from diffjoint.draws.column import ColumnPlan, Rows, fit_column
from diffjoint.draws.design import lay_out_columns
from diffjoint.draws.donors import find_donors, shared_values
from diffjoint.draws.gates import Gates, find_gates
from diffjoint.draws.learn import _bootstrap
from diffjoint.draws.linear import fit_classes, fit_ridge, predict_linear
from diffjoint.draws.never import find_never_together
from diffjoint.draws.weigh import draw_weighed, plan_weighing
from diffjoint.state import Observation
from diffjoint.table import Column, Kind

N = 1_000
NONE = np.empty(0, dtype=np.int64)


def number(name, low=-9.0, high=9.0):
    return Column(name, Kind.CONTINUOUS, low=low, high=high)


def category(name, n_levels):
    return Column(name, Kind.CATEGORICAL, levels=tuple("abcdefgh"[:n_levels]))


def test_a_ridge_without_penalty_is_weighted_least_squares():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(N, 2)), rng.integers(0, 3, N).astype(float)
    y = 3 + x @ [2.0, -1.0] + rng.normal(size=N)
    found = fit_ridge(x, y, weights, 0.0)
    design = np.column_stack([np.ones(N), x])[np.repeat(np.arange(N), weights.astype(int))]
    expected = np.linalg.lstsq(design, np.repeat(y, weights.astype(int)), rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_constant_coordinate_has_no_coefficient():
    x = np.column_stack([np.arange(9.0), np.ones(9)])
    found = fit_ridge(x, 2 * np.arange(9.0), np.ones(9), 1e-9)
    np.testing.assert_allclose(found, [0, 2, 0], atol=1e-6)
    likely = fit_classes(x, np.repeat([0, 1, 2], 3), 3, np.ones(9), 1.0)
    assert np.isfinite(likely).all()


def test_a_row_is_predicted_alike_whatever_is_beside_it():
    rng = np.random.default_rng(0)
    x, coefficients = rng.normal(size=(501, 37)), rng.normal(size=(38, 3))
    whole = predict_linear(x, coefficients)
    for rows in (slice(0, 1), slice(7, 500), slice(500, 501)):
        np.testing.assert_array_equal(predict_linear(x[rows], coefficients), whole[rows])


def test_classes_in_an_order_are_told_by_one_number():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 1))
    classes = np.digitize(x[:, 0] + 0.1 * rng.normal(size=N), [-0.5, 0.5])
    found = fit_classes(x, classes, 3, np.ones(N), 1.0)
    assert (predict_linear(x, found).argmax(axis=1) == classes).mean() > 0.9


def test_a_small_part_of_a_sum_is_told_from_the_sum_and_a_large_part():
    rng = np.random.default_rng(0)
    large, small = 30 * rng.normal(size=N), rng.integers(0, 2, N)
    x = np.column_stack([large + 5 * small + rng.normal(size=N), large])
    found = fit_classes(x, small, 2, np.ones(N), 0.01)
    assert (predict_linear(x, found).argmax(axis=1) == small).mean() > 0.98


def test_steps_of_either_kind_end_at_the_same_coefficients(monkeypatch):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(N, 4)), rng.integers(0, 3, N).astype(float)
    classes = (x[:, :3] + rng.gumbel(size=(N, 3))).argmax(axis=1)
    by_newton = fit_classes(x, classes, 3, weights, 1.0)
    monkeypatch.setattr(linear, "MOST_BY_NEWTON", 0)
    by_slopes = fit_classes(x, classes, 3, weights, 1.0)
    np.testing.assert_allclose(
        *(
            predict_linear(x, found) - predict_linear(x, found)[:, :1]
            for found in (by_newton, by_slopes)
        ),
        atol=0.05,
    )


def test_products_that_say_nothing_are_left_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 5))
    y = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + rng.normal(size=800)
    none = np.zeros(5, dtype=np.int64)
    plan = choose_plan(Rows(x, x), y, number("y"), np.arange(5), np.arange(5), none)
    assert [1, 2] in plan.pairs.tolist()
    assert len(plan.pairs) <= 3


def test_draws_spread_as_the_donors_near_them_do():
    rng = np.random.default_rng(0)
    expected = rng.uniform(0, 1, 4_000)
    truth = expected + (0.1 + expected) * rng.normal(size=4_000)
    donors = find_donors(expected, truth, np.ones(4_000), np.empty(0))
    uniform = rng.random(2_000)
    narrow, wide = (
        donors.draw(np.full(2_000, at), np.ones(2_000), uniform).std() for at in (0.1, 0.9)
    )
    assert narrow == pytest.approx(0.2, rel=0.35)
    assert wide == pytest.approx(1.0, rel=0.35)


def test_a_value_that_many_share_is_drawn_as_it_is_and_none_beyond_those_observed():
    rng = np.random.default_rng(0)
    expected = rng.normal(size=600)
    truth = np.maximum(expected + 0.3 * rng.normal(size=600), 0.0)
    shared = shared_values(truth)
    assert shared.tolist() == [0.0]
    donors = find_donors(expected, truth, np.ones(600), shared)
    drawn = donors.draw(expected + 0.01, np.ones(600), rng.random(600))
    assert (drawn == 0).mean() == pytest.approx((truth == 0).mean(), abs=0.05)
    assert truth.min() <= drawn.min()
    assert drawn.max() <= truth.max()


def test_all_donors_of_one_expectation_are_drawn_from():
    donors = find_donors(np.zeros(500), np.arange(500.0), np.ones(500), np.empty(0))
    drawn = donors.draw(np.zeros(1_000), np.ones(1_000), np.linspace(0, 0.999, 1_000))
    assert len(np.unique(drawn)) == 500


def table_of(columns, values, meaningful=None):
    """Return the layout and the rows of completed values."""
    meaningful = np.zeros(values.shape, dtype=bool) if meaningful is None else meaningful
    layout = lay_out_columns(columns, values, np.flatnonzero(meaningful.any(axis=0)).tolist())
    cells = np.where(meaningful, np.nan, values)
    return layout, Rows(layout.lay_out(values, meaningful), cells)


def test_a_meaningful_cell_has_a_flag_and_no_value():
    values = np.array([[2.0, 1.0], [3.0, 0.0]])
    layout, rows = table_of((number("x"), number("y")), values, np.array([[True, False]] * 2))
    np.testing.assert_array_equal(rows.coordinates, [[0, 1, 1], [0, 1, 0]])
    assert layout.of([1]).tolist() == [2]


def products(seed=0, n_rows=N):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 2))
    y = x[:, 0] + x[:, 1] + 1.5 * x[:, 0] * x[:, 1] + rng.normal(size=n_rows)
    return (number("a"), number("b"), number("y", -30, 30)), np.column_stack([x, y])


def chooser(layout, rows, values, n_levels):
    def choose(j, inputs):
        coordinates = layout.of(inputs)
        return choose_plan(rows, values[:, j], layout.columns[j], inputs, coordinates, n_levels)

    return choose


def test_products_are_found_where_there_are_some_and_only_there():
    columns, values = products()
    layout, rows = table_of(columns, values)
    choose = chooser(layout, rows, values, np.zeros(3, dtype=np.int64))
    assert len(choose(2, np.array([0, 1])).pairs)
    straight = values.copy()
    straight[:, 2] = values[:, 0] + np.random.default_rng(1).normal(size=N)
    layout, rows = table_of(columns, straight)
    plan = chooser(layout, rows, straight, np.zeros(3, dtype=np.int64))(2, np.array([0, 1]))
    assert (len(plan.pairs), plan.n_trees, plan.has_spread) == (0, 0, False)


def test_a_factor_is_drawn_so_that_the_product_keeps_its_coefficient():
    columns, values = products()
    layout, rows = table_of(columns, values)
    n_levels = np.zeros(3, dtype=np.int64)
    choose = chooser(layout, rows, values, n_levels)
    plans = tuple(choose(j, np.delete(np.arange(3), j)) for j in range(3))
    plans = plan_weighing(plans, layout, rows, values, choose)
    assert [plan.weighed_by.tolist() for plan in plans] == [[2], [2], []]
    models = [
        fit_column(plan, rows, values[:, j], columns[j], np.ones(N), n_levels)
        for j, plan in enumerate(plans)
    ]
    uniform = np.random.default_rng(2).random(N)
    drawn = draw_weighed(0, models, layout, rows, uniform, None)
    a, b, y = drawn, values[:, 1], values[:, 2]
    found = fit_ridge(np.column_stack([a, b, a * b]), y, np.ones(N), 0.0)
    np.testing.assert_allclose(found[1:], [1.0, 1.0, 1.5], atol=0.2)


def test_levels_that_never_meet_are_ruled_out_and_few_wrong_calls_do_not_rule_them_in():
    n = 600
    line = np.arange(n) % 3
    extra = np.where(line == 0, 0.0, 1.0 + np.arange(n) % 2)
    values = np.column_stack([line.astype(float), extra])
    plan = ColumnPlan(np.array([1]), np.array([1, 2]), class_of=np.arange(3))
    other = ColumnPlan(np.array([0]), np.array([0, 1]), class_of=np.arange(3))
    never = find_never_together(
        values, np.zeros(values.shape, dtype=bool), (plan, other), np.array([3, 3])
    )
    asked = np.array([[np.nan, 0.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(never.allowed(0, asked), [[1, 0, 0], [0, 1, 1]])
    called = (extra == 0)[:, None] & [False, True]
    called[np.flatnonzero(line == 1)[0], 1] = True
    unknown = np.where(called, np.nan, values)
    never = find_never_together(unknown, called, (plan, other), np.array([3, 3]))
    np.testing.assert_array_equal(never.allowed(0, np.array([[0.0, np.nan]])), [[1, 0, 0]])


def test_a_bootstrap_counts_a_row_once_on_average_and_by_its_key():
    keys = np.random.default_rng(0).integers(0, 2**62, 20_000)
    counts = _bootstrap(keys, 3)
    assert counts.mean() == pytest.approx(1.0, abs=0.03)
    assert counts.var() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_array_equal(_bootstrap(keys[::-1], 3), counts[::-1])
    assert (_bootstrap(keys, 4) != counts).mean() > 0.5


def _telephones(rng, n_rows, share_lost):
    """Whether there is a telephone, and which line; who has none has no line."""
    phone = np.repeat([0.0, 1.0], n_rows // 2)
    line = np.where(phone == 0, np.nan, rng.integers(0, 2, n_rows))
    whole = np.column_stack([phone, line])
    lost = rng.random(whole.shape) < share_lost
    return np.where(lost, np.nan, whole), np.isnan(line)


def test_a_gate_is_found_where_few_calls_are_wrong_and_a_tendency_is_none():
    values, truly = _telephones(np.random.default_rng(0), 400, 0.2)
    missing, n_levels, may_be = np.isnan(values), np.array([2, 2]), np.array([0])
    meaningful = missing & np.column_stack([np.zeros(400, dtype=bool), truly])
    wrong = meaningful.copy()
    wrong[np.flatnonzero(missing[:, 1] & ~truly)[:2], 1] = True
    for calls in (meaningful, wrong):
        found = find_gates(values, calls, may_be, n_levels)
        assert found.gate.tolist() == [0]
        assert found.column.tolist() == [1]
        assert found.closed[0].tolist() == [True, False]
    often = meaningful.copy()
    often[np.flatnonzero(missing[:, 1] & ~truly)[:20], 1] = True
    behind = values.copy()
    behind[:20, 1] = 1.0
    assert not len(find_gates(values, often, may_be, n_levels).gate)
    assert not len(find_gates(behind, meaningful & np.isnan(behind), may_be, n_levels).gate)
    assert not len(find_gates(values, meaningful, np.array([], dtype=int), n_levels).gate)


class _Phones:
    """Draws a telephone where the random number is above .3."""

    def draw_cells(self, rows, column, uniform):
        return (uniform > 0.3).astype(float)


def test_cells_behind_a_gate_are_drawn_as_it_says():
    nan = np.nan
    values = np.array([[0, nan], [1, nan], [nan, nan], [nan, nan], [nan, 1], [0, nan]])
    candidates = np.isnan(values) & np.array([False, True])
    candidates[5] = False
    observation = Observation(values, candidates, np.arange(6))
    schema = SimpleNamespace(modelled=(None, None))
    expectation = SimpleNamespace(space=SimpleNamespace(schema=schema), columns=(_Phones(), None))
    uniform = np.column_stack([[0.5, 0.5, 0.1, 0.9, 0.1, 0.5], np.zeros(6)])
    drawn = np.zeros((1, 6, 2), dtype=bool)
    drawn[0, [1, 3], 1] = True
    gates = Gates(np.array([0]), np.array([1]), (np.array([True, False]),))
    settled = gates.settle(observation, expectation, drawn, [uniform])
    assert settled[0, :, 1].tolist() == [True, False, True, False, False, False]
    assert not settled[0, :, 0].any()
    together = replace(gates, draw_missing=False)
    settled = together.settle(observation, expectation, drawn, [uniform])
    assert settled[0, :, 1].tolist() == [True, False, False, True, False, False]
