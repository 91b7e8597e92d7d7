"""A third detector: a file, and its name where detectors are named."""

import sys

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer, detectors, load
from diffjoint.errors import InputError
from diffjoint.parameters import checks
from diffjoint.parameters.checks import OneOf
from diffjoint.settings import DETECTOR_NAMES
from diffjoint.simulate import household_survey
from tests.conftest import TINY, new_imputer
from tests.detectors import by_chance

SEARCHED = ["spouse_age", "commute"]


@pytest.fixture(autouse=True)
def _named(monkeypatch):
    """The file in its folder, and the one line: its name in DetectorName, which these are made of."""
    names = (*DETECTOR_NAMES, "by_chance")
    monkeypatch.setitem(sys.modules, "diffjoint.detectors.by_chance", by_chance)
    monkeypatch.setattr(detectors, "DETECTOR_NAMES", names)
    monkeypatch.setitem(checks.PARAMETERS, "detector", OneOf(names))


@pytest.fixture(scope="module")
def survey():
    return household_survey(300, seed=1).observed_table


@pytest.fixture
def fitted(survey):
    return new_imputer(SEARCHED, detector="by_chance", random_state=0, **TINY).fit(survey)


def test_cells_are_called_at_random_by_what_their_rows_hold(survey, fitted):
    likely = fitted.predict_mm_proba(survey)
    missing = survey[SEARCHED].isna().to_numpy()
    shown = likely[SEARCHED].to_numpy()[missing]
    assert np.quantile(shown, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.08)
    pd.testing.assert_frame_equal(fitted.predict_mm_proba(survey[::-1])[::-1], likely)
    completed = fitted.transform(survey)
    kept = completed[SEARCHED].isna().to_numpy()
    assert (kept[missing] == (shown > 0.5)).all()
    assert not kept[~missing].any()
    assert completed.drop(columns=SEARCHED).notna().all(axis=None)


def test_the_rest_of_the_house_takes_it_in(survey, fitted, tmp_path):
    """It is saved, draws, reports and checks; what it cannot say is refused in its name."""
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.predict_mm_proba(survey), fitted.predict_mm_proba(survey))
    masks = [table[SEARCHED].isna().to_numpy() for table in fitted.sample(survey, 3)]
    assert (masks[0] != masks[1]).any()
    assert "by_chance" in fitted.report(survey).html
    assert len(fitted.review(survey))
    assert any("detector 'evidence' made" in note for note in fitted.self_check(survey).notes)
    with pytest.raises(InputError, match="detector='by_chance', which does not explain"):
        fitted.explain(survey)


def test_a_model_of_a_detector_that_is_not_there_is_refused(fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    monkeypatch.setattr(detectors, "DETECTOR_NAMES", DETECTOR_NAMES)
    with pytest.raises(ValueError, match="there is no detector 'by_chance'"):
        load(tmp_path / "model")


def test_it_works_beside_another_imputer(survey):
    from sklearn.impute import KNNImputer

    table = survey[["age", "spouse_age", "income"]]
    wrapped = SelectiveImputer(["spouse_age"], detector="by_chance", imputer=KNNImputer())
    completed = wrapped.fit_transform(table)
    assert completed[["age", "income"]].notna().all(axis=None)
    assert 0 < completed["spouse_age"].isna().sum() < table["spouse_age"].isna().sum()
