"""What a table says of itself, on tables whose truth is known here."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import SelectiveImputer, SelfCheck, self_check
from diffjoint.errors import InputError
from tests.conftest import TINY, TINY_INPAINT


def table_of(n, seed=0):
    """``follows`` goes with ``x``, ``noise`` with nothing; ``spouse`` is there for the married."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    married = rng.random(n) < 0.5
    table = pd.DataFrame(
        {
            "x": x,
            "follows": 3 * x + rng.normal(0, 0.3, n),
            "noise": rng.normal(size=n),
            "married": np.where(married, "yes", "no"),
            "sign": np.where(x > 0, "up", "down"),
        }
    ).mask(rng.random((n, 5)) < 0.1)
    lost = rng.random(n) < 0.1
    table["spouse"] = np.where(married & ~lost, 40 + 5 * rng.normal(size=n), np.nan)
    return table


@pytest.fixture(scope="module")
def checked():
    table = table_of(500)
    imputer = SelectiveImputer(["spouse"], imputer=None, **TINY, random_state=0).fit(table)
    return imputer, table, imputer.self_check(table)


def test_columns_that_follow_others_come_back_better_than_their_mean(checked):
    values = checked[2].values.set_index("column")
    assert values.loc["follows", "score"] < 0.5
    assert values.loc["follows", "mean_or_mode"] > 0.8
    assert values.loc["sign", "score"] > 0.85 > values.loc["sign", "mean_or_mode"]
    assert values.loc["noise", "score"] > 0.85
    assert values.loc["sign", "measure"] == "accuracy"


def test_as_many_cells_are_hidden_as_other_columns_lose(checked):
    _, table, check = checked
    observed = table.notna().sum().sum()
    assert 0.07 < check.values["n_cells"].sum() / observed < 0.13


def test_p_missing_is_held_against_who_is_missing(checked):
    _, table, check = checked
    found = check.missing.set_index("column").loc["spouse"]
    assert found["found"] == table["spouse"].isna().mean()
    assert found["said"] == pytest.approx(found["found"], abs=0.03)
    assert found["calibration_error"] < 0.08
    # A tenth of the rows do not say who is married: there, missing most likely is meaningful.
    assert 0.05 < found["false_calls"] < 0.2
    bins = check.bins
    assert bins["n_cells"].sum() == len(table)
    np.testing.assert_allclose(
        (bins["found"] * bins["n_cells"]).sum(), table["spouse"].isna().sum()
    )


def test_calls_are_made_again_under_other_assumptions(checked):
    imputer, table, check = checked
    calls = check.calls[check.calls["column"] == "all"].set_index("change")
    assert calls.index.tolist() == [
        "as now (threshold 0.5)",
        "threshold 0.3",
        "threshold 0.4",
        "threshold 0.6",
        "threshold 0.7",
        "another seed",
        "loss rate x 0.5",
        "loss rate x 1.5",
    ]
    assert calls.loc["as now (threshold 0.5)", "flipped"] == 0.0
    likely = imputer.predict_mm_proba(table)["spouse"][table["spouse"].isna()]
    assert calls.loc["threshold 0.7", "flipped"] == ((likely > 0.5) & (likely <= 0.7)).mean()
    kept = imputer.predict_mm(table)["spouse"].sum() / table["spouse"].isna().sum()
    assert calls.loc["as now (threshold 0.5)", "kept"] == kept
    assert calls.loc["loss rate x 0.5", "kept"] >= calls.loc["loss rate x 1.5", "kept"]


def test_it_reads_as_a_page(checked):
    page = str(checked[2])
    assert "better than mean or mode in" in page
    assert "loss rate x 1.5" in page
    assert "hidden at random" in page


def test_the_same_state_hides_the_same_cells(checked):
    table = checked[1]
    few = SelectiveImputer([], imputer=SimpleImputer()).fit(table)
    first, again = few.self_check(table), few.self_check(table)
    other = few.self_check(table, random_state=1)
    pd.testing.assert_frame_equal(first.values, again.values)
    assert first.values["n_cells"].tolist() != other.values["n_cells"].tolist()


def test_a_wrapped_imputer_is_checked_by_its_own_values(checked):
    table = checked[1]
    check = SelectiveImputer([], imputer=SimpleImputer()).fit(table).self_check(table)
    numbers = check.values[check.values["measure"] == "standardised_rmse"]
    np.testing.assert_allclose(numbers["score"], numbers["mean_or_mode"])
    assert check.calls.empty
    assert "no calls to check" in str(check)


def test_large_tables_are_checked_by_a_sample_and_it_is_said(checked, monkeypatch):
    table = checked[1]
    monkeypatch.setattr(self_check, "MOST_ROWS", 100)
    check = SelectiveImputer([], imputer=SimpleImputer()).fit(table).self_check(table)
    assert "100 of 500 rows" in str(check)
    assert check.values["n_cells"].sum() < 100


def test_evidence_is_learnt_anew_three_times_at_most(checked, monkeypatch):
    imputer, table, _ = checked
    learnt = []

    def count(observation, space, loss_rate, seed, progress):
        learnt.append((loss_rate, seed))

    monkeypatch.setattr(self_check, "DETECTORS", {"evidence": count})
    assert isinstance(imputer.self_check(table), SelfCheck)
    assert len(learnt) == 3
    assert len({seed for _, seed in learnt}) == 2


def test_the_papers_sampler_is_refused_in_words(checked):
    table = checked[1][["x", "noise"]]
    imputer = SelectiveImputer([], **{**TINY_INPAINT, "n_iterations": 1}).fit(table)
    with pytest.raises(InputError, match="sampler='inpaint'"):
        imputer.self_check(table)


def test_a_check_is_frozen(checked):
    assert replace(checked[2], notes=()).notes == ()
    with pytest.raises(AttributeError):
        checked[2].notes = ()
