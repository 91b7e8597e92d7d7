"""A file from a place where decimals come after a comma."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer
from diffjoint.errors import InputError
from diffjoint.io.files import read_file, write_file
from tests.first_contact.command_line import run


def people(n=200):
    rng = np.random.default_rng(0)
    height = rng.normal(170, 10, n).round(1)
    table = pd.DataFrame(
        {
            "height": height,
            "weight": (height * 0.4 + rng.normal(0, 5, n)).round(2),
            "rent": rng.lognormal(7, 0.5, n).round(2),
            "town": rng.choice(["Ulm", "Bonn"], n),
        }
    )
    return table.mask(rng.random(table.shape) < 0.1)


@pytest.fixture
def german(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, sep=";", decimal=",", index=False)
    return path


def test_commas_between_semicolons_are_told_from_the_text(german, capsys):
    pd.testing.assert_frame_equal(read_file(str(german)).table, people(), check_dtype=False)
    assert run("inspect", german) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Numbers with a decimal comma: height, weight, rent. --decimal . reads" in shown
    assert "height continuous" in shown


@pytest.mark.slow
def test_they_come_back_as_they_were_and_others_are_filled_alike(german, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert run("impute", german, out, "-m", "", "--set", "n_boosters=1") == 0
    assert "Numbers with a decimal comma: height, weight, rent." in capsys.readouterr().out
    before, after = (pd.read_csv(path, sep=";", dtype=str) for path in (german, out))
    there = before.notna()
    assert after.where(there).equals(before.where(there))
    filled = after["height"][~there["height"]]
    assert len(filled) > 10
    assert filled.str.fullmatch(r"1\d\d,\d").all()


def test_a_comma_can_be_asked_for_and_refused(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_text('a,b\n"1,5",x\n"12,25",y\n,z\n')
    assert read_file(str(path)).table["a"].dropna().tolist() == ["1,5", "12,25"]
    assert read_file(str(path), decimal=",").table["a"].dropna().tolist() == [1.5, 12.25]
    path.write_text("a;b\n1,5;x\n12,25;y\n")
    assert read_file(str(path), decimal=".").table["a"].tolist() == ["1,5", "12,25"]


def test_points_between_thousands_are_no_decimals(tmp_path):
    path = tmp_path / "rent.csv"
    path.write_text("rent;note;version\n1.250,50;1,2,3;1.5\n980,00;4,5;2,5\n;6;\n")
    file = read_file(str(path))
    assert file.table["rent"].dropna().tolist() == [1250.5, 980.0]
    assert file.table["note"].tolist() == ["1,2,3", "4,5", "6"]
    assert file.table["version"].dropna().tolist() == ["1.5", "2,5"]
    write_file(str(path), file.table.assign(rent=file.table["rent"].fillna(7.25)), file)
    assert path.read_text().splitlines()[1:] == ["1.250,50;1,2,3;1.5", "980,00;4,5;2,5", "7,25;6;"]


def test_codes_stand_beside_commas(tmp_path):
    path = tmp_path / "income.csv"
    path.write_text("income;n\n1,5;1\nrefused;2\n-9;3\n2,25;4\n")
    codes = {"income": {"refused": "lost", "-9": "lost"}}
    file = read_file(str(path), reason_codes=codes)
    assert file.table["income"].tolist() == ["1.5", "refused", "-9", "2.25"]


@pytest.mark.parametrize("place", ["Python", "file"])
def test_a_kind_that_needs_another_decimal_says_how(place, tmp_path, capsys):
    texts = people(60).dropna()["height"].map(lambda number: f"{number:.1f}".replace(".", ","))
    table = pd.DataFrame({"height": texts, "n": range(len(texts))})
    if place == "Python":
        with pytest.raises(InputError, match="decimal comma: read the file with decimal=','"):
            SelectiveImputer(column_kinds={"height": "continuous"}).fit(table)
        return
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    command = ["inspect", path, "--kind", "height=continuous"]
    assert run(*command) == 2
    assert "read the file with --decimal ,." in " ".join(capsys.readouterr().err.split())
    assert run(*command, "--decimal", ",") == 0
    assert "continuous" in capsys.readouterr().out
    assert run(*command, "--decimal", ";") == 2
