"""SPSS, Stata and SAS files: labels and codes come back, and say why cells are empty."""

from importlib import resources

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from diffjoint.cli import main
from diffjoint.errors import FileError, InputError
from diffjoint.io.files import check_ending, read_file, write_file
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES, TINY

LABELS = {"age": "Age in years", "income": "Monthly income"}
CODES = {-9.0: "Refused", -1.0: "Inapplicable", -5.0: "NA"}


def people(n=60):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": rng.normal(2000, 300, n).round(),
            "sex": rng.choice([1.0, 2.0], n),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "seen": pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(n), "D"),
        }
    )
    table.loc[:4, "income"] = -9.0
    table.loc[5:14, "income"] = -1.0
    table.loc[15:16, "income"] = -5.0
    table.loc[17:20, "age"] = np.nan
    table.loc[21:22, "town"] = ""
    return table


@pytest.fixture
def spss(tmp_path):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        people(), str(path), file_label="People", column_labels=LABELS,
        variable_value_labels={"income": CODES, "sex": {1.0: "male", 2.0: "female"}},
        missing_ranges={"income": [{"lo": -9, "hi": -1}]}, variable_format={"seen": "DATE11"},
        variable_measure={"age": "scale"},
    )  # fmt: skip
    return path


@pytest.fixture
def stata(tmp_path):
    path, table = tmp_path / "people.dta", people()
    letters = {-9.0: "a", -1.0: "b", -5.0: "c"}
    table["income"] = table["income"].astype(object).replace(letters)
    table["seen"] = table["seen"].dt.date
    pyreadstat.write_dta(
        table, str(path), column_labels=LABELS, missing_user_values={"income": ["a", "b", "c"]},
        variable_value_labels={"income": {letters[c]: label for c, label in CODES.items()}},
        variable_format={"seen": "%td"},
    )  # fmt: skip
    return path


@pytest.mark.parametrize(("kind", "refused", "skipped", "silent"), [
    ("spss", -9.0, -1.0, -5.0), ("stata", "a", "b", "c"),
])  # fmt: skip
def test_labels_of_missing_codes_say_why_cells_are_empty(kind, refused, skipped, silent, request):
    file = read_file(str(request.getfixturevalue(kind)))
    assert file.reason_codes == {"income": {refused: "lost", skipped: "meaningful"}}
    assert file.without_reason == {"income": [silent]}
    income = file.table["income"]
    assert (income[:5] == refused).all()
    assert (income[5:15] == skipped).all()
    assert income[15:17].isna().all()
    assert file.table["age"].isna().sum() == 4
    assert file.table["town"].isna().sum() == 2


def test_columns_whose_values_all_have_labels_are_categories(spss):
    assert read_file(str(spss)).kinds == {"sex": "categorical"}


def test_a_column_of_codes_alone_is_empty_and_keeps_its_codes(tmp_path):
    path, out = tmp_path / "skipped.sav", tmp_path / "out.sav"
    pyreadstat.write_sav(
        people().assign(asked=-1.0), str(path), missing_ranges={"asked": [-1]},
        variable_value_labels={"asked": CODES},
    )  # fmt: skip
    file = read_file(str(path))
    assert file.table["asked"].isna().all()
    assert (file.reason_codes, file.without_reason) == ({}, {"asked": [-1.0]})
    write_file(str(out), file.table, file)
    assert (pyreadstat.read_sav(str(out), user_missing=True)[0]["asked"] == -1.0).all()


def test_what_the_user_says_of_a_code_goes_before_its_label(spss):
    file = read_file(str(spss), reason_codes={"income": {"-9": "meaningful", "-5": "lost"}})
    assert file.reason_codes == {"income": {-1.0: "meaningful"}}
    assert file.without_reason == {}
    assert (file.table["income"][15:17] == -5.0).all()


@pytest.mark.parametrize(("kind", "reader"), [
    ("spss", pyreadstat.read_sav), ("stata", pyreadstat.read_dta),
])  # fmt: skip
def test_a_file_comes_back_with_labels_formats_and_the_codes_of_empty_cells(
    kind, reader, request, tmp_path
):
    path = request.getfixturevalue(kind)
    file = read_file(str(path))
    completed = file.table.copy()
    code = completed["income"].iloc[0]
    completed["income"] = completed["income"].replace({code: 1234.0})
    skipped = completed["income"].iloc[5]
    completed["income"] = completed["income"].replace({skipped: None}).astype("float64")
    completed["age"] = completed["age"].fillna(40.0)
    out = tmp_path / f"out{path.suffix}"
    write_file(str(out), completed, file)
    before, notes = reader(str(path), user_missing=True)
    after, new_notes = reader(str(out), user_missing=True)
    assert (after["income"][:5] == 1234.0).all()
    pd.testing.assert_series_equal(after["income"][5:], before["income"][5:], check_dtype=False)
    assert (after["age"][17:21] == 40.0).all()
    for name in ("sex", "town", "seen"):
        pd.testing.assert_series_equal(after[name], before[name])
    for note in (
        "column_names_to_labels", "variable_value_labels", "missing_ranges", "file_label",
        "variable_measure",
    ):  # fmt: skip
        assert getattr(new_notes, note) == getattr(notes, note), note
    assert new_notes.original_variable_types["seen"] == notes.original_variable_types["seen"]


