"""A format of one's own: a file that makes it, and its name in the list."""

import json

import pandas as pd
import pyarrow as pa
import pytest

from diffjoint.cli import main
from diffjoint.errors import FileError, InputError
from diffjoint.io import files, formats
from diffjoint.io.formats import Format
from diffjoint.simulate import household_survey
from tests.cli.test_cli import SETTINGS

# What the new file holds.


def _read(path):
    with open(path, encoding="utf-8") as file:
        try:
            return pa.Table.from_pylist([json.loads(line) for line in file])
        except json.JSONDecodeError as error:
            raise pa.ArrowInvalid(str(error)) from error


def _write(table, file):
    for row in table.to_pylist():
        file.write(json.dumps(row).encode() + b"\n")


JSON_LINES = Format((".jsonl",), _read, _write)

SEARCHED = "spouse_age,weekly_hours,commute"


@pytest.fixture
def listed(monkeypatch):
    """The one line elsewhere: its name in FORMATS, of which the endings are made."""
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, JSON_LINES))
    monkeypatch.setitem(formats.BY_ENDING, ".jsonl", JSON_LINES)
    assert files.BY_ENDING is formats.BY_ENDING


@pytest.mark.slow
@pytest.mark.usefixtures("listed")
def test_the_command_line_completes_tables_in_a_new_format(tmp_path, capsys):
    survey = household_survey(200, seed=1).observed_table
    source, out = tmp_path / "survey.jsonl", tmp_path / "completed.jsonl"
    survey.to_json(source, orient="records", lines=True)
    with pytest.raises(SystemExit) as ended:
        main(["impute", str(source), str(out), "-m", SEARCHED, *SETTINGS])
    assert ended.value.code == 0, capsys.readouterr().err
    completed = pd.read_json(out, lines=True)
    assert list(completed) == list(survey)
    assert completed.drop(columns=SEARCHED.split(",")).notna().all(axis=None)
    observed = survey["age"].notna()
    assert (completed["age"][observed].to_numpy() == survey["age"][observed].to_numpy()).all()


@pytest.mark.usefixtures("listed")
def test_a_new_format_has_the_messages_of_the_others(tmp_path):
    (tmp_path / "broken.jsonl").write_text("{")
    with pytest.raises(FileError, match="it is not a jsonl file"):
        files.read_file(str(tmp_path / "broken.jsonl"))
    with pytest.raises(FileError, match=r"Cannot read .*absent\.jsonl: No such file"):
        files.read_file(str(tmp_path / "absent.jsonl"))
    with pytest.raises(InputError, match=r"\.arrows, \.jsonl, \.sav"):
        files.check_ending("table.xml", to_write=True)
