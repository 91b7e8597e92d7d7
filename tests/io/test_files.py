import io
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest

from diffjoint.errors import FileError, InputError
from diffjoint.io.files import read_file, write_file
from diffjoint.io.formats import BY_ENDING
from diffjoint.table import infer_schema, open_table

CSV = '''code,age,weight,town,seen,note
007,31,70.50,Ulm,2024-01-05,"a, b"
012,NA,81.25,,2024-02-29,"line
break"
100,+45,,Bonn,,"say ""hi"""
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(CSV)
    return str(path)


def test_columns_get_the_type_their_text_has(source):
    table = read_file(source).table
    assert table["code"].tolist() == ["007", "012", "100"]
    assert table["age"].dtype == "Int64"
    assert table["age"].tolist() == [31, pd.NA, 45]
    assert table["weight"].dtype == "float64"
    assert str(table["seen"].dtype).startswith("datetime64")
    assert table.isna().sum().tolist() == [0, 1, 1, 1, 1, 0]


def test_untouched_cells_are_written_in_their_own_text(source, tmp_path):
    file = read_file(source)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    before, after = (
        pd.read_csv(path, dtype=str, keep_default_na=False)
        for path in (source, tmp_path / "out.csv")
    )
    pd.testing.assert_frame_equal(after, before)


def test_filled_cells_are_written_in_the_manner_of_their_column(source, tmp_path):
    file = read_file(source)
    filled = file.table.copy()
    filled.loc[1, "age"] = 52
    filled.loc[2, "weight"] = 66.6666
    filled.loc[1, "town"] = "Ulm"
    filled.loc[2, "seen"] = pd.Timestamp("2024-03-01")
    write_file(str(tmp_path / "out.tsv"), filled, file)
    lines = pd.read_csv(tmp_path / "out.tsv", sep="\t", dtype=str, keep_default_na=False)
    assert lines.loc[1, "age"] == "52"
    assert lines.loc[2, "weight"] == "66.67"
    assert lines.loc[0, "weight"] == "70.50"
    assert lines.loc[2, "seen"] == "2024-03-01"


def test_kept_cells_keep_their_own_token(source, tmp_path):
    file = read_file(source)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert "012,NA,81.25,,2024-02-29" in (tmp_path / "out.csv").read_text()


def test_tokens_for_empty_cells_can_be_named(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n-99,None\n3,refused\n,x\n")
    file = read_file(str(path), na_values=["-99", "refused"])
    assert file.table["a"].isna().tolist() == [True, False, True]
    assert file.table["b"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_stay_as_they_are(tmp_path, newline):
    path = tmp_path / "in.csv"
    path.write_bytes(newline.join(["a,b", "1,x", "2,y", ""]).encode())
    file = read_file(str(path))
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_a_single_column_keeps_its_empty_rows(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a\n1.5\n\n2.5\n")
    assert read_file(str(path)).table["a"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("ending", BY_ENDING)
def test_every_format_with_types_gives_back_what_was_written(tmp_path, ending):
    table = pa.table(
        {
            "a": pa.array([1, None, 3], pa.int8()),
            "b": pa.array(["x", None, "y"]).dictionary_encode(),
            "c": pa.array([None, 1.5, 2.5], pa.float32()),
        }
    )
    path = str(tmp_path / f"t{ending}")
    write_file(path, table)
    assert read_file(path).table.equals(table)
    index = pd.DataFrame({"a": [1.5, None]}, index=pd.Index([7, 3], name="place"))
    write_file(path, index)
    assert read_file(path).passed_through == ("place",)


def test_formats_can_be_mixed(source, tmp_path):
    file = read_file(source)
    write_file(str(tmp_path / "out.parquet"), file.table, file)
    back = read_file(str(tmp_path / "out.parquet"))
    assert back.table.column_names == list(file.table.columns)
    write_file(str(tmp_path / "again.csv"), back.table, back)
    assert (tmp_path / "again.csv").read_text().startswith("code,age")


def test_standard_streams_carry_csv(monkeypatch):
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,x\n,y\n")))
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=out))
    file = read_file("-")
    write_file("-", file.table, file)
    assert out.getvalue() == b"a,b\n1,x\n,y\n"


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("\ufeffa,b\n1,ü\n".encode())
    assert list(read_file(str(path)).table.columns) == ["a", "b"]


def test_another_encoding_must_be_named(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("a,b\n1,ü\n".encode("latin-1"))
    with pytest.raises(FileError, match="Name its encoding with --encoding"):
        read_file(str(path))
    assert read_file(str(path), encoding="latin-1").table["b"].tolist() == ["ü"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "it is empty. A first line with column names is needed"),
        ("ragged.csv", b"a,b\n1,2,3\n", "Each row must have a cell for each of the 2 columns"),
        *((f"wrong{e}", b"hello", f"it is not a {e[1:]} file") for e in BY_ENDING),
    ],
)
def test_unreadable_files_say_why(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_file(str(tmp_path / name))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"Cannot read .*nothing\.csv: No such file"):
        read_file(str(tmp_path / "nothing.csv"))


def test_an_unknown_ending_lists_the_known_ones():
    with pytest.raises(InputError, match=r"must end in \.csv, \.tsv.*got 'table\.xlsx'"):
        read_file("table.xlsx")


def test_numbers_with_exponents_are_imputed_with_digits(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n7.1e-11,x\n,y\n2.5e-11,x\n")
    file = read_file(str(path))
    filled = file.table.fillna({"a": 4.123456789e-11})
    write_file(str(tmp_path / "out.csv"), filled, file)
    assert (tmp_path / "out.csv").read_text() == "a,b\n7.1e-11,x\n4.12346e-11,y\n2.5e-11,x\n"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_the_encoding_stays_as_it_is(tmp_path, encoding):
    path = tmp_path / "in.csv"
    path.write_bytes("a,b\n1,ü\n,x\n".encode(encoding))
    file = read_file(str(path), encoding="utf-8" if encoding == "utf-8-sig" else encoding)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_semicolons_are_recognised_and_kept(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a;b\n1;x\n;y\n")
    file = read_file(str(path))
    assert list(file.table.columns) == ["a", "b"]
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_text() == path.read_text()


def test_a_known_schema_decides_what_the_text_means(tmp_path):
    fitted = pd.DataFrame(
        {
            "whole": range(0, 100, 7),
            "real": [i * 0.37 for i in range(15)],
            "day": pd.date_range("2024-01-01", periods=15),
            "code": ["007", "012", "1"] * 5,
        }
    )
    schema = infer_schema(open_table(fitted))
    path = tmp_path / "in.csv"
    path.write_text("whole,real,day,code\n,3,,1\n,,,\n")
    table = read_file(str(path), schema=schema).table
    assert table["real"].tolist()[0] == 3.0
    assert table["whole"].dtype == table["real"].dtype == "float64"
    assert str(table["day"].dtype).startswith("datetime64")
    assert table["code"].tolist()[0] == "1"


def test_an_index_that_pandas_wrote_is_no_data(tmp_path):
    frame = pd.DataFrame({"a": [1.0, None]}, index=pd.Index([5, 9], name="patient"))
    frame.to_parquet(tmp_path / "in.parquet")
    file = read_file(str(tmp_path / "in.parquet"))
    assert file.passed_through == ("patient",)
    write_file(str(tmp_path / "out.csv"), file.table, file)
    assert (tmp_path / "out.csv").read_text() == "a,patient\n1.0,5\n,9\n"


def test_whole_numbers_stay_whole_beside_empty_cells(tmp_path):
    write_file(str(tmp_path / "out.csv"), pa.table({"n": pa.array([1, None, 3], pa.int64())}))
    assert (tmp_path / "out.csv").read_text() == 'n\n1\n""\n3\n'


def test_a_message_is_said_once(tmp_path):
    (tmp_path / "ragged.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(FileError) as caught:
        read_file(str(tmp_path / "ragged.csv"))
    assert str(caught.value).count("Cannot read") == 1
