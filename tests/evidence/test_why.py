"""Pushes: what each other cell adds to a cell's being missing rather than lost."""

from itertools import permutations, product

import numpy as np
import pytest

from diffjoint.evidence import gather, why
from diffjoint.evidence.trees import Trees, grow
from diffjoint.evidence.why import shapley_of_a_leaf, tree_pushes
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.table import code_table, infer_schema, open_table


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
    return Trees(0.5, nodes[:, 0], feature, left, right, threshold, value, missing_left, *no_levels)


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
    trees = grow(features, is_missing, np.array([0, 0, 3]), seed=0)
    typical = features[:5]
    for row in features[5:9]:
        expected = brute_force(trees, row, typical)
        np.testing.assert_allclose(tree_pushes(trees, row[None], typical)[0], expected, atol=1e-9)


@pytest.fixture(scope="module")
def survey():
    return household_survey(2_000, seed=1)


def coded(world):
    table = open_table(world.observed_table)
    schema = infer_schema(table, world.column_kinds)
    values = code_table(table, schema, "error")
    levels = np.array([len(column.levels) for column in schema.modelled])
    return values, levels, [column.name for column in schema.modelled]


def strongest(world, gates, where=None):
    """Share of the truly meaningful cells whose strongest push is one of their gates."""
    values, levels, names = coded(world)
    searched = [names.index(name) for name in world.mm_columns]
    uniform = np.random.default_rng(0).random(values.shape)
    evidence = gather(values, np.isnan(values), levels, searched, uniform)
    shares = {}
    for name, causes in gates.items():
        there = world.meaningful[name].to_numpy() & world.observed_table[list(causes)].notna().all(
            axis=1
        )
        rows = np.flatnonzero(there)
        pushes = why(evidence, values, rows, names.index(name)).pushes
        best = np.array(names)[pushes.argmax(axis=1)]
        shares[name] = np.isin(best, list(causes)).mean()
    return shares


def test_the_gate_is_the_strongest_push_in_the_survey(survey):
    gates = {"spouse_age": ["married"], "weekly_hours": ["employed"], "commute": ["employed"]}
    shares = strongest(survey, gates)
    print(shares)
    assert min(shares.values()) > 0.9


def test_the_gate_is_the_strongest_push_in_the_network():
    """D2 is meaningful by C1, C2 and D1; D3 where D2 is 1 or missing."""
    world = bayesian_network(6_000, 10, seed=0)
    shares = strongest(world, {"D2": ["D1", "C2"]})
    print(shares)
    assert shares["D2"] > 0.9
