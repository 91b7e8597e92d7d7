import pytest

from diffjoint.engines import DaskEngine
from diffjoint.engines.shared import Shared
from diffjoint.errors import FileError, InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytest.importorskip("distributed", reason="needs diffjoint[dask]")
pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow, pytest.mark.filterwarnings("ignore:::distributed")
]  # fmt: skip


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
