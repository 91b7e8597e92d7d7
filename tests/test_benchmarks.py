"""Small versions of the benchmarks, so that they cannot rot."""

import json

import pandas as pd
from benchmarks import bayes_limit, reduced_paper


def test_the_reduced_paper_run_measures_every_pass(tmp_path, capsys):
    reduced_paper.main(["--quick", "--only", "small-or", "--results", str(tmp_path)])
    result = json.loads((tmp_path / "small-or.json").read_text())
    assert [done["iteration"] for done in result["passes"]] == [1, 2, 3, 4, 5]
    assert result["settings"]["fusion"] == "or"
    for done in result["passes"]:
        assert 0 <= done["recall"] <= 100
        assert done["RMSE"] > 0
    table = pd.read_csv(tmp_path / "table.csv")
    assert "medium-or: not run" in table["run"].tolist()
    assert "paper (GPU" in capsys.readouterr().out


def test_the_limits_are_measured_for_every_mechanism_and_ratio(tmp_path, capsys):
    bayes_limit.main(["--quick", "--results", str(tmp_path / "limits.csv")])
    results = pd.read_csv(tmp_path / "limits.csv")
    assert len(results) == 12
    assert results["ACC"].between(50, 100).all()
    assert "| MNAR | 40 |" in capsys.readouterr().out


def test_runs_that_have_a_result_are_not_made_again(tmp_path):
    (tmp_path / "small-or.json").write_text(json.dumps({"passes": []}))
    reduced_paper.main(["--quick", "--only", "small-or", "--results", str(tmp_path)])
    assert json.loads((tmp_path / "small-or.json").read_text()) == {"passes": []}
