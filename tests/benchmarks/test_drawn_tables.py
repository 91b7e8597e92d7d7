"""Scores of drawn tables, and the chained equations that they are measured beside."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.chained import chain

from benchmarks import drawn_tables
from diffjoint.simulate import World


def small_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    table = pd.DataFrame({"a": a, "b": 2 * a + rng.normal(size=300) / 4})
    table["c"] = np.where(a + rng.normal(size=300) / 4 > 0, "yes", "no")
    table["d"] = np.array(["x", "y", "z"])[np.digitize(a, [-0.5, 0.5])]
    return table


def test_chained_equations_keep_what_is_observed_and_follow_what_relates_columns():
    table = small_table()
    lost = np.random.default_rng(1).random(table.shape) < 0.2
    first, second = chain(table.mask(lost), 2, seed=0)
    assert first.notna().all(axis=None)
    pd.testing.assert_frame_equal(first.mask(lost), table.mask(lost), check_dtype=False)
    assert not first.equals(second)
    assert first["a"].corr(first["b"]) > 0.95
    assert ((first["c"] == "yes") == (first["a"] > 0)).mean() > 0.85
    assert (first["d"] == table["d"])[lost[:, 3]].mean() > 0.6


def test_draws_from_the_truth_have_ranks_as_even_as_intervals_promise():
    rng = np.random.default_rng(0)
    draws, truth = rng.integers(0, 4, (20, 6_000)).astype(float), rng.integers(0, 4, 6_000)
    scores = drawn_tables.score_numbers(draws, truth.astype(float), 1.0, seed=0)
    assert scores["inside_50"] == pytest.approx(50, abs=2)
    assert scores["inside_80"] == pytest.approx(80, abs=2)
    wide = drawn_tables.score_numbers(10 * draws - 15, truth.astype(float), 1.0, seed=0)
    assert wide["inside_80"] > 95
    assert wide["crps"] > scores["crps"]


def test_crps_and_brier_are_as_computed_by_hand():
    draws = np.array([[0.0], [2.0]])
    scores = drawn_tables.score_numbers(draws, np.array([1.0]), 2.0, seed=0)
    assert scores["crps"] == pytest.approx((1 - 0.5) / 2)
    assert scores["rmse"] == 0.0
    levels = drawn_tables.score_levels(np.array([["a"], ["a"], ["b"], ["a"]]), np.array(["b"]))
    assert levels["brier"] == pytest.approx(0.75**2 + 0.75**2)
    assert levels["right"] == 0.0


def test_a_drawn_service_without_its_line_is_a_contradiction():
    names = [*drawn_tables.GATES, *(n for gated in drawn_tables.GATES.values() for n in gated)]
    table = pd.DataFrame("Yes", range(3), names)
    table.loc[0, "PhoneService"] = "No"
    lost = pd.DataFrame(False, table.index, names)
    assert drawn_tables.contradictions(table, lost) == 0
    lost.loc[0, "MultipleLines"] = True
    assert drawn_tables.contradictions(table, lost) == 1
    table.loc[0, "MultipleLines"] = drawn_tables.NO_VALUE
    assert drawn_tables.contradictions(table, lost) == 0
    lost.loc[1, "StreamingTV"] = True
    table.loc[1, "StreamingTV"] = np.nan
    assert drawn_tables.contradictions(table, lost) == 1


def small_world(seed: int) -> World:
    """Lose cells of the small table as if it were telco."""
    table = small_table()
    lost = pd.DataFrame(np.random.default_rng(seed).random(table.shape) < 0.2, columns=[*table])
    kinds = {name: "categorical" if name in "cd" else "continuous" for name in table}
    nothing = pd.DataFrame(False, table.index, table.columns)
    return World("telco", seed, table, nothing, lost, [], kinds, np.ones(len(table), dtype=bool))


@pytest.mark.slow
def test_drawn_tables_are_scored_column_by_column(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(drawn_tables.TABLES, "telco", small_world)
    monkeypatch.setattr(drawn_tables, "GATES", {})
    arguments = ["--quick", "--tables", "telco", "--ways", "trees", "chained equations"]
    path = tmp_path / "drawn.csv"
    drawn_tables.main([*arguments, "filled in", "--seeds", "0", "--results", str(path)])
    results = pd.read_csv(tmp_path / "drawn-quick.csv")
    assert set(results["way"]) == {"trees", "chained equations", "filled in"}
    assert results["value"].notna().all()
    assert "| draws by trees |" in capsys.readouterr().out
    assert drawn_tables.markdown_of_likeliest(results).count("% right") == 2
