import json

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import FileError, InputError
from diffjoint.io.world_files import (
    na_values_of,
    observed_changed,
    read_calls,
    read_completed,
    read_probabilities,
    read_world,
    save_world,
)
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.simulate.real.labelled import labelled_world


@pytest.fixture
def network():
    return bayesian_network(70, 30, loss_rate=0.3)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather"])
@pytest.mark.parametrize("make", [lambda: bayesian_network(70, 30), lambda: household_survey(80)])
def test_a_world_comes_back_with_the_same_scores(make, ending, tmp_path):
    world = make()
    folder = tmp_path / "world"
    save_world(world, folder, ending)
    again = read_world(folder)
    completed = read_completed(again, str(folder / f"observed{ending}"))
    assert again.mm_columns == world.mm_columns
    assert again.column_kinds == world.column_kinds
    assert (again.is_train == world.is_train).all()
    assert (again.known == world.known).all(axis=None)
    assert mm_scores(again, completed.isna()) == mm_scores(world, world.observed_table.isna())
    assert token_accuracy(again, completed) == token_accuracy(world, world.observed_table)
    assert observed_changed(again, completed).sum() == 0
    assert (again.meaningful == world.meaningful).all(axis=None)
    assert (again.lost == (world.lost & ~world.meaningful)).all(axis=None)


def test_numbers_come_back_exactly(tmp_path):
    world = bayesian_network(70, 30)
    save_world(world, tmp_path)
    again = read_world(tmp_path)
    truth = read_completed(again, str(tmp_path / "truth.csv"))
    assert lost_errors(again, truth)["rmse"] == 0.0
    np.testing.assert_array_equal(again.truth["C2"], world.truth["C2"])


def test_train_and_test_rows_have_files_of_their_own(tmp_path):
    world = bayesian_network(70, 30)
    names = {path.name for path in save_world(world, tmp_path)}
    assert {"train.csv", "test.csv", "world.json"} <= names
    test = read_completed(read_world(tmp_path).test, str(tmp_path / "test.csv"))
    assert len(test) == 30
    facts = json.loads((tmp_path / "world.json").read_text())
    assert facts["mechanism"] == {"name": "mcar", "loss_rate": 0.1, "drivers": []}


def test_a_survey_is_described_by_the_names_of_its_columns(tmp_path):
    save_world(bayesian_network(70, 30, mechanism="survey"), tmp_path)
    about = json.loads((tmp_path / "world.json").read_text())["mechanism"]
    assert about["name"] == "survey"
    assert list(about["rates"]) == ["C1", "C2", "D1", "D2", "D3"]
    assert [name for block in about["blocks"] for name in block["columns"]] == list(about["rates"])


def test_a_value_that_reads_none_is_not_taken_for_an_empty_cell(tmp_path):
    text = pd.DataFrame({"veneer": ["None", "Brick", "None", "", "Stone"], "x": list("abcde")})
    world = labelled_world("mine", text, text == "", numbers={}, seed=0)
    save_world(world, tmp_path)
    again = read_world(tmp_path)
    assert again.truth["veneer"].isna().tolist() == [False, False, False, True, False]
    assert "None" not in na_values_of(again)
    completed = read_completed(again, str(tmp_path / "observed.csv"))
    assert observed_changed(again, completed).sum() == 0


def test_a_cell_of_unknown_kind_comes_back_as_one(tmp_path):
    text = pd.DataFrame({"a": ["", "?", "-", "x"], "b": list("wxyz")})
    world = labelled_world(
        "mine", text, text == "", gone=text == "?", unknown=text == "-", numbers={}, seed=0
    )
    assert world.kind_known["a"].tolist() == [True, True, False, True]
    save_world(world, tmp_path / "world")
    labels = pd.read_csv(tmp_path / "world" / "labels.csv")
    assert labels["a"].tolist() == ["meaningful", "lost", "unknown", "observed"]
    back = read_world(tmp_path / "world")
    assert back.kind_known["a"].tolist() == world.kind_known["a"].tolist()


def test_rows_in_another_order_are_noticed(network):
    turned = network.truth.iloc[::-1].set_axis(network.truth.index)
    with pytest.raises(InputError, match="Are the rows in another order"):
        observed_changed(network, turned)


