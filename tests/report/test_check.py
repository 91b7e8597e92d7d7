"""A self-check as the page shows it."""

import pytest

from diffjoint.report.check import summarize_check
from tests.report.conftest import check_of


def test_lines_are_ordered_by_the_error_that_is_left():
    lines = summarize_check(check_of(["a", "b", "c"], []), {"a", "b"}).values
    assert [line.name for line in lines] == ["c", "b", "a"]
    assert [line.error_left for line in lines] == pytest.approx([5.0, 1.0, 0.5 / 0.9])
    assert [line.is_filled for line in lines] == [False, True, True]
    assert [line.score for line in lines] == ["50% right", "off by 0.90 SD", "off by 0.50 SD"]


def test_a_column_without_hidden_cells_has_no_score():
    check = check_of(["a"], [])
    check["values"][0] |= {"n_cells": 0, "score": float("nan"), "mean_or_mode": float("nan")}
    (line,) = summarize_check(check, set()).values
    assert (line.score, line.usual, line.error_left) == ("", "", None)
    assert not line.is_told


def test_a_mode_that_is_always_right_leaves_nothing_to_compare():
    check = check_of(["a"], [])
    check["values"][0] |= {"measure": "accuracy", "score": 1.0, "mean_or_mode": 1.0}
    assert summarize_check(check, set()).values[0].error_left is None


def test_dots_belong_to_their_column():
    first, second = summarize_check(check_of(["a", "b"], ["a", "b"]), set()).missing
    assert first.points == second.points == ((0.2, 0.2, 90), (0.7, 0.7, 10))


def test_too_few_cells_to_tell_are_not_alarming():
    first, second = summarize_check(check_of(["a", "b"], ["a", "b"]), set()).wrong_calls
    assert (first.false_calls, first.expected_wrong, first.is_alarming) == (0.312, 0.04, True)
    assert (second.false_calls, second.expected_wrong, second.is_alarming) == (None, 0.04, False)
    check = check_of(["a"], ["a"])
    check["wrong_calls"][0] |= {"n_missing": 0, "expected_wrong": float("nan")}
    (line,) = summarize_check(check, set()).wrong_calls
    assert (line.false_calls, line.expected_wrong, line.is_alarming) == (None, None, False)


def test_calls_name_the_column_that_changes_most():
    check = check_of(["all", "b"], ["all", "b"])
    check["calls"][-1]["flipped"] = 0.4
    now, halved = summarize_check(check, set()).calls
    assert (now.flipped, now.column) == (0.0, "")
    assert (halved.flipped, halved.column, halved.column_flipped) == (0.2, "b", 0.4)


def test_the_headline_weighs_columns_by_their_cells():
    check = check_of(["a", "b"], ["a", "b"])
    check["wrong_calls"][1] |= {"n_shown": 40, "false_calls": 0.1, "n_lost": 30.0, "n_missing": 90}
    headline = summarize_check(check, set()).headline
    assert headline.lost_kept == pytest.approx((0.312 * 10 + 0.1 * 30) / 40)
    assert headline.expected_wrong == pytest.approx(0.04)


def test_the_headline_says_nothing_of_too_few_cells():
    check = check_of(["a"], ["a"])
    check["wrong_calls"][0] |= {"n_shown": 9, "n_missing": 9}
    headline = summarize_check(check, set()).headline
    assert (headline.lost_kept, headline.expected_wrong) == (None, None)
    assert summarize_check(check_of(["a"], []), set()).headline is None


def test_the_sentence_on_wrong_calls_is_the_headline_and_is_not_said_again():
    made = summarize_check(check_of(["a", "b"], ["a"]), set())
    assert made.headline.words == made.verdicts[1]
    assert made.other_verdicts == made.verdicts[2:]
