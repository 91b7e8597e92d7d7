"""Compressed text files."""

import gzip
import io

import pandas as pd
import pyarrow as pa
import pytest

from diffjoint.cli import main
from diffjoint.errors import FileError, InputError
from diffjoint.io.files import check_ending, read_file, write_file
from diffjoint.simulate import household_survey
from tests.cli.test_cli import SETTINGS

TEXT = b"id;born;paid\r\n007;2024-02-29;70.50\r\n008;;1e3\r\n"


def packed(content, ending):
    if ending == ".gz":
        return gzip.compress(content)
    sink = io.BytesIO()
    pa_out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(pa_out, "zstd") as stream:
        stream.write(content)
    sink.write(pa_out.getvalue())
    return sink.getvalue()


def unpacked(path):
    kind = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
    with pa.CompressedInputStream(pa.OSFile(str(path)), kind) as stream:
        return stream.read()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_observed_text_comes_back_packed_byte_for_byte(tmp_path, ending):
    source, out = tmp_path / f"in.csv{ending}", tmp_path / f"out.csv{ending}"
    source.write_bytes(packed(TEXT, ending))
    file = read_file(str(source))
    write_file(str(out), file.table, file)
    assert unpacked(out) == TEXT
    first = out.read_bytes()
    write_file(str(out), file.table, file)
    assert out.read_bytes() == first
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [source.name, out.name]


def test_parts_that_were_packed_one_by_one_are_read_together(tmp_path):
    for ending in (".gz", ".zst"):
        path = tmp_path / f"parts.csv{ending}"
        path.write_bytes(packed(b"a,b\n1,2\n", ending) + packed(b"3,4\n", ending))
        assert read_file(str(path)).table["a"].tolist() == [1, 3]


def test_other_programs_read_what_is_written(tmp_path):
    path = tmp_path / "out.csv.gz"
    write_file(str(path), pd.DataFrame({"a": [1, 2]}))
    assert pd.read_csv(path)["a"].tolist() == [1, 2]
    assert gzip.decompress(path.read_bytes()) == b"a\n1\n2\n"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("broken", [b"a,b\n1,2\n", b"", "cut"])
def test_what_is_not_whole_is_said(tmp_path, ending, broken):
    path = tmp_path / f"in.csv{ending}"
    path.write_bytes(packed(TEXT * 100, ending)[:30] if broken == "cut" else broken)
    with pytest.raises(FileError, match=r"Cannot read .*in\.csv"):
        read_file(str(path))


def test_text_alone_is_packed():
    assert check_ending("a.TSV.GZ") == ".tsv"
    with pytest.raises(InputError, match=r"What ends in \.gz must be text: \.csv, \.tsv, \.tab"):
        check_ending("a.parquet.gz")
    with pytest.raises(InputError, match=r"be text with \.gz or \.zst after its ending"):
        check_ending("a.xml")


@pytest.mark.slow
def test_the_command_line_goes_from_packed_to_packed(tmp_path, capsys):
    """In blocks, with the result of a plain file."""
    survey = household_survey(100, seed=1).observed_table
    survey.to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "in.csv.zst").write_bytes(packed((tmp_path / "in.csv").read_bytes(), ".zst"))
    for source, out in (("in.csv", "out.csv"), ("in.csv.zst", "out.csv.gz")):
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    "impute",
                    str(tmp_path / source),
                    str(tmp_path / out),
                    "-m",
                    "spouse_age,weekly_hours,commute",
                    *SETTINGS,
                ]
            )
        assert ended.value.code == 0, capsys.readouterr().err
    assert unpacked(tmp_path / "out.csv.gz") == (tmp_path / "out.csv").read_bytes()
