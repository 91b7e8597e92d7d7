"""Tables in databases: SQLite and DuckDB files, and servers by their address."""

import datetime as dt
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint.cli import main
from diffjoint.errors import FileError, InputError
from diffjoint.io.files import read_file, write_file
from diffjoint.io.places import check_place, place_of, shown
from diffjoint.simulate import household_survey
from diffjoint.storage.atomic import staged_outputs
from tests.cli.test_cli import SETTINGS
from tests.io import postgres

SEARCHED = "spouse_age,weekly_hours,commute"
TYPED = pa.table(
    {
        "small": pa.array([1, None, -3], pa.int16()),
        "whole": pa.array([2**53 + 1, None, -1], pa.int64()),
        "number": pa.array([0.1 + 0.2, None, -1e300], pa.float64()),
        "single": pa.array([0.1, None, 3.0], pa.float32()),
        "yes": pa.array([True, None, False]),
        "text": pa.array(["naïve 'quoted'", None, ""]),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1066, 10, 14)]),
        "moment": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456), None, dt.datetime(1970, 1, 1)]),
        "price": pa.array([Decimal("1.50"), None, Decimal("12345678.99")], pa.decimal128(10, 2)),
        'odd "name"; --': pa.array([1.0, None, 2.5]),
    }
)
FILES = [pytest.param("table.sqlite", id="sqlite"), pytest.param("table.duckdb", id="duckdb")]


def need(name):
    """Skip where the library of a database is not installed."""
    if name.endswith(".duckdb"):
        pytest.importorskip("duckdb", reason="duckdb is not installed")


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    pytest.importorskip("psycopg", reason="psycopg, a driver of PostgreSQL, is not installed")
    if not postgres.is_there():
        pytest.skip("there is no PostgreSQL on this machine: initdb, postgres and pg_ctl")
    with postgres.server() as started:
        yield started


@pytest.fixture(params=[*FILES, pytest.param("server", id="postgresql", marks=pytest.mark.slow)])
def database(request, tmp_path):
    """The path of a file that is not there yet, or the address of a server."""
    if request.param == "server":
        return request.getfixturevalue("address")
    need(request.param)
    return str(tmp_path / request.param)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, "".join(capsys.readouterr())


def held(path):
    """A table as it is in a database, decimals and all."""
    file = read_file(path)
    types = [file.decimals.get(field.name, field.type) for field in file.table.schema]
    return file.table, types


def test_tables_come_back_cell_by_cell_with_their_types(database):
    where = f"{database}::typed"
    table = TYPED if "sqlite" not in database else TYPED.drop_columns(["small", "single", "price"])
    write_file(where, table)
    source = read_file(where)
    write_file(f"{database}::again", source.table, source)
    for name in ("typed", "again"):
        found, types = held(f"{database}::{name}")
        assert types == table.schema.types
        assert found.column_names == table.column_names
        plain = table.drop_columns(["price"] if "price" in table.column_names else [])
        assert found.select(plain.column_names).to_pylist() == plain.to_pylist()
        assert found.schema.field("number").type == pa.float64()


def test_decimals_are_numbers_meanwhile_and_rounded_where_filled(database, tmp_path):
    if "sqlite" in database:
        pytest.skip("SQLite has no decimal numbers")
    write_file(f"{database}::prices", TYPED.select(["price"]))
    source = read_file(f"{database}::prices")
    assert source.table["price"].to_pylist() == [1.5, None, 12345678.99]
    filled = pa.table({"price": [1.5, 7.12945, 12345678.99]})
    write_file(f"{database}::filled", filled, source)
    write_file(str(tmp_path / "filled.parquet"), filled, source)
    right = [Decimal("1.50"), Decimal("7.13"), Decimal("12345678.99")]
    assert pa_parquet.read_table(tmp_path / "filled.parquet")["price"].to_pylist() == right
    again = read_file(f"{database}::filled")
    assert again.decimals == {"price": pa.decimal128(10, 2)}
    assert again.table["price"].to_pylist() == [1.5, 7.13, 12345678.99]


