"""Pushes: what each other cell adds to a cell's being missing rather than lost."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import logit

from diffjoint.evidence import explain_cells, fit_evidence
from diffjoint.evidence.detector import folds_of, typical_cells
from diffjoint.evidence.explain import shapley_of_a_leaf, tree_pushes
from diffjoint.evidence.missing import learn_missing
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.state import row_keys
from diffjoint.table import code_table, infer_schema, open_table
from diffjoint.trees import Trees


def stumps(*splits: tuple[int, float, float, float]) -> Trees:
    """One tree of two leaves for each (feature, threshold, value up to it, value above)."""
    n = len(splits)
    nodes = np.arange(3 * n).reshape(n, 3)
    itself = nodes.ravel().copy()
    left, right, feature = itself.copy(), itself.copy(), np.zeros(3 * n, dtype=np.int64)
    threshold, value = np.zeros(3 * n), np.zeros(3 * n)
    for (root, low, high), (where, limit, below, above) in zip(nodes, splits, strict=True):
        feature[root], threshold[root], left[root], right[root] = where, limit, low, high
        value[low], value[high] = below, above
    missing_left = np.zeros(3 * n, dtype=bool)
    no_levels = np.empty(0), np.full(2, -1)
    first = nodes[:, 0]
    return Trees(
        np.array([0.5]),
        np.zeros(len(first), dtype=int),
        first,
        feature,
        left,
        right,
        threshold,
        value,
        missing_left,
        *no_levels,
        inputs=np.arange(2),
    )


def brute_force(trees: Trees, row: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """Shapley values by their definition: every order, every mixture of other rows' cells."""
    n_features = len(row)
    mixtures = np.array(list(product(*typical.T)))

    def worth(own: tuple[int, ...]) -> float:
        mixed = mixtures.copy()
        mixed[:, list(own)] = row[list(own)]
        return trees.logit(mixed).mean()

    pushes = np.zeros(n_features)
    orders = list(permutations(range(n_features)))
    for order in orders:
        for place, feature in enumerate(order):
            pushes[feature] += worth(order[: place + 1]) - worth(order[:place])
    return pushes / len(orders)


def test_a_stump_pushes_by_its_distance_from_the_average_row():
    """Up to 1: -2; above, or missing: 3. Three of the four other cells are above."""
    typical = np.array([[0.0, 7.0], [2.0, 7.0], [3.0, 7.0], [np.nan, 7.0]])
    rows = np.array([[0.5, 7.0], [9.0, 7.0], [np.nan, 7.0]])
    found = tree_pushes(stumps((0, 1.0, -2.0, 3.0)), rows, typical)
    average = (-2.0 + 3 * 3.0) / 4
    np.testing.assert_allclose(found[:, 0], [-2.0 - average, 3.0 - average, 3.0 - average])
    np.testing.assert_array_equal(found[:, 1], 0.0)


def test_stumps_on_two_features_push_apart():
    typical = np.array([[0.0, 0.0], [2.0, 2.0]])
    trees = stumps((0, 1.0, 0.0, 1.0), (1, 1.0, 0.0, 4.0), (0, 1.0, 0.0, 1.0))
    np.testing.assert_allclose(tree_pushes(trees, np.array([[2.0, 0.0]]), typical), [[1.0, -2.0]])


def test_what_two_cells_do_together_is_halved_between_them():
    """A leaf that asks for both: its worth is shared by the two."""
    both, nothing = 0b11, 0b00
    np.testing.assert_allclose(shapley_of_a_leaf(2)[nothing, both], [0.5, 0.5])
    np.testing.assert_allclose(shapley_of_a_leaf(2)[both, nothing], [-0.5, -0.5])
    np.testing.assert_allclose(shapley_of_a_leaf(2)[0b10, 0b01], [0.5, -0.5])
    np.testing.assert_allclose(shapley_of_a_leaf(2)[0b01, 0b01], [0.0, 0.0])


def test_pushes_are_shapley_values():
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(size=(3_000, 2)), rng.integers(0, 3, 3_000)])
    features[rng.random(features.shape) < 0.2] = np.nan
    odds = features[:, 0] * (features[:, 2] == 1) + np.isnan(features[:, 1])
    is_missing = rng.random(3_000) < 1 / (1 + np.exp(-np.nan_to_num(odds)))
    trees = learn_missing(features, is_missing, np.array([0, 0, 3]), np.arange(3), seed=0)
    typical = features[:5]
    for row in features[5:9]:
        expected = brute_force(trees, row, typical)
        np.testing.assert_allclose(tree_pushes(trees, row[None], typical)[0], expected, atol=1e-9)


