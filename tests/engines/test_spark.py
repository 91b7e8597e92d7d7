import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import load
from diffjoint.engines import (
    SparkEngine,
    batch_completer,
    find_dataset,
    transform_spark,
)
from diffjoint.engines.shared import Shared
from diffjoint.errors import FileError, InputError
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES
from tests.engines import tasks

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
pytest.importorskip("pyspark", reason="needs diffjoint[spark]")
pytestmark = [
    FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]  # fmt: skip


def test_what_ends_every_try_is_named(session, model, folder, tmp_path):
    shared = Shared(model.read_bytes(), {"table": str(tmp_path / "out")})
    pieces = list(find_dataset(folder).pieces(150))[:1]
    with SparkEngine(session).started(shared) as run:
        with pytest.raises(FileError, match=r"Spark gave up: Cannot write .* No space left"):
            run(tasks.fail, pieces)
        with pytest.raises(FileError, match="Spark gave up: .* its worker died"):
            run(tasks.die, pieces)


def test_a_machine_without_java_is_told_so(monkeypatch):
    monkeypatch.setattr("diffjoint.engines.spark.shutil.which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="needs Java 17 or later"):
        SparkEngine()


def test_the_example_of_pandas_functions_runs(session, model, once, tmp_path):
    (example,) = re.findall(r"```py\n(def complete.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    pa_parquet.write_table(once, tmp_path / "visits.parquet")
    given = {"visits": session.read.parquet(str(tmp_path / "visits.parquet"))}
    exec(example.replace("/shared/visits.diffjoint", str(model)), given)
    found = given["completed"].toArrow().to_pandas()
    assert found.isna().equals(load(model).transform(once).to_pandas().isna())


def test_a_spark_frame_is_completed_in_arrow_batches(session, model, folder):
    found = transform_spark(model, session.read.parquet(str(folder))).toArrow()
    batches = pa_parquet.read_table(folder).to_batches()
    expected = pa.Table.from_batches(batch_completer(model)(iter(batches)))
    order = [(name, "ascending") for name in expected.column_names]
    found = found.cast(expected.schema.remove_metadata())
    assert found.sort_by(order).equals(expected.sort_by(order))