def test_rows_in_another_order_are_noticed_where_one_level_is_common():
    text = pd.DataFrame({"a": ["f"] * 95 + ["t"] * 5, "b": ["f"] * 3 + ["t"] * 97})
    world = labelled_world("mine", text, text == "", numbers={}, seed=0)
    with pytest.raises(InputError, match="Are the rows in another order"):
        observed_changed(world, text.iloc[::-1].set_axis(text.index))


def test_changed_cells_are_counted_by_column(network):
    rounded = network.truth.assign(C2=network.truth["C2"].round(9))
    assert observed_changed(network, rounded).sum() == 0
    whole = network.truth.assign(C2=network.truth["C2"].round())
    assert observed_changed(network, whole)["C2"] == network.observed_table["C2"].count()
    one = network.truth.copy()
    one.loc[network.observed_table["D1"].first_valid_index(), "D1"] = 7.0
    assert observed_changed(network, one).to_dict() == {"C1": 0, "C2": 0, "D1": 1, "D2": 0, "D3": 0}


def test_codes_and_truth_values_are_taken_for_what_they_stand_for(tmp_path):
    text = pd.DataFrame({"code": ["01", "02", "10"], "flag": ["0", "1", "1"], "word": list("xyz")})
    world = labelled_world("mine", text, text == "", numbers={"flag": "integer"}, seed=0)
    path = tmp_path / "done.csv"
    path.write_text("word,code,flag\nx,1,False\ny,2.0,True\nz,10,True\n")
    completed = read_completed(world, str(path))
    assert observed_changed(world, completed).sum() == 0
    assert completed["code"].tolist() == ["01", "02", "10"]


@pytest.mark.parametrize("write", ["csv", "parquet"])
def test_calls_are_read_as_they_are_meant(network, write, tmp_path):
    path = str(tmp_path / f"mask.{write}")
    for calls in (network.meaningful, network.meaningful & False):
        chosen = calls[network.mm_columns]
        chosen.to_csv(path, index=False) if write == "csv" else chosen.to_parquet(path)
        assert (read_calls(network, path) == calls).all(axis=None)


def test_calls_and_probabilities_out_of_range_are_refused(network, tmp_path):
    path = str(tmp_path / "p.csv")
    network.truth.assign(C1=0.3, D2=0.2, D3=1.4).to_csv(path, index=False)
    with pytest.raises(InputError, match="D3 must hold probabilities, from 0 to 1"):
        read_probabilities(network, path)
    with pytest.raises(InputError, match="C1 must be true or false in every row"):
        read_calls(network, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="D2"), "must have the world's columns; D2 not found"),
        (lambda t: t.head(5), "must have 100 rows, as the world does; got 5"),
        (lambda t: t.assign(C2="1,5"), "C2 holds numbers in this world; got text, such as '1,5'"),
    ],
)
def test_other_tables_are_refused(network, change, message, tmp_path):
    path = str(tmp_path / "t.csv")
    change(network.truth).to_csv(path, index=False)
    with pytest.raises(InputError, match=message):
        read_completed(network, path)


@pytest.mark.parametrize("content", [None, "not json", "[]", "{}", '{"ending": ".csv"}'])
def test_a_folder_that_is_no_world_is_refused(content, tmp_path):
    if content is not None:
        (tmp_path / "world.json").write_text(content)
    with pytest.raises(FileError, match="is not a world"):
        read_world(tmp_path)


def test_files_of_different_worlds_are_refused(network, tmp_path):
    save_world(network, tmp_path / "a")
    save_world(bayesian_network(70, 30, seed=5), tmp_path / "b")
    (tmp_path / "a" / "truth.csv").replace(tmp_path / "b" / "truth.csv")
    with pytest.raises(FileError, match="truth and labels are not of the same world"):
        read_world(tmp_path / "b")


def test_a_folder_with_something_in_it_is_left_alone(network, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already. Name a new folder"):
        save_world(network, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_interruption_leaves_nothing_behind(network, tmp_path, monkeypatch):
    monkeypatch.setattr("diffjoint.io.world_files._facts", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_world(network, tmp_path / "world")
    assert list(tmp_path.iterdir()) == []
