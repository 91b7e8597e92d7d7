"""Cells that break rules, and which cell is likely wrong."""

import pandas as pd

from diffjoint import check_rules

RULES = {
    "hours": 'job == "yes"',
    "commute": 'job == "yes"',
    "spouse_age": 'married == "yes"',
}
PEOPLE = pd.DataFrame(
    {
        "job": ["yes", "no", "no", "no", None] * 5,
        "married": ["no", "yes", "no", "yes", "no"] * 5,
        "hours": [40, None, 20, 30, 10] * 5,
        "commute": ["bus", None, "car", None, "bus"] * 5,
        "spouse_age": [None, 41, None, 38, 50] * 5,
    }
).iloc[:5]
KINDS = {"hours": "integer", "spouse_age": "integer", "commute": "categorical"}


def broken():
    return {(b["row"], b["column"]): b for b in check_rules(PEOPLE, RULES, column_kinds=KINDS)}


def test_observed_cells_whose_rule_fails_are_listed():
    assert list(broken()) == [(2, "hours"), (2, "commute"), (3, "hours"), (4, "spouse_age")]


def test_a_gate_that_several_columns_contradict_is_likely_wrong():
    found = broken()
    assert found[2, "hours"]["likely_wrong"] == found[2, "commute"]["likely_wrong"] == "job"


def test_a_cell_that_alone_contradicts_its_gate_is_likely_wrong_itself():
    found = broken()
    assert found[3, "hours"]["likely_wrong"] == "hours"
    assert found[4, "spouse_age"]["likely_wrong"] == "spouse_age"


def test_a_cell_that_opens_another_one_is_borne_out_by_it():
    pets = pd.DataFrame(
        {
            "owner": ["yes", "no", "no", "no"] * 9,
            "pet": ["dog", None, "dog", "fish"] * 9,
            "walks": [2, None, 3, None] * 9,
        }
    )
    rules = {"pet": 'owner == "yes"', "walks": 'pet == "dog"'}
    found = check_rules(pets.iloc[:4], rules, column_kinds={"walks": "integer"})
    assert [(b["row"], b["likely_wrong"]) for b in found] == [(2, "owner"), (3, "pet")]


def test_a_break_says_what_its_gates_hold():
    assert broken()[2, "hours"]["gates"] == "job = no"
