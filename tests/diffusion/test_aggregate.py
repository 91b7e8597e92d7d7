import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from diffjoint.diffusion.aggregate import (
    aggregate,
    fuse,
    membership,
    mode_and_entropy,
    summarize,
    uncertainty_clusters,
)
from diffjoint.settings import settings_for
from diffjoint.state import Draws, JointSpace, Observation
from diffjoint.table import infer_schema, open_table

PAPER = settings_for("paper")


def test_entropy_of_an_even_split_is_log_two():
    _, entropy = mode_and_entropy(np.array([[0.0], [1.0], [0.0], [1.0]]))
    assert entropy[0] == pytest.approx(math.log(2))


def test_entropy_of_agreement_is_zero():
    mode, entropy = mode_and_entropy(np.full((7, 2), 3.0))
    assert mode.tolist() == [3.0, 3.0]
    assert entropy.tolist() == [0.0, 0.0]


def test_equal_counts_have_equal_entropies_to_the_last_bit():
    orders = np.array([[0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2]], dtype=float)
    _, entropy = mode_and_entropy(orders.T)
    assert len(set(entropy.tolist())) == 1


def test_the_smallest_of_equally_frequent_values_is_the_mode():
    mode, _ = mode_and_entropy(np.array([[2.0], [1.0], [2.0], [1.0], [5.0]]))
    assert mode[0] == 1.0


def test_mode_and_entropy_agree_with_scipy():
    drawn = np.random.default_rng(0).integers(0, 6, (30, 200)).astype(float)
    mode, entropy = mode_and_entropy(drawn)
    np.testing.assert_array_equal(mode, stats.mode(drawn, axis=0).mode)
    counts = [np.unique(column, return_counts=True)[1] for column in drawn.T]
    np.testing.assert_allclose(entropy, [stats.entropy(count) for count in counts])


@pytest.fixture
def world():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=60),
            "whole": rng.integers(0, 500, 60),
            "level": rng.choice(["x", "y"], 60),
        }
    )
    schema = infer_schema(open_table(frame))
    return JointSpace(schema, (0, 2), 0.5)


def draws_of(values, meaningful=None):
    values = np.asarray(values, dtype=float)
    flags = np.zeros(values.shape, bool) if meaningful is None else np.asarray(meaningful, bool)
    return Draws(np.arange(values.shape[1]), values, flags)


def test_numbers_are_summed_up_by_mean_and_population_standard_deviation(world):
    draws = draws_of([[[1.0, 10, 0]], [[4.0, 13, 0]]])
    value, uncertainty, _ = summarize(draws, world.schema.modelled, settings_for("fast"))
    assert value[0].tolist() == [2.5, 12.0, 0.0]
    assert uncertainty[0].tolist() == [1.5, 1.5, 0.0]


def test_the_paper_takes_integers_for_discrete(world):
    draws = draws_of([[[1.0, 10, 0]], [[4.0, 13, 0]], [[4.0, 13, 1]]])
    value, uncertainty, _ = summarize(draws, world.schema.modelled, PAPER)
    assert value[0, 1] == 13.0
    expected = -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3)
    assert uncertainty[0, 1] == pytest.approx(expected)


def test_two_means_finds_the_two_groups_of_uncertainty():
    uncertainty = np.array([[0.1], [0.2], [0.9], [1.0], [0.0]])
    candidates = np.array([[True], [True], [True], [True], [False]])
    np.testing.assert_allclose(uncertainty_clusters(uncertainty, candidates, (0,)), [[0.15, 0.95]])


@pytest.mark.parametrize("n_candidates", [0, 1, 5])
def test_equal_uncertainties_are_not_split_and_none_is_called_meaningful(n_candidates):
    candidates = (np.arange(5) < n_candidates)[:, None]
    clusters = uncertainty_clusters(np.ones((5, 1)), candidates, (0,))
    assert np.isnan(clusters).all()
    assert membership(np.ones(5), clusters[0]).tolist() == [0.0] * 5


def test_membership_exceeds_one_half_exactly_where_the_high_centre_is_nearer():
    uncertainty = np.array([0.0, 0.1, 0.54, 0.56, 1.0, 7.0])
    score = membership(uncertainty, np.array([0.1, 1.0]))
    assert (score > 0.5).tolist() == [False, False, False, True, True, True]


@pytest.mark.parametrize(
    ("fusion", "expected"),
    [
        ("or", [False, True, True, True]),
        ("and", [False, False, False, True]),
        ("uncertainty", [False, True, False, True]),
        ("vote", [False, False, True, True]),
    ],
)
def test_fusion_rules_on_all_four_cases(fusion, expected):
    cluster, vote = np.array([0.2, 0.9, 0.2, 0.9]), np.array([0.1, 0.1, 0.8, 0.8])
    assert (fuse(cluster, vote, fusion) > 0.5).tolist() == expected


def test_an_even_vote_does_not_carry():
    assert not (fuse(np.zeros(1), np.array([0.5]), "vote") > 0.5).any()


def test_aggregation_leaves_observed_cells_and_other_columns_alone(world):
    values = np.array([[np.nan, 7.0, np.nan], [1.0, np.nan, 0.0]])
    candidates = np.isnan(values) & np.array([True, False, True])
    observation = Observation(values, candidates, np.arange(2))
    drawn = draws_of([[[2.0, 9, 1], [8.0, 30, 1]]] * 3, np.ones((3, 2, 3)))
    result = aggregate([drawn], observation, world, PAPER)
    np.testing.assert_array_equal(result.values, [[2.0, 7.0, 1.0], [1.0, 30.0, 0.0]])
    np.testing.assert_array_equal(
        result.state.meaningful, [[True, False, True], [False, False, False]]
    )
    assert result.uncertainty[1, 0] == 0.0


def test_new_rows_are_called_by_the_clusters_of_training(world):
    values = np.array([[np.nan, 7.0, 0.0]])
    observation = Observation(values, np.isnan(values), np.arange(1))
    drawn = draws_of([[[2.0, 7, 0]], [[3.0, 7, 0]]])
    clusters = np.array([[0.0, 0.6], [np.nan, np.nan]])
    result = aggregate([drawn], observation, world, PAPER, clusters)
    assert result.state.meaningful[0, 0]
    assert not aggregate([drawn], observation, world, PAPER).state.meaningful.any()
