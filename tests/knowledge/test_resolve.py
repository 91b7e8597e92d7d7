"""What the user knows is used, and never overruled."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import load
from diffjoint.errors import DataWarning, InputError
from diffjoint.metrics import mm_scores
from diffjoint.simulate import household_survey
from tests.conftest import FLAT_COLUMNS, NO_OTHER_LOSSES, TINY_INPAINT, new_imputer

LEAST = {"max_epochs": 1, "n_steps": 2, "width": 8, "random_state": 0}
LEAST_DRAWN = {"n_iterations": 1, "n_draws": 2, "n_inpaint_repeats": 1}
GATES = {"spouse_age": "married", "weekly_hours": "employed", "commute": "employed"}
RULES = {column: f'{gate} == "yes"' for column, gate in GATES.items()}
DETECTORS = ["evidence", "paper"]


@pytest.fixture(scope="module")
def world():
    return household_survey(400, seed=7)


def imputer(world, **params):
    kinds = {"column_kinds": world.column_kinds, "mm_columns": world.mm_columns}
    drawn = LEAST_DRAWN if params.get("detector") == "paper" else {}
    return new_imputer(**{**LEAST, **drawn, **kinds, **params})


def some_labels(world, seed):
    """Random words on random missing cells, right or wrong: a kind that only the user can know."""
    rng = np.random.default_rng(seed)
    gaps = world.observed_table[world.mm_columns].isna()
    says = pd.DataFrame(rng.integers(0, 3, gaps.shape), index=gaps.index, columns=gaps.columns)
    return gaps & (says == 1), gaps & (says == 2)


def assert_obeys(table):
    for column, gate in GATES.items():
        np.testing.assert_array_equal(table[column].notna(), table[gate] == "yes")


# Labels


@pytest.mark.slow
@FLAT_COLUMNS
@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("seed", range(3))
def test_labelled_cells_are_never_overruled(world, detector, seed):
    survey = world.observed_table
    kept, filled = some_labels(world, seed)
    known = {"known_meaningful": kept, "known_lost": filled}
    fitted = imputer(world, detector=detector).fit(survey, **known)
    result = fitted.impute(survey, **known)
    tables = [result.table, fitted.transform(survey, **known), *fitted.sample(survey, 2, **known)]
    part = slice(50, 90)
    new = {name: cells.iloc[part] for name, cells in known.items()}
    tables += [fitted.transform(survey.iloc[part], **new)]
    for table in tables:
        empty = table[world.mm_columns].isna()
        assert (empty | ~kept.loc[table.index]).all(axis=None)
        assert not (empty & filled.loc[table.index]).any(axis=None)
    assert (result.probability[world.mm_columns].to_numpy()[kept] == 1.0).all()
    assert (result.probability[world.mm_columns].to_numpy()[filled] == 0.0).all()
    modelled = fitted.meaningful_[:, [survey.columns.get_loc(name) for name in world.mm_columns]]
    assert modelled[kept.to_numpy()].all()
    assert not modelled[filled.to_numpy()].any()


@pytest.mark.slow
def test_drawn_masks_follow_labels_in_other_columns():
    """Hours and commute are asked together: a label on one says something of the other.

    Fitted with every missing cell of hours labelled, so that what hours say of commute is certain.
    """
    world = household_survey(1000, seed=7)
    survey = world.observed_table
    gone, truly = survey[["weekly_hours"]].isna(), world.meaningful[["weekly_hours"]]
    fitted = imputer(world).fit(survey, known_meaningful=gone & truly, known_lost=gone & ~truly)
    asked = survey[survey[["weekly_hours", "commute", "employed"]].isna().all(axis=1)]
    hours = asked[["weekly_hours"]].isna()
    kept = [t["commute"].isna().mean() for t in fitted.sample(asked, 8, known_meaningful=hours)]
    filled = [t["commute"].isna().mean() for t in fitted.sample(asked, 8, known_lost=hours)]
    assert len(asked) > 50
    assert np.mean(kept) > np.mean(filled) + 0.3


@pytest.mark.slow
@pytest.mark.parametrize("detector", DETECTORS)
def test_row_order_does_not_matter_with_labels(world, detector):
    """Not even among rows that differ in their labels alone."""
    once = world.observed_table
    survey = pd.concat([once, once[once["commute"].isna()]], ignore_index=True)
    survey["person_id"] = [f"P{i}" for i in range(len(survey))]
    kept = survey[["commute"]].isna() & (np.arange(len(survey)) < 400)[:, None]
    straight = imputer(world, detector=detector).fit_transform(survey, known_meaningful=kept)
    order = np.random.default_rng(0).permutation(len(survey))
    turned = imputer(world, detector=detector).fit_transform(
        survey.iloc[order], known_meaningful=kept.iloc[order]
    )
    pd.testing.assert_frame_equal(turned.loc[straight.index], straight)


@pytest.mark.slow
def test_labels_hold_for_the_table_they_came_with(world):
    survey = world.observed_table
    lost = pd.DataFrame({"commute": survey["commute"].isna()})
    fitted = imputer(world).fit(survey, known_lost=lost)
    assert fitted.transform(survey, known_lost=lost)["commute"].notna().all()
    assert fitted.transform(survey)["commute"].isna().any()


@pytest.mark.slow
def test_a_checkpoint_is_of_what_was_known(world, tmp_path):
    survey = world.observed_table
    lost = pd.DataFrame({"commute": survey["commute"].isna()})
    imputer(world, checkpoint=tmp_path, **TINY_INPAINT).fit(survey, known_lost=lost)
    imputer(world, checkpoint=tmp_path, **TINY_INPAINT).fit(survey, known_lost=lost)
    for other in ({"rules": {"commute": 'employed == "yes"'}}, {}):
        with pytest.raises(InputError, match="belongs to a run on another table"):
            imputer(world, checkpoint=tmp_path, **TINY_INPAINT, **other).fit(survey)


@pytest.mark.slow
def test_cells_said_to_be_meaningful_must_be_searched(world):
    survey = world.observed_table
    cells = pd.DataFrame({"age": survey["age"].isna()})
    with pytest.raises(InputError, match="known_meaningful has cells of 'age', which is not among mm_columns .*Add 'age' to mm_columns"):  # fmt: skip
        imputer(world).fit(survey, known_meaningful=cells)
    fitted = imputer(world).fit(survey, known_lost=cells)
    with pytest.raises(InputError, match="'age', which is not among mm_columns"):
        fitted.transform(survey, known_meaningful=cells)


# Rules


@pytest.mark.slow
@pytest.mark.parametrize("detector", DETECTORS)
def test_rules_are_right_wherever_their_gates_are_observed(world, detector):
    survey = world.observed_table
    fitted = imputer(world, mm_columns=None, rules=RULES, detector=detector).fit(survey)
    assert fitted.mm_columns_ == world.mm_columns
    result = fitted.impute(survey)
    for column, gate in GATES.items():
        there = survey[gate].notna()
        truth = world.meaningful.loc[there, column]
        np.testing.assert_array_equal(result.meaningful.loc[there, column], truth)
        np.testing.assert_array_equal(result.probability.loc[there, column], truth.astype(float))
    assert_obeys(result.table)
    for table in [fitted.transform(survey.iloc[:40]), *fitted.sample(survey, 3)]:
        assert_obeys(table)


@pytest.mark.slow
def test_rules_need_no_other_columns_to_be_right():
    world = household_survey(300, seed=2)
    survey = world.observed_table.assign(**{gate: world.truth[gate] for gate in GATES.values()})
    fitted = imputer(world, mm_columns=[], rules=RULES).fit(survey)
    assert mm_scores(world, fitted.predict_mm(survey))["f1"] == 1.0


@pytest.mark.slow
def test_where_the_gate_is_missing_the_evidence_is_told(world):
    survey = world.observed_table
    waits = survey["employed"].isna() & survey["commute"].isna()
    proba = imputer(world, mm_columns=[], rules=RULES).fit(survey).predict_mm_proba(survey)
    assert proba.loc[waits, "commute"].between(0, 1, inclusive="neither").any()


@pytest.mark.slow
def test_sampled_gates_decide_sampled_masks(world):
    survey = world.observed_table
    waits = survey["employed"].isna() & survey["commute"].isna()
    tables = imputer(world, rules=RULES).fit(survey).sample(survey, 20)
    drawn = np.array([table.loc[waits, "employed"] == "yes" for table in tables])
    assert (drawn.any(axis=0) & ~drawn.all(axis=0)).any()
    np.testing.assert_array_equal(drawn, [table.loc[waits, "commute"].notna() for table in tables])


@pytest.mark.slow
def test_a_label_goes_before_a_rule_and_its_gate_follows(world):
    """Said to be lost: whatever the gate is filled with, it must let the cell have a value."""
    survey = world.observed_table
    waits = survey[["employed", "weekly_hours", "commute"]].isna().all(axis=1)
    fitted = imputer(world, rules=RULES).fit(survey)
    for name, gate in (("known_lost", "yes"), ("known_meaningful", "no")):
        said = {name: pd.DataFrame({"commute": waits})}
        for table in [fitted.transform(survey, **said), *fitted.sample(survey, 2, **said)]:
            assert (table.loc[waits, "employed"] == gate).all()
            assert_obeys(table)


@pytest.mark.slow
def test_gates_may_have_rules_themselves(world):
    """Nobody without a job has hours, nobody without hours a long week."""
    survey = world.observed_table.copy()
    long = pd.Series(np.where(world.truth["weekly_hours"].fillna(0) > 40, "yes", "no"))
    survey["overtime"] = long.where(world.truth["weekly_hours"].notna()).mask(
        np.random.default_rng(0).random(400) < 0.1
    )
    rules = {"overtime": "weekly_hours > 0", "weekly_hours": 'employed == "yes"'}
    kinds = {**world.column_kinds, "overtime": "categorical"}
    fitted = imputer(world, rules=rules, column_kinds=kinds).fit(survey)
    for table in [fitted.transform(survey), *fitted.sample(survey, 2)]:
        has_job = table["employed"] == "yes"
        np.testing.assert_array_equal(table["weekly_hours"].notna(), has_job)
        np.testing.assert_array_equal(table["overtime"].notna(), has_job)


@pytest.mark.slow
def test_contradictions_are_told_and_left_as_they_are(world):
    survey = world.observed_table.copy()
    wrong = survey.index[(survey["employed"] == "no")][:3]
    survey.loc[wrong, "commute"] = "car"
    unfitted = imputer(world, rules=RULES)
    words = (
        rf"3 cells contradict their rule: commute \(3\). An example is row {wrong[0]} of 'commute'"
    )
    with pytest.warns(DataWarning, match=words):
        completed = unfitted.fit_transform(survey)
    assert (completed.loc[wrong, "commute"] == "car").all()
    with pytest.warns(DataWarning, match="3 cells contradict their rule"):
        unfitted.transform(survey.iloc[:200])


@pytest.mark.slow
def test_a_ruled_column_that_misses_nothing_is_no_problem(world):
    survey = world.observed_table.copy()
    survey["commute"] = survey["commute"].fillna("car")
    rules = {"commute": "age > 0", "spouse_age": 'married == "yes"'}
    fitted = imputer(world, mm_columns=["weekly_hours"], rules=rules).fit(survey)
    assert fitted.mm_columns_ == ["spouse_age", "weekly_hours", "commute"]
    new = world.truth.iloc[:20].assign(commute=None, age=0)
    assert fitted.transform(new)["commute"].isna().all()


def test_joint_off_and_rules_are_refused(world):
    with pytest.raises(InputError, match="joint=False imputes every missing cell"):
        imputer(world, rules=RULES, joint=False).fit(world.observed_table)


# Reason codes

CODES = {
    "refused": "lost",
    "spouse_age": {"inapplicable": "meaningful"},
    "weekly_hours": {-1: "meaningful"},
}


@pytest.fixture(scope="module")
def coded(world):
    """Replace half of the missing cells by a code that says why; numbers next to text are text."""
    survey = world.observed_table.astype(object)
    rng = np.random.default_rng(0)
    for column, code in (("spouse_age", "inapplicable"), ("weekly_hours", -1), ("commute", None)):
        gone = survey[column].isna() & (rng.random(400) < 0.5)
        meaningful = world.meaningful[column]
        survey.loc[gone & ~meaningful, column] = "refused"
        if code is not None:
            survey.loc[gone & meaningful, column] = code
    for column in world.mm_columns:
        survey[column] = survey[column].map(str, na_action="ignore").astype("str")
    same = survey.columns.difference(world.mm_columns)
    return survey.assign(**{name: world.observed_table[name] for name in same})


def coded_as(coded, column, code):
    return (coded[column] == code).to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas])
def test_coded_cells_are_never_overruled(world, coded, detector, container):
    X = container(coded)
    fitted = imputer(world, mm_columns=["commute"], reason_codes=CODES, detector=detector).fit(X)
    assert fitted.mm_columns_ == world.mm_columns
    for table in [fitted.transform(X), *fitted.sample(X, 2), fitted.transform(X[50:90])]:
        assert isinstance(table, type(X))
        rows = slice(50, 90) if len(table) == 40 else slice(None)
        out = table if isinstance(table, pd.DataFrame) else table.to_pandas()
        before = coded.iloc[rows].reset_index(drop=True)
        out = out.reset_index(drop=True)
        assert out.loc[coded_as(before, "spouse_age", "inapplicable"), "spouse_age"].isna().all()
        assert out.loc[coded_as(before, "weekly_hours", "-1"), "weekly_hours"].isna().all()
        for column in world.mm_columns:
            refused = out.loc[coded_as(before, column, "refused"), column]
            assert refused.notna().all()
            assert not (refused == "refused").any()
    kinds = {column.name: str(column.kind) for column in fitted.schema_.columns}
    assert kinds["spouse_age"] == kinds["weekly_hours"] == "integer"


@pytest.mark.slow
def test_output_columns_are_what_they_stand_for(world, coded):
    out = imputer(world, reason_codes=CODES).fit_transform(coded)
    assert {name: str(out[name].dtype) for name in ("spouse_age", "weekly_hours")} == {
        "spouse_age": "Int64",
        "weekly_hours": "Int64",
    }
    out = imputer(world, reason_codes=CODES).fit_transform(pl.from_pandas(coded))
    assert out.schema["weekly_hours"] == pl.Int64


@pytest.mark.slow
def test_plain_gaps_of_a_coded_column_are_searched(world, coded):
    fitted = imputer(world, mm_columns=["commute"], reason_codes=CODES).fit(coded)
    proba = fitted.predict_mm_proba(coded)
    plain = coded["spouse_age"].isna()
    assert proba.loc[plain, "spouse_age"].between(0, 1, inclusive="neither").any()


def test_arrays_have_codes():
    rng = np.random.default_rng(0)
    array = rng.integers(10, 60, (200, 3))
    array[rng.random(200) < 0.2, 1] = -1
    array[rng.random(200) < 0.2, 2] = -7
    codes = {-7: "lost", 1: {-1: "meaningful"}}
    out = new_imputer([], reason_codes=codes, **LEAST).fit_transform(array)
    np.testing.assert_array_equal(np.isnan(out[:, 1]), array[:, 1] == -1)
    assert ((out[:, 2] >= 10) & (out[:, 2] < 60)).all()


# Kept with the model


@pytest.mark.slow
def test_a_saved_imputer_knows_its_codes_and_rules(world, coded, tmp_path):
    rules = {"commute": 'employed == "yes"'}
    fitted = imputer(world, reason_codes=CODES, rules=rules).fit(coded)
    fitted.save(tmp_path / "model", draws=True)
    again = load(tmp_path / "model")
    assert again.get_params() == fitted.get_params()
    assert list(again.reason_codes["weekly_hours"]) == [-1]
    part = coded.iloc[20:80]
    pd.testing.assert_frame_equal(again.transform(part), fitted.transform(part))
    for one, other in zip(again.sample(part, 2), fitted.sample(part, 2), strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.slow
def test_what_is_known_needs_no_explanation(world):
    survey = world.observed_table
    fitted = imputer(world, rules=RULES).fit(survey)
    row = int(((survey["married"] == "no") & survey["spouse_age"].isna()).to_numpy().argmax())
    with pytest.raises(InputError, match="known to be meaningful, by a rule"):
        fitted.explain(survey, (row, "spouse_age"))


@pytest.mark.slow
@NO_OTHER_LOSSES
def test_a_ruled_column_that_missed_nothing_in_fit_obeys_its_rule_in_new_rows(world):
    survey = world.truth.assign(pay=np.random.default_rng(0).normal(size=len(world.truth)))
    rules = {"pay": 'employed == "yes"'}
    fitted = imputer(world, rules=rules, mm_output="indicator")
    with pytest.warns(DataWarning, match="contradict their rule"):
        fitted.fit(survey)
    assert fitted.mm_columns_[-1] == "pay"
    new = survey.iloc[:60].assign(pay=np.nan)
    expected = new["employed"] == "no"
    assert expected.any()
    for table in [fitted.transform(new), *fitted.sample(new, 2)]:
        np.testing.assert_array_equal(table["pay_meaningful"], expected)
        assert table["pay"].notna().all()


@pytest.mark.slow
def test_explanations_say_what_the_completed_table_holds(world):
    survey = world.observed_table
    fitted = imputer(world, rules=RULES).fit(survey)
    completed = fitted.transform(survey)
    why = fitted.explain(survey)
    assert len(why)
    for row, column, call in zip(why["row"], why["column"], why["call"], strict=True):
        assert completed[column].isna().iloc[row] == (call == "meaningful")
    one = fitted.explain(survey, (int(why["row"].iloc[0]), why["column"].iloc[0]))
    assert one.rule == RULES[why["column"].iloc[0]]
    assert "decides, with its missing gate filled in" in str(one)


def test_auto_says_which_columns_it_could_not_judge(world):
    survey = world.observed_table.iloc[:30]
    with pytest.warns(DataWarning, match="could not judge .*spouse_age"):
        imputer(world, mm_columns="auto").fit(survey)


@pytest.mark.slow
def test_codes_that_occur_nowhere_are_doubted(world):
    survey = world.observed_table
    with pytest.warns(DataWarning, match="no cell holds 'refusd' in 'income'"):
        imputer(world, reason_codes={"income": {"refusd": "lost"}}).fit(survey)
    with pytest.warns(DataWarning, match="no cell holds -99 in any column"):
        imputer(world, reason_codes={-99: "lost"}).fit(survey)


def test_a_rule_that_says_only_if_leaves_the_cells_where_it_holds_to_be_judged(world):
    survey = world.observed_table
    rules = {"spouse_age": 'only if married == "yes"'}
    fitted = imputer(world, rules=rules).fit(survey)
    result = fitted.impute(survey)
    empty = survey["spouse_age"].isna()
    probability = result.probability["spouse_age"]
    assert (probability[empty & (survey["married"] == "no")] == 1.0).all()
    is_open = empty & (survey["married"] == "yes")
    assert is_open.any()
    assert ((probability[is_open] > 0.0) & (probability[is_open] < 1.0)).all()
