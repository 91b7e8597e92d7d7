"""Decide whether text is a number: the one definition for files, reason codes and inspection."""

import re

_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def is_number_text(text: str) -> bool:
    """Return whether text is a decimal number, and nothing else.

    Stricter than ``float``: text with leading zeros ("007") is an identifier, and underscores
    ("1_000"), thousands separators, spaces, "nan" and "inf" make text, too.

    Examples
    --------
    >>> texts = ["-7", "2.50", "1e3", "007", "1_000", "1,000", "inf"]
    >>> [text for text in texts if is_number_text(text)]
    ['-7', '2.50', '1e3']
    """
    return _NUMBER.fullmatch(text) is not None


def with_point(text: str) -> str:
    """Return a number with a decimal comma as one with a point; "" if it has points elsewhere.

    Examples
    --------
    >>> [with_point(text) for text in ["-7,25", "1.234,5", "1.5", "12"]]
    ['-7.25', '1234.5', '', '12']
    """
    if "." in text:
        if not _GROUPED.fullmatch(text):
            return ""
        text = text.replace(".", "")
    return text.replace(",", ".")


def is_comma_number(text: str) -> bool:
    """Return whether text is a number with a decimal comma, or a whole one.

    Examples
    --------
    >>> [text for text in ["7,25", "12", "1.5", "1,2,3"] if is_comma_number(text)]
    ['7,25', '12']
    """
    return is_number_text(with_point(text))
