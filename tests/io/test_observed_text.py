"""Observed cells have the text they were read with, whatever stands in names and cells."""

import io
import os

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diffjoint.errors import FileError
from diffjoint.io import text
from diffjoint.io.files import TextWriter, read_file, text_writer, write_file
from diffjoint.io.text_source import RowParser, open_source

BREAKS = ["\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]
PLAIN = [mark for mark in BREAKS if mark not in ("\n", "\r", "\r\n")]
IDS = ["00123", "1.50", "12345678901234567890", ""]
BLOCKS = [1 << 18, 150]


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def content(name, cell, *, delimiter=",", newline="\n", mark="", n_rows=30):
    rows = [delimiter.join(["id", name, "rate", "long"])]
    for i in range(n_rows):
        cells = [IDS[(i + shift) % 4] if shift != 9 else cell for shift in (0, 9, 1, 2)]
        rows.append(delimiter.join(cells))
    return mark + newline.join([*rows, ""])


def round_trip(tmp_path, written, *, suffix=".csv", encoding="utf-8"):
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    path.write_bytes(written.encode(encoding))
    file = read_file(str(path), encoding=encoding)
    write_file(str(out), file.table, file)
    return file, out.read_bytes().decode(encoding)


@pytest.fixture(params=BLOCKS, ids=["whole", "blocks"])
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("mark", BREAKS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_breaks_in_quoted_names_and_cells(tmp_path, mark, newline):
    name, cell = f"a{mark}b", f"x{mark}y"
    written = content(quoted(name), quoted(cell), newline=newline)
    file, out = round_trip(tmp_path, written)
    assert file.text.source.names == ("id", name, "rate", "long")
    assert file.table["id"].dropna().tolist()[:2] == ["00123", "1.50"]
    assert set(file.table[name]) == {cell}
    assert parsed(out) == parsed(written)


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("mark", PLAIN)
def test_other_separators_need_no_quotes(tmp_path, mark):
    written = content(f"a{mark}b", f"x{mark}y")
    _, out = round_trip(tmp_path, written)
    assert out == written


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize(("delimiter", "suffix"), [(";", ".csv"), ("\t", ".tsv"), ("|", ".csv")])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "BOM"])
@pytest.mark.parametrize("mark", ["\n", "\r", "\u2028", "\x85"])
def test_delimiters_and_byte_order_marks(tmp_path, delimiter, suffix, start, mark):
    cells = quoted(f"a{mark}{delimiter}b"), quoted(f"x{mark}{delimiter}y")
    written = content(*cells, delimiter=delimiter, mark=start)
    _, out = round_trip(tmp_path, written, suffix=suffix)
    assert out.startswith(start)
    assert parsed(out, delimiter) == parsed(written, delimiter)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_breaks_in_other_encodings(tmp_path, encoding):
    mark = "\x0c" if encoding == "cp1252" else "\x85"
    written = content(quoted(f"a{mark}b"), quoted(f"ü{mark}"))
    _, out = round_trip(tmp_path, written, encoding=encoding)
    assert parsed(out) == parsed(written)


def parsed(written, delimiter=","):
    lines = io.StringIO(written.removeprefix("\ufeff"), newline="")
    return RowParser(lines, delimiter, 4).take()


def test_names_that_are_alike_stay_apart(tmp_path):
    (tmp_path / "in.csv").write_text("a,a\n001,1.50\n")
    cells = read_file(str(tmp_path / "in.csv")).text.cells
    assert cells.to_numpy().tolist() == [["001", "1.50"]]


def test_a_delimiter_in_quotes_does_not_count(tmp_path):
    (tmp_path / "in.csv").write_text('"a, b";c\n"1, 2";003\n')
    file = read_file(str(tmp_path / "in.csv"))
    assert file.table["c"].tolist() == ["003"]
    (tmp_path / "one.csv").write_text('"a;b"\nx\n')
    assert list(read_file(str(tmp_path / "one.csv")).table.columns) == ["a;b"]


def test_names_may_be_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", 150)
    (tmp_path / "in.csv").write_text(f"{'n' * 5000},b\n001,2\n")
    assert read_file(str(tmp_path / "in.csv")).table.iloc[0, 0] == "001"


def test_ends_of_lines_of_old_stay(tmp_path):
    _, out = round_trip(tmp_path, content("a", "x", newline="\r"))
    assert out == content("a", "x", newline="\r")


CELLS = st.text(st.sampled_from('ab0 1.;"\u2028\x85\x0b\x1c,\n\r'), max_size=6)


@settings(
    max_examples=int(os.environ.get("EXAMPLES", "100")),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=9),
    st.lists(CELLS.filter(bool), min_size=3, max_size=3, unique=True),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_comes_back(tmp_path_factory, rows, names, newline):
    written = newline.join(",".join(map(quoted, row)) for row in [names, *rows]) + newline
    file, out = round_trip(tmp_path_factory.mktemp("any"), written)
    assert file.text.cells.to_numpy().tolist() == rows
    assert parsed(out) == [names, *rows]


