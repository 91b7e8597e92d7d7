from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from diffjoint.metrics import (
    calibration_error,
    class_scores,
    lost_accuracy,
    lost_errors,
    lost_left_empty,
    lost_scores,
    mm_scores,
    mm_scores_by_column,
    rarity_weighted_f1,
    token_accuracy,
)
from diffjoint.simulate import World, bayesian_network

NA = np.nan


@pytest.fixture
def world():
    """Four rows; d is meaningful in the first two, and lost in the third and fourth."""
    truth = pd.DataFrame({"c": [1.0, 2.0, 3.0, 4.0], "d": [NA, NA, 0.0, 1.0]})
    lost = pd.DataFrame({"c": [True, False, True, False], "d": [False, False, True, True]})
    return World(
        name="hand-made",
        seed=0,
        truth=truth,
        meaningful=truth.isna(),
        lost=lost,
        mm_columns=["d"],
        column_kinds={"c": "continuous", "d": "categorical"},
        is_train=np.ones(4, dtype=bool),
    )


def test_scores_computed_by_hand(world):
    called = pd.DataFrame({"c": [False] * 4, "d": [True, False, True, False]})
    assert mm_scores(world, called) == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_calling_nothing_scores_zero_not_an_error(world):
    nothing = pd.DataFrame(False, index=range(4), columns=["c", "d"])
    assert mm_scores(world, nothing) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


@pytest.fixture
def survey():
    """Column d: 10 meaningful, 10 lost, 1 of unknown kind; e: 9 meaningful, 10 lost, 2 observed."""
    d = pd.Series(["meaningful"] * 10 + ["lost"] * 10 + ["unknown"])
    e = pd.Series(["meaningful"] * 9 + ["lost"] * 10 + ["observed"] * 2)
    kinds = pd.DataFrame({"d": d, "e": e})
    return World(
        name="hand-made",
        seed=0,
        truth=pd.DataFrame("x", index=d.index, columns=kinds.columns).where(kinds == "observed"),
        meaningful=kinds == "meaningful",
        lost=kinds == "lost",
        mm_columns=["d", "e"],
        column_kinds=dict.fromkeys("de", "categorical"),
        is_train=np.zeros(21, dtype=bool),
    )


def test_lost_cells_are_scored_by_hand(survey):
    """In d 8 of 10 meaningful and 6 of 10 lost are right; in e all are called meaningful."""
    called = pd.DataFrame({"d": [True] * 8 + [False] * 8 + [True] * 4 + [False], "e": True})
    scores = lost_scores(survey, called, called.astype(float))
    assert scores["lost_found"] == 6 / 20
    assert scores["lost_precision"] == 6 / 8, "the cell of unknown kind does not count"
    assert scores["meaningful_recall"] == 17 / 19
    assert scores["n_columns_scored"] == 1, "e has 9 meaningful cells, one too few"
    pairs_in_order, ties = 8 * 6, 8 * 4 + 2 * 6
    assert scores["mean_column_auc"] == pytest.approx((pairs_in_order + ties / 2) / 100)


def test_without_a_call_of_lost_its_precision_is_not_a_number(survey):
    everything = pd.DataFrame(True, index=range(21), columns=["d", "e"])
    scores = lost_scores(survey, everything, everything.astype(float))
    assert np.isnan(scores["lost_precision"])
    assert (scores["lost_found"], scores["meaningful_recall"]) == (0.0, 1.0)
    none_scored = lost_scores(replace(survey, mm_columns=["e"]), everything, everything)
    assert np.isnan(none_scored["mean_column_auc"])
    assert none_scored["n_columns_scored"] == 0


def test_a_cell_of_unknown_kind_is_no_false_alarm(survey):
    called = survey.meaningful | ~survey.kind_known
    assert mm_scores(survey, called)["precision"] == 1.0


def test_a_token_is_right_if_its_state_is(world):
    completed = pd.DataFrame({"c": [1.0, 2.0, 3.0, 4.0], "d": [NA, 1.0, 0.0, 0.0]})
    assert token_accuracy(world, completed) == 0.5


