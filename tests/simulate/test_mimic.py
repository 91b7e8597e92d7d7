"""Emergency stays: a raw folder made by hand, the open demo, and the stand-in."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import DataWarning, FileError
from diffjoint.simulate import make_world, mimic_iv_ed, mimic_iv_ed_demo, mimic_like
from diffjoint.simulate.mimic.build import build_stays, read_tables, with_medians, with_scores
from diffjoint.simulate.mimic.columns import COLUMN_KINDS, MM_COLUMNS, meaningful_cells
from diffjoint.simulate.mimic.comorbidities import conditions_of
from diffjoint.simulate.mimic.scores import CHARLSON_POINTS, charlson_score, news_score

PAPER_RATES = dict(zip(MM_COLUMNS, (9.06, 8.70, 13.82, 15.17), strict=True))

RAW = {
    "ed/edstays": """subject_id,hadm_id,stay_id,intime,outtime
1,,10,2150-01-01 10:00:00,2150-01-01 12:00:00
1,101,11,2150-06-01 10:00:00,2150-06-01 18:00:00
1,,12,2151-03-01 10:00:00,2151-03-01 11:00:00
2,102,20,2160-03-01 08:00:00,2160-03-01 20:00:00
3,,30,2170-01-01 08:00:00,2170-01-01 09:00:00
4,,40,2170-01-01 08:00:00,2170-01-01 09:00:00
""",
    "ed/triage": """stay_id,temperature,heartrate,resprate,o2sat,sbp,dbp,pain,acuity,chiefcomplaint
10,98.6,80,16,99,120,80,5,3,"Chest pain, Dyspnea"
11,104,131,26,90,85,60,7-9,1,SHORTNESS OF BREATH
12,98.6,80,16,120,120,80,unable,3,"Abd pain, Chills"
20,,400,16,98,120,80,13,2,
30,98.6,80,16,98,120,80,0,,Fever
40,98.6,80,16,98,120,80,0,3,Fever
""",
    "ed/vitalsign": """stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp
11,2150-06-01 12:00:00,,100,20,95,,70
11,2150-06-01 11:00:00,102.2,110,22,93,100,65
20,2160-03-01 09:00:00,98.6,90,18,97,110,70
""",
    "hosp/patients": """subject_id,anchor_age,anchor_year,dod
1,60,2148,
2,85,2160,2160-03-05
3,40,2170,
4,12,2170,
""",
    "hosp/admissions": """subject_id,hadm_id,admittime,dischtime
1,100,2149-03-01 00:00:00,2149-03-10 00:00:00
1,101,2150-06-01 18:00:00,2150-06-10 00:00:00
2,102,2160-03-01 20:00:00,2160-03-05 10:00:00
2,103,2150-03-01 20:00:00,2150-03-05 10:00:00
""",
    "hosp/diagnoses_icd": """hadm_id,icd_code,icd_version
100,4280,9
100,I50,9
101,N185,10
103,J449,10
""",
    "icu/icustays": """subject_id,hadm_id,intime
