"""A grid search over a table with a column of small counts, of which one is rare."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from diffjoint import SelectiveImputer
from tests.conftest import NO_OTHER_LOSSES


@pytest.mark.slow
@NO_OTHER_LOSSES
@pytest.mark.filterwarnings("ignore:Column 'parch' holds 6:diffjoint.errors.DataWarning")
def test_a_count_that_a_fold_lacks_makes_no_score_nan():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.normal(30, 10, 90).round(),
            "parch": [6, *rng.choice([0, 1, 2], 89)],
            "fare": rng.lognormal(3, 1, 90),
        }
    )
    X.loc[rng.random(90) < 0.2, "age"] = np.nan
    pipeline = make_pipeline(SelectiveImputer([], n_boosters=1), LogisticRegression(max_iter=2000))
    grid = {"logisticregression__C": [0.1, 1.0]}
    found = GridSearchCV(pipeline, grid, cv=2, refit=False).fit(X, rng.integers(0, 2, 90))
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
