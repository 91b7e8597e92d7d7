"""A survey export in which several columns are called Other."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffjoint.cli.run.showing import names_in_words
from diffjoint.io.files import read_file, write_file
from diffjoint.io.names import distinct_names
from tests.first_contact.command_line import run

ROWS = ["Other,age,Other,Other"] + [
    f"{['', 'yes', 'no'][i % 3]},{20 + i % 40},{i % 7 or ''},{i / 2}" for i in range(80)
]


def test_names_are_told_apart_as_pandas_does(tmp_path):
    path = tmp_path / "same.csv"
    for header in ("a,a,b,a", "a,a.1,a,a", "x,y,x.1,x"):
        path.write_text(header + "\n1,2,3,4\n")
        assert list(distinct_names(header.split(","))) == list(pd.read_csv(path)), header
    assert distinct_names(["a", "", "b", ""]) == ("a", "", "b", "Unnamed: 3")


def test_inspect_says_how_it_tells_them_apart(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(ROWS))
    assert run("inspect", path) == 0
    shown = capsys.readouterr().out
    assert "share a name are told apart here: Other.1, Other.2. They keep it" in shown
    assert "Other.2" in shown.partition("Columns and their kinds")[2]


@pytest.mark.slow
def test_the_completed_file_has_the_names_that_it_came_with(tmp_path, capsys):
    path, out = tmp_path / "survey.csv", tmp_path / "out.csv"
    path.write_text("\n".join(ROWS))
    given = ["--set", "n_boosters=1", "--kind", "Other.1=integer"]
    assert run("impute", path, out, "-m", "", *given) == 0
    assert "share a name" in capsys.readouterr().out
    assert out.read_text().splitlines()[0] == ROWS[0]
    assert read_file(str(out)).table["Other.1"].notna().all()


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrows"])
def test_other_formats_can_have_them_too(ending, tmp_path):
    path = str(tmp_path / f"same.{ending}")
    table = pa.table([pa.array([1.5, None]), pa.array(["a", "b"])], names=["x", "x"])
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        write_file(path, table)
    file = read_file(path)
    assert file.table.column_names == ["x", "x.1"]
    assert names_in_words(file)[0].startswith("Columns that share a name are told apart here: x.1")
    write_file(path, file.table, file)
    assert read_file(path).header == ("x", "x")
