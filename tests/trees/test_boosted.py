import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from diffjoint.trees import (
    constant,
    grow,
    growing,
    mean_of,
    pack_trees,
    unpack_trees,
)
from diffjoint.trees.boosted import BLOCK, MOST_LEAVES
from diffjoint.trees.growing import n_bins_for

INPUTS = np.arange(4)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 4))
    features[:, 3] = rng.integers(0, 5, n)
    target = features[:, 0] * features[:, 1] + features[:, 3] + rng.normal(size=n)
    features[rng.random(features.shape) < 0.2] = np.nan
    return features, target, np.array([0, 0, 0, 5])


def walked(trees, features):
    """The sums, by every row walking every tree on its own."""
    numbers, sums = trees.numbers(features), np.tile(trees.baseline, (len(features), 1))
    for i, row in enumerate(numbers):
        for root, output in zip(trees.roots, trees.output, strict=True):
            node = root
            while trees.left[node] != node:
                x = row[trees.feature[node]]
                left = trees.missing_left[node] if np.isnan(x) else x <= trees.threshold[node]
                node = trees.left[node] if left else trees.right[node]
            sums[i, output] += trees.value[node]
    return sums


@pytest.mark.parametrize("n_leaves", [2, 8, MOST_LEAVES])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_sums_are_those_of_walking_the_trees_bit_for_bit(n_leaves, n_classes):
    features, target, n_levels = table(600)
    options = {"max_leaf_nodes": n_leaves, "max_iter": 6, "min_samples_leaf": 5}
    learner = HistGradientBoostingRegressor(**options)
    if n_classes:
        learner = HistGradientBoostingClassifier(**options)
        target = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
    trees = grow(learner, features, target, n_levels, INPUTS)
    np.testing.assert_array_equal(trees.predict(features[:80]), walked(trees, features[:80]))


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_mean_of_several_trees_says_their_mean(n_classes):
    features, target, n_levels = table(600)
    learner = HistGradientBoostingRegressor
    if n_classes:
        learner, target = HistGradientBoostingClassifier, np.digitize(target, [1, 3])
    options = {"max_leaf_nodes": 6, "max_features": 0.5}
    several = [
        grow(learner(**options, max_iter=n, random_state=n), features, target, n_levels, INPUTS)
        for n in (2, 5, 9)
    ]
    assert not np.array_equal(several[0].value[:5], several[1].value[:5])
    mean = np.mean([trees.predict(features) for trees in several], axis=0)
    np.testing.assert_allclose(mean_of(several).predict(features), mean)
    again = unpack_trees(pack_trees([mean_of(several)]))[0]
    np.testing.assert_array_equal(again.predict(features), mean_of(several).predict(features))


def test_a_row_gets_the_same_in_every_block():
    features, target, n_levels = table(BLOCK + 50)
    learner = HistGradientBoostingRegressor(max_leaf_nodes=4, max_iter=3)
    trees = grow(learner, features, target, n_levels, INPUTS)
    together = trees.predict(features)
    np.testing.assert_array_equal(together[-60:], trees.predict(features[-60:]))
    assert len(trees.predict(features[:0])) == 0


def test_trees_find_their_features_in_whole_rows():
    """Whatever the other cells hold, and in whatever order the features stand there."""
    features, target, n_levels = table(600)
    learner = HistGradientBoostingRegressor(max_leaf_nodes=8, max_iter=10)
    inputs = np.array([5, 0, 7, 2])
    trees = grow(learner, features, target, n_levels, inputs)
    rows = np.random.default_rng(1).normal(size=(600, 9))
    rows[:, inputs] = features
    expected = trees.sums(features)
    assert len(np.unique(expected)) > 10
    np.testing.assert_array_equal(trees.predict(rows), expected)
    np.testing.assert_array_equal(trees.logit(rows), expected[:, 0])
    for again in (unpack_trees(pack_trees([trees]))[0], mean_of([trees, trees])):
        np.testing.assert_array_equal(again.inputs, inputs)
        np.testing.assert_allclose(again.predict(rows), expected)


@pytest.mark.parametrize(("n_rows", "n_bins"), [(10_000, 64), (10_001, 255)])
def test_numbers_of_small_tables_are_told_apart_less_finely(n_rows, n_bins):
    assert n_bins_for(n_rows) == n_bins
    numbers = np.arange(float(n_rows))[:, None]
    learner = HistGradientBoostingRegressor(max_leaf_nodes=16, max_iter=500, early_stopping=False)
    trees = grow(learner, numbers, numbers[:, 0], np.zeros(1, int), np.arange(1))
    assert len(np.unique(trees.threshold[trees.left != np.arange(len(trees.left))])) == n_bins - 1


def test_larger_trees_are_refused():
    features, target, n_levels = table(50)
    with pytest.raises(ValueError, match=f"at most {MOST_LEAVES}; got 31"):
        grow(HistGradientBoostingRegressor(), features, target, n_levels, INPUTS)


def test_no_tree_says_the_same_of_every_row():
    assert constant(np.array([0.5])).predict(np.zeros((3, 2))).tolist() == [[0.5]] * 3


def test_packed_trees_come_back_and_count_nodes_in_few_bytes():
    features, target, n_levels = table(300)
    learner = HistGradientBoostingRegressor(max_leaf_nodes=4, max_iter=3)
    trees = grow(learner, features, target, n_levels, INPUTS)
    arrays = pack_trees([trees, constant(np.zeros(1))])
    again, _ = unpack_trees(arrays)
    np.testing.assert_array_equal(again.predict(features), trees.predict(features))
    wide = {name: a.astype(np.int64) if a.dtype == np.int32 else a for name, a in arrays.items()}
    older, _ = unpack_trees(wide)
    np.testing.assert_array_equal(older.predict(features), trees.predict(features))
    assert all(arrays[f"trees.{part}"].itemsize == 4 for part in ("feature", "left", "right"))


def open_mp_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}


def test_few_rows_are_learnt_by_one_thread_and_the_others_given_back(monkeypatch):
    """With several, they would wait for each other longer than they work."""
    seen = []
    monkeypatch.setattr(growing, "_compiled", lambda: None)

    class Learner(HistGradientBoostingRegressor):
        def fit(self, numbers, target):
            seen.append(open_mp_threads())
            return super().fit(numbers, target)

    features = np.random.default_rng(0).normal(size=(100, 2))
    with threadpool_limits(2):
        learner = Learner(max_iter=2, max_leaf_nodes=4)
        grow(learner, features, features[:, 0], np.zeros(2, int), np.arange(2))
        assert open_mp_threads() == {2}
    assert seen == [{1}]
