"""What the README and the docs say is run."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from benchmarks import (
    auto,
    bayes_limit,
    calls,
    calls_columns,
    cells,
    check_limit,
    downstream,
    paper,
    reduced_paper,
    worlds,
)
from benchmarks.tables import FULL, TABLES

from diffjoint.errors import FileError
from diffjoint.simulate import WORLDS, make_world

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in python_blocks(page):
        exec(compile(block, str(page), "exec"), {"__name__": "__main__"})


def test_the_results_page_shows_the_result_files():
    shown = reduced_paper.markdown(reduced_paper.table(reduced_paper.RESULTS))
    assert shown in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "made", [bayes_limit, check_limit, downstream], ids=lambda made: made.__name__
)
def test_the_results_page_shows_the_measured_tables(made):
    shown = made.markdown(pd.read_csv(made.RESULTS))
    assert shown in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_results_page_shows_the_papers_tables(table):
    shown = paper.markdown(table, FULL, cells.RESULTS)
    assert shown in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("network", calls.network_table),
        ("tables", calls.real_table),
        ("columns", calls_columns.columns_table),
        ("in_life", calls_columns.in_life_table),
    ],
)
def test_the_results_page_shows_the_calls(name, made):
    shown = made(pd.read_csv(calls.FOLDER / f"calls_{name}.csv"))
    assert shown in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_results_page_shows_which_columns_were_found():
    results = pd.read_csv(auto.FOLDER / "auto.csv", keep_default_na=False)
    assert set(results["part"]) == set(auto.PARTS)
    shown = auto.table_of(results)
    assert shown in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WORLDS)
def test_the_page_of_worlds_says_what_each_world_is(name):
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    assert f"## {name}\n" in page
    if name in worlds.NO_DATA:
        return
    assert (ROOT / "docs" / "worlds" / f"{name}.png").exists()
    try:
        world = make_world(name, mechanism=None)
    except FileError as error:
        pytest.skip(str(error))
    assert worlds.section(WORLDS[name], world) in page


def test_the_readme_quotes_the_result_files():
    medium, fast = (
        [done["ACC"] for done in json.loads((reduced_paper.RESULTS / name).read_text())["passes"]]
        for name in ("medium-or.json", "fast-or.json")
    )
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"gives {fast[-1]:.1f}% of the missing" in text
    assert f"it is {medium[-1]:.1f}% after five passes ({max(medium):.1f}% at best" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
