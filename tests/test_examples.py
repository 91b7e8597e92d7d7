"""The examples run, in small."""

import pytest
from examples import (
    clinical_labs,
    decisions,
    multiple_imputation,
    pipeline_with_a_classifier,
    polars_table,
    quickstart,
    survey_with_skip_logic,
)

from diffjoint.settings import estimator_params
from tests.conftest import FEW_CELLS, TINY

SETTINGS = estimator_params(**TINY)
pytestmark = FEW_CELLS


@pytest.mark.slow
def test_multiple_imputation_pools_a_regression(capsys):
    shown = multiple_imputation.main(120, 3, **SETTINGS)
    assert list(shown.index) == ["intercept", "age", "smoker", "pack_years"]
    assert ((shown["low"] < shown["pooled"]) & (shown["pooled"] < shown["high"])).all()
    assert (shown["missing_information"] > 0).all()
    assert "rows are complete" in capsys.readouterr().out


@pytest.mark.slow
def test_quickstart_finds_the_columns_and_tells_cells_apart(capsys):
    result = quickstart.main(300, **SETTINGS)
    assert result.table["age"].notna().all()
    shown = capsys.readouterr().out
    assert "spouse_age weekly_hours commute" in shown
    assert float(shown.split("%")[0].split()[-1]) > 80


@pytest.mark.slow
def test_rules_and_codes_are_never_overruled():
    shown = survey_with_skip_logic.main(200, **SETTINGS).iloc[0]
    assert list(shown) == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_clinical_labs_are_counted():
    counts = clinical_labs.main(300, **SETTINGS)
    assert (counts["kept"] + counts["filled"] == counts["empty"]).all()
    assert counts["kept"].sum() > 0


@pytest.mark.slow
def test_a_classifier_takes_what_comes_out():
    assert (pipeline_with_a_classifier.main(150, 2, **SETTINGS) > 0.5).all()


@pytest.mark.slow
def test_polars_comes_back_as_polars():
    completed = polars_table.main(150, **SETTINGS)
    assert completed["age"].null_count() == 0
    assert completed["spouse_age"].null_count() > 0


@pytest.mark.slow
def test_cells_are_as_decided():
    assert decisions.main(200, **SETTINGS)["is_as_decided"].all()
