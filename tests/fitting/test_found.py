"""Rules found in the table of ``fit`` are kept to, if asked for, and kept with the model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import SelectiveImputer, load
from diffjoint.errors import DataWarning
from diffjoint.knowledge.labels import Labels
from diffjoint.knowledge.resolve import resolve_knowledge
from diffjoint.knowledge.rules import read_rules
from diffjoint.simulate import bayesian_network, household_survey
from diffjoint.state import JointState
from diffjoint.table import code_table, infer_schema, open_table
from tests.conftest import new_imputer

GATES = {"spouse_age": "married", "weekly_hours": "employed", "commute": "employed"}
LEAST = {"max_epochs": 1, "n_steps": 2, "width": 8, "n_boosters": 1, "random_state": 0}


@pytest.fixture(scope="module")
def world():
    return household_survey(600, loss_rate=0.15, seed=7)


@pytest.fixture(scope="module")
def fitted(world):
    params = {"column_kinds": world.column_kinds, "use_found_rules": True, **LEAST}
    return new_imputer(world.mm_columns, **params).fit(world.observed_table)


def n_contradictions(table):
    return sum(int((table[c].notna() != (table[g] == "yes")).sum()) for c, g in GATES.items())


def test_rules_are_found_in_fit(fitted):
    assert {rule.column: rule.text for rule in fitted.rules_} == {
        column: f'{gate} == "yes"' for column, gate in GATES.items()
    }


def test_a_completed_table_obeys_found_rules(world, fitted):
    assert n_contradictions(fitted.transform(world.observed_table)) == 0


def test_new_rows_obey_the_rules_of_fit(fitted):
    new = household_survey(200, mechanism="survey", loss_rate=0.3, seed=8).observed_table
    assert n_contradictions(fitted.transform(new)) == 0


def test_a_cell_that_a_found_rule_settles_is_explained_by_it(world, fitted):
    survey = world.observed_table
    unmarried = (survey["married"] == "no") & survey["spouse_age"].isna()
    why = fitted.explain(survey, (int(unmarried.to_numpy().argmax()), "spouse_age"))
    assert (why.call, why.probability, why.is_settled) == ("meaningful", 1.0, True)
    assert str(why).endswith("is kept as NA: the rule 'married == \"yes\"' fails in this row.")


def test_every_missing_cell_is_explained_whether_a_rule_settles_it_or_not(world, fitted):
    survey = world.observed_table
    explained = fitted.explain(survey)
    assert len(explained) == survey[world.mm_columns].isna().to_numpy().sum()
    probability = fitted.predict_mm_proba(survey)
    likely = [
        probability[c].iloc[r] for r, c in zip(explained["row"], explained["column"], strict=True)
    ]
    np.testing.assert_array_equal(explained["probability"], likely)


@pytest.mark.slow
def test_draws_obey_found_rules(world, fitted):
    assert [n_contradictions(t) for t in fitted.sample(world.observed_table, 3)] == [0, 0, 0]


def test_a_saved_model_keeps_its_rules(world, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.rules_ == fitted.rules_
    new = world.observed_table.iloc[:100]
    pd.testing.assert_frame_equal(loaded.transform(new), fitted.transform(new))


def test_rules_are_found_but_not_kept_to_unless_asked_for(fitted):
    new = household_survey(200, mechanism="survey", loss_rate=0.3, seed=8).observed_table
    gates = new["married"]
    settled = new["spouse_age"].isna() & gates.notna()
    assert set(fitted.predict_mm_proba(new).loc[settled, "spouse_age"]) == {0.0, 1.0}
    fitted.set_params(use_found_rules=False)
    try:
        likely = fitted.predict_mm_proba(new).loc[settled, "spouse_age"]
        assert likely.between(0, 1, inclusive="neither").all()
        assert ((likely > 0.5) == (gates[settled] == "no")).all()
    finally:
        fitted.set_params(use_found_rules=True)


@pytest.fixture(scope="module")
def lost_together():
    """A survey whose cells get lost together, and an imputer that does not keep to its rules."""
    world = household_survey(1_200, mechanism="survey", loss_rate=0.25, seed=3)
    params = {"column_kinds": world.column_kinds, **LEAST}
    imputer = new_imputer(world.mm_columns, **params)
    with pytest.warns(DataWarning, match="get lost together"):
        imputer.fit(world.observed_table)
    return world.observed_table, imputer


def test_rules_that_are_not_kept_to_are_evidence_where_cells_get_lost_together(lost_together):
    survey, imputer = lost_together
    assert len(imputer.rules_) == len(GATES)
    likely = imputer.predict_mm_proba(survey)
    for column, gate in GATES.items():
        missing = survey[column].isna()
        fails, holds = (missing & (survey[gate] == answer) for answer in ("no", "yes"))
        assert (likely[column][fails] > 0.95).all()
        assert (likely[column][fails] < 1).all(), "as sure as rows bear out"
        assert (likely[column][holds] < 0.5).all()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("no", "which the table follows, fails in this row"),
        ("yes", "which the table follows, holds in this row"),
        (None, "which the table follows, cannot be told in this row"),
    ],
)
def test_reasons_name_a_rule_that_is_evidence(lost_together, answer, said):
    survey, imputer = lost_together
    gate = survey["married"].isna() if answer is None else survey["married"] == answer
    cells = np.flatnonzero(gate & survey["spouse_age"].isna())
    why = imputer.explain(survey, (int(cells[0]), "spouse_age"))
    assert why.rule == 'married == "yes"'
    assert said in why.reason


def settle(frame, rules, filled, called):
    """Fill the missing cells of a table as said, and let the rules settle it."""
    table = open_table(frame)
    kinds = {"age": "integer", "job": "categorical", "hours": "integer", "pay": "continuous"}
    schema = infer_schema(table, {name: kinds[name] for name in frame})
    values = code_table(table, schema, "error")
    missing = np.isnan(values)
    nothing = np.zeros(missing.shape, dtype=bool)
    none = Labels(nothing, nothing)
    read = read_rules(rules, table, schema)
    known = resolve_knowledge(values, missing, schema, none, none, read)
    state = JointState(np.where(missing, filled, values), missing & np.array(called))
    return known.settle(state)


PEOPLE = pd.DataFrame(
    {
        "age": pd.Series([10, 30, 50, None, None], dtype="Int64"),
        "job": ["no", "yes", "no", "yes", "no"],
        "hours": pd.Series([None, 20, None, 30, None], dtype="Int64"),
    }
)


def test_an_observed_cell_decides_a_lost_gate_that_is_a_number():
    nobody = np.zeros((5, 3), dtype=bool)
    settled = settle(PEOPLE, {"hours": "age >= 16"}, 12.0, nobody)
    assert settled.values[3, 0] >= 16
    assert not settled.meaningful[3].any()


def test_two_lost_gates_of_one_rule_change_together():
    frame = PEOPLE.assign(job=["no", "yes", "no", None, "no"])
    rules = {"hours": 'age >= 16 and job == "yes"'}
    settled = settle(frame, rules, np.array([12.0, 0.0, 0.0]), np.zeros((5, 3), dtype=bool))
    assert settled.values[3, 0] >= 16
    assert settled.values[3, 1] == 1.0


def test_an_observed_cell_opens_gates_that_lie_behind_each_other():
    frame = PEOPLE.assign(
        hours=pd.Series([None, 20, None, None, 30], dtype="Int64"),
        pay=[None, None, None, 7.5, 9.5],
    )
    rules = {"job": "age >= 16", "hours": 'job == "yes"', "pay": "hours >= 25"}
    frame.loc[3, ["age", "job"]] = [None, None]
    nobody = np.zeros((5, 4), dtype=bool)
    settled = settle(frame, rules, np.array([12.0, 0.0, 21.0, 6.0]), nobody)
    assert settled.values[3, 0] >= 16
    assert settled.values[3, 1] == 1.0
    assert settled.values[3, 2] >= 25
    assert not settled.meaningful[3].any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Cells of C1:diffjoint.errors.DataWarning")
def test_a_gate_that_is_called_not_applicable_stays_so_whatever_is_there_behind_it():
    """A found rule was learnt where its gates are there."""
    world = bayesian_network(14_000, 0, loss_rate=0.1, seed=0)
    table = world.observed_table
    imputer = SelectiveImputer(world.mm_columns, imputer=SimpleImputer(), random_state=0).fit(table)
    assert any("C1" in rule.gates for rule in imputer.rules_)
    called, probability = imputer.predict_mm(table)["C1"], imputer.predict_mm_proba(table)["C1"]
    assert (called == (probability > 0.5)).all()
