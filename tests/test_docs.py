"""What the README and the docs say is run."""

import json
import re
from argparse import Namespace
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from benchmarks.published import published
from benchmarks.tables import FULL, TABLES, downstream_tables, method_comparison, real_tables
from benchmarks.tables.grid import gather
from mkdocs.commands.build import build
from mkdocs.config import load_config

import diffjoint
from benchmarks import (
    auto,
    bayes_limit,
    calls,
    calls_columns,
    cells,
    check_limit,
    check_worlds,
    coherence,
    columns,
    coverage,
    draws,
    life_losses,
    pages,
    paper,
    profiling,
    real_losses,
    reduced_paper,
    speed,
    worlds,
)
from diffjoint.errors import FileError
from diffjoint.settings import PAPER, PRESETS
from diffjoint.simulate import WORLDS, make_world

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    """With hardly any training: what they show is how, not how well."""
    monkeypatch.chdir(tmp_path)
    brief = {name: replace(preset, max_epochs=2) for name, preset in PRESETS.items()}
    monkeypatch.setattr("diffjoint.settings.PRESETS", brief)
    for block in python_blocks(page):
        exec(compile(block, str(page), "exec"), {"__name__": "__main__"})


def results_of(name):
    return pd.read_csv(calls.FOLDER / f"{name}.csv", keep_default_na=name != "auto")


NOT_RUN = "Not run yet.\n"


def speed_of(first, make):
    """A table of :mod:`benchmarks.speed`, from the files of its measurements alone."""
    path = speed.RESULTS / f"{first}.json"
    if not path.exists():
        return NOT_RUN
    threads = json.loads(path.read_text(encoding="utf-8"))["job"]["threads"]
    with TemporaryDirectory() as pictures:
        folders = {"results": speed.RESULTS, "pictures": Path(pictures)}
        return make(Namespace(quick=False, threads=threads, rows=None, sample_rows=20, **folders))


def most_rows():
    """The largest table whose time was taken."""
    return max(n for n in speed.ROWS if (speed.RESULTS / f"rows-{n}.json").exists())


def with_rows(options):
    options.rows = most_rows()
    return options


def text_or_not_run(path, made):
    return made(path) if path.exists() else NOT_RUN


MADE = {
    pages.README: {
        "acc": lambda: method_comparison.readme_table(FULL, cells.RESULTS),
        "auto": lambda: auto.sentence(results_of("auto")),
        "real_losses": lambda: real_losses.readme_table(results_of("real_losses")),
        "real_tables": lambda: real_tables.readme_table(FULL, cells.RESULTS),
        "reduced_paper": lambda: reduced_paper.paragraph(reduced_paper.RESULTS),
    },
    pages.USING: {"coverage": lambda: coverage.sentence(results_of("coverage"))},
    pages.RESULTS_PAGE: {
        "reduced_paper": lambda: reduced_paper.markdown(reduced_paper.table(reduced_paper.RESULTS)),
        "bayes_limit": lambda: bayes_limit.markdown(results_of("bayes_limit")),
        "bayes_limit_life": lambda: bayes_limit.life_markdown(results_of("bayes_limit_life")),
        "check_limit": lambda: check_limit.markdown(results_of("check_limit")),
        "check_worlds": lambda: check_worlds.table_of(results_of("check_worlds")),
        "calls_network": lambda: calls.network_section(results_of("calls_network")),
        "calls_tables": lambda: calls.real_section(results_of("calls_tables")),
        "calls_columns": lambda: calls_columns.columns_table(results_of("calls_columns")),
        "real_losses": lambda: real_losses.section(calls.FOLDER),
        "life_losses": lambda: life_losses.section(calls.FOLDER),
        "auto": lambda: auto.table_of(results_of("auto")),
        "coherence": lambda: coherence.table_of(results_of("coherence")),
        "coverage": lambda: coverage.markdown(results_of("coverage")),
        "methods": paper.methods_table,
        "draws": lambda: text_or_not_run(
            draws.RESULTS, lambda path: draws.draws_table(pd.read_csv(path))
        ),
        "profile": lambda: text_or_not_run(
            profiling.RESULTS, lambda path: path.read_text(encoding="utf-8")
        ),
        "speed": lambda: speed_of("network", speed.network),
        "speed_columns": lambda: columns.section(results_of("columns")),
        "speed_mimic": lambda: speed_of("mimic", speed.mimic),
        "speed_scaling": lambda: speed_of("rows-1000", lambda o: speed.scaling(with_rows(o))),
    }
    | {table.name: partial(paper.markdown, table, FULL, cells.RESULTS) for table in TABLES},
}
"""What makes the text between each mark, from the result files."""


@pytest.mark.parametrize(
    ("page", "name"),
    [(page, name) for page, made in MADE.items() for name in made],
    ids=lambda part: getattr(part, "name", part),
)
def test_a_page_shows_between_its_marks_what_the_result_files_say(page, name):
    assert pages.shown_in(name, page) == MADE[page][name]()


@pytest.mark.parametrize("page", MADE, ids=lambda page: page.name)
def test_every_mark_on_a_page_is_held(page):
    marks = re.findall(r"<!-- (.*?) -->", page.read_text(encoding="utf-8"))
    assert set(marks) == {*MADE[page], "end"}


def test_seeds_that_are_averaged_have_the_same_settings():
    """What a result does not name was not there to be set, and was as by default."""
    by_default = asdict(PAPER)
    seen = {}
    for path in cells.RESULTS.glob("*/*/*.json"):
        settings = json.loads(path.read_text()).get("settings", {})
        if "sampler" in settings:
            settings = by_default | settings
        chosen = {n: value for n, value in settings.items() if n not in ("n_done", "seed")}
        assert seen.setdefault(path.parent, chosen) == chosen, path
    assert seen


def test_the_default_leads_on_the_network():
    """Best in ACC everywhere; in RMSE behind nothing by more than three standard errors."""
    rows = method_comparison.lead(FULL, cells.RESULTS).rows
    leads, behind = (np.array([row.shown[j].mean for row in rows]) for j in (0, 2))
    assert len(rows) == 12
    assert (leads > 0).all()
    assert (behind < 3).all()


@pytest.mark.parametrize("target", cells.TARGETS[cells.NETWORK])
@pytest.mark.parametrize("ratio", [10, 20, 30, 40])
def test_what_the_default_completes_is_worth_the_true_table(target, ratio):
    """Downstream macro-F1: no lower than the paper's, within two points of the true table's."""
    get = downstream_tables.downstream_score(target, "macro_f1")
    ours, true = (
        gather(FULL.network(method, "mcar", at), get, cells.RESULTS).mean
        for method, at in (("diffjoint", ratio), (cells.TRUTH, 10))
    )
    where = {"method": "diffjoint_paper", "target": target, "ratio": ratio}
    assert ours >= published("downstream_network", "macro_f1", **where)
    assert ours > true - 2


def test_every_part_of_the_search_was_measured():
    assert set(results_of("auto")["part"]) == set(auto.PARTS)


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


def test_the_site_builds_without_warnings(tmp_path):
    site = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True)
    build(site)
    shown = (tmp_path / "api.html").read_text(encoding="utf-8")
    for name in set(diffjoint.__all__) - {"__version__"}:
        assert f'id="diffjoint.{name}"' in shown, f"{name} is public and not on the page"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
