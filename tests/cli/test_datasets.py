"""``transform`` of folders of files, and ``verify``."""

import re

import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.simulate import household_survey
from tests.cli.test_cli import run
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytestmark = [FEW_CELLS, NO_OTHER_LOSSES]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a model, and a folder of two files."""
    here, world = tmp_path_factory.mktemp("here"), household_survey(120)
    table = world.observed_table
    (here / "in").mkdir()
    for k in range(2):
        table[60 * k :][:60].to_parquet(here / "in" / f"{k}.parquet", index=False)
    imputer = SelectiveImputer(world.mm_columns, n_boosters=1, random_state=0)
    imputer.fit(table).save(here / "model")
    return here


def test_a_folder_is_completed_and_verified(here, capsys):
    folders = [here / name for name in ("out", "mask", "proba")]
    sides = ("--mask-out", folders[1], "--proba-out", folders[2])
    assert run("transform", here / "model", here / "in", folders[0], *sides) == 0
    assert "120 rows in 2 pieces." in capsys.readouterr().out
    whole = load(here / "model").impute(pa_parquet.read_table(here / "in"))
    for folder, expected in zip(
        folders, (whole.table, whole.meaningful, whole.probability), strict=True
    ):
        assert pa_parquet.read_table(folder).equals(expected)
    assert run("verify", folders[0]) == 0
    assert "is whole: 120 rows, 6 files" in capsys.readouterr().out
    (folders[1] / "1.parquet").unlink()
    assert run("verify", folders[0]) == 1
    assert "1.parquet is missing" in capsys.readouterr().err


def test_a_pattern_names_a_dataset(here, capsys):
    code = run("transform", here / "model", here / "in" / "[1-9].parquet", here / "some", "-q")
    assert code == 0
    assert [file.name for file in (here / "some").glob("*.parquet")] == ["1.parquet"]
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_folder_is_reported_on_and_checked(here, capsys):
    asked = ("--report", here / "r.html", "--self-check")
    assert run("transform", here / "model", here / "in", here / "reported", *asked) == 0
    said = capsys.readouterr().out
    assert "Wrote the report to" in said
    assert "calls on missing cells" in said
    page = (here / "r.html").read_text(encoding="utf-8")
    assert "120 rows and" in page
    assert "The self-check in numbers" in page
    assert "They are too many to list" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--review", "r.csv"], "--review cannot be used with a folder of files"),
        (["--report", "none/r.html"], "none/r.html"),
        (["--engine", "flink"], "--engine must be one of 'local', 'dask', 'spark'"),
        (["--scheduler", "tcp://head:8786"], "--scheduler is for --engine dask"),
        (["--draws", "2"], "Draws need a model that was saved with them"),
        (["--memory-limit", "100MB"], "Each worker needs"),
        (["--mask-out", "wrong/mask"], "do not lie in each other"),
    ],
    ids=lambda part: part[0].strip("-") if isinstance(part, list) else "",
)
def test_what_cannot_be_is_refused(here, options, said, capsys, monkeypatch):
    monkeypatch.chdir(here)
    assert run("transform", "model", "in", "wrong", *options) in (1, 2)
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (here / "wrong").exists()


@pytest.mark.slow
def test_a_folder_is_learnt_from_some_of_its_rows(tmp_path, capsys):
    few_levels = ["married", "employed", "weekly_hours", "commute"]
    table = household_survey(600).observed_table[few_levels]
    for name, rows in (("in", table), ("shuffled", table.sample(frac=1, random_state=2))):
        (tmp_path / name).mkdir()
        rows[:200].to_parquet(tmp_path / name / "1.parquet", index=False)
        rows[200:].to_parquet(tmp_path / name / "2.parquet", index=False)
        model = tmp_path / f"{name}.diffjoint"
        options = ("-m", "weekly_hours,commute", "--fit-rows", "300", "--set", "n_boosters=1")
        assert run("fit", tmp_path / name, model, *options) == 0
        assert re.search(r"Learning from 3\d\d of 600 rows", capsys.readouterr().out)
    one, other = (load(tmp_path / f"{name}.diffjoint") for name in ("in", "shuffled"))
    assert one.transform(table).equals(other.transform(table))


def test_decisions_are_for_single_files(here, capsys):
    assert run("fit", here / "in", here / "none", "-m", "", "--decisions", "d.csv") == 2
    assert "--decisions" in capsys.readouterr().err


def test_verify_says_what_is_no_output(here, capsys):
    assert run("verify", here / "in") == 1
    assert "holds no manifest" in capsys.readouterr().err
