"""Find levels in several spellings, and dates that are stored as text."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from diffjoint.table import Column, Schema, Table, cells_of, objects

_YEAR = r"(?:1[5-9]|2[01])\d\d"
_DATE = re.compile(rf"\d{{1,2}}([/.-])\d{{1,2}}\1{_YEAR}|{_YEAR}([/.-])\d{{1,2}}\2\d{{1,2}}")
DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "dd/mm/yyyy", "mm/dd/yyyy", "yyyy/mm/dd"
_FORMATS = {DAY_FIRST: "%d/%m/%Y", MONTH_FIRST: "%m/%d/%Y", YEAR_FIRST: "%Y/%m/%d"}
ISO = "%Y-%m-%d"
MOSTLY_DATES = 0.9
"""Share of cells that look like dates from which a column counts as one of dates."""
FIRST_LOOK = 200
"""Number of cells to look at before all are."""


@dataclass(frozen=True)
class Variants:
    """Levels of a column that differ only in capitals and spaces.

    Attributes
    ----------
    column : str
    spellings : tuple of str
        Those without spaces around them first, then the most frequent.
    n_cells : tuple of int
        Number of cells that hold each of them.
    advice : str
        What to do.
    """

    column: str
    spellings: tuple[str, ...]
    n_cells: tuple[int, ...]
    advice: str


@dataclass(frozen=True)
class TextDates:
    """A column of text that looks like dates but is not read as dates.

    Attributes
    ----------
    column : str
    form : str
        Format, such as "dd.mm.yyyy"; two formats where cells fit both or are mixed.
    example : str
        The most frequent date.
    n_cells : int
        Number of cells that look like dates.
    share : float
        Share of the observed cells that look like dates.
    advice : str
        What to do.
    """

    column: str
    form: str
    example: str
    n_cells: int
    share: float
    advice: str


def find_variants(table: Table, schema: Schema) -> list[Variants]:
    """Find levels that differ only in capitals and spaces, column by column.

    Examples
    --------
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"sex": ["Female", "male", "female ", "Female"]}))
    >>> [(found.spellings, found.n_cells) for found in find_variants(table, infer_schema(table))]
    [(('Female', 'female '), (2, 1))]
    """
    return [
        found
        for position, column in enumerate(schema.columns)
        for found in _variants_of(table.column(position), column)
    ]


def _variants_of(series: nw.Series[Any], column: Column) -> Iterator[Variants]:
    alike: dict[str, list[str]] = {}
    for level in column.levels:
        if isinstance(level, str):
            alike.setdefault(" ".join(level.split()).casefold(), []).append(level)
    groups = [levels for levels in alike.values() if len(levels) > 1]
    counts = Counter(objects(series)) if groups else Counter()
    for levels in groups:
        ordered = sorted(levels, key=lambda level: (level != level.strip(), -counts[level], level))
        yield Variants(
            column.name,
            tuple(ordered),
            tuple(counts[level] for level in ordered),
            f"Each is a separate level. If they mean the same, write {ordered[0]!r} in all of "
            "their cells.",
        )


def find_text_dates(
    table: Table, schema: Schema, column_kinds: Mapping[Hashable, str] | None = None
) -> list[TextDates]:
    """Find columns of text that look like dates, except those whose kind was given.

    Examples
    --------
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"seen": ["31.12.2023", "01.02.2024", None]}))
    >>> [(found.form, found.n_cells) for found in find_text_dates(table, infer_schema(table))]
    [('dd.mm.yyyy', 2)]
    """
    given = {table.position(label) for label in column_kinds or {}}
    texts = (nw.String, nw.Object, nw.Categorical, nw.Enum)
    found = (
        _dates_of(table, position)
        for position, column in enumerate(schema.columns)
        if position not in given
        and (column.is_categorical or not column.is_modelled)
        and table.column(position).dtype in texts
    )
    return [dates for dates in found if dates is not None]


def _dates_of(table: Table, position: int) -> TextDates | None:
    series, name = table.column(position), table.names[position]
    there = np.flatnonzero(~table.missing(position))
    first = cells_of(series, there[:FIRST_LOOK])
    n_alike = sum(_looks_like_a_date(cell) for cell in first)
    if n_alike == 0 or n_alike < MOSTLY_DATES * len(first):
        return None
    texts = Counter(cell for cell in objects(series) if isinstance(cell, str))
    counts = pd.Series({text: n for text, n in texts.items() if _looks_like_a_date(text)})
    example = str(counts.idxmax())
    mark = next(char for char in example if char in "/.-")
    form, n_cells = _form(counts, mark)
    if n_cells < MOSTLY_DATES * len(there):
        return None
    form = form.replace("/", mark)
    advice = _advice(form, table.labels[position], mark)
    return TextDates(name, form, example, n_cells, n_cells / len(there), advice)


def _looks_like_a_date(cell: Any) -> bool:
    return isinstance(cell, str) and _DATE.fullmatch(cell.strip()) is not None


def _form(counts: pd.Series, mark: str) -> tuple[str, int]:
    """Return the format of texts that look like dates, and the number of cells that have it.

    Where day and month cannot be told apart, both formats are named. Dates with dots are an
    exception: they have the day first.
    """
    slashed = counts.index.str.strip().str.replace(r"[.-]", "/", regex=True)
    fits = {
        form: np.asarray(pd.to_datetime(slashed, format=written, errors="coerce").notna())
        for form, written in _FORMATS.items()
    }
    by_day, by_month, by_year = (int(counts[fit].sum()) for fit in fits.values())
    either = int(counts[fits[DAY_FIRST] | fits[MONTH_FIRST]].sum())
    if by_year > either:
        return YEAR_FIRST, by_year
    if by_day == by_month == either and mark != ".":
        return f"{DAY_FIRST} or {MONTH_FIRST}", either
    if max(by_day, by_month) < MOSTLY_DATES * either:
        return f"{DAY_FIRST} and {MONTH_FIRST}", either
    return (DAY_FIRST, by_day) if by_day >= by_month else (MONTH_FIRST, by_month)


def _advice(form: str, label: Hashable, mark: str) -> str:
    iso = "Write them like 2024-03-31 in all cells"
    if " or " in form:
        return f"Find out whether day or month comes first. {iso}."
    if " and " in form:
        return f"Both orders occur: find out which is meant in which cells. {iso}."
    written = _FORMATS[form.replace(mark, "/")].replace("/", mark)
    convert = f"pd.to_datetime(X[{label!r}], format={written!r})"
    if written == ISO:
        return f"Convert them: {convert}."
    return f"{iso}, or convert them: {convert}."
