"""Gates and what they open, as pictures."""

import xml.etree.ElementTree as ET

from diffjoint.skip_rules.find import FoundRule
from diffjoint.skip_rules.picture import as_mermaid, as_svg

COUNTS = (True, 9, 0, 9, 1, 0.1)
RULES = [
    FoundRule("work <now>", 1, "age >= 16", ("age",), *COUNTS),
    FoundRule("hours", 2, '`work <now>` == "yes & more"', ("work <now>",), *COUNTS),
]


def boxes(svg):
    return [g.find("{*}text") for g in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g")]


def test_a_picture_has_a_box_for_each_column_the_deeper_the_further_right():
    texts = boxes(as_svg(RULES))
    assert [text.text for text in texts] == ["age", "work <now>", "hours"]
    assert [float(t.get("x")) for t in texts] == sorted({float(t.get("x")) for t in texts})


def test_a_picture_of_no_rules_is_empty():
    assert boxes(as_svg([])) == []


def test_a_flowchart_has_an_arrow_for_each_gate():
    text = as_mermaid(RULES)
    assert text.count("-->") == 2
    assert 'c1 -- "`work <now>` == #quot;yes & more#quot;" --> c2' in text
