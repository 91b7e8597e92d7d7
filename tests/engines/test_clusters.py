"""What holds of every cluster: the answers of one process, also if a worker dies."""

import pyarrow.parquet as pa_parquet
import pytest

from diffjoint.engines import (
    DaskEngine,
    SparkEngine,
    find_dataset,
    sample_dataset,
    transform_dataset,
    verify,
)
from diffjoint.engines.shared import Shared
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES
from tests.engines import tasks

pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow, pytest.mark.filterwarnings("ignore:::distributed"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]  # fmt: skip


@pytest.fixture(params=["dask", "spark"])
def engine(request):
    """Each cluster on this machine; skipped where its library is absent."""
    if request.param == "dask":
        return DaskEngine(request.getfixturevalue("client"))
    return SparkEngine(request.getfixturevalue("session"))


def test_a_cluster_writes_what_one_process_writes(engine, model, folder, whole, tmp_path):
    here = transform_dataset(model, folder, tmp_path / "here", piece_rows=70)
    there = transform_dataset(model, folder, tmp_path / "there", piece_rows=70, engine=engine)
    assert there.pieces == here.pieces
    assert verify(tmp_path / "there") == there
    assert pa_parquet.read_table(tmp_path / "there").equals(whole.table)


def test_a_cluster_chooses_the_rows_that_one_process_chooses(engine, folder):
    there = sample_dataset(folder, 100, engine)
    assert there.table.equals(sample_dataset(folder, 100).table)


def test_a_worker_that_dies_loses_nothing(engine, model, folder, whole, tmp_path):
    shared = Shared(model.read_bytes(), {"table": str(tmp_path / "out")})
    pieces = list(find_dataset(folder).pieces(70))
    with engine.started(shared) as run:
        records = list(run(tasks.complete_and_die_once, pieces))
    assert (tmp_path / "out.killed").exists()
    assert {record.name for record in records} == {piece.name for piece in pieces}
    assert pa_parquet.read_table(tmp_path / "out").num_rows == whole.table.num_rows
