"""Rules as a file that a person can read and change, and ``--rules`` reads back."""

import csv
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from diffjoint.errors import FileError, InputError
from diffjoint.io.devices import refuse_device
from diffjoint.storage.atomic import write_whole

NAMES, UNIVERSE = ("column", "name", "variable"), "universe"
"""Headings of a codebook."""
HEADING = """\
# When a column has something to record: a missing cell is meaningful where the rule fails, and lost
# where it holds. "only if" says nothing about where it holds. Change, add or delete lines; then:
#   diffjoint impute TABLE OUT --rules THIS_FILE
#   diffjoint check TABLE --rules THIS_FILE
"""


def write_rules(
    path: str | os.PathLike[str], rules: Mapping[str, str], notes: Mapping[str, str]
) -> None:
    """Write rules to a TOML file.

    Parameters
    ----------
    path : path
    rules : mapping
        By column.
    notes : mapping
        What to say of a column's rule in a comment above it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.toml"
    >>> write_rules(path, {"spouse_age": 'married == "yes"'}, {})
    >>> read_rule_file(path)
    {'spouse_age': 'married == "yes"'}
    """
    lines = [HEADING, "[rules]\n"]
    for column, rule in rules.items():
        if column in notes:
            lines.append(f"# {' '.join(notes[column].split())}\n")
        lines.append(f"{_quoted(column)} = {_literal(rule)}\n")
    write_text(path, "".join(lines))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text to a file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def read_rule_file(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read rules by column from a TOML file, or from a codebook as CSV."""
    refuse_device(path)
    if Path(path).suffix.lower() == ".csv":
        return _read_codebook(path)
    try:
        held = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is no TOML file ({error}). Write a line for each column.") from (
            error
        )
    rules = held.get("rules", held)
    wrong = [name for name, rule in rules.items() if not isinstance(rule, str)]
    if wrong or not rules:
        what = f"{wrong[0]!r} is {type(rules[wrong[0]]).__name__}" if wrong else "it has none"
        raise InputError(
            f"{path} must hold a rule in text for each column, such as spouse_age = "
            f"'married == \"yes\"', below [rules]; {what}.",
            parameter="rules",
        )
    return dict(rules)


def _read_codebook(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the column "universe" of a codebook: whom a column is asked of, as a rule."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"{path} is no CSV file in UTF-8 ({error}).") from error
    headings = {str(heading).strip().lower(): heading for heading in (lines[0] if lines else {})}
    named = next((headings[name] for name in NAMES if name in headings), None)
    if named is None or UNIVERSE not in headings:
        raise InputError(
            f"{path} must have a column {' or '.join(map(repr, NAMES))} and a column {UNIVERSE!r}, "
            "with a rule for each column that is not asked of everyone; it has "
            f"{', '.join(map(repr, headings)) or 'no line below its headings'}.",
            parameter="rules",
        )
    universe = headings[UNIVERSE]
    rules = {line[named].strip(): (line[universe] or "").strip() for line in lines if line[named]}
    return {column: rule for column, rule in rules.items() if rule}


def join_rules(given: Mapping[str, str], read: Mapping[str, str]) -> dict[str, str]:
    """Return rules given one by one and those of a file; raise if both have one for a column."""
    if both := sorted(given.keys() & read.keys()):
        raise InputError(
            f"There are two rules for {both[0]!r}, one given by itself and one in the file. Take "
            "out one of them.",
            parameter="rules",
        )
    return {**read, **given}


def _quoted(name: str) -> str:
    """Return a name as a key of TOML."""
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else json.dumps(name, ensure_ascii=False)


def _literal(text: str) -> str:
    """Return text as a value of TOML: between single quotes if it can be."""
    is_plain = text.isprintable() and "'" not in text
    return f"'{text}'" if is_plain else json.dumps(text, ensure_ascii=False)