@settings(max_examples=int(os.environ.get("EXAMPLES", "200")), deadline=None, derandomize=True)
@given(st.text(st.sampled_from('a1 ",\n\r'), min_size=1, max_size=25))
def test_both_parsers_agree_on_what_can_be_read(body):
    try:
        table = text.read_text("it", f"x,y\n{body}".encode(), ",", "utf-8", frozenset(), None, {})
    except FileError:
        return
    with table.source.rows() as rows:
        assert [list(table.source.names), *table.cells.to_numpy().tolist()] == rows.take()


# What is written is read back


def test_a_changed_cell_stops_the_run_and_the_old_file_stays(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("id,x\n00123,1\n4,\n")
    (tmp_path / "out.csv").write_text("old")
    file = read_file(str(tmp_path / "in.csv"))
    own = TextWriter._as_text
    monkeypatch.setattr(TextWriter, "_as_text", lambda *args: own(*args).replace("00123", "123"))
    words = "row 1 has '00123' in column 'id', which would be written as '123'.*report it"
    with pytest.raises(FileError, match=words):
        write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("id,x", "id,z", "names .* would be written as"),
        ("4,2\n", "4,2\n5,6\n", "1 rows more would be written"),
        ("4,2\n", "4\n", "row 2 would be written with 1 cells"),
    ],
)
def test_names_rows_and_widths_are_checked(tmp_path, monkeypatch, old, new, words):
    (tmp_path / "in.csv").write_text("id,x\n00123,1\n4,2\n")
    file = read_file(str(tmp_path / "in.csv"))
    own = TextWriter._as_text
    monkeypatch.setattr(TextWriter, "_as_text", lambda *args: own(*args).replace(old, new))
    with pytest.raises(FileError, match=words):
        write_file(str(tmp_path / "out.csv"), file.table, file)


def test_rows_that_were_left_out_are_noticed(tmp_path):
    (tmp_path / "in.csv").write_text("id,x\n00123,1\n4,2\n")
    file = read_file(str(tmp_path / "in.csv"))
    block = next(file.text.blocks())
    some = text.TextBlock(block.cells[:1], block.missing[:1], block.table[:1])
    with (
        pytest.raises(FileError, match="only 1 of its rows would be written"),
        text_writer(str(tmp_path / "out.csv"), file) as writer,
    ):
        writer.write(file.table[:1], some)


def test_codes_and_missing_tokens_may_be_filled(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n-9,x\n2,NA\n,y\n")
    file = read_file(str(tmp_path / "in.csv"), reason_codes={"a": {-9: "lost"}})
    table = pd.DataFrame({"a": ["7", "2", "7"], "b": ["x", "y", "y"]})
    write_file(str(tmp_path / "out.csv"), table, file)
    assert (tmp_path / "out.csv").read_text() == "a,b\n7,x\n2,y\n7,y\n"


def test_cells_of_any_length(tmp_path):
    (tmp_path / "in.csv").write_text(f"a,b\n{'y' * 200_000},001\n")
    _, out = round_trip(tmp_path, f"a,b\n{'y' * 200_000},001\n")
    assert out == f"a,b\n{'y' * 200_000},001\n"


def test_text_that_an_encoding_cannot_hold_is_named(tmp_path):
    (tmp_path / "in.csv").write_bytes("a,b\nü,1\n,2\n".encode("latin-1"))
    file = read_file(str(tmp_path / "in.csv"), encoding="latin-1")
    with pytest.raises(FileError, match="'€' cannot be written as latin-1"):
        write_file(str(tmp_path / "out.csv"), file.table.fillna({"a": "€"}), file)
    assert not (tmp_path / "out.csv").exists()


def test_what_a_source_is_can_be_told():
    source = open_source("it", b'"a\nb";c\r\n1;2\r\n', ",", "utf-8", 1 << 18)
    assert (source.names, source.delimiter, source.newline) == (("a\nb", "c"), ";", "\r\n")


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n1,2\n3,4"])
@pytest.mark.parametrize("start", ["a,b\n1,2\n3,", "a,", ""])
def test_a_quote_that_is_never_closed_is_refused(tmp_path, start, end):
    (tmp_path / "in.csv").write_bytes(f'{start}"x;{end}'.encode())
    with pytest.raises(FileError, match="Cannot read"):
        read_file(str(tmp_path / "in.csv"))


@pytest.mark.usefixtures("block_bytes")
def test_a_last_cell_may_end_in_a_line_break(tmp_path):
    written = 'a,b\n1,"x\n"\n2,"y\n"'
    file, out = round_trip(tmp_path, written)
    assert file.text.cells["b"].tolist() == ["x\n", "y\n"]
    assert out == f"{written}\n"
