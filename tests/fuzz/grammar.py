"""Rules and decisions that are nearly right: each byte of an input chooses a part of them."""

from tests.fuzz.choices import Choices

OPERANDS = (
    ("age", ("18", "31.0", "-1", "1e300", "spouse", '"x"')),
    ("`n rooms`", ("1", "2.5", "9999999999999999999", "True")),
    ("spouse", ("age", "0", "30")),
    ("married", ('"yes"', "'no'", '"maybe"', "1")),
    ("born", ('"1980-01-01"', '"1979"', '"never"', "1980")),
    ("paid", ("True", '"False"', "0", "1")),
)
SIGNS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")
MOST_DEEP = 6
ROWS = ("0", "1", "2", "3", "1.0", " 2 ", "4", "-1", "nan", "")
NAMES = ("age", "married", "n rooms", "paid", "born", "spouse", "'age", "'=x", "")
CALLS = ("lost", "meaningful", "", " LOST ", "maybe")
LAYOUTS = ("row,column,decision", '"decision";"row";"column"', "row,column,decision,note")


def rule_of(choices: Choices, depth: int = 0) -> str:
    """Return a rule.

    Examples
    --------
    >>> rule_of(Choices(b""))
    'age == 18'
    >>> rule_of(Choices(bytes([3, 0, 0, 0, 1])))
    'not (age == 31.0)'
    """
    how = choices.choice(range(6)) if depth < MOST_DEEP else 0
    if how < 3 or choices.is_over:
        return _comparison(choices)
    if how == 3:
        return f"not ({rule_of(choices, depth + 1)})"
    if how == 4:
        return choices.choice(("paid", "applies(age)", "not applies(spouse)"))
    left, right = rule_of(choices, depth + 1), rule_of(choices, depth + 1)
    return f"({left}) {choices.choice(('and', 'or'))} {right}"


def _comparison(choices: Choices) -> str:
    name, others = choices.choice(OPERANDS)
    sign = choices.choice(SIGNS)
    other = choices.choice(others)
    if "in" in sign:
        other = f"[{', '.join([other, choices.choice(others)])}]"
    if not choices.is_over and choices.choice((False, False, True)) and "in" not in sign:
        return f"{choices.choice(others)} {sign} {name} {sign} {other}"
    return f"{name} {sign} {other}"


def decisions_of(choices: Choices) -> bytes:
    r"""Return a list of decisions.

    Examples
    --------
    >>> decisions_of(Choices(bytes([0, 1, 0, 0])))
    b'row,column,decision\n1,age,lost\n'
    """
    header = choices.choice(LAYOUTS)
    delimiter = ";" if ";" in header else ","
    lines = [header]
    while not choices.is_over:
        row, name, call = (choices.choice(part) for part in (ROWS, NAMES, CALLS))
        cells = [call, row, name] if delimiter == ";" else [row, name, call]
        lines.append(delimiter.join([*cells, *["=1"] * header.count("note")]))
    return "\n".join([*lines, ""]).encode()
