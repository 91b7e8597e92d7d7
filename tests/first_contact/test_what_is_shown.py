"""What a command prints, and where."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from diffjoint.fitting.auto_columns import found_in_words
from diffjoint.inspection.inspect import ColumnFound, Inspection
from diffjoint.inspection.view import next_commands, show_inspection
from diffjoint.io.files import TableFile
from diffjoint.settings import NA_VALUES
from tests.first_contact.command_line import run

QUICK = ["-m", "", "--set", "n_boosters=1"]


@pytest.fixture
def lab(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"tsh": rng.normal(size=60), "ward": rng.choice(["a", "b"], 60)})
    path = tmp_path / "lab.csv"
    table.mask(rng.random(table.shape) < 0.1).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_a_summary_is_the_output_unless_the_table_is(lab, tmp_path, capfd):
    assert run("impute", lab, tmp_path / "out.csv", *QUICK) == 0
    shown = capfd.readouterr()
    assert "cells observed" in shown.out
    assert shown.err.strip() == ""
    assert run("impute", lab, "-", *QUICK) == 0
    shown = capfd.readouterr()
    assert shown.out == (tmp_path / "out.csv").read_text()
    assert "cells observed" in shown.err


@pytest.mark.slow
def test_who_stops_reading_the_summary_does_not_stop_the_work(lab, tmp_path, monkeypatch):
    class Closed:
        encoding = "utf-8"

        def write(self, text):
            raise BrokenPipeError

        flush = isatty = fileno = lambda self: 2**15

    monkeypatch.setattr("os.dup2", lambda *_: None)
    monkeypatch.setattr(sys, "stdout", Closed())
    assert run("impute", lab, tmp_path / "out.csv", *QUICK) == 0
    assert pd.read_csv(tmp_path / "out.csv").notna().all(axis=None)


def test_a_wide_table_takes_a_page(capsys):
    columns = tuple(
        ColumnFound(name, name, "integer", "0 to 9", n, n / 900, n > 700, "losses explain it")
        for n, name in ((i + 1, f"q{i}") for i in range(800))
    )
    found = Inspection(900, 800, 320_400, columns, (), (), 900)
    show_inspection(found, Console(width=100))
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) < 100
    assert "770 more are not shown (in all 800 integer)" in " ".join(shown.split())
    assert re.search(r"^q799 ", shown, re.MULTILINE)
    assert not re.search(r"^q7 ", shown, re.MULTILINE)
    command = next_commands(found, TableFile(None), "wide.parquet", [], NA_VALUES)[0][1]
    assert command.startswith("diffjoint impute wide.parquet wide_completed.parquet --report")


def test_few_columns_are_named_in_the_lines_of_fit():
    evidence = [
        {"column": f"q{i}", "is_named": True, "reason": "contexts say more than losses can"}
        for i in range(50)
    ]
    assert "q6, q7 and 42 more." in found_in_words(evidence)
    assert "q8" not in found_in_words(evidence)
