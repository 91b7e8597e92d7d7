import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import FileError
from diffjoint.report import Report, summarize
from diffjoint.report.render import MOST_CALIBRATED, MOST_CARDS
from diffjoint.skip_rules.find import FoundRule
from tests.report.conftest import findings_of, people

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "' onmouseover='alert(4)",
    "<!-- <script>",
    "]]></style>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202eright to left\u202c",
    "مرحبا",
    "👩‍👩‍👧 🏳️‍🌈",
    "line\nbreak\u2028and\u2029more\x00",
    "a" * 500,
    "`${alert(5)}`",
    "&lt;b&gt;",
]


class Page(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def hostile_table(n_rows=240):
    rng = np.random.default_rng(0)
    cells = np.array(HOSTILE, dtype=object)[rng.integers(0, len(HOSTILE), (n_rows, len(HOSTILE)))]
    cells[rng.random(cells.shape) < 0.2] = None
    return pd.DataFrame(cells, columns=[f"{name} {k}" for k, name in enumerate(HOSTILE)])


def hostile_report():
    table = hostile_table()
    likely = dict.fromkeys(table.columns, np.random.default_rng(1).random(len(table)))
    title = f"{HOSTILE[0]} lone \ud800 surrogate"
    return Report(summarize(findings_of(table, likely, doubts=HOSTILE, is_checked=True), title))


def simple_report(n_rows=300, **kwargs):
    table, married, rng = people(n_rows)
    likely = np.where(married, rng.beta(1, 3, n_rows), rng.beta(3, 1, n_rows))
    return Report(summarize(findings_of(table, {"spouse_age": likely}, **kwargs), "A survey"))


def test_a_page_needs_nothing_from_elsewhere():
    page = Page(simple_report().html)
    links = {value for name, value in page.attributes if name in ("src", "href", "action")}
    assert all(link.startswith(("#", "data:,")) for link in links)
    policy = next(v for n, v in page.attributes if n == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"https?://|@import|url\(", simple_report().html)


def test_what_the_page_says_in_words():
    report = simple_report()
    told, page = report.summary, Page(report.html)
    words = " ".join(page.text.split())
    assert f"{told.n_kept} are kept as NA" in words
    assert f"{told.n_imputed} were lost and are filled in" in words
    assert f"{told.n_review} calls are doubtful" in words
    assert "Kept when married = no" in words


def test_hostile_names_and_values_stay_text():
    report = hostile_report()
    page = Page(report.html)
    assert page.elements.count("script") == 2
    assert "img" not in page.elements
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "{{ 7 * 7 }} {% raw %}" in page.text
    for name in HOSTILE[:6]:
        assert name in page.text
    report.html.encode("utf-8")


def test_the_script_is_the_only_one_that_may_run():
    from base64 import b64encode
    from hashlib import sha256

    page = hostile_report().html
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page


@pytest.mark.slow
def test_three_hundred_columns_make_a_page():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 300)), columns=[f"column {k}" for k in range(300)])
    page = Report(summarize(findings_of(table.mask(rng.random(table.shape) < 0.2)), "Wide")).html
    assert page.count('<tr role="row" data-column="') == 300
    assert page.count('<article class="card"') == MOST_CARDS
    assert f"{300 - MOST_CARDS} more columns" in page
    assert len(page.encode()) < 2_000_000


@pytest.mark.slow
def test_a_self_check_of_three_hundred_columns_makes_a_small_page():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 300)), columns=[f"column {k}" for k in range(300)])
    table = table.mask(rng.random(table.shape) < 0.2)
    likely = dict.fromkeys(table.columns[:40], 0.6)
    page = Report(summarize(findings_of(table, likely, is_checked=True), "Wide")).html
    assert page.count('class="chart error"') == 300
    assert page.count('class="chart square"') == MOST_CALIBRATED
    assert len(page.encode()) < 2_000_000


def test_a_self_check_is_told_in_words_before_numbers():
    page = Page(simple_report(is_checked=True).html)
    words = " ".join(page.text.split())
    assert words.index("not in married") < words.index("The self-check in numbers")
    assert words[words.index("The self-check in numbers") :].count("no better") > 2, "in the table"
    assert "90% right" in words
    assert "off by 0.50 SD" in words
    assert "loss rate x 0.5" in words
    assert "--self-check" not in words


