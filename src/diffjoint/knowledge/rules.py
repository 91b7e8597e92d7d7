"""Read rules that say when a column has a value at all, such as ``married == "yes"``.

A rule is parsed once, by Python's parser, but never run as Python; it is then evaluated on coded
values. A rule that begins with "only if" says nothing about the cells where it holds.
"""

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Hashable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.errors import InputError, option
from diffjoint.knowledge.conditions import (
    Condition,
    Rule,
    answers_of,
    code_lookup,
    compare_column,
    has_labels,
    modelled_position,
    numbers_of,
    words_of,
)
from diffjoint.parameters.checks import check
from diffjoint.state.rules import TRUE, Answers
from diffjoint.table import Column, Kind, Schema, Table, iso_microseconds

LONGEST, DEEPEST, MOST_DIGITS = 20_000, 50, 300
"""Characters of a rule, parts of it inside each other, and digits of a number in it, at most."""
MOST_SHOWN = 300
"""Characters of a rule, and of what is wrong with it, that an error shows from either end."""
_IN_QUOTES = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)"""
"""Text in quotes, up to the end where the last quote is left out: no mark is looked at twice."""
_QUOTED = re.compile(_IN_QUOTES, re.DOTALL)
_BACKTICKED = re.compile(rf"({_IN_QUOTES}|`[^`]*+\Z)|`([^`]*+)`", re.DOTALL)
_ONLY_IF = re.compile(r"\s*only\s+if\b")
_TOO_MANY_DIGITS = re.compile(rf"[0-9_]{{{MOST_DIGITS + 1}}}")
_PREFIX = re.compile(r"not\b|[-+~]")
_NESTING = re.compile(r"[(\[{)\]}]|(?P<repeated>(?:(?:\bnot\b|[-+~])\s*+)++)")
"""What makes parts stand inside each other: parentheses, and signs and "not" in a row."""
_COMPARED: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_TRUTHS = {"True": True, "False": False, "true": True, "false": False}
"""Levels in text that are read as truth values."""
_CAN_SAY = (
    "A rule may have column names (in `backticks` where they are not plain words), text in quotes, "
    "numbers, True, False, ==, !=, <, <=, >, >=, in, not in, and, or, not, parentheses and "
    "applies(column)"
)


def read_rules(rules: Any, table: Table, schema: Schema) -> tuple[Rule, ...]:
    """Parse and check rules by column label; return gates before the rules that depend on them.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"married": ["yes", "no"], "spouse_age": [40.5, None]}))
    >>> (rule,) = read_rules({"spouse_age": 'married == "yes"'}, table, infer_schema(table))
    >>> values = np.array([[1.0, 40.5], [0.0, np.nan], [np.nan, np.nan]])
    >>> rule.answers(values, np.zeros((3, 2), dtype=bool)).tolist()
    [2, 0, 1]
    """
    if rules is None:
        return ()
    check("rules", rules)
    read = {}
    for label, text in rules.items():
        target = modelled_position(table, schema, label, "rules")
        if target in read:
            raise InputError(
                f"{option('rules')} has two rules for {label!r}. Join them with 'and' or 'or'.",
                parameter="rules",
            )
        read[target] = _RuleParser(label, text, table, schema).rule(target)
    return _gates_first(read, schema)


def _gates_first(rules: dict[int, Rule], schema: Schema) -> tuple[Rule, ...]:
    waits_for = {target: rule.gates & rules.keys() for target, rule in rules.items()}
    try:
        order = list(TopologicalSorter(waits_for).static_order())
    except CycleError as error:
        circle = " -> ".join(f"'{schema.modelled[j].name}'" for j in error.args[1])
        raise InputError(
            f"Rules go in a circle: {circle}. A column's rule must not depend on that column, "
            "not even through other rules. Take out one of them.",
            parameter="rules",
        ) from error
    return tuple(rules[target] for target in order)


class _RuleParser:
    """Parses the text of one rule."""

    def __init__(self, label: Hashable, text: Any, table: Table, schema: Schema) -> None:
        self.label, self.text, self.table, self.schema = label, text, table, schema
        self.backticked: dict[str, str] = {}
        self.gates: set[int] = set()
        self.trials: dict[tuple[int, float], None] = {}

    def rule(self, target: int) -> Rule:
        if not isinstance(self.text, str) or not self.text.strip():
            raise self.wrong(f"it must be text such as 'married == \"yes\"', not {self.text!r}")
        if len(self.text) > LONGEST:
            raise self.wrong(
                f"it has {len(self.text):,} characters; a rule may have {LONGEST:,}. To name many "
                'values, write in ["a", "b"]'
            )
        only_if = _ONLY_IF.match(self.text)
        says = self.text[only_if.end() :] if only_if else self.text
        plain = _BACKTICKED.sub(self.named, says).strip()
        self.check_depth(plain)
        try:
            tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            assigns = re.search(r"(?<![=!<>])=(?!=)", _BACKTICKED.sub("", self.text))
            hint = "Compare with ==, not with =" if assigns else _CAN_SAY
            raise self.wrong(
                f"it cannot be read ({str(error).split('(')[0].strip()}). {hint}"
            ) from (error)
        try:
            condition = self.condition(tree)
        except RecursionError as error:
            raise self.wrong(f"parts of it stand too deep inside each other. {_CAN_SAY}") from error
        if not self.gates:
            raise self.wrong("it names no column. Say when there is something to record")
        return Rule(
            target,
            self.text,
            frozenset(self.gates),
            condition,
            only_if=only_if is not None,
            trials=tuple(self.trials),
        )

    def check_depth(self, plain: str) -> None:
        """Raise if parts stand too deep inside each other to be read, or a number is too long.

        Read off the text, so that Python's parser is only given what it can take.
        """
        quoted = _QUOTED.sub('""', plain)
        if _TOO_MANY_DIGITS.search(quoted):
            raise self.wrong(f"it has a number of more than {MOST_DIGITS} digits")
        depth = deepest = 0
        for mark in _NESTING.finditer(quoted):
            if mark["repeated"] is not None:
                n_marks = len(_PREFIX.findall(mark["repeated"]))
                deepest = max(deepest, depth + n_marks)
            else:
                depth += 1 if mark[0] in "([{" else -1
                deepest = max(deepest, depth)
        if deepest > DEEPEST:
            raise self.wrong(
                f"parts of it stand {deepest:,} deep inside each other; {DEEPEST} may. Take out "
                "parentheses, or 'not' that follows 'not'"
            )

    def named(self, found: re.Match[str]) -> str:
        """Replace a name in backticks by a placeholder; keep text in quotes."""
        if found[1] is not None:
            return found[1]
        word = f"_in_backticks_{len(self.backticked)}_"
        self.backticked[word] = found[2]
        return f" {word} "

    def condition(self, node: ast.expr) -> Condition:
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(value) for value in node.values]
            join = np.minimum if isinstance(node.op, ast.And) else np.maximum
            return lambda values, na: join.reduce([part(values, na) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand)
            return lambda values, na: np.int8(TRUE) - inner(values, na)
        if isinstance(node, ast.Compare):
            return self.chain(node)
        if isinstance(node, ast.Name):
            return self.flag(node)
        if isinstance(node, ast.Call):
            return self.applies(node)
        raise self.wrong(f"it says {self.shown(node)}. {_CAN_SAY}")

    def chain(self, node: ast.Compare) -> Condition:
        """Parse a comparison; ``a < b < c`` is ``a < b and b < c``."""
        sides = [node.left, *node.comparators]
        links = [
            self.comparison(left, how, right)
            for left, how, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return lambda values, na: np.minimum.reduce([link(values, na) for link in links])

    def flag(self, node: ast.Name) -> Condition:
        """Parse a column name that stands alone: its levels must be truth values."""
        place = self.place(node)
        column = self.schema.modelled[place]
        truths = [_truth(level) for level in column.levels]
        if not truths or None in truths:
            raise self.wrong(
                f"'{column.name}' alone is no condition: it holds {column.in_words()}, not True "
                "and False. Compare it with something"
            )
        is_true = [level for level, truth in zip(column.levels, truths, strict=True) if truth]
        return self.one_of(place, [self.level(column, level) for level in is_true], outside=False)

    def applies(self, node: ast.Call) -> Condition:
        """Parse ``applies(column)``: whether the column itself has something to record."""
        named = isinstance(node.func, ast.Name) and node.func.id == "applies"
        if not named or node.keywords or [type(part) for part in node.args] != [ast.Name]:
            raise self.wrong(f"it says {self.shown(node)}. {_CAN_SAY}")
        place = self.place(cast(ast.Name, node.args[0]))

        def answers(values: Values, na: Mask) -> Answers:
            unknown = np.isnan(values[:, place])
            return answers_of(~unknown, unknown, na[:, place])

        return answers

    def comparison(self, left: ast.expr, how: ast.cmpop, right: ast.expr) -> Condition:
        if isinstance(how, ast.In | ast.NotIn):
            return self.membership(left, right, isinstance(how, ast.NotIn))
        if type(how) not in _COMPARED:
            raise self.wrong(f"it compares with 'is'. {_CAN_SAY}")
        if not isinstance(left, ast.Name) and isinstance(right, ast.Name):
            left, right, how = right, left, _TURNED.get(type(how), type(how))()
        if not isinstance(left, ast.Name):
            raise self.wrong(f"{self.shown(left)} is compared without a column beside it")
        sign, compare = _COMPARED[type(how)]
        place = self.place(left)
        column = self.schema.modelled[place]
        if isinstance(right, ast.Name):
            return self.two_columns(place, self.place(right), sign, compare)
        if has_labels(column) and sign not in ("==", "!="):
            self.check_kind(column, self.constant(right))
            raise self.unordered(column, sign)
        number = self.coded(column, self.constant(right), sign in ("==", "!="))
        self.note_trials(place, [number])
        return compare_column(place, numbers_of(column), compare, number)

    def two_columns(
        self, one: int, other: int, sign: str, compare: Callable[[Any, Any], Any]
    ) -> Condition:
        columns = self.schema.modelled[one], self.schema.modelled[other]
        kinds = [_what_it_holds(column) for column in columns]
        if kinds[0] != kinds[1]:
            raise self.wrong(
                f"it compares '{columns[0].name}' ({kinds[0]}) with '{columns[1].name}' "
                f"({kinds[1]}). Compare like with like"
            )
        if kinds[0] == "text" and sign not in ("==", "!="):
            raise self.unordered(columns[0], sign)
        words: dict[Any, int] = {}
        coded = [
            code_lookup([float(words.setdefault(v, len(words))) for v in words_of(column)])
            if has_labels(column)
            else numbers_of(column)
            for column in columns
        ]

        def answers(values: Values, na: Mask) -> Answers:
            x, y = coded[0](values[:, one]), coded[1](values[:, other])
            return answers_of(compare(x, y), np.isnan(x) | np.isnan(y), na[:, one] | na[:, other])

        return answers

    def membership(self, left: ast.expr, right: ast.expr, outside: bool) -> Condition:
        if not isinstance(left, ast.Name) or not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise self.wrong(
                'before in there must be a column, and after it a list such as ["a", "b"]'
            )
        place = self.place(left)
        column = self.schema.modelled[place]
        inside = [self.coded(column, self.constant(part), True) for part in right.elts]
        self.note_trials(place, inside)
        return self.one_of(place, inside, outside)

    def one_of(self, place: int, inside: list[float], outside: bool) -> Condition:
        """Return a condition that a column is one of some numbers, or none of them."""

        def found(x: Values, members: Sequence[float]) -> Mask:
            return np.isin(x, members, invert=outside)

        return compare_column(place, numbers_of(self.schema.modelled[place]), found, inside)

    def place(self, node: ast.Name) -> int:
        """Return the position of a column that the rule refers to, and note it as a gate."""
        name = self.backticked.get(node.id, node.id)
        if self.table.position(name) is None:
            close = difflib.get_close_matches(name, self.table.names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else 'Put text in quotes: "yes".'
            raise self.wrong(
                f"{name!r} is not a column of the table ({', '.join(self.table.names[:30])}). "
                f"{hint}"
            )
        where = f"The rule for {self.label!r}"
        place = modelled_position(self.table, self.schema, name, "rules", where)
        self.gates.add(place)
        return place

    def note_trials(self, place: int, numbers: list[float]) -> None:
        """Note numbers that a column is compared with, and their neighbours that it can hold."""
        column = self.schema.modelled[place]
        if column.is_categorical:
            return
        low, high = column.limits
        step = column.step or (1.0 if column.kind is Kind.INTEGER else 0.0)
        for number in numbers:
            beside = (number - step, number + step) if step else np.nextafter(number, [low, high])
            for value in (number, *map(float, beside)):
                if low <= value <= high:
                    self.trials[place, value] = None

    def constant(self, node: ast.expr) -> Any:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, node = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
            if not isinstance(node, ast.Constant) or isinstance(node.value, str | bool):
                raise self.wrong(f"{self.shown(node)} is no number. {_CAN_SAY}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bool | int | float):
            if node.value == math.inf:
                raise self.wrong("it has a number that is too large for any column")
            return sign * node.value if sign == -1 else node.value
        raise self.wrong(f"it says {self.shown(node)}. {_CAN_SAY}")

    def coded(self, column: Column, value: Any, exactly: bool) -> float:
        """Return a constant of the rule as the number that a column's codes are compared with."""
        if column.kind is Kind.DATETIME:
            stamp = iso_microseconds(value) if isinstance(value, str) else None
            if stamp is None:
                raise self.wrong(
                    f"'{column.name}' holds dates; compare it with text such as \"2024-01-31\", "
                    f"not with {value!r}"
                )
            return stamp
        if has_labels(column) or (column.is_categorical and exactly):
            return self.level(column, value)
        self.check_kind(column, value)
        try:
            return float(value)
        except OverflowError as error:
            raise self.wrong("it has a number that is too large for any column") from error

    def check_kind(self, column: Column, value: Any) -> None:
        """Raise if a column of numbers is compared with text, or a column of text with a number."""
        if isinstance(value, str) and not has_labels(column):
            raise self.wrong(
                f"'{column.name}' holds numbers ({column.in_words()}); compare it with a number, "
                f"not with {value!r}, which is text. Leave out the quotes"
            )
        only_text = bool(column.levels) and all(isinstance(v, str) for v in column.levels)
        if only_text and not isinstance(value, str):
            raise self.wrong(
                f"'{column.name}' holds text ({column.in_words()}); compare it with text by == or "
                f"in, not with {value!r}, which is {_what_it_is(value)}. Put it in quotes: "
                f'"{value}"; or, if they are meant as numbers, make them numbers in the table'
            )

    def level(self, column: Column, value: Any) -> float:
        """Return the number of a level; raise if the column lacks it: most likely a typo."""
        if value not in column.levels:
            self.check_kind(column, value)
            names = {str(level): level for level in column.levels}
            close = difflib.get_close_matches(str(value), list(names), n=1)
            hint = (
                f"Did you mean {names[close[0]]!r}?"
                if close
                else "Leave it out: it changes nothing"
            )
            raise self.wrong(
                f"'{column.name}' never is {value!r}; it holds {column.in_words()}. {hint}"
            )
        place = column.levels.index(value)
        return float(place if has_labels(column) else column.levels[place])

    def unordered(self, column: Column, sign: str) -> InputError:
        return self.wrong(
            f"'{column.name}' holds text, which has no order for {sign}. Use ==, !=, in or not in"
        )

    def shown(self, node: ast.AST) -> str:
        text = ast.unparse(node)
        for word, name in self.backticked.items():
            text = text.replace(word, f"`{name}`")
        return repr(text)

    def wrong(self, what: str) -> InputError:
        end = "" if what.endswith("?") else "."
        rule, what = _shortened(repr(self.text)), _shortened(what.rstrip("."))
        return InputError(f"The rule for {self.label!r} is {rule}: {what}{end}", parameter="rules")


def _shortened(text: str) -> str:
    """Return a text without the middle of a long one."""
    if len(text) <= 3 * MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]} ... {text[-MOST_SHOWN:]}"


def _truth(level: Any) -> bool | None:
    """Return the truth value that a level is or, as text, stands for; None for others."""
    return level if isinstance(level, bool) else _TRUTHS.get(level)


def _what_it_is(value: Any) -> str:
    return "a truth value" if isinstance(value, bool) else "a number"


def _what_it_holds(column: Column) -> str:
    if column.kind is Kind.DATETIME:
        return "dates"
    return "text" if has_labels(column) else "numbers"
