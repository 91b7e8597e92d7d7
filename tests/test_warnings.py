"""Warnings point at the line of the user's code, whichever way leads to the imputer."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from diffjoint import SelectiveImputer, keep_na
from diffjoint.errors import DataWarning


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    return numbers.mask(rng.random(numbers.shape) < 0.1)


def new_imputer(**params):
    """One that warns in fit: nothing is said of ``mm_columns``."""
    return SelectiveImputer(imputer=SimpleImputer(), random_state=0, **params)


def places(call):
    """The files that the warnings of a call point at."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return {warning.filename for warning in told if issubclass(warning.category, DataWarning)}


FITS = {
    "fit": lambda X: new_imputer().fit(X),
    "fit_transform": lambda X: new_imputer().fit_transform(X),
    "fit_transform into pandas": lambda X: (
        new_imputer().set_output(transform="pandas").fit_transform(X)
    ),
    "a pipeline": lambda X: make_pipeline(new_imputer(), SimpleImputer()).fit_transform(X),
    "a pipeline into pandas": lambda X: (
        make_pipeline(new_imputer(), SimpleImputer()).set_output(transform="pandas").fit(X)
    ),
    "a column transformer": lambda X: ColumnTransformer(
        [("fill", new_imputer(), ["a", "b"])]
    ).fit_transform(X),
    "a grid search": lambda X: GridSearchCV(
        make_pipeline(new_imputer(), DecisionTreeClassifier()),
        {"selectiveimputer__threshold": [0.4, 0.6]},
        cv=2,
    ).fit(X, np.arange(60) % 2),
    "a pipe of pandas": lambda X: X.pipe(new_imputer().fit_transform),
    "a grouping of pandas": lambda X: X.groupby(np.arange(60) % 2).apply(new_imputer().fit),
    "a line in a thread": lambda X: in_a_thread(lambda: new_imputer().fit(X)),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_warning_of_fit_points_at_the_line_that_fits(fit, table):
    assert places(lambda: fit(table)) == {__file__}


def in_a_thread(call, *arguments):
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(call, *arguments).result()


def test_a_warning_points_outside_the_package_where_no_line_of_the_user_is(table):
    (place,) = places(lambda: in_a_thread(new_imputer().fit, table))
    assert Path(place).parts[-3:] == ("concurrent", "futures", "thread.py")


def test_a_warning_of_settings_points_at_the_line_that_fits(table):
    idle = new_imputer(mm_columns=[]).set_params(diffusion__max_epochs=3)
    assert places(lambda: idle.fit(table)) == {__file__}


@pytest.fixture(scope="module")
def contradicted():
    """A fitted imputer with a rule, and new rows that break it: a doubt of each question."""
    rng = np.random.default_rng(0)
    married = rng.random(200) < 0.6
    survey = pd.DataFrame(
        {
            "married": np.where(married, "yes", "no"),
            "age": rng.integers(20, 80, 200).astype(float),
            "spouse": np.where(married, rng.normal(size=200), np.nan),
        }
    )
    imputer = new_imputer(rules={"spouse": 'married == "yes"'})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer.fit(survey)
    new = survey.head(60).copy()
    new["spouse"] = 1.0
    new.loc[:5, "age"] = np.nan
    new.loc[:5, "spouse"] = np.nan
    return imputer, new


@pytest.mark.parametrize(
    "question",
    [
        "transform",
        "predict_mm",
        "predict_mm_proba",
        "uncertainty",
        "impute",
        "review",
        "report",
        "explain",
        "self_check",
    ],
)
def test_a_warning_of_a_question_points_at_the_line_that_asks(question, contradicted):
    imputer, new = contradicted
    assert places(lambda: getattr(imputer, question)(new)) == {__file__}


@pytest.mark.slow
def test_a_warning_of_draws_points_at_the_line_that_asks(contradicted):
    imputer, new = contradicted
    drawing = SelectiveImputer([], rules=imputer.rules, n_boosters=1, n_threads=1, random_state=0)
    places(lambda: drawing.fit(new))
    assert places(lambda: drawing.sample(new[:40], 1)) == {__file__}


def test_a_warning_of_keep_na_points_at_the_line_that_calls_it(table):
    changed = table.fillna(0.0) + 1.0
    meaningful = table.isna()
    assert places(lambda: keep_na(table, changed, meaningful=meaningful)) == {__file__}
