import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint.trees import constant, grow, growing

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
