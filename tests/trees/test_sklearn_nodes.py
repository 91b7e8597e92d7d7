import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from diffjoint.trees import constant, grow

SOURCE = Path(__file__).parents[2] / "src" / "diffjoint"


def test_no_other_module_reads_private_attributes_of_scikit_learn():
    for path in SOURCE.rglob("*.py"):
        used = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute)
        }
        private = used & {"_baseline_prediction", "_predictors", "_bin_mapper", "nodes"}
        assert not private or path.name == "sklearn_nodes.py", path


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_arrays_say_what_the_booster_says(n_classes):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 3))
    target = features[:, 0] + rng.normal(size=400)
    features[rng.random(features.shape) < 0.2] = np.nan
    learner = HistGradientBoostingRegressor(max_iter=7, max_leaf_nodes=6)
    if n_classes:
        target = np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))
        learner = HistGradientBoostingClassifier(max_iter=7, max_leaf_nodes=6)
    trees = grow(learner, features, target, np.zeros(3, int), np.arange(3))
    sums = trees.predict(features)
    expected = learner.decision_function(features) if n_classes else learner.predict(features)
    np.testing.assert_allclose(sums if n_classes > 2 else sums[:, 0], expected)


def test_no_tree_has_the_arrays_of_trees():
    learner = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2)
    x = np.arange(100.0)
    trees, none = grow(learner, x[:, None], x, np.zeros(1, int), np.arange(1)), constant([0.5])
    for name in ("output", "roots", "feature", "left", "right", "threshold", "value"):
        assert getattr(none, name).dtype == getattr(trees, name).dtype
