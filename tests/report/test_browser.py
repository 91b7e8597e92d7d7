"""The page in a real browser: it opens quietly, sorts, filters, slides and exports."""

import shutil

import numpy as np
import pandas as pd
import pytest

from diffjoint import read_decisions
from diffjoint.report import Report, summarize
from tests.report.conftest import findings_of, people
from tests.report.test_render import hostile_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
QUIET = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"]
QUIET += ["disable-background-networking", "disable-component-update"]
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason=f"no Chromium on this machine ({', '.join(NAMES)})"
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=CHROMIUM, args=[f"--{flag}" for flag in QUIET]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def survey():
    """A table and P(meaningful) of two of its columns, one with a name that needs quoting."""
    table, married, rng = people(400)
    table['pay, "net"'] = np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400))
    likely = np.where(married, rng.beta(1, 3, 400), rng.beta(3, 1, 400))
    return table, {"spouse_age": likely, 'pay, "net"': rng.random(400)}


class Opened:
    """A page, and what it complained of."""

    def __init__(self, browser, report, folder, **options):
        path = folder / "report.html"
        report.save(path)
        context = browser.new_context(accept_downloads=True, **options)
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.own = path.as_uri()

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()


@pytest.fixture
def opened(browser, survey, tmp_path):
    report = Report(summarize(findings_of(*survey), "A survey"))
    made = Opened(browser, report, tmp_path)
    yield made
    assert made.complaints == []
    made.page.context.close()


def test_it_opens_without_a_word_and_without_the_network(opened):
    assert opened.page.title() == "A survey"
    assert [url for url in opened.requests if not url.startswith("data:")] == [opened.own]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1200, "light")])
def test_nothing_sticks_out_of_the_screen(browser, tmp_path, width, scheme):
    size = {"width": width, "height": 800}
    made = Opened(browser, hostile_report(), tmp_path, viewport=size, color_scheme=scheme)
    assert made.page.evaluate("document.documentElement.scrollWidth") == width
    assert made.complaints == []
    made.page.context.close()


def test_the_columns_are_readable_on_a_phone(browser, survey, tmp_path):
    """Each column is a block with named counts, and nothing has to be scrolled sideways."""
    report = Report(summarize(findings_of(*survey, is_checked=True), "A survey"))
    made = Opened(browser, report, tmp_path, viewport={"width": 390, "height": 800})
    assert made.page.evaluate("document.documentElement.scrollWidth") == 390
    for table in ("#column-table", "#kept-table"):
        width, room = made.page.evaluate(
            f"[document.querySelector('{table}').scrollWidth, "
            f"document.querySelector('{table}').parentElement.clientWidth]"
        )
        assert width <= room
    cell = made.page.locator('#column-table tbody [data-role="kept"]').first
    label = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert label == '"kept as NA"'
    made.page.locator("#column-table th", has_text="Missing").locator("button").click()
    assert made.texts("#column-table tbody th")[0].startswith("spouse_age")
    made.page.context.close()


def test_hostile_input_runs_nothing_and_hides_nothing(browser, tmp_path):
    made = Opened(browser, hostile_report(), tmp_path)
    assert made.page.locator("#review-table tbody tr").count() == 100
    assert made.page.locator("#column-table tbody tr").count() == 14
    assert made.page.locator("footer").is_visible()
    made.page.locator("#more").click()
    made.page.locator("#slider").fill("0.7")
    assert made.complaints == []
    made.page.context.close()


def test_columns_sort_by_their_headings(opened, survey):
    head = opened.page.locator("#column-table th", has_text="Missing")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    counts = survey[0].isna().sum().sort_values(ascending=False)
    shown = [int(text.split()[0]) for text in opened.texts("#column-table tbody td:nth-child(3)")]
    assert shown == counts.tolist()
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    names = opened.page.locator("#column-table th", has_text="Column")
    names.locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert opened.texts("#column-table tbody th")[0].startswith("age")


