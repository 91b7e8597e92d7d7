"""Real tables with labels: where the data folder is, all of them; everywhere, what can go wrong."""

import os
from pathlib import Path

import pandas as pd
import pytest

from diffjoint.errors import FileError, InputError
from diffjoint.metrics import mm_scores, token_accuracy
from diffjoint.simulate import WORLDS, acs_2018, make_world, nhanes_women, telco_churn
from diffjoint.simulate.real import nhanes
from diffjoint.simulate.real.labelled import labelled_world
from diffjoint.simulate.source import DATA_SETTING, Source


@pytest.fixture
def read():
    """Make a real world, or skip the test where its table is not here."""

    def make(name, **options):
        try:
            return make_world(name, **options)
        except FileError as error:
            if "is not there" in str(error) or "no data folder" in str(error):
                pytest.skip(str(error))
            raise

    return make


READ = [name for name, entry in WORLDS.items() if entry.source and name != "mimic-iv-ed"]

SHAPES = {
    "mimic-iv-ed-demo": (207, 30, 4),
    "telco-churn": (7043, 20, 8),
    "telco-churn-no-gates": (7043, 18, 8),
    "ames-housing": (2930, 80, 15),
    "ames-housing-no-gates": (2930, 69, 15),
    "thyroid-disease": (2799, 23, 5),
    "acs-2018-wyoming": (5740, 40, 28),
    "acs-2018-delaware": (9123, 40, 28),
    "acs-2018-wyoming-allocated": (5740, 40, 28),
    "acs-2018-delaware-allocated": (9123, 40, 28),
    "kdd-census-1994": (49816, 39, 21),
    "nhanes-diabetes": (8897, 45, 30),
    "nhanes-women": (3025, 35, 27),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_a_real_table_becomes_a_world(name, read):
    world = read(name, seed=3)
    assert (*world.truth.shape, len(world.mm_columns)) == SHAPES[name]
    assert world.name == name
    missing = world.meaningful | world.lost | ~world.kind_known
    assert (world.observed_table.isna() == missing).all(axis=None)
    assert not (world.meaningful & world.truth.notna()).any(axis=None)
    assert not world.meaningful.drop(columns=world.mm_columns).any(axis=None)
    assert set(world.column_kinds) == set(world.truth.columns)
    assert 0 < len(world.test.truth) < len(world.train.truth)
    assert mm_scores(world, world.meaningful)["f1"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ if not WORLDS[name].own_losses])
@pytest.mark.parametrize("mechanism", ["mcar", "mar", "mnar"])
def test_losses_come_at_the_rate_asked_for(name, mechanism, read):
    own = read(name, mechanism=None).lost
    world = read(name, mechanism=mechanism, loss_rate=0.3, seed=1)
    fresh = world.lost.to_numpy()[~own.to_numpy()].mean()
    tolerance = 0.005 if len(world.truth) > 2000 else 0.02
    assert fresh == pytest.approx(0.3, abs=tolerance)
    if mechanism == "mar":
        assert not world.lost[list(world.mechanism.drivers)].any(axis=None)


def test_without_its_gates_a_table_is_the_same_but_for_them(read):
    whole, hard = (
        read(name, mechanism=None).truth.drop(
            columns=["InternetService", "PhoneService"], errors="ignore"
        )
        for name in ("telco-churn", "telco-churn-no-gates")
    )
    pd.testing.assert_frame_equal(whole, hard)


def test_telco_gates_decide_what_is_meaningful(read):
    truth = read("telco-churn", mechanism=None).truth
    assert (truth["StreamingTV"].isna() == (truth["InternetService"] == "No")).all()
    assert (truth["MultipleLines"].isna() == (truth["PhoneService"] == "No")).all()
    assert (truth.loc[truth["TotalCharges"].isna(), "tenure"] == 0).all()


def test_what_nobody_knows_is_lost_and_not_judged(read):
    world = read("ames-housing", mechanism=None)
    assert world.lost["Lot Frontage"].sum() == 490
    assert (~world.known).to_numpy().sum() == world.lost.to_numpy().sum()
    assert world.meaningful["Garage Yr Blt"].sum() == 157
    assert world.lost["Garage Yr Blt"].sum() == 2
    assert token_accuracy(world, world.observed_table) == 1.0


def test_thyroid_traps(read):
    world = read("thyroid-disease", mechanism=None)
    assert set(world.truth["class"].dropna()) == {"negative", "sick"}
    assert world.truth["age"].max() < 120
    assert (world.lost["sex"].sum(), world.lost["age"].sum()) == (110, 1)


@pytest.mark.slow
def test_the_census_keeps_only_the_rows_with_right_labels(read):
    world = read("kdd-census-1994", mechanism=None)
    assert world.meaningful["same_house_a_year_ago"].sum() == 723
    assert not world.truth.isin(["?", "Not in universe"]).any(axis=None)
    assert (world.lost["hispanic_origin"].sum(), world.lost["father_born_in"].sum()) == (320, 1727)


def test_answers_that_were_not_given_are_lost_where_the_question_applies(read):
    whole = read("acs-2018-wyoming", mechanism=None)
    allocated = read("acs-2018-wyoming-allocated")
    pd.testing.assert_frame_equal(whole.meaningful, allocated.meaningful)
    assert not (allocated.lost & allocated.meaningful).any(axis=None)
    assert allocated.lost["PINCP"].sum() == 1112
    assert allocated.lost["POVPIP"].sum() > 1000, "computed from PINCP"
    assert allocated.lost["NATIVITY"].equals(allocated.lost["CIT"])
    assert allocated.lost["PUMA"].sum() == 0
    seen = allocated.observed_table.notna()
    assert whole.truth[seen].equals(allocated.truth[seen])