def test_a_failure_leaves_a_database_as_it_was(database):
    write_file(f"{database}::kept", pa.table({"a": [1]}))
    with pytest.raises(RuntimeError):
        replace_both(database, fails=True)
    assert read_file(f"{database}::kept").table["a"].to_pylist() == [1]
    assert not has(database, "other")
    replace_both(database, fails=False)
    assert read_file(f"{database}::kept").table["a"].to_pylist() == [2]
    assert read_file(f"{database}::other").table["a"].to_pylist() == [3]


KILLED = """
import os, signal, sys
import pyarrow as pa
from diffjoint.storage.atomic import staged_outputs
from diffjoint.io.files import write_file
with staged_outputs():
    for path in sys.argv[1:]:
        write_file(f"{path}::kept", pa.table({"a": range(200_000)}))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_kill_before_the_end_leaves_databases_as_they_were(tmp_path):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    kinds = ("sqlite", "duckdb")
    there, new = ([tmp_path / f"{age}.{kind}" for kind in kinds] for age in ("old", "new"))
    for path in there:
        write_file(f"{path}::kept", pa.table({"a": [1]}))
    ran = subprocess.run(
        [sys.executable, "-c", KILLED, *map(str, [*there, *new])], check=False, timeout=60
    )
    assert ran.returncode == -signal.SIGKILL
    for path in there:
        assert read_file(f"{path}::kept").table["a"].to_pylist() == [1]
        write_file(f"{path}::kept", pa.table({"a": [2]}))
        assert read_file(f"{path}::kept").table["a"].to_pylist() == [2]
    assert not any(path.exists() for path in new)
    for path in new:
        write_file(str(path), pa.table({"a": [3]}))
    assert sorted(tmp_path.iterdir()) == sorted([*there, *new])


def replace_both(database, *, fails):
    with staged_outputs():
        write_file(f"{database}::kept", pa.table({"a": [2]}))
        write_file(f"{database}::other", pa.table({"a": [3]}))
        if "sqlite" in database:  # others wait for it, or are not let in
            assert read_file(f"{database}::kept").table["a"].to_pylist() == [1]
        if fails:
            raise RuntimeError


def has(database, name):
    place = place_of(database)
    with closing(place.database.open(place.where, False)) as session:
        return session.has(name)


@pytest.mark.slow
def test_the_command_line_goes_from_a_database_to_a_database(database, tmp_path, capsys):
    survey = household_survey(100, seed=1).observed_table
    write_file(f"{database}::people", survey)
    out, mask = f"{database}::completed", f"{database}::mask"
    asked = ["impute", f"{database}::people", out, "-m", SEARCHED, "--mask-out", mask, *SETTINGS]
    code, said = run(capsys, *asked)
    assert code == 0, said
    assert f"Wrote {out}." in said
    before, after = read_file(f"{database}::people").table, read_file(out).table
    assert after.schema.types == before.schema.types
    for name in before.column_names:
        pairs = zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)
        assert all(new == old for old, new in pairs if old is not None), name
    assert after["age"].null_count == 0
    kept = read_file(mask).table
    assert kept["commute"].to_pylist() == [cell is None for cell in after["commute"].to_pylist()]
    code, said = run(capsys, *asked)
    assert code == 2
    assert "has a table 'completed' already" in said
    check_place(place_of(out), force=True)
    code, said = run(capsys, "impute", f"{database}::people", f"{database}::people", *SETTINGS)
    assert code == 2
    assert "is the table that is read. Name another table, or pass --force" in said


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_one_table_needs_no_name(name, tmp_path):
    need(name)
    path = tmp_path / name
    write_file(str(path), pa.table({"a": [1]}))
    assert place_of(str(path)).name_to_write == "table"
    assert read_file(str(path)).table["a"].to_pylist() == [1]
    write_file(f"{path}::second", pa.table({"a": [2]}))
    with pytest.raises(InputError, match=r"has 2 tables \(second, table\)\. Name one: .*::second"):
        read_file(str(path))
    with pytest.raises(InputError, match=r"no table 'third'; there is second, table"):
        read_file(f"{path}::third")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_database_is_said(name, tmp_path):
    need(name)
    path = tmp_path / name
    with pytest.raises(FileError, match=r"Cannot read .*No such file"):
        read_file(str(path))
    path.write_text("a,b\n1,2\n" * 2000)
    with pytest.raises(FileError, match="Cannot read .*not a"):
        read_file(f"{path}::a")
    before = path.read_bytes()
    with pytest.raises(FileError, match="Cannot write .*not a"):
        write_file(f"{path}::a", pa.table({"a": [1]}))
    assert path.read_bytes() == before
    with pytest.raises(FileError, match="Cannot write"):
        check_place(place_of(str(tmp_path / "no folder" / name)), force=False)


def sqlite_column(tmp_path, declared, *cells):
    """A column of a SQLite file as it is read, and as it is after it was written."""
    path = tmp_path / "cells.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE cells (a {declared})")
        connection.executemany("INSERT INTO cells VALUES (?)", [(cell,) for cell in cells])
    read = read_file(str(path))
    write_file(f"{path}::again", read.table, read)
    with closing(sqlite3.connect(path)) as connection:
        again = [cell for (cell,) in connection.execute("SELECT a FROM again")]
    return read.table.schema.field("a").type, read.table["a"].to_pylist(), again


@pytest.mark.parametrize(
    ("declared", "cells", "kind"),
    [
        ("INTEGER", [1, None, 2**62], pa.int64()),
        ("REAL", [1.0, None, 0.1], pa.float64()),
        ("NUMERIC", [1.5, None, 2], pa.float64()),
        ("BOOLEAN", [1, None, 0], pa.bool_()),
        ("BOOLEAN", [1, None, 2], pa.int64()),
        ("DATE", ["2024-02-29", None], pa.date32()),
        ("DATE", ["29.02.2024", None], pa.string()),
        ("DATE", [20240229, None], pa.int64()),
        ("TIMESTAMP", ["2024-02-29 01:02:03", None], pa.timestamp("us")),
        ("DATETIME", ["2024-02-29T01:02:03", None], pa.string()),
        ("VARCHAR(3)", ["007", None], pa.string()),
        ("BLOB", [b"x", None], pa.binary()),
        ("", [None, None], pa.string()),
        ("DOUBLE", [None, None], pa.float64()),
    ],
)
def test_a_column_of_sqlite_is_typed_by_its_cells_and_comes_back(tmp_path, declared, cells, kind):
    read, _, again = sqlite_column(tmp_path, declared, *cells)
    assert read == kind
    assert again == cells


def test_empty_text_among_numbers_of_sqlite_is_missing(tmp_path):
    assert sqlite_column(tmp_path, "INTEGER", 3, "", None)[1] == [3, None, None]


def test_a_column_of_sqlite_that_holds_two_kinds_is_refused(tmp_path):
    with pytest.raises(FileError, match="column 'a' holds text and whole numbers; make it one"):
        sqlite_column(tmp_path, "INTEGER", 3, "three")


def test_what_sqlite_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(FileError, match=r"column 'a' is of the type list<.*write a \.parquet"):
        write_file(str(tmp_path / "new.db"), pa.table({"a": [[1]]}))
    assert list(tmp_path.iterdir()) == []


def test_categories_of_duckdb_stay_categories(tmp_path):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    path = str(tmp_path / "levels.duckdb")
    levels = pd.Series(["it's", None, "low"], dtype="category").cat.add_categories("never")
    write_file(path, pd.DataFrame({"level": levels}))
    read = read_file(path).table
    assert read["level"].to_pylist() == ["it's", None, "low"]
    assert pa.types.is_dictionary(read.schema.field("level").type)
    assert "never" in read["level"].chunk(0).dictionary.to_pylist()


@pytest.mark.slow
def test_types_without_a_like_are_read_as_a_server_writes_them(address):
    import sqlalchemy as sa

    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SCHEMA survey"))
        connection.execute(sa.text("CREATE TYPE mood AS ENUM ('sad', 'fine')"))
        connection.execute(sa.text("CREATE TABLE survey.odd (j jsonb, u uuid, a int[], m mood)"))
        added = """INSERT INTO survey.odd VALUES ('{"b": 1}', gen_random_uuid(), '{1,2}', 'fine')"""
        connection.execute(sa.text(added))
        connection.execute(sa.text("CREATE VIEW survey.seen AS SELECT m FROM survey.odd"))
    engine.dispose()
    read = read_file(f"{address}::survey.odd").table
    assert read.select(["j", "a", "m"]).to_pylist() == [
        {"j": '{"b": 1}', "a": "{1,2}", "m": "fine"}
    ]
    assert len(read["u"][0].as_py()) == 36
    assert read_file(f"{address}::survey.seen").table["m"].to_pylist() == ["fine"]
    write_file(f"{address}::survey.again", read)
    assert read_file(f"{address}::survey.again").table.num_rows == 1
    with pytest.raises(FileError, match="Cannot read .*nothing"):
        read_file(f"{address}::nothing")


def test_an_address_to_write_to_names_its_table():
    with pytest.raises(InputError, match=r"must name the table: postgresql://me:\*\*\*@h/d::TABLE"):
        check_place(place_of("postgresql://me:secret@h/d"), force=False)


def test_a_password_is_never_shown(capsys):
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    where = "postgresql://me:s3cret@localhost:1/d::t"
    for asked in (["inspect", where], ["impute", where, "out.csv"], ["impute", "in.csv", where]):
        code, said = run(capsys, *asked)
        assert code in (1, 2)
        assert "s3cret" not in said
    assert shown(where) == "postgresql://me:***@localhost:1/d::t"


@pytest.mark.parametrize(
    ("path", "extra"), [("a.duckdb", "duckdb"), ("postgresql://h/d::t", "sql")]
)
def test_without_its_library_the_extra_is_named(path, extra, monkeypatch):
    monkeypatch.setattr("diffjoint._extras.find_spec", lambda name: None)
    with pytest.raises(FileError, match=rf"pip install 'diffjoint\[{extra}\]'"):
        read_file(path)
    with pytest.raises(FileError, match=rf"pip install 'diffjoint\[{extra}\]'"):
        check_place(place_of(path), force=False)


def test_two_outputs_may_go_to_one_database_but_not_to_one_table(tmp_path, capsys):
    pd.DataFrame({"a": [1, None]}).to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "out.db"
    code, said = run(
        capsys, "impute", tmp_path / "in.csv", f"{out}::t", "--mask-out", f"{tmp_path}/./out.db::t"
    )
    assert code == 2
    assert "Two outputs are to be written to" in said
    assert not out.exists()


@pytest.mark.slow
def test_the_other_commands_read_and_write_databases_too(tmp_path, capsys):
    survey = household_survey(100, seed=1).observed_table
    people, model, out = f"{tmp_path}/all.db::people", tmp_path / "model", f"{tmp_path}/all.db::out"
    write_file(people, survey)
    rule = ["--rule", "commute: employed == 'yes'"]
    for asked in (
        ["fit", people, model, "-m", SEARCHED, *SETTINGS],
        ["transform", model, people, out, "--review", f"{tmp_path}/all.db::review"],
    ):
        code, said = run(capsys, *asked)
        assert code == 0, said
    assert read_file(out).table["age"].null_count == 0
    assert "decision" in read_file(f"{tmp_path}/all.db::review").table.column_names
    code, said = run(capsys, "check", people, *rule, "--out", out)
    assert code == 2
    assert "has a table 'out' already" in said
    with pytest.raises(SystemExit):
        main(["inspect", people])
    shown_next = capsys.readouterr().out
    assert f"impute {people} {people}_completed" in " ".join(shown_next.split())
    assert "people_report.html" in shown_next
