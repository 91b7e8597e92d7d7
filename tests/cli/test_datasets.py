"""``transform`` of folders of files, and ``verify``."""

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
    assert "120 rows in 2 pieces." in capsys.readouterr().err
    whole = load(here / "model").impute(pa_parquet.read_table(here / "in"))
    for folder, expected in zip(
        folders, (whole.table, whole.meaningful, whole.probability), strict=True
    ):
        assert pa_parquet.read_table(folder).equals(expected)
    assert run("verify", folders[0]) == 0
    assert "is whole: 120 rows, 6 files" in capsys.readouterr().err
    (folders[1] / "1.parquet").unlink()
    assert run("verify", folders[0]) == 1
    assert "1.parquet is missing" in capsys.readouterr().err


def test_a_pattern_names_a_dataset(here, capsys):
    code = run("transform", here / "model", here / "in" / "[1-9].parquet", here / "some", "-q")
    assert code == 0
    assert [file.name for file in (here / "some").glob("*.parquet")] == ["1.parquet"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--report", "r.html"], "--report cannot be used with a folder of files"),
        (["--self-check"], "--self-check cannot be used with a folder of files"),
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


def test_verify_says_what_is_no_output(here, capsys):
    assert run("verify", here / "in") == 1
    assert "holds no manifest" in capsys.readouterr().err