@pytest.mark.parametrize("name", ["nhanes-diabetes", "nhanes-women"])
def test_the_health_survey_is_labelled_as_by_hand(name, read):
    """Cell for cell; the frames to compare with write codes with a c before them."""
    world = read(name)
    labels = Path(os.environ[DATA_SETTING]) / "nhanes_2017_2018" / "labels"
    if not labels.is_dir():
        pytest.skip(f"{labels} is not there")
    values, meaningful, lost = (
        pd.read_parquet(labels / f"{name}.{part}.parquet")
        for part in ("values", "meaningful", "lost")
    )
    codes = values.select_dtypes(exclude="number").columns
    values[codes] = values[codes].apply(lambda column: column.str.removeprefix("c"))
    pd.testing.assert_frame_equal(world.observed_table, values, check_dtype=False)
    pd.testing.assert_frame_equal(world.meaningful, meaningful)
    pd.testing.assert_frame_equal(world.lost, lost)
    kinds = {column: "categorical" if column in codes else "continuous" for column in values}
    assert world.column_kinds == kinds


def test_cells_of_unknown_kind_are_missing_and_not_scored(read):
    world = read("nhanes-diabetes")
    unknown = ~world.kind_known
    assert unknown.sum()[lambda n: n > 0].to_dict() == {"DID320": 24}
    assert world.observed_table[unknown].isna().all(axis=None)
    assert not (world.known & unknown).any(axis=None)
    for called in (world.meaningful | unknown, world.meaningful):
        assert mm_scores(world, called)["f1"] == 1.0


def test_health_survey_traps(read):
    world = read("nhanes-diabetes")
    assert world.truth["DID040"].min() == 0.5
    assert world.truth["DMDHHSZA"].min() == 0.0
    assert not world.meaningful["INDFMPIR"].any()
    slip = world.lost["DIQ360"] & (world.truth["DIQ010"] == "1")
    assert slip.sum() == 18
    assert set(world.truth["INDHHIN2"].dropna()).isdisjoint({"77", "99"})


def test_an_altered_health_survey_is_refused(read, tmp_path, monkeypatch):
    read("nhanes-women")
    monkeypatch.setitem(nhanes.SHAPES, "RHQ_J", (3286, 48))
    with pytest.raises(FileError, match="expected 3,286 rows x 48 columns; got 3,286 x 47"):
        nhanes_women()
    folder = tmp_path / "nhanes_2017_2018"
    folder.mkdir()
    (folder / "RHQ_J.XPT").write_bytes(b"HEADER, but cut off")
    with pytest.raises(FileError, match=r"RHQ_J.XPT: it is damaged.*Download it again"):
        nhanes_women(data=tmp_path)


def test_an_unknown_state_is_refused():
    with pytest.raises(InputError, match="state must be one of wyoming, delaware; got 'texas'"):
        acs_2018("texas")


def test_an_absent_file_says_what_to_download(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="is not there. To get it: download Telco-Customer-Churn"):
        telco_churn(data=tmp_path)
    monkeypatch.delenv(DATA_SETTING, raising=False)
    with pytest.raises(FileError, match="Set DIFFJOINT_DATA to a folder with telco_churn/Telco"):
        telco_churn()


def test_another_edition_is_refused(tmp_path):
    folder = tmp_path / "telco_churn"
    folder.mkdir()
    (folder / "Telco-Customer-Churn.csv").write_text("customerID,TotalCharges\na,1\n")
    with pytest.raises(FileError, match="expected 7,043 rows x 21 columns; got 1 x 2"):
        telco_churn(data=tmp_path)


def test_labels_in_the_wrong_place_are_refused():
    source = Source("A table", "a", "ask for it.", "none")
    with pytest.raises(FileError, match="b: 2 expected, 1 found.*To get the right one: ask for it"):
        source.check_labels(pd.DataFrame({"a": [True], "b": [True]}), {"a": 1, "b": 2})


def test_a_labelled_table_keeps_both_reasons_apart():
    text = pd.DataFrame({"n": ["1", "NA", ""], "t": ["x", "y", "x"]})
    world = labelled_world(
        "mine", text, text == "NA", gone=text == "", numbers={"n": "integer"}, seed=0
    )
    assert world.truth["n"].tolist() == [1, pd.NA, pd.NA]
    assert world.mm_columns == ["n"]
    assert world.known["n"].tolist() == [True, True, False]
    guess = world.truth.fillna({"n": 5})
    assert token_accuracy(world, guess) == 0.0, "the unknown cell does not count"
    assert token_accuracy(world, world.truth) == 1.0


def test_unknown_names_and_rows_of_real_tables_are_refused():
    with pytest.raises(InputError, match="There is no world 'telco'. There is bayesian-network"):
        make_world("telco")
    with pytest.raises(InputError, match="has its own rows"):
        make_world("telco-churn", rows=5)


def test_an_altered_copy_is_refused():
    source = Source("A table", "a", "ask for it.", "none")
    with pytest.raises(
        FileError, match="expected known counts of lost cells; got c: 0 expected, 1"
    ):
        source.check_labels(pd.DataFrame({"a": [True], "c": [True]}), {"a": 1}, "lost")


def test_a_damaged_file_is_named(tmp_path):
    folder = tmp_path / "acs_pums_2018"
    folder.mkdir()
    (folder / "csv_pwy.zip").write_bytes(b"PK, but cut off")
    with pytest.raises(FileError, match=r"csv_pwy.zip: it is damaged.*Download it again"):
        acs_2018(data=tmp_path)
