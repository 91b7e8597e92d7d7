"""What a newcomer adds is one new file and one line elsewhere, in a copy of the source."""

import difflib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import diffjoint
from diffjoint.simulate import household_survey

TESTS = Path(__file__).parent
SOURCE = Path(diffjoint.__file__).parent
SEARCHED = ["spouse_age", "weekly_hours", "commute"]
ADDED = {
    "detectors/by_chance.py": TESTS / "detectors" / "by_chance.py",
    "io/formats/json_lines.py": TESTS / "io" / "json_lines.py",
}
CHANGED = {
    "parameters/choices.py": ('"evidence", "paper"]', '"evidence", "paper", "by_chance"]'),
    "io/formats/__init__.py": ('"arrow_stream")', '"arrow_stream", "json_lines")'),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the source with a third detector and a format of JSON lines."""
    folder = tmp_path_factory.mktemp("copied")
    copy = folder / "diffjoint"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for place, file in ADDED.items():
        assert not (copy / place).exists()
        shutil.copy(file, copy / place)
    for place, (before, after) in CHANGED.items():
        text = (copy / place).read_text(encoding="utf-8")
        assert text.count(before) == 1
        (copy / place).write_text(text.replace(before, after), encoding="utf-8")
    return folder


def run(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    command = [sys.executable, "-m", "diffjoint", *map(str, arguments)]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def test_each_is_one_new_file_and_one_changed_line(copied):
    for place in CHANGED:
        before, after = (
            (root / place).read_text(encoding="utf-8").splitlines()
            for root in (SOURCE, copied / "diffjoint")
        )
        marks = [line[:2] for line in difflib.ndiff(before, after) if line[:2] in ("- ", "+ ")]
        assert marks == ["- ", "+ "]


@pytest.mark.slow
def test_the_command_line_completes_a_file_of_the_format_by_the_detector(copied):
    survey = household_survey(200, seed=1).observed_table
    survey.to_json(copied / "survey.jsonl", orient="records", lines=True)
    asked = ["-m", ",".join(SEARCHED), "--detector", "by_chance"]
    done = run(copied, "impute", "survey.jsonl", "completed.jsonl", *asked, "--report", "page.html")
    assert done.returncode == 0, done.stderr
    completed = pd.read_json(copied / "completed.jsonl", lines=True)
    assert list(completed) == list(survey)
    assert completed.drop(columns=SEARCHED).notna().all(axis=None)
    kept, missing = completed[SEARCHED].isna(), survey[SEARCHED].isna()
    assert not (kept & ~missing).any(axis=None)
    assert 0.3 < kept.sum().sum() / missing.sum().sum() < 0.7
    assert "by_chance" in (copied / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_help_and_messages_name_both(copied):
    assert "by_chance" in run(copied, "impute", "--help").stdout
    refused = run(copied, "impute", "in.xml", "out.csv", "--detector", "by_chance")
    assert refused.returncode != 0
    assert ".jsonl" in refused.stderr