def learnt(world):
    """The world's table coded, its columns' names, and the evidence in it."""
    table = open_table(world.observed_table)
    schema = infer_schema(table, world.column_kinds)
    values = code_table(table, schema, "error")
    names = [column.name for column in schema.modelled]
    evidence = fit_evidence(
        values,
        np.isnan(values),
        np.array([len(column.levels) for column in schema.modelled]),
        [names.index(name) for name in world.mm_columns],
    )
    return values, names, evidence


@pytest.fixture(scope="module")
def survey():
    world = household_survey(2_000, seed=1)
    return world, *learnt(world)


@pytest.fixture(scope="module")
def network():
    world = bayesian_network(6_000, 10, seed=0)
    return world, *learnt(world)


def share_pushed_by(learnt_world, column, gates):
    """Share of truly meaningful cells whose strongest push is a gate, where gates are seen."""
    world, values, names, evidence = learnt_world
    seen = world.observed_table[gates].notna().all(axis=1)
    rows = np.flatnonzero(world.meaningful[column] & seen)
    pushes = explain_cells(evidence, values, rows, names.index(column)).pushes
    return np.isin(np.array(names)[pushes.argmax(axis=1)], gates).mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "gate"),
    [("spouse_age", "married"), ("weekly_hours", "employed"), ("commute", "employed")],
)
def test_the_gate_is_the_strongest_push_in_the_survey(survey, column, gate):
    assert share_pushed_by(survey, column, [gate]) > 0.9


@pytest.mark.slow
def test_the_gates_are_the_strongest_push_in_the_network(network):
    """D2 is meaningful by C1, C2 and D1 together; D3 where D2 is 1 or meaningful."""
    assert share_pushed_by(network, "D2", ["C2", "D1"]) > 0.9
    assert share_pushed_by(network, "D3", ["D2"]) > 0.9


@pytest.mark.slow
def test_that_a_cell_is_missing_pushes_too(network):
    """Beside a missing D2, D3 is more often meaningful."""
    _, values, names, evidence = network
    d2, d3 = names.index("D2"), names.index("D3")
    rows = np.flatnonzero(np.isnan(values[:, [d2, d3]]).all(axis=1))
    assert (explain_cells(evidence, values, rows, d3).pushes[:, d2] > 0).mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["mcar", "mar"])
def test_base_and_pushes_add_up_to_the_excess(mechanism):
    """Where losses depend on context, what a driver adds to them is taken off its push."""
    values, _, evidence = learnt(
        bayesian_network(6_000, 10, mechanism=mechanism, loss_rate=0.2, seed=0)
    )
    assert bool(evidence.drivers) == (mechanism == "mar")
    rows = np.flatnonzero(np.isnan(values[:, 3]))[:200]
    found = explain_cells(evidence, values, rows, 3)
    column, folds = evidence.columns[3], folds_of(row_keys(values, 0), evidence.n_folds)[rows]
    rho = column.loss.rate(evidence.scores.of(values[rows]))
    q = np.concatenate(
        [column.trees[fold].logit(values[[row]]) for row, fold in zip(rows, folds, strict=True)]
    )
    np.testing.assert_allclose(found.base + found.pushes.sum(axis=1), q - logit(rho), atol=1e-9)
    assert len(np.unique(found.base.round(9))) <= evidence.n_folds, "one for each set of trees"
    assert (found.pushes[:, 3] == 0).all()


@pytest.mark.slow
def test_rates_are_those_that_the_calls_rest_on(survey):
    _, values, names, evidence = survey
    column = names.index("commute")
    rows = np.flatnonzero(np.isnan(values[:, column]))
    found = explain_cells(evidence, values, rows, column).judged.probability
    np.testing.assert_array_equal(found, evidence.judge(values)[column].probability[rows])


def test_typical_cells_are_a_column_s_own_and_no_rows():
    values = np.column_stack([np.arange(1_000.0), np.arange(1_000.0)[::-1]])
    values[:250, 0] = np.nan
    typical = typical_cells(values)
    assert typical.shape == (256, 2)
    assert np.isnan(typical[:, 0]).mean() == pytest.approx(0.25)
    assert np.nanmedian(typical[:, 0]) == pytest.approx(625, abs=5)
    np.testing.assert_array_equal(typical[:, 1], np.sort(typical[:, 1]))
    np.testing.assert_array_equal(typical_cells(values[::-1]), typical)
    few = typical_cells(np.array([[1.0], [2.0], [np.nan]]))[:, 0]
    assert len(few) == 256, "a saved model tells nothing of how many rows there were"
    assert [(few == 1).mean(), (few == 2).mean(), np.isnan(few).mean()] == pytest.approx(
        [1 / 3] * 3, abs=0.01
    )


def test_a_column_without_trees_has_no_pushes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(100, 2))
    values[:5, 1] = np.nan
    evidence = fit_evidence(values, np.isnan(values), np.zeros(2, dtype=int), [1])
    assert (explain_cells(evidence, values, np.arange(5), 1).pushes == 0).all()
