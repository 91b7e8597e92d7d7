import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.simulate import household_survey


@pytest.fixture(scope="session")
def visits():
    """A survey in which a third of the rows occurs again: its repeats are judged by turns."""
    world = household_survey(300, seed=3)
    table = world.observed_table.drop(columns="person_id")
    again = pd.concat([table, table[:100], table[:50]], ignore_index=True)
    return world.mm_columns, again


@pytest.fixture(scope="session")
def once(visits):
    """Rows that hardly occur again."""
    return pa.Table.from_pandas(visits[1][:300].drop_duplicates(ignore_index=True))


@pytest.fixture(scope="session")
def model(visits, tmp_path_factory):
    mm_columns, table = visits
    path = tmp_path_factory.mktemp("model") / "visits.diffjoint"
    imputer = SelectiveImputer(mm_columns, n_boosters=1, random_state=0)
    imputer.fit(table[:300]).save(path)
    return path


@pytest.fixture(scope="session")
def folder(visits, tmp_path_factory):
    """The survey as Parquet: three files, in row groups of 70."""
    folder = tmp_path_factory.mktemp("visits")
    for k in range(3):
        rows = visits[1][k * 150 : (k + 1) * 150]
        rows.to_parquet(folder / f"part-{k}.parquet", index=False, row_group_size=70)
    return folder


@pytest.fixture(scope="session")
def whole(model, folder):
    """What the imputer says of the table in memory."""
    return load(model).impute(pa_parquet.read_table(folder))


@pytest.fixture(scope="session")
def drawing(visits, tmp_path_factory):
    """A model that can draw."""
    mm_columns, table = visits
    path = tmp_path_factory.mktemp("drawing") / "drawing.diffjoint"
    imputer = SelectiveImputer(mm_columns, n_boosters=1, random_state=0).fit(table[:300])
    imputer.save(path, draws=True)
    return path


@pytest.fixture(scope="session")
def client():
    """A Dask cluster of two workers."""
    distributed = pytest.importorskip("distributed", reason="needs diffjoint[dask]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def session():
    """A Spark session of two workers."""
    pytest.importorskip("pyspark", reason="needs diffjoint[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later, and there is no java on this machine")
    from diffjoint.engines.spark import start_session

    session = start_session()
    yield session
    session.stop()
