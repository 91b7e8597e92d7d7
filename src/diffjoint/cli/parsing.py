"""What the texts of options mean. Nothing is loaded to find that out."""

import re
from collections.abc import Sequence
from typing import Any

from diffjoint._extras import need_torch
from diffjoint._numbers import number_of
from diffjoint.cli.options.learning import Known, Method
from diffjoint.errors import InputError
from diffjoint.io.rule_files import join_rules, read_rule_file
from diffjoint.parameters.checks import check_choice
from diffjoint.parameters.choices import REASONS
from diffjoint.settings import (
    DETECTOR_NAMES,
    PRESETS,
    settings_for,
    settings_types,
)


def parse_rate(text: str) -> float:
    """Read a loss rate."""
    rate = number_of(text.strip())
    if rate is None:
        raise InputError(
            f"--loss-rate takes a rate such as 0.1, or a column and its rate such as income=0.1; "
            f"got {text!r}.",
            parameter="loss_rate",
        )
    return rate


def parse_rules(rules: list[str] | None) -> dict[str, str] | None:
    """Read rules by column."""
    read: dict[str, str] = {}
    for text in rules or []:
        column, rule = split_column(text)
        if not column:
            raise InputError(
                "--rule takes a column, a colon and its condition, such as 'spouse_age: married "
                f'== "yes"\'; got {text!r}.',
                parameter="rules",
            )
        if column in read:
            raise InputError(
                f"--rule is given twice for {column!r}. Join the two by and, or by or.",
                parameter="rules",
            )
        read[column] = rule
    return read or None


def rules_of(known: Known) -> dict[str, str] | None:
    """Read the rules given one by one, and those of a file."""
    given = parse_rules(known.rules)
    return (
        given
        if known.rule_file is None
        else join_rules(given or {}, read_rule_file(known.rule_file))
    )


def parse_codes(codes: Sequence[str] | None) -> dict[str, Any] | None:
    """Codes by column; those without a column, which hold in all, beside them."""
    read: dict[str, Any] = {}
    for text in codes or []:
        column, pair = split_column(text)
        code, reason = split_pair("--code", pair)
        check_choice(f"The reason in --code {text!r}", reason.strip(), REASONS)
        place = read.setdefault(column, {}) if column else read
        place[code.strip()] = reason.strip()
    return read or None


def parse_bounds(texts: list[str] | None) -> dict[str, tuple[Any, Any]] | None:
    """Limits by column; an empty side is open."""
    read = {}
    for text in texts or []:
        name, limits = split_pair("--bounds", text)
        low, colon, high = limits.partition(":")
        if not colon:
            raise InputError(
                f"--bounds takes a column and its limits, such as age=0:120, age=0: or age=:120; "
                f"got {text!r}.",
                parameter="bounds",
            )
        sides = [parse_value(side.strip()) if side.strip() else None for side in (low, high)]
        read[name] = (sides[0], sides[1])
    return read or None


def split_column(text: str) -> tuple[str, str]:
    """Return what stands before and after the first colon; a name with a colon is in backticks."""
    quoted = re.fullmatch(r"\s*`([^`]*)`\s*:(.*)", text, re.DOTALL)
    column, colon, rest = (quoted[1], ":", quoted[2]) if quoted else text.partition(":")
    return (column.strip(), rest.strip()) if colon else ("", text.strip())


def parse_setting(text: str) -> tuple[str, Any]:
    """Read a setting of the method and its value."""
    name, value = split_pair("--set", text)
    kinds = settings_types()
    if name not in kinds:
        raise InputError(f"--set names {name!r}; there is {', '.join(kinds)}.")
    return name, parse_value(value)


def parse_value(text: str) -> Any:
    """Read a truth value or a number; what is neither stays text."""
    words: dict[str, bool] = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    number = number_of(text.strip())
    return text if number is None else number


def split_pair(option: str, text: str) -> tuple[str, str]:
    """Split NAME=VALUE at its last equals sign."""
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{option} takes NAME=VALUE; got {text!r}.")
    return name, value


def parse_kinds(kinds: list[str] | None) -> dict[str, str]:
    """Read kinds by column."""
    return dict(split_pair("--kind", text) for text in kinds or [])


def parse_settings(method: Method) -> dict[str, Any]:
    """Read the settings that were given one by one."""
    return dict(parse_setting(text) for text in method.settings or [])


def check_method(method: Method) -> None:
    """Raise, before anything is read, if a preset, detector or setting does not exist.

    So it does for one that needs torch where there is none.
    """
    check_choice("preset", method.preset, tuple(PRESETS))
    check_choice("detector", method.detector, DETECTOR_NAMES)
    parse_settings(method)
    if not needs_no_draws(method):
        asks = "--detector paper, --preset paper, --set sampler=inpaint"
        need_torch(f"Drawing by the diffusion model ({asks})")


def needs_no_draws(method: Method) -> bool:
    """Whether values and calls are told of each row by itself, without draws."""
    chosen = settings_for(method.preset, **parse_settings(method))
    return method.detector != "paper" and chosen.is_amortised


def check_checkable(method: Method) -> None:
    """Find out now, not after the work, that there are no values to check."""
    if not needs_no_draws(method):
        raise InputError(
            "--self-check is for values that need no draws. --detector paper, --preset paper and "
            "--set sampler=inpaint draw them: leave out one or the other.",
            parameter="self_check",
        )
