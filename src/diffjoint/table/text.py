"""Decide whether text is a number: the one definition for files, reason codes and inspection."""

import re

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
