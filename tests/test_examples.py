"""The examples run, in small."""

import pytest

pytest.importorskip("statsmodels")

from examples import multiple_imputation

from tests.conftest import TINY


def test_multiple_imputation_pools_a_regression(capsys):
    shown = multiple_imputation.main(120, 3, **TINY)
    assert list(shown.index) == ["intercept", "age", "smoker", "pack_years"]
    assert ((shown["low"] < shown["pooled"]) & (shown["pooled"] < shown["high"])).all()
    assert (shown["missing_information"] > 0).all()
    assert "rows are complete" in capsys.readouterr().out
