import shutil

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint.engines import (
    SparkEngine,
    batch_completer,
    sample_dataset,
    transform_dataset,
    transform_spark,
    verify,
)
from diffjoint.engines.spark import start_session
from diffjoint.errors import InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytest.importorskip("pyspark", reason="needs diffjoint[spark]")
pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]  # fmt: skip


@pytest.fixture(scope="module")
def session():
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later, and there is no java on this machine")
    session = start_session("local[2]")
    yield session
    session.stop()


def test_spark_writes_what_one_process_writes(session, model, folder, whole, tmp_path):
    here = transform_dataset(model, folder, tmp_path / "here", piece_rows=150)
    there = transform_dataset(
        model, folder, tmp_path / "there", piece_rows=150, engine=SparkEngine(session)
    )
    assert there.pieces == here.pieces
    assert verify(tmp_path / "there") == there
    assert pa_parquet.read_table(tmp_path / "there").equals(whole.table)


def test_spark_chooses_the_rows_that_one_process_chooses(session, folder):
    there = sample_dataset(folder, 100, SparkEngine(session))
    assert there.table.equals(sample_dataset(folder, 100).table)


def test_a_machine_without_java_is_told_so(monkeypatch):
    monkeypatch.setattr("diffjoint.engines.spark.shutil.which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="needs Java 17 or later"):
        SparkEngine()


def test_a_spark_frame_is_completed_in_arrow_batches(session, model, folder):
    found = transform_spark(model, session.read.parquet(str(folder))).toArrow()
    batches = pa_parquet.read_table(folder).to_batches()
    expected = pa.Table.from_batches(batch_completer(model)(iter(batches)))
    order = [(name, "ascending") for name in expected.column_names]
    found = found.cast(expected.schema.remove_metadata())
    assert found.sort_by(order).equals(expected.sort_by(order))
