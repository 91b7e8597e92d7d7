import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

from diffjoint.trees import Features, constant, grow, growing

SOURCE = Path(__file__).parents[2] / "src" / "diffjoint"
READERS = {"sklearn_nodes.py", "sklearn_grower.py"}


def test_no_other_module_uses_private_names_of_scikit_learn():
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        private = used & {"_baseline_prediction", "_predictors", "_bin_mapper", "nodes"}
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        private |= {name for name in modules if name.startswith("sklearn") and "._" in name}
        assert not private or path.name in READERS, path


def _table(n_classes, loss="squared_error"):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 5))
    features[:, 1] = np.round(features[:, 1])
    target = features[:, 0] + features[:, 1] * features[:, 2] + rng.normal(size=400)
    features[:, 1:][rng.random((400, 4)) < 0.2] = np.nan
    options = {"max_iter": 7, "max_leaf_nodes": 6, "random_state": 3, "max_bins": 64}
    options |= {"max_features": 0.5, "l2_regularization": 2.0, "min_samples_leaf": 9}
    options |= {"early_stopping": False}
    if not n_classes:
        target = np.exp(target) if loss == "gamma" else target
        return features, target, HistGradientBoostingRegressor(**options, loss=loss)
    target = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
    return features, target, HistGradientBoostingClassifier(**options)


def _said_by(learner, features):
    if isinstance(learner, HistGradientBoostingClassifier):
        return learner.decision_function(features)
    said = learner.predict(features)
    return np.log(said) if learner.loss == "gamma" else said


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize(
    ("n_classes", "loss"), [(0, "squared_error"), (0, "gamma"), (2, ""), (3, "")]
)
def test_trees_say_what_the_booster_says(n_classes, loss, is_compiled, monkeypatch):
    """The compiled parts are private: this release must have them as they are known."""
    assert growing._compiled() is not None
    if not is_compiled:
        monkeypatch.setattr(growing, "_compiled", lambda: None)
    features, target, learner = _table(n_classes, loss)
    sums = grow(learner, features, target, np.zeros(5, int), np.arange(5)).predict(features)
    expected = _said_by(learner.fit(features, target), features)
    np.testing.assert_allclose(sums if n_classes > 2 else sums[:, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_rounds_end_when_rows_held_out_say_that_they_no_longer_help(n_classes):
    features, target, learner = _table(n_classes)
    rounds = {}
    for rate in (0.1, 0.5):
        learner.set_params(max_iter=150, early_stopping=True, learning_rate=rate)
        trees = grow(learner, features, target, np.zeros(5, int), np.arange(5))
        rounds[rate] = trees.n_rounds
    assert 10 <= rounds[0.5] < rounds[0.1] < 150


def test_no_tree_has_the_arrays_of_trees():
    learner = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2)
    x = np.arange(100.0)
    trees, none = grow(learner, x[:, None], x, np.zeros(1, int), np.arange(1)), constant([0.5])
    for name in ("output", "roots", "feature", "left", "right", "threshold", "value"):
        assert getattr(none, name).dtype == getattr(trees, name).dtype


@pytest.mark.parametrize(("n_features", "is_of_tree"), [(24, True), (8, False)])
def test_of_many_features_each_tree_sees_a_share(n_features, is_of_tree):
    """Of few, each split does: a tree that sees few shows no interactions."""
    features = np.random.default_rng(0).normal(size=(600, n_features))
    target = features.sum(axis=1)
    options = {"max_leaf_nodes": 16, "max_iter": 30, "max_features": 0.25, "random_state": 0}
    learner = HistGradientBoostingRegressor(**options, early_stopping=False, min_samples_leaf=5)
    trees = grow(learner, features, target, np.zeros(n_features, int), np.arange(n_features))
    is_split = trees.left != np.arange(len(trees.left))
    ends = [*trees.roots[1:], len(trees.left)]
    used = [
        len(np.unique(trees.feature[root:end][is_split[root:end]]))
        for root, end in zip(trees.roots, ends, strict=True)
    ]
    assert (max(used) <= n_features // 4) == is_of_tree


def test_trees_of_folds_grow_as_long_as_the_rows_held_out_call_for():
    features, target, learner = _table(2)
    learner.set_params(max_iter=100, early_stopping=True)
    folds = np.arange(400) % 4
    parts = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    seen = Features(features, np.zeros(5, int), np.arange(5))
    for compiled in (growing._compiled, lambda: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(growing, "_compiled", compiled)
            grown = seen.grow_in_folds(learner, target, parts)
        assert len({trees.n_rounds for trees in grown}) == 1
        assert 1 < grown[0].n_rounds < 100
        said = np.empty(400)
        for (_, held), trees in zip(parts, grown, strict=True):
            said[held] = trees.logit(features[held])
        assert roc_auc_score(target, said) > 0.65
    fixed = clone(learner).set_params(early_stopping=False, max_iter=7)
    noise = np.random.default_rng(1).permutation(target)
    assert seen.grow_in_folds(learner, noise, parts)[0].n_rounds <= 2
    shorter = seen.grow(fixed, target[parts[0][0]], parts[0][0])
    longer = seen.grow(clone(fixed).set_params(max_iter=9), target[parts[0][0]], parts[0][0])
    np.testing.assert_array_equal(shorter.value, longer.value[: len(shorter.value)])


def test_rows_that_show_less_are_in_the_same_bins():
    features, target, learner = _table(0)
    seen = Features(features, np.zeros(5, int), np.arange(5))
    rows = np.repeat(np.arange(400), 2)
    cells = features[rows]
    cells[::2, 1] = np.nan
    trees = seen.shown(rows, cells).grow(learner, target[rows])
    edges = np.unique(trees.threshold[(trees.feature == 0) & (trees.threshold != 0)])
    assert len(edges)
    assert np.isin(edges[np.isfinite(edges)], seen._numbers.edges[0]).all()
    said = trees.predict(cells)[:, 0]
    assert np.corrcoef(said, target[rows])[0, 1] > 0.5
