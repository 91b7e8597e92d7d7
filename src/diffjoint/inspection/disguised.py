"""Find values that may stand for a missing cell, such as -99, "N/A", "unknown" or 1900-01-01."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint._numbers import is_number_text
from diffjoint.table import (
    Table,
    is_date,
    iso_microseconds,
    microseconds,
    numbers,
    objects,
)

Numbers = NDArray[np.float64]

NEGATIVE_CODES = [-1, -2, -3, -4, -5, -6, -7, -8, -9, -77, -88, -97, -98, -99]
NEGATIVE_CODES += [-777, -888, -997, -998, -999, -7777, -8888, -9998, -9999, -99999, -999999]
COUNTED_DOWN = [-4, -3, -2, -1]
"""A column that holds all of these goes below zero by itself, as degrees do."""
SMALL_CODES = [7, 8, 9]
"""Suspected only in columns with few other values, all of them well below."""
LARGE_CODES = [77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999]
LARGE_CODES += [99999, 999999, 9999999, 99999999]
TEXT_CODES = ["", "-", "--", "---", ".", "..", "...", "?", "??", "???", "*", "xxx", "dk", "unk"]
TEXT_CODES += ["n/a", "n.a.", "n.a", "na", "#n/a", "<na>", "nan", "null", "nil", "none", "missing"]
TEXT_CODES += ["unknown", "not known", "not available", "not applicable", "inapplicable", "blank"]
TEXT_CODES += ["not stated", "not specified", "unspecified", "undefined", "no answer", "no data"]
TEXT_CODES += ["no response", "refused", "don't know", "dont know", "tbd", "tba", "empty"]
TEXT_CODES += ["(blank)", "(empty)", "(none)", "(null)", "01/01/1900", "1/1/1900", "01.01.1900"]
TEXT_CODES += ["1.1.1900", "01/01/1970", "1/1/1970", "01.01.1970", "1.1.1970"]
DATE_CODES = ["0001-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01", "1960-01-01"]
DATE_CODES += ["1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31"]
FEW_LEVELS = 10
"""Largest number of distinct values at which ``SMALL_CODES`` are considered."""
SPIKE = 5.0
"""How many times as often as its neighbours a code at the edge of the other values must occur."""
FEWEST_IN_SPIKE = 10
"""Smallest number of cells that such a code must have."""
MOSTLY_NUMBERS = 0.9
"""Share of numbers from which a column of text counts as one of numbers."""
MOST_STRAY_WORDS = 3
"""Largest number of distinct words among numbers that are suspected."""
DAY = 86_400e6
YEAR = 365.25 * DAY
"""In microseconds."""


@dataclass(frozen=True)
class Suspicion:
    """A value that may stand for a missing cell.

    Attributes
    ----------
    column : str
    value : str
        The value as text.
    n_cells : int
        Number of cells that hold it.
    share : float
        Share of the observed cells that hold it.
    first_row : int
        Position of the first row that holds it.
    why : str
        Reason for the suspicion.
    """

    column: str
    value: str
    n_cells: int
    share: float
    first_row: int
    why: str


def find_disguised(table: Table) -> list[Suspicion]:
    """Find values in all columns that look as if they stood for a missing cell.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import open_table
    >>> raw = pd.DataFrame({"age": [31, 45, -99, 52, 28, -99], "town": ["Ulm", "?"] * 3})
    >>> for found in find_disguised(open_table(raw)):
    ...     print(found.column, found.value, found.n_cells, found.why)
    age -99 2 negative, where all other values are not
    town ? 3 text that often stands for a missing cell
    """
    return [
        found
        for position, name in enumerate(table.names)
        for found in _find_in_column(table.column(position), name)
    ]


def suspected_everywhere(table: Table, suspected: Sequence[Suspicion]) -> tuple[str, ...]:
    """Return the values that are suspected in each column that holds them.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import open_table
    >>> raw = pd.DataFrame({"age": [31, -9, -9], "frost": [-9, -4, 3], "pay": [900, -8, -8]})
    >>> suspected_everywhere(open_table(raw), find_disguised(open_table(raw)))
    ('-8',)
    """
    pairs = {(one.column, one.value) for one in suspected}
    values = dict.fromkeys(one.value for one in suspected)
    held = {
        (name, value)
        for position, name in enumerate(table.names)
        for value in _held(table.column(position), values)
    }
    return tuple(value for value in values if not any(v == value for _, v in held - pairs))


def _held(series: nw.Series[Any], values: Iterable[str]) -> set[str]:
    """Return which values, as text, a column holds."""
    if series.dtype.is_numeric():
        there = {*np.unique(numbers(series)).tolist()}
        return {value for value in values if is_number_text(value) and float(value) in there}
    texts = {str(cell) for cell in objects(series)} if not is_date(series) else set()
    return {value for value in values if value in texts}


def _find_in_column(series: nw.Series[Any], name: str) -> Iterator[Suspicion]:
    if is_date(series):
        yield from _among_dates(microseconds(series, on_the_wall=True), name)
    elif series.dtype.is_numeric():
        yield from _among_numbers(numbers(series), name)
    elif series.dtype in (nw.String, nw.Object, nw.Categorical, nw.Enum):
        yield from _among_words(objects(series), name)


def _among_numbers(column: Numbers, name: str) -> Iterator[Suspicion]:
    observed = column[np.isfinite(column)]
    values, counts = np.unique(observed, return_counts=True)
    codes = np.isin(values, [*NEGATIVE_CODES, *LARGE_CODES])
    if np.isin(COUNTED_DOWN, values).all():
        codes &= values >= 0
    few = len(values) <= FEW_LEVELS
    if few:
        codes |= np.isin(values, SMALL_CODES)
    rest, rest_counts = values[~codes], counts[~codes]
    if not len(rest):
        return
    for value, count in zip(values[codes].tolist(), counts[codes].tolist(), strict=True):
        why = _why_suspected(value, count, rest, rest_counts, few)
        if why:
            first = int(np.flatnonzero(column == value)[0])
            yield Suspicion(name, str(int(value)), count, count / len(observed), first, why)


def _why_suspected(
    value: float, count: int, rest: Numbers, counts: NDArray[np.int64], few: bool
) -> str | None:
    """Say how a code differs from the other values; None if it does not."""
    low, high = float(rest[0]), float(rest[-1])
    if value < 0 <= low:
        is_enough = count > 1 or value < -9
        return "negative, where all other values are not" if is_enough else None
    away = max(low - value, value - high)
    width = max(high - low, 1.0)
    if value in SMALL_CODES:
        is_apart = few and value > 0 and away >= max(width, 2) and count > 1
    else:
        is_apart = away >= width / 2 and (count > 1 or away >= 2 * width)
    if is_apart:
        return f"far from all other values, which lie between {low:g} and {high:g}"
    if value not in SMALL_CODES and abs(value) >= 77 and count >= FEWEST_IN_SPIKE:
        near = counts[np.argsort(np.abs(rest - value), kind="stable")[:5]]
        if away > 0 and count >= SPIKE * near.mean():
            return "at the edge, and far more frequent than the values next to it"
    return None


def _among_dates(stamps: Numbers, name: str) -> Iterator[Suspicion]:
    observed = stamps[~np.isnan(stamps)]
    days = np.floor(observed / DAY) * DAY
    codes = {text: iso_microseconds(text) or 0.0 for text in DATE_CODES}
    rest = days[~np.isin(days, list(codes.values()))]
    if not len(rest):
        return
    usual = len(rest) / len(np.unique(rest))
    for text, code in codes.items():
        count = int((days == code).sum())
        if not count:
            continue
        away = max(rest.min() - code, code - rest.max())
        why = None
        if away >= YEAR:
            why = "more than a year away from all other dates"
        elif count >= max(3, SPIKE * usual):
            why = "a common placeholder date, far more frequent than other dates"
        if why:
            first = int(np.flatnonzero(np.floor(stamps / DAY) * DAY == code)[0])
            yield Suspicion(name, text, count, count / len(observed), first, why)


def _among_words(cells: list[Any], name: str) -> Iterator[Suspicion]:
    counts = Counter(cell for cell in cells if isinstance(cell, str))
    total = sum(cell is not None for cell in cells)
    not_numbers = [text for text in counts if not _is_finite_number(text)]
    words = [text for text in not_numbers if not _is_infinite(text)]
    n_words = sum(counts[text] for text in words)
    are_numbers = total > 0 and n_words < (1 - MOSTLY_NUMBERS) * total
    stray = are_numbers and len(words) <= MOST_STRAY_WORDS
    yield from _codes_among_words(cells, counts, n_words, total, name)
    for text in sorted(not_numbers):
        usual = text.strip().lower() in TEXT_CODES
        infinite = are_numbers and _is_infinite(text)
        if usual or stray or infinite:
            why = "text that often stands for a missing cell" if usual else "text"
            why = "infinite" if infinite else why
            why += ", in a column of numbers" if are_numbers else ""
            count = counts[text]
            yield Suspicion(name, text, count, count / total, cells.index(text), why)


def _codes_among_words(
    cells: list[Any], counts: Counter[str], n_words: int, total: int, name: str
) -> Iterator[Suspicion]:
    """Yield negative numbers in a column of words, if they are usual codes."""
    codes = [text for text in counts if _is_finite_number(text) and float(text) in NEGATIVE_CODES]
    n_cells = sum(counts[text] for text in codes)
    if n_cells < 2 or n_words + n_cells < total:
        return  # other numbers stand there, too
    for text in sorted(codes, key=float):
        why = "a negative number, in a column of words"
        yield Suspicion(name, text, counts[text], counts[text] / total, cells.index(text), why)


def _is_infinite(text: str) -> bool:
    return text.strip().lower().lstrip("+-") in ("inf", "infinity")


def _is_finite_number(text: str) -> bool:
    return is_number_text(text.strip()) and bool(np.isfinite(float(text)))