def test_the_error_counts_lost_cells_only(world):
    completed = pd.DataFrame({"c": [4.0, 99.0, 7.0, 4.0], "d": [NA] * 4})
    errors = lost_errors(world, completed)
    assert errors["rmse"] == pytest.approx(np.sqrt((9 + 16) / 2))
    assert errors["mae"] == pytest.approx(3.5)
    spread = np.std([1, 2, 3, 4])
    assert errors["standardised_rmse"] == pytest.approx(np.sqrt((9 + 16) / 2) / spread)
    assert errors["standardised_mae"] == pytest.approx(3.5 / spread)


def test_probabilities_scored_by_hand(world):
    called = pd.DataFrame({"c": [False] * 4, "d": [True, False, True, False]})
    likely = pd.DataFrame({"c": [0.0] * 4, "d": [0.9, 0.4, 0.6, 0.1]})
    scores = mm_scores(world, called, likely)
    assert scores["auc"] == 0.75
    assert scores["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    assert scores["calibration_error"] == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)


def test_scores_per_column_end_with_the_pooled_ones(world):
    table = mm_scores_by_column(world, world.meaningful, world.meaningful.astype(float))
    assert table.index.tolist() == ["d", "pooled"]
    assert table.loc["d", "f1"] == 1.0
    assert table.loc["pooled", "brier"] == 0.0


def test_auc_needs_both_kinds(world):
    one_kind = replace(world, lost=world.lost & False)
    nothing = world.meaningful.astype(float)
    assert np.isnan(mm_scores(one_kind, world.meaningful, nothing)["auc"])


def test_a_said_share_that_is_found_is_calibrated():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    assert calibration_error(rng.random(100_000) < p, p) < 0.005
    assert calibration_error(rng.random(100_000) < p**2, p) == pytest.approx(1 / 6, abs=0.01)


def test_rare_classes_weigh_more():
    """Classes a (3 of 4) and b (1 of 4): F1 0.8 and 2/3, weights 1/4 and 3/4."""
    truth, predicted = list("aaab"), list("aabb")
    assert rarity_weighted_f1(truth, predicted) == pytest.approx(0.25 * 0.8 + 0.75 * 2 / 3)
    usual = f1_score(truth, predicted, average="weighted")
    assert usual == pytest.approx(0.75 * 0.8 + 0.25 * 2 / 3)


def test_class_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    probability = rng.dirichlet(np.ones(3), 300) + 0.5 * np.eye(3)[truth]
    probability /= probability.sum(axis=1, keepdims=True)
    scores = class_scores(truth, probability, [0, 1, 2])
    predicted = probability.argmax(axis=1)
    assert scores["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert scores["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    expected = roc_auc_score(truth, probability, multi_class="ovr", average="macro")
    assert scores["roc_auc"] == pytest.approx(expected)


def test_a_cell_left_empty_has_no_error():
    world = bayesian_network(100, 100, loss_rate=0.3)
    assert np.isnan(lost_errors(world, world.observed_table)["rmse"])


def test_lost_accuracy_by_hand():
    truth = pd.DataFrame({"a": ["x", "y", "x", None], "b": [1.0, 2.0, 3.0, 4.0]})
    world = World(
        name="mine",
        seed=0,
        truth=truth,
        meaningful=pd.DataFrame({"a": [False] * 4, "b": False}),
        lost=pd.DataFrame({"a": [True, True, False, True], "b": True}),
        mm_columns=[],
        column_kinds={"a": "categorical", "b": "continuous"},
        is_train=np.ones(4, dtype=bool),
    )
    guess = truth.assign(a=["x", "x", "x", "x"])
    assert lost_accuracy(world, guess) == 0.5, "the last cell's value is not known"
    assert lost_accuracy(world, truth.assign(a=[None] * 4)) == 0.0
    assert lost_left_empty(world, guess) == 0.0
    assert lost_left_empty(world, truth.assign(a=["x", None, None, None])) == 0.5
    nothing = replace(world, lost=world.lost & False)
    assert np.isnan(lost_left_empty(nothing, guess))
    numbers = replace(world, column_kinds={"b": "continuous"})
    assert np.isnan(lost_left_empty(numbers, guess))