1,101,2150-06-02 05:00:00
1,101,2150-06-05 05:00:00
2,102,2160-03-02 09:00:00
""",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in RAW.items():
        path = tmp_path / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def stays(folder):
    return build_stays(read_tables(folder)).set_index("stay_id")


def test_children_and_stays_without_acuity_are_left_out(stays):
    assert stays.index.tolist() == [10, 11, 12, 20]


def test_age_is_that_of_the_year(stays):
    assert stays["age"].tolist() == [62, 62, 63, 85]


def test_earlier_stays_count_for_a_year(stays):
    assert stays["n_ed_365d"].tolist() == [0, 1, 1, 0], "stay 10 is too long ago for stay 12"
    assert stays["n_hosp_365d"].tolist() == [1, 0, 1, 0]
    assert stays["n_icu_365d"].tolist() == [0, 0, 2, 0]


def test_vitals_are_converted_and_kept_plausible(stays):
    assert stays["triage_temperature"].tolist()[:3] == pytest.approx([37.0, 40.0, 37.0])
    assert stays.loc[12, "triage_o2sat"] == 100, "between valid and impossible: clipped"
    assert np.isnan(stays.loc[20, "triage_heartrate"]), "impossible: taken as not there"
    assert np.isnan(stays.loc[20, "triage_temperature"])


def test_pain_is_the_number_that_the_text_begins_with(stays):
    assert stays.loc[10, "triage_pain"] == 5
    assert stays.loc[11, "triage_pain"] == 8, "the middle of 7-9"
    assert stays.loc[[12, 20], "triage_pain"].isna().all(), "no number, and more than 10"


def test_last_vitals_are_the_last_that_were_taken(stays):
    last = stays.loc[11]
    assert last["ed_heartrate_last"] == 100
    assert last["ed_sbp_last"] == 100, "not taken at the last time: the one before"
    assert last["ed_temperature_last"] == pytest.approx(39.0)
    assert np.isnan(stays.loc[10, "ed_sbp_last"])


def test_complaints_are_found_by_their_words(stays):
    found = stays.filter(like="chiefcom_").astype(int)
    assert found.loc[10].tolist() == [1, 0, 0, 0]
    assert found.loc[11].tolist() == [0, 1, 0, 0]
    assert found.loc[12].tolist() == [0, 0, 1, 1]
    assert found.loc[20].sum() == 0, "no complaint noted"


def test_conditions_come_from_earlier_admissions_only(stays):
    assert stays["cci_CHF"].tolist() == [True, True, True, False]
    assert stays["cci_Renal"].tolist() == [False, False, True, False], "known after stay 11"
    assert not stays.loc[20, "eci_Pulmonary"], "ten years ago is too long"


def test_outcomes(stays):
    assert stays["outcome_hospitalization"].tolist() == [False, True, False, True]
    assert stays["outcome_icu_transfer_12h"].tolist() == [False, True, False, False], "13 h: no"
    assert stays["outcome_critical"].tolist() == [False, True, False, True], "or died in hospital"


def test_medians_are_those_of_the_train_rows(stays):
    is_train = np.array([True, True, True, False])
    filled = with_medians(stays, is_train)
    assert filled.loc[20, "triage_heartrate"] == 80
    assert filled.loc[20, "triage_temperature"] == pytest.approx(37.0)
    assert filled.loc[11, "triage_heartrate"] == 131


def test_scores_by_hand(stays):
    scored = with_scores(with_medians(stays, np.ones(4, dtype=bool)))
    assert scored["score_NEWS"].tolist() == [0, 3 + 3 + 2 + 3 + 3, 0, 0]
    assert scored["score_CCI"].tolist() == [2 + 1, 2 + 1, 2 + 1 + 2, 4]


@pytest.mark.parametrize(
    ("vital", "values", "points"),
    [
        ("resprate", [8, 9, 11, 12, 20, 21, 24, 25], [3, 1, 1, 0, 0, 2, 2, 3]),
        ("o2sat", [91, 92, 93, 94, 95, 96], [3, 2, 2, 1, 1, 0]),
        ("temperature", [35, 35.1, 36, 36.1, 38, 38.1, 39, 39.1], [3, 1, 1, 0, 0, 1, 1, 2]),
        ("sbp", [90, 91, 100, 101, 110, 111, 219, 220], [3, 2, 2, 1, 1, 0, 0, 3]),
        ("heartrate", [40, 41, 50, 51, 90, 91, 110, 111, 130, 131], [3, 1, 1, 0, 0, 1, 1, 2, 2, 3]),
        ("heartrate", [np.nan], [0]),
    ],
)
def test_early_warning_points(vital, values, points):
    calm = {"resprate": 16, "o2sat": 98, "temperature": 37, "sbp": 120, "heartrate": 70}
    vitals = {name: np.full(len(values), value, float) for name, value in calm.items()}
    assert news_score(vitals | {vital: np.array(values)}).tolist() == points


def test_charlson_points():
    nobody = pd.DataFrame(False, index=range(5), columns=list(CHARLSON_POINTS))
    assert charlson_score([49, 50, 60, 79, 80], nobody).tolist() == [0, 1, 2, 3, 4]
    assert charlson_score([20] * 5, ~nobody).tolist() == [10 + 8 + 3 + 6 + 6] * 5


@pytest.mark.parametrize(
    ("code", "version", "condition"),
    [
        ("41071", 9, "MI"),
        ("I252", 10, "MI"),
        ("40493", 9, "CHF"),
        ("I426", 10, "CHF"),
        ("V434", 9, "PVD"),
        ("4359", 9, "Stroke"),
        ("F0390", 10, "Dementia"),
        ("49390", 9, "Pulmonary"),
        ("J449", 10, "Pulmonary"),
        ("5718", 9, "Liver1"),
        ("E119", 10, "DM1"),
        ("25040", 9, "DM2"),
        ("G8190", 10, "Paralysis"),
        ("5856", 9, "Renal"),
        ("Z992", 10, "Renal"),
        ("1749", 9, "Cancer1"),
        ("C3490", 10, "Cancer1"),
        ("5722", 9, "Liver2"),
        ("1970", 9, "Cancer2"),
        ("C7951", 10, "Cancer2"),
        ("042", 9, "HIV"),
    ],
)
def test_codes_make_their_condition_and_no_other_edition_does(code, version, condition):
    both = pd.DataFrame({"icd_code": [code, code], "icd_version": [version, 19 - version]})
    found = conditions_of(both)
    assert found[condition].tolist() == [True, False]


@pytest.mark.parametrize(("code", "version"), [("4011", 9), ("173", 9), ("C440", 10), ("I10", 10)])
def test_other_codes_make_no_condition(code, version):
    coded = pd.DataFrame({"icd_code": [code], "icd_version": [version]})
    assert not conditions_of(coded).any(axis=None)


def test_the_papers_rules():
    calm = {"triage_acuity": 2.0, "triage_o2sat": 98.0, "triage_resprate": 16.0}
    calm |= {"triage_heartrate": 80.0, "triage_sbp": 120.0}
    calm |= {"n_icu_365d": 0, "n_hosp_365d": 0, "age": 30, "score_NEWS": 0, "score_CCI": 0}
    table = pd.DataFrame(
        [
            calm,
            calm | {"triage_heartrate": 110.0},
            calm | {"triage_heartrate": 110.0, "triage_acuity": 3.0},
            calm | {"n_icu_365d": 1},
            calm | {"triage_o2sat": 94.0},
            calm | {"triage_resprate": 22.0},
        ]
    ).reindex(columns=list(COLUMN_KINDS), fill_value=0)
    found = meaningful_cells(table, np.random.default_rng(0))
    assert found["outcome_critical"].tolist() == [False, True, False, False, True, True]
    assert found["outcome_icu_transfer_12h"].tolist() == [False, False, False, True, True, True]


@pytest.mark.parametrize(
    ("column", "ill", "chance"),
    [
        ("outcome_hospitalization", {}, 0.02),
        ("outcome_hospitalization", {"score_NEWS": 2, "age": 70}, 0.22),
        ("cci_CHF", {}, 0.03),
        ("cci_CHF", {"score_CCI": 4, "n_hosp_365d": 2}, 0.35),
        ("cci_CHF", {"score_CCI": 4, "n_hosp_365d": 2, "age": 75, "triage_sbp": 109}, 0.67),
    ],
)
def test_the_papers_chances(column, ill, chance):
    calm = {"triage_acuity": 3.0, "triage_sbp": 120.0, "age": 30}
    table = pd.DataFrame([calm | ill] * 20_000).reindex(columns=list(COLUMN_KINDS), fill_value=0)
    found = meaningful_cells(table, np.random.default_rng(0))[column].mean()
    assert found == pytest.approx(chance, abs=0.012)


def test_a_raw_folder_becomes_a_world(folder):
    with pytest.warns(DataWarning, match="gives 4 stays; the paper's table, from version 1.0"):
        world = mimic_iv_ed(folder, mechanism=None)
    assert list(world.truth) == list(COLUMN_KINDS)
    assert (world.truth.shape, world.is_train.sum()) == ((4, 30), 3)
    assert (world.truth.isna() == world.meaningful).all(axis=None)


def test_an_absent_or_doubled_table_is_named(folder):
    (folder / "ed" / "triage.csv").rename(folder / "ed" / "triage.txt")
    with pytest.raises(
        FileError, match=r"Expected one file triage.csv or triage.csv.gz .*got none"
    ):
        mimic_iv_ed(folder)
    (folder / "old").mkdir()
    (folder / "old" / "edstays.csv").write_text(RAW["ed/edstays"])
    with pytest.raises(FileError, match=r"in one version each"):
        mimic_iv_ed(folder)


def test_a_table_without_its_columns_is_named(folder):
    (folder / "icu" / "icustays.csv").write_text("subject_id,hadm_id\n1,2\n")
    with pytest.raises(FileError, match="icustays.csv must have the columns subject_id, hadm_id"):
        mimic_iv_ed(folder)


def test_the_open_demo_builds_end_to_end():
    try:
        world = mimic_iv_ed_demo(loss_rate=0.2)
    except FileError as error:
        pytest.skip(str(error))
    assert (world.truth.shape, world.is_train.sum()) == ((207, 30), 166)
    assert (world.truth.isna() == world.meaningful).all(axis=None), "medians fill the rest"
    assert world.truth["age"].between(18, 110).all()
    assert world.truth["triage_temperature"].between(34, 41).all()
    assert world.truth["eci_Pulmonary"].mean() > 0.1
    assert world.meaningful[MM_COLUMNS].any().all()
    assert world.column_kinds == COLUMN_KINDS


def test_the_stand_in_has_the_papers_shares_of_meaningful_cells():
    for seed in (0, 1):
        world = mimic_like(60_000, seed, mechanism=None)
        for name, rate in PAPER_RATES.items():
            assert 100 * world.meaningful[name].mean() == pytest.approx(rate, abs=1.5), name


def test_the_stand_in_looks_like_an_emergency_department():
    truth = mimic_like(30_000, mechanism=None).truth
    assert list(truth) == list(COLUMN_KINDS)
    assert truth["age"].between(18, 95).all()
    for vital in ("heartrate", "sbp", "resprate", "o2sat", "temperature", "dbp"):
        pair = truth[f"triage_{vital}"].corr(truth[f"ed_{vital}_last"])
        assert 0.3 < pair < 0.95, vital
    vitals = {name: truth[f"triage_{name}"] for name in ("resprate", "o2sat", "sbp")}
    vitals |= {name: truth[f"triage_{name}"] for name in ("temperature", "heartrate")}
    assert (news_score(vitals) == truth["score_NEWS"]).all()
    urgent = truth["triage_acuity"] <= 2
    for outcome in ("outcome_hospitalization", "outcome_critical"):
        assert truth.loc[urgent, outcome].mean() > 1.5 * truth.loc[~urgent, outcome].mean()
    assert truth["score_CCI"].astype(float).corr(truth["age"].astype(float)) > 0.3


def test_the_stand_in_says_that_it_is_one():
    assert "stand-in" in mimic_like(50).name
    assert make_world("mimic-like-stand-in", rows=50).truth.shape == (50, 30)


def test_the_stand_in_is_the_same_for_the_same_seed():
    first, again, other = (mimic_like(500, seed).observed_table for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_stays_are_in_the_order_that_the_split_was_drawn_in(folder):
    path = folder / "ed" / "edstays.csv"
    header, *rows = path.read_text().splitlines()
    before = build_stays(read_tables(folder))
    path.write_text("\n".join([header, *reversed(rows)]))
    pd.testing.assert_frame_equal(build_stays(read_tables(folder)), before)


def test_the_demo_does_not_pass_for_the_full_table(folder):
    (folder / "demo_subject_id.csv").write_text("subject_id\n1\n")
    with pytest.raises(FileError, match="holds the open demo, not the full tables"):
        mimic_iv_ed(folder)
    with pytest.raises(FileError, match="mimic_iv_ed is not there"):
        make_world("mimic-iv-ed")


def test_the_full_table_is_found_in_the_data_folder(folder, tmp_path):
    folder.rename(tmp_path.parent / "mimic_iv_ed")
    with pytest.warns(DataWarning):
        assert len(make_world("mimic-iv-ed", data=tmp_path.parent).truth) == 4