def test_calls_not_to_be_trusted_are_named_before_all_verdicts():
    html = simple_report(is_checked=True).html
    words = " ".join(Page(html).text.split())
    assert html.count('class="alarm"') == words.count("Do not trust the calls of") == 1
    assert words.index("Do not trust the calls of") < words.index("rows and 4 columns make")
    wrong = words.index("Of 100 lost cells about 31 would be kept")
    assert words.index("What to trust") < wrong < words.index("Better in some")
    assert html.count("squares-100") == 2
    assert html.count('class="mixed"') >= 31 + 4
    numbers = words[words.index("The self-check in numbers") :]
    assert numbers.index("Calls that would be wrong") < numbers.index("Hidden cells, filled in")
    assert "31.2%" in numbers


def test_without_an_alarm_there_is_no_warning_at_the_top():
    table, married, _ = people(60)
    findings = findings_of(table, {"spouse_age": ~married * 1.0}, is_checked=True)
    calm = {**findings.check, "alarm": "", "verdicts": findings.check["verdicts"][1:]}
    page = Report(summarize(replace(findings, check=calm), "Calm")).html
    assert 'class="alarm"' not in page
    assert page.index("What to trust") < page.index('class="headline"') < page.index("Better in")


def test_a_page_without_a_self_check_says_how_to_get_one():
    words = " ".join(Page(simple_report().html).text.split())
    assert words.count("--self-check") == 1
    assert "What to trust" not in words


def test_ten_thousand_levels_make_a_small_page():
    names = [f"<i>level {k}</i>" for k in range(10_000)]
    table = pd.DataFrame({"town": [*names, *names, None, None], "b": 1.5})
    kinds = {"town": "categorical"}
    page = Report(summarize(findings_of(table, {"town": 0.6}, kinds=kinds), "Levels")).html
    assert "9,992 other levels" in page
    assert "<i>level" not in page
    assert len(page.encode()) < 100_000


def test_a_hundred_thousand_rows_make_a_small_page():
    table, _, rng = people(100_000)
    table["note"] = rng.choice([f"level {k}" for k in range(150)], 100_000)
    made = findings_of(table, {"spouse_age": rng.random(100_000)})
    assert len(Report(summarize(made, "Long")).html.encode()) < 2_000_000


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.5, 2.5, 3.5]}),
        pd.DataFrame({"a": [1.5, None]}),
        pd.DataFrame({"note": [f"{i} text" for i in range(30)], "b": 1.5}).mask(
            lambda t: t["b"] > 2
        ),
    ],
)
def test_small_and_whole_tables_have_a_page(table):
    assert "</html>" in Report(summarize(findings_of(table), "Small")).html


def test_without_a_band_nothing_is_to_be_reviewed():
    assert "<code>review_band</code> is not set" in simple_report(band=None).html


def test_the_same_findings_make_the_same_page():
    assert simple_report().html == simple_report().html


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    report, path = simple_report(), tmp_path / "report.html"
    report.save(path)
    assert path.read_text(encoding="utf-8") == report.html
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileError, match="Cannot write"):
        report.save(tmp_path / "nowhere" / "report.html")


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    report = hostile_report()
    frame = Page(report._repr_html_())
    assert frame.elements == ["iframe"]
    attributes = dict(frame.attributes)
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["srcdoc"] == report.html
    assert "to review" in repr(report)


def test_rules_are_listed_and_drawn_and_their_names_are_text():
    summary = summarize(findings_of(people(60)[0]), "A survey")
    rules = (
        FoundRule("<b>hours</b>", 1, 'work == "<i>"', ("work",), True, 9, 0, 9, 1, 0.1),
        FoundRule("pay", 2, "`<b>hours</b>` > 0", ("<b>hours</b>",), False, 9, 0, 9, 1, 0.1),
    )
    page = Report(replace(summary, rules=rules)).html
    assert "Rules that the table follows" in page
    assert "only if `&lt;b&gt;hours&lt;/b&gt;` &gt; 0" in page
    assert "<b>hours" not in page
    assert page.count("<path d=") == 2
