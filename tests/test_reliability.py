"""The page of what the fault harness, the fuzzers and the load saw is that of their counts."""

import json

import pytest

from tests import reliability
from tests.reliability import RESULTS, page, record


def test_the_page_is_made_of_the_counts():
    told = json.loads((RESULTS / "reliability.json").read_text())
    assert (RESULTS / "reliability.md").read_text() == page(told)


@pytest.mark.parametrize("name", ["wrong", "internal_errors", "hangs", "changed", "errors"])
def test_nothing_went_wrong(name):
    told = json.loads((RESULTS / "reliability.json").read_text())
    counts = [row[name] for rows in told.values() for row in rows.values() if name in row]
    assert counts
    assert not any(counts)


def test_counts_take_the_place_of_those_before(tmp_path, monkeypatch):
    monkeypatch.setattr(reliability, "RESULTS", tmp_path)
    for n in (7, 1_234):
        record("fuzz", "rules", {"inputs": n, "n_odd": 0})
    record("load", "mixed use", {"minutes": 2.5})
    shown = (tmp_path / "reliability.md").read_text()
    assert "| rules | 1,234 | 0 |" in shown
    assert "|  | inputs | odd |" in shown
    assert "| mixed use | 2.5 |" in shown
    assert " 7 " not in shown
