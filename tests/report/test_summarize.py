import json

import numpy as np
import pandas as pd
import pytest

from diffjoint.report import summarize
from diffjoint.report.distributions import MOST_LEVELS
from diffjoint.report.drivers import Splitter
from diffjoint.report.summarize import GRID, MAP_ROWS, MOST_REVIEWED
from tests.report.conftest import findings_of, people


@pytest.fixture(scope="module")
def survey():
    table, married, rng = people(1000)
    likely = np.where(married, rng.beta(1, 6, 1000), rng.beta(8, 1, 1000))
    table["note"] = [f"free text {i}" for i in range(1000)]
    table.loc[:9, "note"] = None
    return summarize(findings_of(table, {"spouse_age": likely}), "A survey"), table


def test_every_cell_is_counted_once(survey):
    summary, table = survey
    assert summary.n_observed == int(table.notna().to_numpy().sum())
    assert summary.n_observed + summary.n_kept + summary.n_imputed + summary.n_left == table.size
    assert summary.n_left == 10
    for column in summary.columns:
        assert column.n_missing == table[column.name].isna().sum()
        assert column.n_missing == column.n_kept + column.n_imputed + column.n_left


def test_counts_at_any_threshold_are_those_of_the_cells():
    likely = np.concatenate([GRID, GRID, np.random.default_rng(0).random(400)])
    table = pd.DataFrame({"a": np.full(len(likely), np.nan), "b": np.arange(len(likely)) / 7})
    table.loc[len(likely)] = [1.5, 2.5]
    column = summarize(findings_of(table, {"a": np.append(likely, 0.0)}), "").columns[0]
    assert sum(column.likely) == len(likely)
    for place, threshold in enumerate(GRID):
        assert sum(column.likely[place + 1 :]) == (likely > threshold).sum()


def test_settled_cells_do_not_move_with_the_threshold():
    table, married, _ = people(200)
    column = summarize(
        findings_of(table, {"spouse_age": ~married * 1.0}, settled=["spouse_age"]), ""
    ).columns[3]
    assert sum(column.likely) == 0
    assert column.n_settled_kept == column.n_kept > 0


def test_distributions_hold_every_cell(survey):
    summary, table = survey
    for column in summary.columns[:4]:
        found = column.distribution
        assert sum(found.observed) == table[column.name].notna().sum()
        assert sum(found.imputed) == column.n_imputed
        assert len(found.labels) == len(found.observed) + found.is_binned


def test_many_levels_are_shown_as_a_few_and_the_rest():
    table = pd.DataFrame({"zip": [f"{i % 190:04d}" for i in range(1900)] + [None] * 5})
    found = summarize(findings_of(table), "").columns[0].distribution
    assert len(found.labels) == MOST_LEVELS + 1
    assert found.labels[-1] == "182 other levels"
    assert sum(found.observed) == 1900


@pytest.mark.parametrize(
    "values",
    [
        [3.25] * 30,
        [0.1, 0.2],
        [1e150, 1.0, 2.0],
        list(np.random.default_rng(0).lognormal(0, 4, 200)),
    ],
)
def test_any_numbers_have_a_distribution(values):
    table = pd.DataFrame({"x": [*values, None], "y": 1.5})
    assert sum(summarize(findings_of(table), "").columns[0].distribution.observed) == len(values)


def test_what_drives_being_kept_is_said_in_words(survey):
    first = survey[0].columns[3].drivers[0]
    assert first.words == f"Kept when married = no: {first.kept_share:.0%}"
    assert first.detail == "under 1% otherwise; covers 88% of the cells kept"
    assert first.kept_share > 0.95
    assert 0 < first.other_share < 0.01


def drivers(table, kept):
    made = findings_of(table.assign(target=np.where(np.arange(len(table)) == 0, 1.5, np.nan)))
    return Splitter(made.values, made.is_missing, made.schema).drivers(
        np.asarray(kept), table.shape[1]
    )


def test_splits_of_numbers_levels_and_gaps_are_found():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(0, 100, 500).astype(float),
            "town": rng.choice(list("abcdefgh"), 500),
            "job": np.where(rng.random(500) < 0.3, None, "yes"),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 500), "D"),
        }
    )
    assert drivers(table, table["age"] <= 24)[0].condition.startswith("age ≤ 2")
    assert drivers(table, table["age"] > 75)[0].condition.startswith("age > 7")
    assert drivers(table, table["town"].isin(["b", "e"]))[0].condition in (
        "town = b or e",
        "town = e or b",
    )
    assert drivers(table, table["town"] != "c")[0].condition == "town is not c"
    assert drivers(table, table["job"].isna())[0].condition == "job is missing"
    assert drivers(table, table["since"] > "2022-01-01")[0].condition.startswith("since > 202")


def test_where_nothing_drives_nothing_is_said():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(800, 6)), columns=list("abcdef"))
    assert drivers(table, rng.random(800) < 0.4) == ()
    assert drivers(table, np.ones(800, dtype=bool)) == ()


def test_the_map_shows_cells_as_they_are(survey):
    summary, table = survey
    assert len(summary.map_rows) == MAP_ROWS
    assert {len(row) for row in summary.map_rows} == {table.shape[1]}
    small, _, _ = people(12)
    rows = summarize(findings_of(small, {"spouse_age": 1.0}), "").map_rows
    empty = small.isna().to_numpy()
    expected = [
        "".join("2" if j == 3 and e else str(int(e)) for j, e in enumerate(r)) for r in empty
    ]
    assert sorted(rows) == sorted(expected)


@pytest.mark.slow
def test_wide_tables_have_a_map_of_fewer_rows():
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 300)))
    assert len(summarize(findings_of(wide), "").map_rows) == 80


def test_the_most_doubtful_cells_are_listed_and_the_rest_is_counted():
    n_cells = MOST_REVIEWED + 500
    likely = np.random.default_rng(0).uniform(0.2, 0.8, n_cells)
    table = pd.DataFrame({"a": np.full(n_cells, np.nan), "b": np.arange(n_cells) / 7})
    table.loc[n_cells] = [1.5, 2.5]
    summary = summarize(findings_of(table, {"a": np.append(likely, 0)}), "")
    doubt = [abs(cell.probability - 0.5) for cell in summary.review]
    assert len(doubt) == MOST_REVIEWED
    assert summary.n_review == n_cells
    assert doubt == sorted(doubt)
    assert max(doubt) <= np.sort(np.abs(likely - 0.5))[MOST_REVIEWED]


def test_a_summary_is_plain_data(survey):
    told = json.loads(json.dumps(survey[0].to_dict()))
    assert told["columns"][3]["drivers"][0]["column"] == "married"
    assert told["review"][0]["row"] == survey[0].review[0].row
