"""What a table says of itself, on tables whose truth is known here."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import SelectiveImputer, SelfCheck
from diffjoint._progress import NoProgress
from diffjoint.detectors import learn_evidence
from diffjoint.errors import InputError
from diffjoint.fitting.prepare import Given
from diffjoint.results import self_check
from diffjoint.results.verdict import (
    describe_calibration,
    describe_values,
    describe_wrong_calls,
    find_alarm,
)
from diffjoint.results.wrong_calls import draw_lost_together, find_wrong_calls
from diffjoint.simulate import household_survey
from tests.conftest import TINY, TINY_INPAINT, new_imputer


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
    imputer = new_imputer(["spouse"], imputer=None, **TINY, random_state=0).fit(table)
    return imputer, table, imputer.self_check(table)


@pytest.mark.slow
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
    assert found["false_calls"] == check.wrong_calls["false_calls"].iloc[0]
    bins = check.bins
    assert bins["n_cells"].sum() == len(table)
    np.testing.assert_allclose(
        (bins["found"] * bins["n_cells"]).sum(), table["spouse"].isna().sum()
    )


def test_the_share_of_wrong_calls_comes_first(checked):
    check = checked[2]
    assert (
        check.verdicts[0] == str(check).splitlines()[0] == describe_wrong_calls(check.wrong_calls)
    )


def test_wrong_calls_by_their_own_probabilities_are_those_on_the_other_side(checked):
    imputer, table, check = checked
    likely = imputer.predict_mm_proba(table)["spouse"][table["spouse"].isna()]
    found = check.wrong_calls.iloc[0]
    assert found["n_missing"] == len(likely)
    assert found["expected_wrong"] == pytest.approx(np.minimum(likely, 1 - likely).mean())
    assert found["n_shown"] == table["spouse"].notna().sum()


def wrong_of(**columns):
    """Wrong calls of columns that have enough of everything."""
    usual = {"n_missing": 50, "expected_wrong": 0.02, "n_shown": 50, "false_calls": 0.1}
    return pd.DataFrame({"column": ["a", "b"], **usual, "n_lost": 20.0} | columns)


def test_wrong_calls_are_counted_by_the_hundred():
    told = describe_wrong_calls(wrong_of(false_calls=[0.31, 0.01], n_lost=[10.0, 20.0]))
    assert told == (
        "Of 100 lost cells about 11 would be kept as NA by mistake (worst: a, 31 of 100). "
        "By their own probabilities, 2 of 100 calls on missing cells are wrong."
    )
    assert describe_wrong_calls(wrong_of(false_calls=0.0, expected_wrong=0.001)) == (
        "Of 100 lost cells none would be kept as NA by mistake. "
        "By their own probabilities, fewer than 1 of 100 calls on missing cells is wrong."
    )


def test_too_few_cells_to_tell_is_not_said_to_be_untrustworthy():
    some = wrong_of(n_shown=[50, 3], false_calls=[0.1, 1.0])
    assert describe_wrong_calls(some).startswith(
        "Of 100 lost cells about 10 would be kept as NA by mistake. Too few observed cells to tell "
        "in b."
    )
    few = wrong_of(n_shown=3, n_missing=2, false_calls=1.0, expected_wrong=0.5)
    assert describe_wrong_calls(few).count("oo few") == 2
    assert find_alarm(some) == find_alarm(few) == ""


@pytest.mark.parametrize("often", [{"false_calls": [0.1, 0.26]}, {"expected_wrong": [0.1, 0.21]}])
def test_calls_that_are_often_wrong_raise_an_alarm(checked, often):
    assert find_alarm(wrong_of()) == checked[2].alarm == ""
    check = replace(checked[2], wrong_calls=wrong_of(**often))
    assert check.alarm.startswith("Do not trust the calls of b: ")
    assert check.verdicts[:2] == (check.alarm, describe_wrong_calls(check.wrong_calls))
    assert str(check).startswith(f"{check.alarm}\n\nOf 100 lost cells")
    nothing_called = check.wrong_calls.assign(n_missing=0)
    assert find_alarm(nothing_called) == ""


def survey_of(mechanism, loss_rate):
    """A survey's wrong calls as the table tells them, and the share of lost cells kept in truth."""
    world = household_survey(1_000, mechanism=mechanism, loss_rate=loss_rate)
    imputer = SelectiveImputer(world.mm_columns, imputer=SimpleImputer(), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer.fit(world.observed_table)
    observation, belief = (
        imputer._fitted.observe(imputer._fitted.coded),
        imputer._fitted.model.belief,
    )
    folds = belief.judging_folds(observation.fold_keys)
    rng = np.random.default_rng(0)
    wrong = find_wrong_calls(observation, imputer._fitted.model.space, belief, folds, 0.5, rng)
    kept = imputer.predict_mm(world.observed_table)[world.mm_columns]
    lost = (world.lost & ~world.meaningful)[world.mm_columns]
    return wrong, kept.to_numpy()[lost.to_numpy()].mean()


def share_kept(wrong):
    return np.average(wrong["false_calls"], weights=wrong["n_lost"])


@pytest.mark.slow
def test_independent_losses_are_kept_as_often_as_is_said():
    wrong, truth = survey_of("mcar", 0.2)
    assert share_kept(wrong) == pytest.approx(truth, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["survey", "break-off"])
def test_losses_that_come_together_are_recognised_and_that_is_said(mechanism):
    wrong, truth = survey_of(mechanism, 0.1)
    assert truth < 0.15
    assert share_kept(wrong) == pytest.approx(truth, abs=0.15)
    assert not find_alarm(wrong)


def test_cells_are_hidden_that_go_missing_with_lost_ones():
    rng = np.random.default_rng(0)
    lost = rng.random(4_000) < 0.2
    alone, beside = rng.random(4_000) < 0.3, lost & (rng.random(4_000) < 0.9)
    is_missing = np.stack([lost, beside, alone], axis=1)
    hidden = draw_lost_together(is_missing, np.zeros(4_000), 0, rng)
    assert hidden.shape == ((~lost).sum(), 3)
    shown = is_missing[~lost] | hidden
    assert shown[:, 1].mean() == pytest.approx(0.9, abs=0.03), "as often as beside lost cells"
    assert shown[:, 2].mean() == pytest.approx(0.3, abs=0.03), "independent losses stay as they are"


def test_gaps_of_cells_that_are_meaningful_are_not_taken_for_company():
    rng = np.random.default_rng(0)
    meaningful, lost = rng.random(2_000) < 0.3, rng.random(2_000) < 0.1
    is_missing = np.stack([meaningful | lost, meaningful], axis=1)
    assert not draw_lost_together(is_missing, meaningful * 1.0, 0, rng)[:, 1].any()
    never = np.zeros(2_000, dtype=bool)
    assert not draw_lost_together(np.stack([never, lost], axis=1), np.zeros(2_000), 0, rng).any()


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
        "loss rate x 0.75",
        "loss rate x 1.25",
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
    assert "better than the mean or mode in" in page
    assert "loss rate x 1.5" in page
    assert "hidden at random" in page
    assert "as if they had been lost together with the cells that go missing with them" in page


@pytest.mark.slow
def test_the_same_state_hides_the_same_cells(checked):
    imputer, table, check = checked
    pd.testing.assert_frame_equal(imputer.self_check(table).wrong_calls, check.wrong_calls)
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


@pytest.mark.slow
def test_evidence_is_learnt_anew_once_and_not_for_draws(checked, monkeypatch):
    imputer, table, _ = checked
    learnt = []

    def count(observation, space, loss_rate, seed, progress):
        learnt.append(seed)
        return learn_evidence(observation, space, loss_rate, seed, progress)

    def never(*args, **options):
        raise AssertionError("nothing is drawn")

    monkeypatch.setattr(self_check, "learn_evidence", count)
    monkeypatch.setattr("diffjoint.detectors.evidence.learn_in_turn", never)
    assert isinstance(imputer.self_check(table), SelfCheck)
    assert len(learnt) == 1
    assert learnt[0] != imputer._fitted.model.seed


@pytest.mark.slow
@pytest.mark.parametrize("known", [None, "labels"])
def test_another_loss_rate_says_what_learning_anew_with_it_says(checked, known):
    imputer, table, _ = checked
    observation = imputer._fitted.observe(imputer._open(Given(table, known and labels_of(table))))
    space, seed = imputer._fitted.model.space, imputer._fitted.model.seed
    rates = {space.mm[0]: 0.2}
    plain = learn_evidence(observation, space, None, seed, NoProgress())
    folds = plain.judging_folds(observation.fold_keys)
    moved = plain.at_loss_rate(observation, rates, folds).probability(observation)
    anew = learn_evidence(observation, space, rates, seed, NoProgress()).probability(observation)
    np.testing.assert_allclose(moved, anew)
    assert (moved != plain.probability(observation)).any()


def labels_of(table):
    """Some of the cells of the unmarried, known to be meaningful."""
    empty = table["spouse"].isna() & (table["married"] == "no")
    return pd.DataFrame({"spouse": empty & (np.arange(len(table)) % 2 == 0)})


@pytest.mark.slow
def test_a_sample_is_called_as_the_whole_table_is(monkeypatch):
    rng = np.random.default_rng(0)
    gate = rng.random(400) < 0.5  # few distinct rows, so that most are repeats of others
    table = pd.DataFrame({"gate": np.where(gate, "yes", "no"), "answer": np.where(gate, "a", None)})
    table = table.mask(rng.random(table.shape) < 0.1)
    imputer = SelectiveImputer(["answer"], imputer=SimpleImputer()).fit(table)
    monkeypatch.setattr(self_check, "MOST_ROWS", 150)
    asked = []
    usual = self_check._changes

    def changes(observation, model, belief, folds, *rest):
        asked.append((observation, belief.probability(observation, folds)))
        return usual(observation, model, belief, folds, *rest)

    monkeypatch.setattr(self_check, "_changes", changes)
    imputer.self_check(table)
    sample, likely = asked[0]
    whole = imputer._fitted.observe(imputer._fitted.coded)
    place = {key: i for i, key in enumerate(whole.keys.tolist())}
    rows = [place[key] for key in sample.keys.tolist()]
    np.testing.assert_array_equal(likely, imputer._fitted.model.belief.probability(whole)[rows])


def test_a_column_of_noise_is_not_better_than_its_mean(checked):
    values = checked[2].values.set_index("column")
    assert not values.loc["noise", "is_better"]
    assert values.loc[["follows", "sign"], "is_better"].all()
    few = values["n_cells"] < 10
    assert not values.loc[few, "is_better"].any()


def test_the_verdict_names_columns_not_to_be_trusted(checked):
    wrong, values, missing, calls = checked[2].verdicts
    assert wrong.startswith("Of 100 lost cells about ")
    assert "; not in " in values
    assert "noise" in values
    assert "do not trust" in values
    assert missing.startswith("P(missing), on which calls are based, is calibrated")
    assert calls.startswith("Calls are")
    verdicts = checked[2].verdicts
    assert all(verdict in str(checked[2]) for verdict in verdicts)


def test_verdicts_follow_the_numbers(checked):
    check = checked[2]
    off = replace(check, missing=check.missing.assign(calibration_error=0.3))
    assert "is off by more than chance explains in spouse (30.0 points)" in str(off)
    still = replace(check, calls=check.calls.assign(flipped=0.0))
    assert "Calls are steady: at most 0%" in str(still)
    for change, words in (
        ("loss rate x 0.5", "Calls are steady: at most 0%"),
        ("loss rate x 0.5", "They depend on the loss rate: 40% would change with loss rate x 0.5."),
        ("loss rate x 1.25", "Calls are not steady: 40% change with loss rate x 1.25. If you know"),
        ("another seed", "40% change with another seed. Look at the cells to review"),
    ):
        flipped = np.where(check.calls["change"] == change, 0.4, 0.0)
        assert words in str(replace(check, calls=check.calls.assign(flipped=flipped)))
    assert "better than the mean or mode in 6 of 6 columns." in str(
        replace(check, values=check.values.assign(is_better=True, n_cells=50))
    )
    few = str(replace(check, values=check.values.assign(n_cells=3)))
    assert "Too few observed cells could be hidden" in few


def test_columns_in_which_nothing_is_missing_are_not_called_untrustworthy(checked):
    imputer, table, check = checked
    whole = table.notna().all(axis=1)
    assert (check.values["n_missing"] == table.isna().sum().to_numpy()).all()
    values = check.values.assign(is_better=False, n_cells=[50, 50, 50, 50, 3, 3])
    open_ones = values["column"].isin(["noise", "sign"])
    told = describe_values(values.assign(n_missing=np.where(open_ones, 9, 0)))
    assert told == (
        "Observed cells that were hidden and filled in again came out better than the mean or mode "
        "in 0 of 1 columns with missing cells; not in noise: do not trust its values. Too few "
        "cells could be hidden to tell in sign."
    )
    nothing = imputer.self_check(table[whole])
    assert nothing.verdicts[:2] == (
        "No missing cell can be meaningful, so no call can be wrong.",
        "No cell is missing, so no value was filled in.",
    )


def test_names_with_commas_are_told_apart():
    frame = pd.DataFrame({"column": ["a, b", "c"], "n_cells": 50, "is_better": False})
    frame["n_missing"] = 5
    assert describe_values(frame).endswith('not in "a, b", c: do not trust their values.')
    off = pd.DataFrame({"column": ["a, b"], "calibration_error": 0.3, "by_chance": 0.0})
    assert '""' not in describe_calibration(off)
    assert '(worst: "a, b", 40 of 100)' in describe_wrong_calls(
        wrong_of(column=["a, b", "c"], false_calls=[0.4, 0.0])
    )


def test_new_rows_are_checked_by_what_fit_had_learnt(checked):
    """Thirty rows say nothing of what another seed or loss rate would make of the fit."""
    imputer, _, _ = checked
    new = imputer.self_check(table_of(30, seed=1))
    assert any("not those of fit" in note for note in new.notes)
    assert new.calls["change"].str.contains("threshold").all()
    assert "seed" not in new.verdicts[-1]
    follows = imputer.self_check(table_of(300, seed=2)).values.set_index("column").loc["follows"]
    assert follows["is_better"]


def test_a_column_that_is_empty_in_new_rows_is_not_scored(checked):
    imputer, _, _ = checked
    new = table_of(60, seed=1).assign(sign=None, noise=np.nan)
    scores = imputer.self_check(new).values.set_index("column")
    assert scores.loc[["sign", "noise"], "score"].isna().all()
    assert not scores.loc[["sign", "noise"], "is_better"].any()


@pytest.mark.slow
def test_a_wrapped_imputer_is_checked_where_a_level_is_never_seen(monkeypatch):
    table = table_of(400)
    table["rare"] = np.where(np.arange(400) == 7, "once", None)
    imputer = SelectiveImputer(["spouse", "rare"], imputer=SimpleImputer(), random_state=0)
    with pytest.warns(UserWarning, match="from how often the column is missing"):
        imputer.fit(table)
    monkeypatch.setattr(self_check, "MOST_ROWS", 50)
    scores = imputer.self_check(table).values.set_index("column")
    assert np.isnan(scores.loc["rare", "score"])
    assert np.isfinite(scores.loc["follows", "score"])


def test_a_column_without_any_error_is_to_be_trusted():
    right = np.zeros(50)
    assert self_check._is_better(right, right)
    assert not self_check._is_better(right[:5], right[:5]), "too few to tell"


class Counted(NoProgress):
    """Units that were said to come, and those that came."""

    total = done = 0.0

    def begin(self, total):
        self.total = total

    def advance(self, units, loss=None):
        self.done += units


@pytest.mark.slow
def test_the_work_of_a_check_is_as_much_as_was_said(checked):
    imputer, _, _ = checked
    counted, observation = Counted(), imputer._fitted.observe(imputer._fitted.coded)
    self_check.check_table(observation, imputer._fitted.model, None, 0, counted)
    assert counted.done == pytest.approx(counted.total)


def test_a_check_is_plain_data(checked):
    plain = json.loads(json.dumps(checked[2].to_dict()))
    tables = ["wrong_calls", "values", "missing", "bins", "calls"]
    assert list(plain) == ["alarm", "verdicts", *tables, "notes"]
    assert plain["wrong_calls"][0]["column"] == "spouse"
    assert plain["values"][0]["column"] == "x"


def test_the_papers_sampler_is_refused_in_words(checked):
    table = checked[1][["x", "noise"]]
    imputer = new_imputer([], **{**TINY_INPAINT, "n_iterations": 1}).fit(table)
    with pytest.raises(InputError, match="sampler='inpaint'"):
        imputer.self_check(table)


def test_a_check_is_frozen(checked):
    assert replace(checked[2], notes=()).notes == ()
    with pytest.raises(AttributeError):
        checked[2].notes = ()
