"""Write values and names as short text."""

import numpy as np

from diffjoint.results.explain import plain_text
from diffjoint.table import NOT_TICKED, UNTICKED, Column, Kind

LONGEST = 48
"""Default number of characters to which text is shortened."""


def shorten(text: str, most: int = LONGEST) -> str:
    """Write text on one line, and shorten it if it is long.

    Examples
    --------
    >>> shorten("a   long name", 8)
    'a long …'
    """
    plain = " ".join(text.split()) or repr(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def coded_text(column: Column, code: float) -> str:
    """Write a coded value as text: a level, a number or a day.

    Examples
    --------
    >>> coded_text(Column("town", Kind.CATEGORICAL, levels=("Bonn", "Ulm")), 1.0)
    'Ulm'
    >>> coded_text(Column("seen", Kind.DATETIME), 86_400_000_000.0)
    '1970-01-02'
    """
    if column.is_checkbox and code == NOT_TICKED:
        return UNTICKED
    if column.is_categorical:
        return plain_text(column.levels[int(code)])
    if column.kind is Kind.DATETIME:
        return str(np.datetime64(round(code), "us").astype("M8[D]"))
    return plain_text(float(code))
