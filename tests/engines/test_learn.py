from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from diffjoint import SelectiveImputer
from diffjoint.engines import fit_dataset, sample_dataset
from diffjoint.engines.survey import merge, row_contents, survey_rows
from diffjoint.errors import InputError
from diffjoint.simulate import household_survey
from tests.conftest import FEW_CELLS, NO_OTHER_LOSSES

N_ROWS = 3_000


@pytest.fixture(scope="module")
def table():
    """Few distinct rows, so that many occur again; a rare level, and numbers far out."""
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", None], N_ROWS)
    town[1234] = "Rom"
    age = pd.Series(rng.integers(20, 24, N_ROWS)).astype("Int64").mask(rng.random(N_ROWS) < 0.2)
    age[77] = 104
    weight = np.where(rng.random(N_ROWS) < 0.1, np.nan, np.round(rng.normal(70, 9, N_ROWS)))
    weight[9] = 70.5
    return pd.DataFrame(
        {"town": town, "age": age, "weight": weight, "day": pd.Timestamp(2024, 1, 1)}
    )


def write(folder, table, n_files, row_group_size):
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        path = folder / f"{k}.parquet"
        table.iloc[rows].to_parquet(path, index=False, row_group_size=row_group_size)
    return folder


def test_the_sample_depends_on_what_rows_hold_alone(table, tmp_path):
    one = sample_dataset(write(tmp_path / "one", table, 1, 10**6), 500)
    shuffled = table.sample(frac=1, random_state=0)
    three = sample_dataset(write(tmp_path / "three", shuffled, 3, 130), 500)
    assert three.table.equals(one.table)
    assert three.n_examples == one.n_examples
    assert one.table.num_rows == 500 + one.n_examples
    assert three.survey.n_missing == one.survey.n_missing
    np.testing.assert_array_equal(three.survey.missing_together, one.survey.missing_together)
    assert three.survey.columns == one.survey.columns


def test_rare_levels_and_ends_of_ranges_are_in_the_sample(table, tmp_path):
    found = sample_dataset(write(tmp_path / "in", table, 2, 500), 20).table.to_pandas()
    assert {*found["town"].dropna()} == {"Ulm", "Bonn", "Rom"}
    assert (found["age"].min(), found["age"].max()) == (20, 104)
    assert found["weight"].min() == np.nanmin(table["weight"])
    assert (found["weight"] % 1 == 0.5).any()
    assert len(found) < 300


def test_repeats_of_a_row_are_chosen_one_by_one(tmp_path):
    """As many of each as there should be, not all or none."""
    rows = pd.DataFrame({"a": np.repeat([1, 2, 3], 1_000)})
    found = sample_dataset(write(tmp_path / "in", rows, 3, 10**6), 900)
    counts = found.table.to_pandas()["a"].value_counts()
    assert counts.between(230, 370).all()


def test_counts_of_missing_cells_are_exact(table, tmp_path):
    survey = sample_dataset(write(tmp_path / "in", table, 4, 100), 50).survey
    missing = table.isna()
    assert survey.n_rows == N_ROWS
    assert survey.n_missing == missing.sum().to_dict()
    expected = missing.to_numpy().T.astype(int) @ missing.to_numpy().astype(int)
    np.testing.assert_array_equal(survey.missing_together, expected)


def test_pieces_merge_in_any_order(table):
    whole = pa.Table.from_pandas(table)
    parts = [whole.slice(first, 700) for first in range(0, N_ROWS, 700)]
    surveys = [survey_rows(part, row_contents(part)) for part in parts]
    one, other = merge(surveys), merge(reversed(surveys))
    assert one.columns == other.columns == survey_rows(whole, row_contents(whole)).columns
    assert {*one.example_keys.tolist()} == {*other.example_keys.tolist()}


def test_a_row_has_one_key_in_every_encoding():
    plain = pa.table({"a": pa.array(["x", None, "y"]), "b": pa.array([1, 2, None])})
    coded = pa.table(
        {"a": plain["a"].dictionary_encode(), "b": pa.chunked_array([[1], [2, None]], pa.int64())}
    )
    np.testing.assert_array_equal(row_contents(plain), row_contents(coded))
    assert len({*row_contents(plain).tolist()}) == 3


def test_files_may_hold_a_column_in_several_types(tmp_path):
    """Such as one in which all cells of a column are missing, or one with codes for its text."""
    (tmp_path / "in").mkdir()
    parts = [
        {"a": pa.array([1, None]), "b": pa.array(["x", "y"]).dictionary_encode()},
        {"a": pa.nulls(2), "b": pa.array(["z", None])},
        {"a": pa.array([1.5, 2]), "b": pa.array(["x", "x"], pa.large_string())},
    ]
    for k, part in enumerate(parts):
        pa_parquet.write_table(pa.table(part), tmp_path / "in" / f"{k}.parquet")
    found = sample_dataset(tmp_path / "in", 6)
    assert found.survey.n_missing == {"a": 3, "b": 1}
    assert sorted(found.table["a"].drop_null().to_pylist()) == [1, 1.5, 2]
    pa_parquet.write_table(pa.table({"a": ["x"], "b": ["x"]}), tmp_path / "in" / "3.parquet")
    with pytest.raises(InputError, match=r"'a' must have one type .* int64 in .*0.parquet"):
        sample_dataset(tmp_path / "in", 6)


