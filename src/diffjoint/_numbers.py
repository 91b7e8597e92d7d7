"""Decide whether text is a number: the one definition for files, options, codes and inspection."""

import re

_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,299})")
"""Longer numbers are read as floats: Python refuses to read very long ones as whole."""


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


def number_of(text: str) -> int | float | None:
    """Return the number that text is, see :func:`is_number_text`; None if it is none.

    Examples
    --------
    >>> [number_of(text) for text in ["-7", "7.0", "1e3", "007"]]
    [-7, 7.0, 1000.0, None]
    """
    whole = whole_number_of(text)
    if whole is not None:
        return whole
    return float(text) if is_number_text(text) else None


def whole_number_of(text: str) -> int | None:
    """Return the number that text without a decimal point is; None for other text.

    Examples
    --------
    >>> [whole_number_of(text) for text in ["-7", "7.0", "007"]]
    [-7, None, None]
    """
    return int(text) if _WHOLE.fullmatch(text) else None
