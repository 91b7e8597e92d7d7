import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import FileError
from diffjoint.io import text
from diffjoint.io.files import read_file, write_file

ROWS = [
    '007,31,70.50,Ulm,2024-01-05,"a, b"',
    '012,NA,81.25,,2024-02-29,"line\nbreak"',
    '100,+45,,Bonn,,"say ""hi"""',
    ",12,3,Ulm,2023-12-31,plain ü",
]


def write(path, n_rows=40):
    lines = ["code,age,weight,town,seen,note", *(ROWS[i % len(ROWS)] for i in range(n_rows)), ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", 150)


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "in.csv")


def test_columns_have_the_types_that_the_whole_file_gives_them(source, monkeypatch):
    whole = read_file(source)
    monkeypatch.setattr(text, "BLOCK_BYTES", 150)
    parts = read_file(source)
    assert len(list(parts.text.blocks())) > 5
    assert parts.text.formats == whole.text.formats
    pd.testing.assert_frame_equal(parts.table, whole.table)
    pd.testing.assert_frame_equal(parts.text.cells, whole.text.cells)


def test_every_block_has_the_types_of_the_whole(tmp_path, small_blocks):
    path = tmp_path / "in.csv"
    rows = ["7,7,2024-01-01,7"] * 40 + [",,,"] * 40 + ["8.25,x,2024-01-02,refused"]
    path.write_text("\n".join(["number,text,day,coded", *rows, ""]))
    file = read_file(str(path), reason_codes={"coded": {"refused": "lost"}})
    kinds = {tuple(block.table.dtypes.astype(str)) for block in file.text.blocks()}
    assert kinds == {("float64", "str", "datetime64[us]", "str")}


def test_what_is_written_in_blocks_is_what_was_read(source, tmp_path, small_blocks):
    file = read_file(source)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    before, after = (Path(p).read_text(encoding="utf-8") for p in (source, tmp_path / "out.csv"))
    assert after == before


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blocks_keep_the_encoding(tmp_path, encoding, newline, small_blocks):
    path = tmp_path / "in.csv"
    lines = "a,b\n" + "1,ü\n,x\n" * 100
    path.write_bytes(lines.replace("\n", newline).encode(encoding))
    file = read_file(str(path), encoding="utf-8" if encoding == "utf-8-sig" else encoding)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_a_row_may_be_longer_than_a_block(tmp_path, small_blocks):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n" + "1,x\n" * 100 + f"2,{'y' * 5000}\n")
    assert read_file(str(path)).table["b"].iloc[-1] == "y" * 5000


def test_a_file_that_changes_meanwhile_is_not_read_on(source):
    file = read_file(source)
    write(Path(source), n_rows=41)
    with pytest.raises(FileError, match="must stay as it is while it is read; it was changed"):
        _ = file.table


def test_a_header_alone_is_a_table_without_rows(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b")
    assert read_file(str(path)).table.shape == (0, 2)


def test_standard_input_is_read_as_often_as_needed(monkeypatch, small_blocks):
    content = b"a,b\n" + b"1,x\n,y\n" * 100
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    file = read_file("-")
    assert file.table["a"].isna().sum() == file.take()["a"].isna().sum() == 100


def test_a_table_that_was_given_away_is_read_again(source):
    file = read_file(source)
    given = file.take()
    assert file.held is None
    pd.testing.assert_frame_equal(file.table, given)


@pytest.mark.slow
def test_some_rows_have_every_level_and_both_ends(tmp_path, small_blocks):
    n_rows = 3_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "row": np.arange(5, n_rows + 5),
            "level": ["usual"] * n_rows,
            "number": rng.integers(10, 20, n_rows).astype(float),
            "day": ["2024-01-15"] * n_rows,
        }
    )
    frame.loc[1234, "level"], frame.loc[2345, "day"] = "rare", "1999-12-31"
    frame.loc[77, "number"], frame.loc[2999, "number"], frame.loc[500, "number"] = -5, 99, 12.5
    path = tmp_path / "in.csv"
    frame.to_csv(path, index=False)
    file = read_file(str(path))
    whole = file.table
    file.hold_some(50, seed=0)
    assert 50 <= len(file.table) < 400
    assert set(file.table["level"]) == {"usual", "rare"}
    assert {-5.0, 12.5, 99.0} <= set(file.table["number"])
    assert file.table["day"].min() == pd.Timestamp("1999-12-31")
    assert file.kinds == {"row": "pass-through"}
    kept = whole[whole["row"].isin(file.table["row"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(file.table, kept)


@pytest.mark.parametrize("odd", ["1_000", "007", "e5", "\u0663"])
def test_text_that_only_python_reads_as_a_number_stays_text(odd, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(f"a,b\n{odd},1\n5,2\n", encoding="utf-8")
    assert read_file(path).table["a"].tolist() == [odd, "5"]


@pytest.mark.parametrize("digits", ["9" * 400, "-" + "9" * 400, "1e999"])
def test_numbers_beyond_all_range_are_infinite(tmp_path, digits):
    (tmp_path / "in.csv").write_text(f"a,b\n1,2\n{digits},3\n,4\n")
    numbers = read_file(str(tmp_path / "in.csv")).table["a"]
    assert numbers.dtype == "float64"
    assert np.isinf(numbers).tolist() == [False, True, False]


def test_a_stream_without_its_byte_order_mark_is_told_in_a_sentence(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a\n\xd7n\xf4\n2\n")
    with pytest.raises(FileError, match="Cannot read .* as utf-16 text.*Name its encoding"):
        read_file(str(tmp_path / "in.csv"), encoding="utf-16")


@pytest.mark.parametrize("encoding", ["rot13", "base64", "hex", "zip", "no such", "\0"])
def test_what_is_no_encoding_of_text_is_told_in_a_sentence(tmp_path, encoding):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="Cannot read .* Name its encoding"):
        read_file(str(tmp_path / "in.csv"), encoding=encoding)
