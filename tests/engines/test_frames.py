import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.engines import batch_completer, transform_lazy
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

pytestmark = [FEW_CELLS, NO_OTHER_LOSSES, pytest.mark.slow]


@pytest.mark.parametrize("size", [1, 37, 300])
def test_batches_give_what_the_table_gives(model, once, size):
    batches = batch_completer(model)(iter(once.to_batches(size)[:40]))
    found = pa.Table.from_batches(batches)
    assert found.equals(load(model).transform(once).slice(0, found.num_rows))


def test_repeats_of_a_row_get_the_same_answer_in_any_batch(model, folder):
    table = pa_parquet.read_table(folder)
    one, many = (
        pa.Table.from_batches(batch_completer(model)(iter(table.to_batches(size))))
        for size in (450, 30)
    )
    assert one.equals(many)
    assert one.slice(0, 100).equals(one.slice(300, 100))


def test_a_lazy_frame_is_completed_as_it_is_written(model, once, tmp_path):
    pa_parquet.write_table(once, tmp_path / "in.parquet", row_group_size=50)
    lazy = transform_lazy(model, pl.scan_parquet(tmp_path / "in.parquet"))
    lazy.sink_parquet(tmp_path / "out.parquet")
    expected = load(model).transform(pl.from_arrow(once))
    assert pl.read_parquet(tmp_path / "out.parquet").equals(expected)
    assert (
        transform_lazy(model, pl.scan_parquet(tmp_path / "in.parquet").head(0)).collect().is_empty()
    )


def test_a_lazy_frame_gets_the_columns_that_are_added(visits, once):
    mm_columns, table = visits
    imputer = SelectiveImputer(mm_columns, n_boosters=1, random_state=0, mm_output="indicator")
    imputer.fit(table[:300])
    frame = pl.from_arrow(once)
    assert transform_lazy(imputer, frame.lazy()).collect().equals(imputer.transform(frame))


def test_a_dask_frame_keeps_its_dtypes_index_and_partitions(model, once):
    dask_frames = pytest.importorskip("dask.dataframe", reason="needs diffjoint[dask]")
    from diffjoint.engines import transform_dask

    rows = once.to_pandas().set_axis(range(1000, 1000 + once.num_rows))
    frame = dask_frames.from_pandas(rows, npartitions=3)
    lazy = transform_dask(model, frame)
    assert lazy.npartitions == frame.npartitions
    assert (lazy.dtypes == frame.dtypes).all()
    found = lazy.compute(scheduler="synchronous")
    expected = load(model).transform(frame.compute(scheduler="synchronous"))
    pd.testing.assert_frame_equal(found, expected)
