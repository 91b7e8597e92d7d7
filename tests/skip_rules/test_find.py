"""Rules that a table follows are found, and no others."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.knowledge.rules import read_rules
from diffjoint.simulate import household_survey, make_mechanism
from diffjoint.skip_rules.find import find_rules
from diffjoint.table import code_table, infer_schema, open_table


def rules_of(frame, searched=None, kinds=None, given=None):
    table = open_table(frame)
    schema = infer_schema(table, kinds)
    values = code_table(table, schema, "error")
    names = [column.name for column in schema.modelled]
    places = [names.index(name) for name in (searched or names)]
    read = read_rules(given, table, schema)
    return {r.column: r for r in find_rules(values, np.isnan(values), schema, places, read)}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 3_000
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "sex": rng.choice(["female", "male"], n),
            "town": rng.choice(list("abcdefgh"), n),
            "weight": rng.normal(70, 12, n),
        }
    )
    frame["work"] = pd.Series(rng.choice(["job", "own firm", "none"], n)).where(frame["age"] >= 16)
    frame["hours"] = pd.Series(rng.integers(5, 60, n)).where(
        frame["work"].isin(["job", "own firm"])
    )
    frame["overtime"] = pd.Series(rng.choice(["paid", "not paid"], n)).where(frame["hours"] > 40)
    fertile = (frame["sex"] == "female") & frame["age"].between(15, 50)
    frame["births"] = pd.Series(rng.choice(["0", "1", "2"], n)).where(fertile)
    ferry = frame["town"].isin(["a", "c"]) | (frame["age"] >= 75)
    frame["ferry"] = pd.Series(rng.choice(["yes", "no"], n)).where(ferry)
    return frame


GATED = ["work", "hours", "overtime", "births", "ferry"]


@pytest.fixture(scope="module", params=["mcar", "survey"])
def found(people, request):
    mechanism = make_mechanism(request.param, people, 0.15, np.random.default_rng(1))
    lost = mechanism.lose(people, np.random.default_rng(2))
    return rules_of(people.mask(lost), GATED)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("work", "age >= 16"),
        ("hours", 'work != "none"'),
        ("overtime", "hours >= 41"),
    ],
)
def test_gates_within_gates_are_found_one_by_one(found, column, text):
    assert found[column].text == text


def test_conditions_are_joined_by_and(found):
    assert set(found["births"].text.split(" and ")) == {
        'sex == "female"',
        "age >= 15",
        "age <= 50",
    }


def test_conditions_are_joined_by_or(found):
    assert set(found["ferry"].text.split(" or ")) == {'town in ["a", "c"]', "age >= 75"}


def test_two_conditions_that_correct_a_third_only_together_are_found(people):
    rare = (people["town"] == "a") & (people["weight"] > 85)
    frame = people[["age", "sex", "town", "weight"]].assign(
        extra=people["weight"].where((people["age"] >= 50) | rare)
    )
    text = rules_of(frame, ["extra"])["extra"].text
    assert text.endswith(" or age >= 50")
    assert 'town == "a"' in text
    assert "weight >= 8" in text


def test_a_condition_may_join_one_of_two_that_stand_already(people):
    frame = people[["age", "sex", "town", "weight"]].assign(
        extra=people["weight"].where(
            ((people["age"] >= 50) | (people["town"] == "a")) & (people["sex"] == "female")
        )
    )
    text = rules_of(frame, ["extra"])["extra"].text
    assert {text.count(" or "), text.count(" and ")} == {1}
    assert text.startswith("(")
    assert text.endswith(') and sex == "female"')


def test_a_rule_comes_after_those_of_its_gates(found):
    order = list(found)
    assert order.index("work") < order.index("hours") < order.index("overtime")


def test_a_rule_that_leaves_losses_alone_is_whole(found):
    assert all(rule.is_whole for rule in found.values())


def test_a_further_reason_makes_a_rule_a_part_of_the_story(people):
    asked = (people["age"] >= 16) & (np.random.default_rng(3).random(len(people)) < 0.3)
    frame = people.assign(extra=people["weight"].where(asked))
    rule = rules_of(frame, ["extra"])["extra"]
    assert rule.text == "age >= 16"
    assert not rule.is_whole


def test_far_more_missing_than_other_columns_lose_is_a_further_reason(people):
    rng = np.random.default_rng(3)
    adult = people["age"] >= 16
    usual = {f"answer {k}": people["weight"].where(rng.random(3_000) > 0.02) for k in range(8)}
    frame = people[["age", "sex", "town"]].assign(
        **usual,
        asked=people["weight"].where(adult & (rng.random(3_000) > 0.03)),
        extra=people["weight"].where(adult & (rng.random(3_000) > 0.35)),
    )
    found = rules_of(frame, ["asked", "extra"])
    assert {name: (rule.text, rule.is_whole) for name, rule in found.items()} == {
        "asked": ("age >= 16", True),
        "extra": ("age >= 16", False),
    }


def test_losses_as_large_as_those_of_other_columns_are_no_further_reason(people):
    rng = np.random.default_rng(3)
    frame = people[["age", "sex", "town"]].assign(
        **{
            f"answer {k}": people["weight"].where(rng.random(len(people)) > share)
            for k, share in enumerate([0.4, 0.5, 0.6, 0.7])
        },
        extra=people["weight"].where((people["age"] >= 16) & (rng.random(len(people)) < 0.4)),
    )
    rule = rules_of(frame, ["extra"])["extra"]
    assert rule.text == "age >= 16"
    assert rule.is_whole


def test_a_few_exceptions_do_not_hide_a_rule(people):
    frame = people.copy()
    frame.loc[frame.index[(frame["work"] == "none")][:1], "hours"] = 8.0
    rule = rules_of(frame, ["work", "hours"])["hours"]
    assert rule.text == 'work != "none"'
    assert rule.n_exceptions == 1


@pytest.mark.parametrize("share", [0.003, 0.006])
def test_mistakes_in_the_data_do_not_hide_rules(people, share):
    rng = np.random.default_rng(7)
    frame = people.mask(rng.random(people.shape) < 0.1)
    for column in GATED:
        wrong = people[column].isna() & (rng.random(len(people)) < share)
        frame.loc[wrong, column] = rng.choice(people[column].dropna(), wrong.sum())
    found = rules_of(frame, GATED)
    assert any(found[column].n_exceptions for column in GATED)
    assert found["work"].text == "age >= 16"
    assert found["hours"].text == 'work != "none"'
    assert found["overtime"].text == "hours >= 41"


def test_what_looks_like_mistakes_may_follow_a_further_condition(people):
    rare = (people["town"] == "a") & (people["age"] >= 83)
    asked = (people["age"] < 60) | rare
    frame = people[["age", "sex", "town", "weight"]].assign(extra=people["weight"].where(asked))
    assert 0 < (rare & (people["age"] >= 60)).sum() < 0.05 * (people["age"] >= 60).sum()
    assert " or " in rules_of(frame, ["extra"])["extra"].text


@pytest.mark.parametrize("width", [2.0, 4.0])
def test_a_steep_tendency_is_no_rule(people, width):
    rng = np.random.default_rng(8)
    likely = 1 / (1 + np.exp(-(people["age"] - 50) / width))
    frame = people.assign(lab=people["weight"].where(rng.random(len(people)) < likely))
    assert rules_of(frame, ["lab"]) == {}


def test_a_tendency_is_no_rule(people):
    rng = np.random.default_rng(4)
    likely = 1 / (1 + np.exp(-(people["age"] - 60) / 6))
    frame = people.assign(lab=people["weight"].where(rng.random(len(people)) < likely))
    assert rules_of(frame, ["lab"]) == {}


@pytest.mark.parametrize("mechanism", ["mcar", "mar", "mnar", "survey", "break-off", "blocks"])
def test_losses_alone_follow_no_rule(people, mechanism):
    whole = people[["age", "sex", "town", "weight"]].assign(
        tall=people["weight"] > 70, old=people["age"] // 10, kind=people["town"] + people["sex"]
    )
    drawn = make_mechanism(mechanism, whole, 0.3, np.random.default_rng(5))
    lost = drawn.lose(whole, np.random.default_rng(6))
    assert rules_of(whole.mask(lost)) == {}


def test_the_order_of_rows_changes_no_rule():
    frame = household_survey(700, mechanism="survey", loss_rate=0.2).observed_table
    shuffled = frame.sample(frac=1, random_state=0)
    searched = ["spouse_age", "weekly_hours", "commute"]
    assert rules_of(frame, searched) == rules_of(shuffled, searched)


def test_one_gate_opens_a_block_of_columns(people):
    asked = people["work"] == "own firm"
    frame = people[["age", "sex", "work"]].assign(
        **{f"firm {k}": people["weight"].where(asked) for k in range(3)}
    )
    found = rules_of(frame, ["work", "firm 0", "firm 1", "firm 2"])
    assert [found[f"firm {k}"].text for k in range(3)] == ['work == "own firm"'] * 3


def test_a_given_rule_is_taken_as_it_is(people):
    found = rules_of(people, GATED, given={"work": "age >= 16"})
    assert "work" not in found
    assert found["hours"].text == 'work != "none"'
