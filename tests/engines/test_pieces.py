import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint.engines import find_dataset
from diffjoint.engines.fragment import read_rows
from diffjoint.errors import FileError, InputError

ROWS = pd.DataFrame({"a": range(10), "b": list("abcdefghij")})


def write(path, rows=ROWS, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_parquet(path, index=False, **options)


def names(dataset):
    return [file.relative_to(dataset.folder).as_posix() for file in dataset.files]


def test_a_folder_is_its_tables_in_the_order_of_their_names(tmp_path):
    for name in ("b/2.parquet", "a.parquet", "b/1.parquet", "_old/x.parquet", "b/.y.parquet"):
        write(tmp_path / name)
    (tmp_path / "_SUCCESS").touch()
    assert names(find_dataset(tmp_path)) == ["a.parquet", "b/1.parquet", "b/2.parquet"]


def test_a_pattern_names_some_files(tmp_path):
    for name in ("x/1.parquet", "x/2.parquet", "y/1.parquet"):
        write(tmp_path / name)
    assert names(find_dataset(tmp_path / "*" / "1.parquet")) == ["x/1.parquet", "y/1.parquet"]


@pytest.mark.parametrize("most_rows", [1, 2, 3, 4, 7, 100])
def test_pieces_are_all_rows_in_order(tmp_path, most_rows):
    write(tmp_path / "1.parquet", row_group_size=4)
    write(tmp_path / "2.parquet", row_group_size=1)
    pieces = list(find_dataset(tmp_path).pieces(most_rows))
    assert all(piece.last - piece.first <= most_rows for piece in pieces)
    assert [piece.name for piece in pieces] == sorted({piece.name for piece in pieces})
    read = pa.concat_tables([read_rows(piece) for piece in pieces])
    assert read.equals(pa_parquet.read_table(tmp_path))


def test_a_folder_without_rows_has_a_piece(tmp_path):
    write(tmp_path / "1.parquet", ROWS[:0])
    (piece,) = find_dataset(tmp_path).pieces(5)
    assert read_rows(piece).num_rows == 0


def test_folders_name_columns(tmp_path):
    write(tmp_path / "year=2024" / "town=Ulm%2FDonau" / "1.parquet")
    write(tmp_path / "year=2025" / "town=__HIVE_DEFAULT_PARTITION__" / "1.parquet")
    dataset = find_dataset(tmp_path)
    assert dataset.partitions == (
        (("year", 2024), ("town", "Ulm/Donau")), (("year", 2025), ("town", None)),
    )  # fmt: skip
    first, _ = dataset.pieces(100)
    assert read_rows(first, ["a", "b", "year"]).column_names == ["a", "b", "year"]


def test_what_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(FileError, match="There is no table in"):
        find_dataset(tmp_path)
    with pytest.raises(FileError, match="no such file"):
        find_dataset(tmp_path / "none.parquet")
    write(tmp_path / "1.parquet")
    (tmp_path / "2.csv").write_text("a,b\n1,x\n")
    with pytest.raises(InputError, match="must have one format"):
        find_dataset(tmp_path)
