import pandas as pd
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
