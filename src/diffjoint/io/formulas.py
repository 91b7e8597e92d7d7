"""Text that a spreadsheet would run as a formula, guarded in lists that people open there."""

import re
from typing import Any

import narwhals as nw

from diffjoint._numbers import is_number_text

_FORMULA = re.compile(r"'*(?:[\s\x00-\x1f\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
"""Also in full width, and after white space, as some spreadsheets take it. Apostrophes before it
count, so that taking one off gives back what was there."""


def guarded(table: Any) -> Any:
    """Return a table with an apostrophe before each text that a spreadsheet takes for a formula.

    Text that is a number, such as -5, and cells that are no text stay as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> guarded(pd.DataFrame({"imputed": ["=1+1", "-5", "yes"]}))["imputed"].tolist()
    ["'=1+1", '-5', 'yes']
    """
    frame = nw.from_native(table, eager_only=True)
    changed = []
    for name in frame.columns:
        cells = frame[name].to_list()
        guards = [guard(cell) for cell in cells]
        if guards != cells:
            changed.append(
                nw.new_series(name, guards, frame[name].dtype, backend=frame.implementation)
            )
    return frame.with_columns(*changed).to_native() if changed else table


def guard(cell: Any) -> Any:
    """Return a cell, with an apostrophe before it if a spreadsheet would run it."""
    runs = isinstance(cell, str) and _FORMULA.match(cell) and not is_number_text(cell)
    return f"'{cell}" if runs else cell


def unguard(cell: Any) -> Any:
    """Return a cell without the apostrophe that :func:`guard` put before it.

    Examples
    --------
    >>> unguard(guard("@home")), unguard("'quoted'")
    ('@home', "'quoted'")
    """
    is_guarded = isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell)
    return cell[1:] if is_guarded else cell
