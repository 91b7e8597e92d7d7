import json

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import FileError, InputError
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.simulate.real.labelled import labelled_world
from diffjoint.world_files import (
    n_observed_changed,
    na_values_of,
    read_about,
    read_world,
    save_world,
)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather"])
@pytest.mark.parametrize("make", [lambda: bayesian_network(70, 30), lambda: household_survey(80)])
def test_a_world_comes_back_with_the_same_scores(make, ending, tmp_path):
    world = make()
    save_world(world, tmp_path, ending)
    again = read_world(tmp_path)
    completed = read_about(again, str(tmp_path / f"observed{ending}"))
    assert again.mm_columns == world.mm_columns
    assert again.column_kinds == world.column_kinds
    assert (again.is_train == world.is_train).all()
    assert (again.known == world.known).all(axis=None)
    assert mm_scores(again, completed.isna()) == mm_scores(world, world.observed_table.isna())
    assert token_accuracy(again, completed) == token_accuracy(world, world.observed_table)
    assert n_observed_changed(again, completed) == 0


def test_numbers_come_back_exactly(tmp_path):
    world = bayesian_network(70, 30)
    save_world(world, tmp_path)
    again = read_world(tmp_path)
    truth = read_about(again, str(tmp_path / "truth.csv"))
    assert lost_errors(again, truth)["rmse"] == 0.0
    np.testing.assert_array_equal(again.truth["C2"], world.truth["C2"])


def test_train_and_test_rows_have_files_of_their_own(tmp_path):
    world = bayesian_network(70, 30)
    names = {path.name for path in save_world(world, tmp_path)}
    assert {"train.csv", "test.csv", "world.json"} <= names
    test = read_about(read_world(tmp_path).test, str(tmp_path / "test.csv"))
    assert len(test) == 30
    facts = json.loads((tmp_path / "world.json").read_text())
    assert facts["mechanism"] == {"name": "mcar", "loss_rate": 0.1, "drivers": []}


def test_a_value_that_reads_none_is_not_taken_for_an_empty_cell(tmp_path):
    text = pd.DataFrame({"veneer": ["None", "Brick", "None", "", "Stone"], "x": list("abcde")})
    world = labelled_world("mine", text, text == "", numbers={}, seed=0)
    save_world(world, tmp_path)
    again = read_world(tmp_path)
    assert again.truth["veneer"].isna().tolist() == [False, False, False, True, False]
    assert "None" not in na_values_of(again)
    completed = read_about(again, str(tmp_path / "observed.csv"))
    assert n_observed_changed(again, completed) == 0


def test_rows_in_another_order_are_noticed(tmp_path):
    world = bayesian_network(70, 30)
    with pytest.raises(InputError, match="Are the rows in another order"):
        n_observed_changed(world, world.truth.iloc[::-1].set_axis(world.truth.index))
    rounded = world.truth.assign(C2=world.truth["C2"].round(9))
    assert n_observed_changed(world, rounded) == 0
    one = world.truth.copy()
    row = world.observed_table["C2"].first_valid_index()
    one.loc[row, "C2"] = 0.0
    assert n_observed_changed(world, one) == 1


def test_other_tables_are_refused(tmp_path):
    world = bayesian_network(70, 30)
    path = str(tmp_path / "t.csv")
    world.truth.drop(columns="D2").to_csv(path, index=False)
    with pytest.raises(InputError, match="must have the world's columns; D2 not found"):
        read_about(world, path)
    world.truth.head(5).to_csv(path, index=False)
    with pytest.raises(InputError, match="must have 100 rows, as the world does; got 5"):
        read_about(world, path)


@pytest.mark.parametrize("content", [None, "not json", "[]", "{}"])
def test_a_folder_that_is_no_world_is_refused(content, tmp_path):
    if content is not None:
        (tmp_path / "world.json").write_text(content)
    with pytest.raises(FileError, match="is not a world"):
        read_world(tmp_path)
