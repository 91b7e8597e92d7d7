"""Write a formula in the language of rules, see :mod:`diffjoint.knowledge.rules`."""

import json
import keyword
from typing import Any

import numpy as np

from diffjoint.skip_rules.atoms import Atom
from diffjoint.skip_rules.formula import Formula
from diffjoint.skip_rules.gates import Gates
from diffjoint.table import Kind


def in_rule_language(formula: Formula, gates: Gates) -> str:
    """Return a formula as text that ``rules=`` reads back."""
    text = atom_text(formula.atoms[0], gates)
    for place, (by_or, atom) in enumerate(zip(formula.by_or, formula.atoms[1:], strict=True)):
        own = atom_text(atom, gates)
        if place and by_or != formula.by_or[place - 1]:
            text = f"({text})"
        text = f"{text} {'or' if by_or else 'and'} {own}"
    return text


def atom_text(atom: Atom, gates: Gates) -> str:
    """Return one condition as text."""
    name = quoted_name(gates.columns[atom.column].name)
    values = atom.holds[:-1]
    if values.all() or not values.any():
        return f"applies({name})" if values.all() else f"not applies({name})"
    if atom.by_order and not _names_one_value(atom, gates):
        return _threshold(atom, gates, name)
    if atom.holds[-1]:  # compared with a meaningful cell everything is false
        return f"not {_one_of(name, _named(atom, gates, ~values), True)}"
    inside = bool(values.sum() <= (~values).sum()) or _holds_unnamed(atom, gates, ~values)
    return _one_of(name, _named(atom, gates, values if inside else ~values), inside)


def _names_one_value(atom: Atom, gates: Gates) -> bool:
    """Return whether a threshold cuts off one value that is easier to name, such as a code.

    The lowest of a few values, or one of two levels. Above the highest of numbers others may lie.
    """
    values = atom.holds[:-1]
    is_lowest_alone = bool(values[0]) and values.sum() == 1 and gates.has_sets(atom.column)
    return is_lowest_alone or (gates.columns[atom.column].is_categorical and len(values) == 2)


def quoted_name(name: str) -> str:
    """Return a column's name as rules have it: in backticks unless it is a plain word."""
    plain = name.isidentifier() and not keyword.iskeyword(name) and name.isascii()
    return name if plain and not name.startswith("_in_backticks_") else f"`{name}`"


def _holds_unnamed(atom: Atom, gates: Gates, slots: Any) -> bool:
    """Return whether among some slots is a box not ticked, which has no name."""
    n_named = len(gates.columns[atom.column].levels) or len(slots)
    return bool(slots[n_named:].any())


def _named(atom: Atom, gates: Gates, slots: Any) -> list[str]:
    """Return the values of some slots as rules write them."""
    about, numbers = gates.columns[atom.column], gates.numbers[atom.column]
    if about.is_categorical:
        return [literal(about.levels[k]) for k in np.flatnonzero(slots)]
    return [_number(about.kind, float(numbers[k])) for k in np.flatnonzero(slots)]


def _one_of(name: str, values: list[str], inside: bool) -> str:
    if len(values) == 1:
        return f"{name} {'==' if inside else '!='} {values[0]}"
    return f"{name} {'in' if inside else 'not in'} [{', '.join(values)}]"


def _threshold(atom: Atom, gates: Gates, name: str) -> str:
    """Return a comparison with the plainest number between the two neighbours."""
    about, values = gates.columns[atom.column], atom.holds[:-1]
    numbers = gates.numbers[atom.column]
    if about.is_categorical:
        numbers = np.array([float(level) for level in about.levels])
    upwards = bool(values[-1])
    edge = int(np.argmax(values) if upwards else np.argmin(values))
    low, high = float(numbers[edge - 1]), float(numbers[edge])
    sign, other = (">=", "<") if upwards else ("<=", ">")
    if about.kind is Kind.DATETIME:
        at = high if upwards else low
    else:
        at = _plainest(low, high) if upwards else -_plainest(-high, -low)
    text = _number(about.kind, at)
    if atom.holds[-1]:
        return f"not {name} {other} {text}"
    return f"{name} {sign} {text}"


def _plainest(low: float, high: float) -> float:
    """Return the number in (low, high] that is written shortest; the highest of those."""
    for digits in range(-12, 16):
        step = 10.0**-digits
        at = round(float(np.floor(high / step) * step), max(digits, 0))
        if low < at <= high:
            return at
    return high


def _number(kind: Kind, value: float) -> str:
    if kind is Kind.DATETIME:
        stamp = np.datetime64(int(value), "us")
        day = stamp.astype("M8[D]")
        return json.dumps(str(day if day == stamp else stamp))
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def literal(level: Any) -> str:
    """Return a level as rules write it."""
    if isinstance(level, bool | np.bool_):
        return str(bool(level))
    if isinstance(level, str):
        return json.dumps(level, ensure_ascii=False)
    if isinstance(level, float) and level.is_integer():
        return repr(int(level))
    return repr(level)
