"""The examples run, in small."""

import ast
import json
from pathlib import Path

import pandas as pd
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


NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def shown_by(notebook):
    """Run the cells of a notebook as a kernel does; yield the id of each and what it shows."""
    names = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            body = ast.parse("".join(cell["source"]).replace("n_rows = 600", "n_rows = 200")).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), cell["id"], "exec"), names)
            if last is not None:
                yield (
                    cell["id"],
                    eval(compile(ast.Expression(last.value), cell["id"], "eval"), names),
                )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_hold_no_results_and_are_whole(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len({*ids}) == len(ids)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_the_first_notebook_runs_cell_by_cell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (path,) = [path for path in NOTEBOOKS if path.stem == "first_table"]
    shown = dict(shown_by(json.loads(path.read_text(encoding="utf-8"))))
    assert shown["complete"]["age"].notna().all()
    assert shown["rules"]
    assert "spouse_age" in repr(shown["inspect"])
    assert isinstance(shown["pool"], pd.DataFrame)
    assert "<iframe" in shown["report"]._repr_html_() or "<html" in shown["report"]._repr_html_()
    assert (tmp_path / "report.html").exists()
    said = capsys.readouterr().out
    assert "spouse_age, weekly_hours, commute" in said
    assert float(said.split("%")[0].split()[-1]) > 80
