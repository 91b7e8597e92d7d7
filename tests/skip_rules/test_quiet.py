"""Rows in which a column is seldom lost show rules that a few rows follow."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.skip_rules.quiet import quiet_rows
from tests.skip_rules.test_find import rules_of


@pytest.fixture(scope="module")
def lossy():
    """Rows that break off before "charges", and a few that have none: new customers."""
    rng = np.random.default_rng(3)
    n = 4_000
    frame = pd.DataFrame(
        {
            "months": np.r_[np.zeros(9, dtype=int), rng.integers(1, 73, n - 9)],
            "town": rng.choice(list("abcd"), n),
            "paid by": rng.choice(["card", "cash"], n),
            "charges": rng.gamma(3, 20, n).round(2),
        }
    )
    frame.loc[frame["months"] == 0, "charges"] = None
    breaks_off = rng.random(n) < 0.5
    breaks_off[:7] = False
    return frame.assign(**{name: frame[name].mask(breaks_off) for name in ("paid by", "charges")})


def test_a_rule_of_few_rows_is_found_where_losses_are_seldom(lossy):
    rule = rules_of(lossy, ["charges"])["charges"]
    assert rule.text == "months >= 1"
    assert rule.is_whole
    assert (rule.n_fails, rule.n_exceptions) == (9, 0)


def test_it_is_not_found_where_losses_do_not_come_together(lossy):
    rng = np.random.default_rng(4)
    alone = lossy.assign(**{"paid by": "card"})
    alone.loc[rng.random(len(alone)) < 0.5, "paid by"] = None
    assert rules_of(alone, ["charges"]) == {}


def test_a_few_rows_must_follow_it_at_least(lossy):
    fewer = lossy.drop(index=range(5))
    assert rules_of(fewer, ["charges"]) == {}


def test_it_must_hold_in_the_other_rows_as_well(lossy):
    against = lossy.copy()
    at = against.index[against["paid by"].isna()][:6]
    against.loc[at, ["months", "charges"]] = [0, 20.0]
    assert rules_of(against, ["charges"]) == {}


def test_losses_that_come_together_are_told_by_column_and_by_number():
    rng = np.random.default_rng(5)
    gaps = rng.random((2_000, 12)) < np.where(rng.random(2_000) < 0.3, 0.6, 0.05)[:, None]
    is_missing = rng.random(2_000) < np.where(gaps.sum(axis=1) > 3, 0.8, 0.02)
    rows = quiet_rows(gaps, is_missing)
    assert is_missing[rows].mean() < 0.04
    assert rows.mean() > 0.5


def test_losses_that_are_independent_leave_no_quiet_rows():
    rng = np.random.default_rng(6)
    gaps = rng.random((2_000, 12)) < 0.3
    assert quiet_rows(gaps, rng.random(2_000) < 0.3) is None
    assert quiet_rows(gaps[:, :0], gaps[:, 0]) is None