def test_columns_that_folders_name_are_learnt(table, tmp_path):
    for town, rows in table.groupby("town", dropna=False):
        name = "__HIVE_DEFAULT_PARTITION__" if pd.isna(town) else town
        (tmp_path / f"town={name}").mkdir()
        for kind in ("parquet", "csv"):
            write = getattr(rows.drop(columns="town"), f"to_{kind}")
            write(tmp_path / f"town={name}" / f"1.{kind}", index=False)
    for kind in ("parquet", "csv"):
        found = sample_dataset(tmp_path / "*" / f"*.{kind}", 100)
        assert found.table.column_names[-1] == "town"
        assert {*found.table["town"].to_pylist()} == {"Ulm", "Bonn", "Rom", None}
        assert found.survey.n_missing["town"] == table["town"].isna().sum()


def write_text(folder, table, n_files, ending=".csv"):
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_csv(folder / f"{k}{ending}", index=False)
    return folder


def test_text_files_are_read_in_one_format(tmp_path):
    """Whatever the cells of one file alone look like."""
    (tmp_path / "1.csv").write_text("a,b,c,d\n1,5,2024-01-01,\n2,6,,\n")
    (tmp_path / "2.csv").write_text("a,b,c,d\n1.5,-,2024-01-02,\n,x,,\n")
    found = sample_dataset(tmp_path, 4, na_values=["-"]).table
    assert [str(kind) for kind in found.schema.types] == [
        "double", "string", "timestamp[us]", "string",
    ]  # fmt: skip
    rows = found.to_pandas().sort_values("b")
    assert rows["b"].tolist()[:3] == ["5", "6", "x"]
    assert found["d"].null_count == 4
    coded = sample_dataset(tmp_path, 4, reason_codes={"a": {"2": "lost"}}).table
    assert {*coded["a"].to_pylist()} == {"1", "2", "1.5", None}


def test_the_sample_of_text_depends_on_what_rows_hold_alone(table, tmp_path, monkeypatch):
    one = sample_dataset(write_text(tmp_path / "one", table, 1), 500)
    shuffled = table.sample(frac=1, random_state=0)
    packed = write_text(tmp_path / "three", shuffled, 3, ".csv.gz")
    monkeypatch.setattr("diffjoint.engines.rows.PIECE_ROWS", 100)
    monkeypatch.setattr("diffjoint.io.text.BLOCK_BYTES", 2_000)
    three = sample_dataset(packed, 500)
    assert three.table.equals(one.table)
    assert three.survey.columns == one.survey.columns
    as_parquet = sample_dataset(write(tmp_path / "parquet", table, 1, 10**6), 500)
    assert as_parquet.survey.n_missing == one.survey.n_missing
    assert as_parquet.table.num_rows - as_parquet.n_examples == 500


OF_ALL_TYPES = {
    "list": pa.array([["a"], None, ["b", "c"], [], ["a"], None]),
    "struct": pa.array([{"a": 1}, None, {"a": 2}, {"a": 1}, {"a": None}, None]),
    "map": pa.array([[("k", 1)], None, [], [("k", 2)], [], None], pa.map_(pa.string(), pa.int8())),
    "bytes": pa.array([b"x", None, b"y", b"", b"x", None]),
    "decimal": pa.array([Decimal("1.10"), None, Decimal("2.00"), Decimal("1.10"), None, None]),
    "time": pa.array([1, None, 2, 3, 1, None], pa.time64("us")),
    "duration": pa.array([1, None, 2, 3, 1, None], pa.duration("s")),
    "moment": pa.array([1, None, 2, 3, 1, None], pa.timestamp("us", tz="Europe/Berlin")),
    "large": pa.array([2**64 - 1, None, 2, 3, 1, None], pa.uint64()),
    "half": pa.array(np.array([1, 2, 3, 4, 5, 6], dtype=np.float16)),
    "nothing": pa.nulls(6),
}


@pytest.mark.parametrize("name", OF_ALL_TYPES)
def test_columns_of_every_type_are_looked_through(name, tmp_path):
    table = pa.table({name: OF_ALL_TYPES[name], "row": range(6)})
    (tmp_path / "in").mkdir()
    for k in range(2):
        pa_parquet.write_table(table.slice(3 * k, 3), tmp_path / "in" / f"{k}.parquet")
    found = sample_dataset(tmp_path / "in", 6)
    assert found.survey.n_missing[name] == table[name].to_pandas().isna().sum()
    read = pa_parquet.read_table(tmp_path / "in")
    assert found.table.sort_by("row").equals(read)
    (tmp_path / "whole").mkdir()
    pa_parquet.write_table(read, tmp_path / "whole" / "1.parquet")
    assert sample_dataset(tmp_path / "whole", 6).survey.columns == found.survey.columns


@pytest.mark.slow
@FEW_CELLS
@NO_OTHER_LOSSES
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_model_of_a_dataset_is_that_of_the_table_if_all_rows_are_learnt(tmp_path, kind):
    world = household_survey(300)
    survey = world.observed_table
    folder = write(tmp_path / "parquet", survey, 2, 70)
    text = write_text(tmp_path / "csv", survey, 2)
    imputer = SelectiveImputer(world.mm_columns, n_boosters=1, random_state=0)
    fit_dataset(imputer, folder if kind == "parquet" else text, fit_rows=300)
    in_memory = SelectiveImputer(world.mm_columns, n_boosters=1, random_state=0)
    in_memory.fit(pa_parquet.read_table(folder))
    pd.testing.assert_frame_equal(imputer.transform(survey), in_memory.transform(survey))


def test_what_cannot_be_learnt_from_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="fit_rows must be a whole number from 2 on; got 1"):
        sample_dataset(tmp_path, 1)
