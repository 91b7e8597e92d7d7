import pyarrow.parquet as pa_parquet
import pytest

from diffjoint.engines import DaskEngine, find_dataset, sample_dataset, transform_dataset, verify
from diffjoint.engines.shared import Shared
from diffjoint.errors import FileError, InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES
from tests.engines import tasks

pytest.importorskip("distributed", reason="needs diffjoint[dask]")
pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow, pytest.mark.filterwarnings("ignore:::distributed")
]  # fmt: skip


def test_dask_writes_what_one_process_writes(client, model, folder, whole, tmp_path):
    here = transform_dataset(model, folder, tmp_path / "here", piece_rows=70)
    there = transform_dataset(
        model, folder, tmp_path / "there", piece_rows=70, engine=DaskEngine(client)
    )
    assert there.pieces == here.pieces
    assert verify(tmp_path / "there") == there
    assert pa_parquet.read_table(tmp_path / "there").equals(whole.table)


def test_dask_chooses_the_rows_that_one_process_chooses(client, folder):
    there = sample_dataset(folder, 100, DaskEngine(client))
    assert there.table.equals(sample_dataset(folder, 100).table)


def test_a_worker_that_dies_loses_nothing(client, model, folder, whole, tmp_path):
    shared = Shared(model.read_bytes(), {"table": str(tmp_path / "out")})
    pieces = list(find_dataset(folder).pieces(70))
    with DaskEngine(client).started(shared) as run:
        records = list(run(tasks.complete_and_die_once, pieces))
    assert (tmp_path / "out.killed").exists()
    assert {record.name for record in records} == {piece.name for piece in pieces}
    assert pa_parquet.read_table(tmp_path / "out").num_rows == whole.table.num_rows


def test_workers_that_cannot_be_started_are_told_of(model, monkeypatch):
    def fail(**options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", fail)
    with (
        pytest.raises(FileError, match=r"Dask gave up: its workers .* start the run again"),
        DaskEngine().started(Shared(model.read_bytes(), {})),
    ):
        pass


def test_a_scheduler_that_is_not_there_is_named(model):
    from dask import config

    with (
        config.set({"distributed.comm.timeouts.connect": "0.1s"}),
        pytest.raises(FileError, match=r"Cannot reach a Dask scheduler at tcp://127\.0\.0\.1:1: "),
        DaskEngine("tcp://127.0.0.1:1").started(Shared(model.read_bytes(), {})),
    ):
        pass


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("diffjoint._extras.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'diffjoint\[dask\]'"):
        DaskEngine()
