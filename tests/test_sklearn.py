"""scikit-learn's own checks, and the places where people put an imputer."""

import numpy as np
import pandas as pd
import pytest
from sklearn import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffjoint import Diffusion, SelectiveImputer
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES, TINY, TINY_INPAINT, new_imputer

pytestmark = FEW_CELLS


@pytest.mark.slow
@parametrize_with_checks(
    [
        new_imputer(mm_columns=[], **TINY, random_state=0),
        SelectiveImputer(mm_columns=[], imputer=SimpleImputer(), random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def numeric():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = (table["a"] + table["b"] > 0).astype(int)
    table = table.mask(rng.random(table.shape) < 0.15)
    return table, y


def imputer(**params):
    return new_imputer(**{**TINY, "random_state": 0, "mm_columns": ["b"], **params})


def test_in_a_pipeline_with_a_classifier(numeric):
    X, y = numeric
    model = make_pipeline(
        imputer(mm_output="indicator"), StandardScaler(), LogisticRegression()
    ).fit(X, y)
    assert model.score(X, y) > 0.5
    assert model[:-1].get_feature_names_out().tolist() == ["a", "b", "c", "b_meaningful"]


@NO_OTHER_LOSSES
def test_in_a_column_transformer(numeric):
    X, _ = numeric
    chosen = ColumnTransformer([("fill", imputer(), ["a", "b"])], remainder="drop")
    out = chosen.set_output(transform="pandas").fit_transform(X)
    assert list(out.columns) == ["fill__a", "fill__b"]
    assert out["fill__a"].notna().all()


@pytest.mark.slow
@NO_OTHER_LOSSES
def test_in_a_grid_search(numeric):
    X, y = numeric
    pipeline = make_pipeline(
        imputer(**TINY_INPAINT, mm_output="indicator"), HistGradientBoostingClassifier(max_iter=5)
    )
    grid = {"selectiveimputer__diffusion__n_iterations": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    chosen = search.best_estimator_["selectiveimputer"]
    assert len(chosen.history_) == search.best_params_["selectiveimputer__diffusion__n_iterations"]


def test_categories_go_on_to_an_encoder(survey):
    pipeline = make_pipeline(
        imputer(mm_columns=["town"], mm_output="category"),
        ColumnTransformer([("hot", OneHotEncoder(sparse_output=False), ["town"])]),
    )
    out = pipeline.fit_transform(survey)
    assert not np.isnan(out).any()
    assert (out.sum(axis=1) == 1).all()


def test_a_clone_has_the_same_parameters_and_is_not_fitted(numeric):
    X, _ = numeric
    fitted = imputer().fit(X)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "schema_")


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_gives_the_container_asked_for(numeric, container):
    X, _ = numeric
    out = imputer(mm_columns=[1]).set_output(transform=container).fit_transform(X.to_numpy())
    assert type(out).__module__.startswith(container)
    assert list(out.columns) == ["x0", "x1", "x2"]


def test_settings_of_the_diffusion_model_are_set_by_their_path():
    one = SelectiveImputer(diffusion=Diffusion(n_steps=8))
    other = clone(one).set_params(diffusion__width=64, threshold=0.7)
    assert other.diffusion == Diffusion(n_steps=8, width=64)
    assert other.get_params()["diffusion__width"] == 64
    assert (other.threshold, one.diffusion) == (0.7, Diffusion(n_steps=8))


def test_a_diffusion_is_made_where_none_was_given():
    assert SelectiveImputer().set_params(diffusion__width=64).diffusion == Diffusion(width=64)
    both = SelectiveImputer().set_params(diffusion=Diffusion(n_steps=8), diffusion__width=64)
    assert both.diffusion == Diffusion(n_steps=8, width=64)


def test_an_imputer_shows_its_diffusion():
    shown = SelectiveImputer(diffusion=Diffusion(width=64))
    assert repr(shown) == "SelectiveImputer(diffusion=Diffusion(width=64))"
    assert "Diffusion(width=64)" in shown._repr_html_()
