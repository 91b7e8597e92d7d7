"""A format of one's own has the messages of the others; ``tests/test_newcomer.py`` runs it."""

import pytest

from diffjoint.errors import FileError, InputError
from diffjoint.io import files, formats
from tests.io import json_lines


@pytest.fixture(autouse=True)
def _listed(monkeypatch):
    """The one line elsewhere: its name in NAMES, of which the formats and endings are made."""
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, json_lines.FORMAT))
    monkeypatch.setitem(formats.BY_ENDING, ".jsonl", json_lines.FORMAT)
    assert files.BY_ENDING is formats.BY_ENDING


def test_a_new_format_has_the_messages_of_the_others(tmp_path):
    (tmp_path / "broken.jsonl").write_text("{")
    with pytest.raises(FileError, match="it is not a jsonl file"):
        files.read_file(str(tmp_path / "broken.jsonl"))
    with pytest.raises(FileError, match=r"Cannot read .*absent\.jsonl: No such file"):
        files.read_file(str(tmp_path / "absent.jsonl"))
    with pytest.raises(InputError, match=r"\.arrows, \.jsonl, \.sav"):
        files.check_ending("table.xml", to_write=True)
