"""Why cells are kept: what you said, what another column shows, or a cause that nobody knows."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.report import Report, summarize
from diffjoint.report.drivers import Driver, Splitter
from diffjoint.report.kept import say_why_kept
from diffjoint.skip_rules.find import FoundRule
from tests.report.conftest import findings_of, people


def rule(is_whole=True):
    return FoundRule("hours", 3, 'work == "yes"', ("work",), is_whole, 9, 0, 9, 1, 0.1)


def driver(strength=0.95, kept=1.0, *, is_observed=True):
    return Driver("work", "work = no", kept, 0.01, 0.4, 0.9, strength, is_observed)


@pytest.fixture(scope="module")
def garage():
    """Three columns that are missing in the same rows, and one that says why."""
    rng = np.random.default_rng(0)
    has_none = rng.random(600) < 0.2
    table = pd.DataFrame(
        {
            "area": np.where(has_none, 0.0, rng.integers(20, 90, 600)),
            "price": rng.lognormal(10, 0.5, 600),
        }
    )
    for name in ("door", "year", "quality"):
        table[name] = np.where(has_none, np.nan, rng.normal(size=600))
    return table


def test_a_cause_is_an_observed_value_and_not_a_column_of_the_same_block(garage):
    likely = dict.fromkeys(["door", "year", "quality"], 1.0)
    for column in summarize(findings_of(garage, likely), "").columns[2:]:
        assert [one.condition for one in column.drivers] == ["area = 0"]
        assert column.kept.cause == "area = 0"
        assert len(column.kept.beside) == 2


def test_without_a_value_that_shows_when_the_cause_is_unknown(garage):
    table = garage.drop(columns="area")
    likely = dict.fromkeys(["door", "year", "quality"], 1.0)
    summary = summarize(findings_of(table, likely), "")
    for column in summary.columns[1:]:
        assert column.drivers == ()
        assert column.kept.cause == ""
    n_kept = int(table[list(likely)].isna().to_numpy().sum())
    assert (summary.n_with_cause, summary.n_without_cause) == (0, n_kept)
    page = " ".join(Report(summary).html.split())
    assert "Missing in the same rows as <bdi>year, quality</bdi>" in page
    assert page.count("cause unknown") == 3
    assert f"{n_kept} for an unknown cause" in page


def test_a_column_that_is_not_of_the_block_may_be_named_as_missing():
    rng = np.random.default_rng(0)
    skipped = rng.random(500) < 0.3
    table = pd.DataFrame({"a": rng.normal(size=500), "b": np.where(skipped, np.nan, 1.0)})
    table.loc[0, "b"] = 2.0
    made = findings_of(table.assign(target=np.where(skipped, np.nan, rng.normal(size=500))))
    splitter = Splitter(made.values, made.is_missing, made.schema)
    (found,) = splitter.drivers(skipped, 2)
    assert (found.condition, found.is_observed) == ("b is missing", False)
    assert splitter.drivers(skipped, 2, block=("b",)) == ()


def test_a_value_that_is_rarely_observed_is_no_strong_cause():
    """It tells all of the few rows that have it, and nothing of the others."""
    rng = np.random.default_rng(0)
    kept = rng.random(2000) < 0.5
    rare = np.where(rng.random(2000) < 0.05, kept.astype(float), np.nan)
    often = np.where(rng.random(2000) < 0.1, ~kept, kept).astype(float)
    table = pd.DataFrame({"rare": rare, "often": often, "x": rng.normal(size=2000)})
    made = findings_of(table.assign(target=np.where(kept, np.nan, 1.5)))
    first, *_ = Splitter(made.values, made.is_missing, made.schema).drivers(kept, 3)
    assert first.column == "often"


def test_frequent_numbers_are_split_at_exactly():
    rng = np.random.default_rng(0)
    area = np.where(rng.random(3000) < 0.01, 0, rng.integers(300, 900, 3000)).astype(float)
    table = pd.DataFrame({"area": area, "x": rng.normal(size=3000)})
    made = findings_of(table.assign(target=np.where(area == 0, np.nan, 1.5)))
    (found,) = Splitter(made.values, made.is_missing, made.schema).drivers(area == 0, 2)
    assert (found.condition, found.kept_share, found.other_share) == ("area = 0", 1.0, 0.0)


@pytest.mark.parametrize(
    ("drivers", "found", "cause"),
    [
        ([driver()], rule(), "work = no"),
        ([driver(0.7)], rule(), 'not (work == "yes")'),
        ([driver(0.7)], None, "work = no"),
        ([driver(0.7)], rule(is_whole=False), "work = no"),
        ([driver(0.5)], None, ""),
        ([driver(0.9, kept=0.5)], None, ""),
        ([driver(is_observed=False)], None, ""),
        ([], rule(is_whole=False), ""),
    ],
)
def test_a_cause_is_clear_or_a_rule(drivers, found, cause):
    assert say_why_kept(100, 0, drivers, found, ()).cause == cause


def test_a_rule_on_a_column_that_is_missing_in_the_same_rows_is_no_cause():
    assert say_why_kept(100, 0, [driver(0.7)], rule(), ("work",)).cause == "work = no"
    assert say_why_kept(100, 0, [], rule(), ("work",)).cause == ""
    assert say_why_kept(100, 0, [], rule(), ("commute",)).cause == 'not (work == "yes")'


def test_what_you_said_is_not_applicable_and_needs_no_other_cause():
    table, married, _ = people(300)
    likely = {"spouse_age": ~married * 1.0}
    summary = summarize(findings_of(table, likely, settled=["spouse_age"]), "")
    kept = summary.columns[3].kept
    assert (kept.n_told, kept.n_found, kept.cause) == (summary.n_kept, 0, "")
    page = " ".join(Report(summary).html.split())
    assert "not applicable</span> by a rule, a reason code or a label" in page
    assert f"{summary.n_kept} by what you said" in page
    found = Report(summarize(findings_of(table, likely), "")).html
    assert "not applicable</span>" not in found
    assert "structurally missing</span> where <bdi>married = no" in found
