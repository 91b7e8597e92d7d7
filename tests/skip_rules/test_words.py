"""Found rules are written in the language of ``rules=``, and read back the same."""

import numpy as np
import pandas as pd
import pytest

from diffjoint.knowledge.rules import read_rules
from diffjoint.skip_rules.atoms import Atom
from diffjoint.skip_rules.formula import Formula
from diffjoint.skip_rules.gates import open_gates
from diffjoint.skip_rules.words import in_rule_language
from diffjoint.state.rules import FALSE, TRUE
from diffjoint.table import code_table, infer_schema, open_table

FRAME = pd.DataFrame(
    {
        "what it is": ["a", "b", "c", "d", None, "a"] * 5,
        "size": [1.25, 2.5, 3.75, 10.0, 11.0, None] * 5,
        "day": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-01", "2024-04-01"] * 6),
        "code": [1, 2, 3, None, 1, 2] * 5,
        "yes or no": pd.Categorical([1.0, 2.0, None, 1.0, 2.0] * 6),
        "grade": pd.Categorical([1.0, 2.0, 2.5, 4.0, None] * 6),
        "class": [True, False, True, None, True, False] * 5,
        "target": [1.5, 2.5, None, 3.5, None, None] * 5,
    }
)


@pytest.fixture(scope="module")
def coded():
    table = open_table(FRAME)
    schema = infer_schema(table)
    values = code_table(table, schema, "error")
    return table, schema, values, open_gates(values, schema)


def atom(coded, column, holds, na=False, by_order=False):
    place = list(FRAME).index(column)
    return Atom(place, np.array([*holds, na], dtype=bool), by_order, 1.0)


CASES = [
    (("what it is", [1, 0, 0, 0]), '`what it is` == "a"'),
    (("what it is", [0, 1, 1, 1]), '`what it is` != "a"'),
    (("what it is", [1, 1, 0, 0]), '`what it is` in ["a", "b"]'),
    (("what it is", [0, 1, 1, 1], True), 'not `what it is` == "a"'),
    (("size", [0, 0, 1, 1, 1], False, True), "size >= 3"),
    (("size", [1, 1, 1, 0, 0], False, True), "size <= 4"),
    (("day", [0, 0, 1, 1], False, True), 'day >= "2024-03-01"'),
    (("day", [1, 1, 0, 0], False, True), 'day <= "2024-02-01"'),
    (("code", [0, 1, 1], False, True), "code >= 2"),
    (("code", [0, 1, 1], True, True), "not code < 2"),
    (("code", [1, 0, 0], False, True), "code == 1"),
    (("yes or no", [1, 0], False, True), "`yes or no` == 1"),
    (("yes or no", [0, 1], False, True), "`yes or no` == 2"),
    (("yes or no", [0, 1], True, True), "not `yes or no` == 1"),
    (("grade", [1, 1, 1, 0], False, True), "grade <= 3"),
    (("grade", [1, 1, 0, 0], False, True), "grade <= 2"),
    (("grade", [0, 0, 0, 1], False, True), "grade >= 4"),
    (("grade", [0, 1, 0, 1]), "grade in [2, 4]"),
    (("class", [0, 1]), "`class` == True"),
]


@pytest.mark.parametrize(("parts", "text"), CASES, ids=[text for _, text in CASES])
def test_a_condition_is_written_plainly(coded, parts, text):
    assert in_rule_language(Formula((atom(coded, *parts),)), coded[3]) == text


@pytest.mark.parametrize(("parts", "text"), CASES, ids=[text for _, text in CASES])
def test_what_is_written_is_read_back_with_the_same_answers(coded, parts, text):
    table, schema, values, gates = coded
    one = atom(coded, *parts)
    (rule,) = read_rules({"target": text}, table, schema)
    meaningful = np.zeros(values.shape, dtype=bool)
    own = one.answers(gates, gates.slots)
    assert (rule.answers(values, meaningful) == own).all()
    gone = np.isnan(values[:, one.column])
    meaningful[gone, one.column] = True
    expected = TRUE if one.holds[-1] else FALSE
    assert (rule.answers(values, meaningful)[gone] == expected).all()


def test_mixed_joins_are_put_in_parentheses(coded):
    parts = [atom(coded, *CASES[k][0]) for k in (0, 4, 8)]
    text = in_rule_language(Formula(tuple(parts), (True, False)), coded[3])
    assert text == '(`what it is` == "a" or size >= 3) and code >= 2'