def test_cells_to_review_sort_and_filter(opened):
    page = opened.page
    page.locator("#review-table th", has_text="Row").locator("button").click()
    rows = [int(text) for text in opened.texts("#review-table td.place")]
    assert rows == sorted(rows, reverse=True)
    page.locator("#filter-column").select_option(label='pay, "net"')
    assert set(opened.texts("#review-table td.name")) == {'pay, "net"'}
    page.locator("#filter-call").select_option("lost")
    assert set(opened.texts("#review-table td.call")) == {"lost"}
    page.locator("#filter-text").fill("nothing holds this")
    assert page.locator("#review-table tbody tr").count() == 0
    assert "0 of " in page.locator("#review-words").inner_text()


def test_the_slider_counts_as_the_cells_would(opened, survey):
    table, likely = survey
    for threshold in (0.0, 0.37, 0.8, 1.0):
        opened.page.locator("#slider").fill(f"{threshold}")
        for place, name in ((3, "spouse_age"), (4, 'pay, "net"')):
            empty = table[name].isna().to_numpy()
            kept = int((likely[name][empty] > threshold).sum())
            line = f'#column-table tr[data-column="{place}"]'
            assert opened.texts(f'{line} [data-role="kept"]') == [str(kept)]
            assert opened.texts(f'{line} [data-role="filled"]') == [str(empty.sum() - kept)]
    assert opened.page.locator("#slider-option").inner_text() == "--set threshold=1.00"
    opened.page.locator("#slider-reset").click()
    assert "as in the completed table" in opened.page.locator("#slider-words").inner_text()


def exported(opened, folder):
    with opened.page.expect_download() as download:
        opened.page.locator("#export").click()
    path = folder / "decisions.csv"
    download.value.save_as(path)
    return path


def test_decisions_are_exported_and_read_back(opened, survey, tmp_path):
    page, table = opened.page, survey[0]
    assert page.locator("#export").is_disabled()
    page.locator("#filter-column").select_option(label='pay, "net"')
    first = page.locator("#review-table tbody tr").nth(0)
    first.get_by_role("button", name="meaningful").click()
    page.locator("#review-table tbody tr").nth(1).get_by_role("button", name="lost").click()
    rows = [int(text) for text in opened.texts("#review-table td.place")[:2]]
    assert page.locator("#export").inner_text() == "Export 2 decisions (CSV)"
    path = exported(opened, tmp_path)
    listed = pd.read_csv(path)
    assert ",".join(listed) == "row,column,probability,call,imputed,reason,decision"
    known = read_decisions(path, table)
    assert np.argwhere(known["known_meaningful"].to_numpy()).tolist() == [[rows[0], 4]]
    assert np.argwhere(known["known_lost"].to_numpy()).tolist() == [[rows[1], 4]]


def test_calls_at_a_threshold_can_be_accepted_for_all(opened, survey, tmp_path):
    opened.page.locator("#slider").fill("0.65")
    opened.page.locator("#decide-shown").click()
    listed = pd.read_csv(exported(opened, tmp_path))
    table, likely = survey
    empty = table[list(likely)].isna().to_numpy()
    chances = np.column_stack(list(likely.values()))
    assert len(listed) == (empty & (chances >= 0.2) & (chances <= 0.8)).sum()
    expected = np.where(listed["probability"] > 0.65, "meaningful", "lost")
    assert listed["decision"].tolist() == expected.tolist()
    opened.page.locator("#clear-shown").click()
    assert opened.page.locator("#export").is_disabled()


def test_a_notebook_frame_runs_the_page_and_lets_files_out(browser, survey, tmp_path):
    report = Report(summarize(findings_of(*survey), "A survey"))
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{report._repr_html_()}", encoding="utf-8")
    page = browser.new_context(accept_downloads=True).new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("#decide-shown").click()
    with page.expect_download() as download:
        inside.locator("#export").click()
    assert download.value.suggested_filename == "decisions.csv"
    assert complaints == []
    page.context.close()