def test_letters_that_are_codes_in_stata_are_left_out_of_spss(stata, tmp_path):
    file = read_file(str(stata))
    completed = file.table.assign(income=pd.to_numeric(file.table["income"], errors="coerce"))
    write_file(str(tmp_path / "out.sav"), completed, file)
    after, notes = pyreadstat.read_sav(str(tmp_path / "out.sav"))
    assert after["income"].isna().sum() == 17
    assert notes.variable_value_labels == {}
    assert notes.column_names_to_labels["age"] == "Age in years"


def test_labels_go_along_into_the_other_kind_of_file(spss, tmp_path):
    file = read_file(str(spss))
    write_file(str(tmp_path / "out.dta"), file.table.replace({-9.0: None, -1.0: None}), file)
    after, notes = pyreadstat.read_dta(str(tmp_path / "out.dta"))
    assert notes.column_names_to_labels["age"] == "Age in years"
    assert after["income"].isna().sum() == 17


@FEW_CELLS
@NO_OTHER_LOSSES
def test_the_command_line_goes_from_spss_to_spss(spss, tmp_path, capsys):
    out, settings = tmp_path / "out.sav", [f"--set={k}={v}" for k, v in TINY.items()]
    with pytest.raises(SystemExit) as end:
        main(["impute", str(spss), str(out), "-m", "", *settings])
    assert end.value.code == 0
    shown = capsys.readouterr().err
    assert "income: -9.0=lost" in shown
    assert "income (-5.0)" in shown
    after, notes = pyreadstat.read_sav(str(out), user_missing=True)
    assert (after["income"][5:15] == -1.0).all()
    assert (after["income"][:5] > 0).all()
    assert after["age"].notna().all()
    assert notes.variable_value_labels["sex"] == {1.0: "male", 2.0: "female"}


def test_masks_and_other_tables_can_be_written_too(tmp_path):
    frame = pd.DataFrame({"a": [True, False], "b": pd.Categorical(["x", None]), "c": [1, 2]})
    write_file(str(tmp_path / "mask.sav"), frame)
    after, _ = pyreadstat.read_sav(str(tmp_path / "mask.sav"))
    assert after["a"].tolist() == [1.0, 0.0]
    assert after["b"].tolist() == ["x", ""]


@pytest.mark.parametrize("ending", [".sas7bdat", ".xpt"])
def test_sas_files_are_read_only(ending):
    assert check_ending(f"table{ending}") == ending
    with pytest.raises(InputError, match="can be read, but not written"):
        check_ending(f"table{ending}", to_write=True)


def test_a_sas_transport_file_is_read(tmp_path):
    path, table = tmp_path / "people.xpt", people()
    days = table.assign(seen=table["seen"].dt.date)
    formats = {"seen": "DATE9"}
    pyreadstat.write_xport(days, str(path), column_labels=LABELS, variable_format=formats)
    read = read_file(str(path))
    pd.testing.assert_series_equal(read.table["age"], table["age"])
    assert read.table["seen"].tolist() == table["seen"].tolist()
    assert read.table["town"].isna().tolist() == (table["town"] == "").tolist()
    assert read.notes.options["column_labels"] == LABELS
    write_file(str(tmp_path / "people.sav"), read.table, read)
    _, meta = pyreadstat.read_sav(str(tmp_path / "people.sav"))
    assert meta.column_names_to_labels["income"] == LABELS["income"]


def test_a_sas_file_is_read():
    # Nothing here can write one: pandas' own is read, where its tests came with their data.
    path = resources.files("pandas.tests.io.sas").joinpath("data", "airline.sas7bdat")
    if not path.is_file():
        pytest.skip("pandas was installed without the data of its tests (airline.sas7bdat)")
    read = read_file(str(path))
    assert read.table.shape == (32, 6)
    assert read.table["YEAR"].tolist() == list(range(1948, 1980))


def test_a_date_out_of_range_is_told(tmp_path):
    path = tmp_path / "people.xpt"
    seconds_as_days = {"seen": "DATE9"}
    pyreadstat.write_xport(people(), str(path), variable_format=seconds_as_days)
    with pytest.raises(FileError, match="has a date that is out of range"):
        read_file(str(path))


def test_a_broken_sas_file_is_told(tmp_path):
    for ending in ("sas7bdat", "xpt"):
        path = tmp_path / f"broken.{ending}"
        path.write_bytes(b"nothing of use")
        with pytest.raises(FileError, match=f"not a whole {ending} file"):
            read_file(str(path))


def test_a_broken_or_absent_file_is_told(tmp_path):
    (tmp_path / "broken.sav").write_bytes(b"nothing of use")
    with pytest.raises(FileError, match="not a whole sav file"):
        read_file(str(tmp_path / "broken.sav"))
    with pytest.raises(FileError, match="No such file"):
        read_file(str(tmp_path / "absent.dta"))


def test_names_that_a_file_cannot_have_are_told_and_leave_the_old_file(tmp_path):
    path = tmp_path / "out.dta"
    path.write_text("old")
    with pytest.raises(FileError, match="^Cannot write the table as a dta file"):
        write_file(str(path), pd.DataFrame({"two words": [1.0]}))
    assert path.read_text() == "old"


def test_without_pyreadstat_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("diffjoint._extras.find_spec", lambda name: None)
    with pytest.raises(FileError, match=r"pip install 'diffjoint\[stats\]'"):
        read_file("people.sav")
