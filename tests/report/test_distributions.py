"""Distributions and statistics of what is observed, imputed and drawn."""

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from diffjoint.report import Report, summarize
from diffjoint.report.charts import density_chart, distribution_chart
from diffjoint.report.distributions import (
    FEWEST_DRAWN,
    find_distribution,
    find_statistics,
)
from diffjoint.report.drawn import Drawn
from diffjoint.table import Column, Kind
from tests.report.conftest import findings_of, people

AGE = Column("age", Kind.INTEGER, low=0, high=99)
PAY = Column("pay", Kind.CONTINUOUS)
TOWN = Column("town", Kind.CATEGORICAL, levels=("Bonn", "Köln", "Ulm"))


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    draws = [rng.normal(5, 2, 100) for _ in range(3)]
    return rng.normal(0, 2, 2000), np.full(100, 5.0), draws


def test_statistics_are_those_of_numpy(groups):
    seen = groups[0]
    found = find_statistics(PAY, seen)
    assert found.n_cells == len(seen)
    assert float(found.mean) == pytest.approx(seen.mean(), rel=1e-3)
    assert float(found.deviation) == pytest.approx(seen.std(ddof=1), rel=1e-3)
    words = (found.lowest, found.lower, found.median, found.upper, found.highest)
    assert [float(word) for word in words] == pytest.approx(
        np.quantile(seen, [0, 0.25, 0.5, 0.75, 1]), rel=1e-3, abs=1e-4
    )
    assert found.n_levels == 0


def test_statistics_of_few_cells_dates_and_levels():
    assert find_statistics(PAY, np.empty(0)) is None
    assert find_statistics(PAY, np.array([2.5])).deviation == ""
    seen = Column("seen", Kind.DATETIME)
    days = np.array([0.0, 2.0]) * 86_400_000_000
    found = find_statistics(seen, days)
    assert (found.mean, found.deviation, found.highest) == (
        "1970-01-02",
        "1.414 days",
        "1970-01-03",
    )
    found = find_statistics(TOWN, np.array([2.0, 2.0, 0.0, 2.0]))
    assert (found.n_levels, found.level, found.level_share, found.mean) == (2, "Ulm", 0.75, "")


def test_draws_are_counted_in_the_same_bins(groups):
    seen, filled, draws = groups
    found = find_distribution(PAY, seen, filled, draws)
    assert [sum(counts) for counts in found.drawn] == [100, 100, 100]
    assert all(len(counts) == len(found.observed) for counts in found.drawn)
    towns = find_distribution(TOWN, np.array([0.0, 1, 1]), np.array([1.0]), [np.array([2.0])] * 30)
    assert towns.drawn == ((0, 0, 30),)
    assert towns.labels == ("Köln", "Bonn", "Ulm")


def test_draws_of_few_cells_are_taken_together(groups):
    seen, _, draws = groups
    few = [draw[: FEWEST_DRAWN - 1] for draw in draws]
    found = find_distribution(PAY, seen, few[0], few)
    assert [sum(counts) for counts in found.drawn] == [3 * (FEWEST_DRAWN - 1)]
    assert len(found.densities) == 2


def test_densities_lie_where_the_cells_are(groups):
    seen, filled, draws = groups
    found = find_distribution(PAY, seen, filled, draws)
    assert len(found.densities) == 4
    edges = [float(label) for label in found.labels]
    middles = np.linspace(edges[0], edges[-1], 2 * len(found.densities[0]) + 1)[1::2]
    inside = np.clip(seen, edges[0], edges[-1])
    for curve, cells in zip(found.densities[:1], [inside], strict=True):
        assert sum(curve) == pytest.approx(1.0, abs=0.02)
        assert np.average(middles, weights=curve) == pytest.approx(cells.mean(), abs=0.1)
    lie = [np.average(middles, weights=curve) for curve in found.densities[1:]]
    assert min(lie) > np.average(middles, weights=found.densities[0]) + 1


def test_few_different_numbers_have_no_density():
    rng = np.random.default_rng(0)
    seen, draws = rng.integers(0, 6, 300).astype(float), [rng.integers(0, 6, 50).astype(float)]
    found = find_distribution(AGE, seen, draws[0], draws)
    assert found.densities == ()
    assert distribution_chart(found, "parts").count('class="drawn"') == len(found.observed)


@pytest.mark.parametrize("value", [3.25, 1e150, -2.0])
def test_one_value_has_distributions_and_draws(value):
    cells = np.full(40, value)
    found = find_distribution(PAY, cells, cells, [cells, cells])
    assert sum(found.observed) == 40
    assert find_statistics(PAY, cells).deviation in ("0", "0e+00")


def test_a_picture_of_draws_has_a_line_for_each_and_a_text(groups):
    seen, filled, draws = groups
    found = find_distribution(PAY, seen, filled, draws)
    drawn = density_chart(found, "<b>pay")
    assert drawn.count('class="draw"') == 3
    assert "Density of the observed values of &lt;b&gt;pay, with 3 draws" in drawn


def test_the_page_shows_draws_and_statistics():
    table, _, rng = people(400)
    made = findings_of(table)
    rows = np.flatnonzero(made.is_missing.any(axis=1))
    values = np.tile(made.values[rows], (4, 1, 1))
    values[:, :, 1] = rng.integers(18, 90, values.shape[:2])
    summary = summarize(replace(made, drawn=Drawn(rows, values, 400)), "Drawn")
    age = summary.columns[1]
    n_missing = int(table["age"].isna().sum())
    assert age.drawn.n_cells == 4 * n_missing
    assert [sum(counts) for counts in age.distribution.drawn] == [n_missing] * 4
    json.dumps(asdict(summary))
    page = Report(summary).html
    assert "4 draws over the observed values" in page
    numbers = page.partition('id="number-table"')[2].partition("</table>")[0]
    assert f'<td class="number">{age.observed.mean}</td>' in numbers
    assert f">{age.drawn.mean}</td>" in numbers


def test_without_draws_nothing_is_said_of_them():
    page = Report(summarize(findings_of(people(100)[0]), "Not drawn")).html
    assert "over the observed values" not in page
    assert '<th scope="colgroup" colspan="2">Draws</th>' not in page
    assert "<code>sample</code> draws values with the full variation" in page


def test_complete_columns_have_statistics_too():
    table = pd.DataFrame({"a": np.arange(50.0) / 3, "b": ["x", "y"] * 25})
    page = Report(summarize(findings_of(table), "Whole")).html
    assert 'id="number-table"' in page
    assert 'id="level-table"' in page
    assert "Filled in</th>" not in page.partition('id="number-table"')[2]
    assert 'href="#missing"' not in page, "there is nothing to show"
    assert '>x</bdi> <span class="small">50%</span>' in page
