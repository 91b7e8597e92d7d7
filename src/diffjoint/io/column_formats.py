"""Find out what the text of a column holds, and write other values in the same format."""

import math
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._numbers import is_comma_number, is_number_text, with_point
from diffjoint.table import MAX_LEVELS, Kind, Schema

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S.%f",
)


@dataclass(frozen=True)
class ColumnFormat:
    """Format of a text column: what its cells stand for, and how other values are written.

    Attributes
    ----------
    holds : {"text", "whole", "number", "date"}
        What the cells stand for.
    date_format : str
        How dates are written, in the codes of ``strftime``.
    n_decimals : int or None
        Decimals of numbers; None: as many as six significant digits take.
    has_codes : bool
        Whether the column holds reason codes; it then stays text.
    has_commas : bool
        Whether numbers have a decimal comma.
    """

    holds: Literal["text", "whole", "number", "date"]
    date_format: str = ""
    n_decimals: int | None = None
    has_codes: bool = False
    has_commas: bool = False

    def parse(
        self, text: pd.Series, missing: NDArray[np.bool_], coded: NDArray[np.bool_]
    ) -> pd.Series:
        """Convert cells of text to what they stand for; codes stay."""
        if self.has_commas:
            text = text.where(missing | coded, text.map(with_point))
        if self.holds == "text" or self.has_codes:
            return text.mask(missing)
        if self.holds == "date":
            dates = pd.to_datetime(text[~missing], format=self.date_format, errors="coerce")
            return dates.reindex(text.index).astype("datetime64[us]")
        there = text.mask(missing)
        numbers = pd.to_numeric(there)
        if numbers.dtype == object:  # digits beyond any number's range: infinite, as 1e999 is
            numbers = there.map(float, na_action="ignore")
        return numbers.astype("Int64" if self.holds == "whole" else "float64")

    def write(self, value: Any) -> str:
        """Return a value as text in the format of the column."""
        if self.holds == "text":
            return str(value)
        if self.holds == "whole":
            return str(int(value))
        if self.holds == "date":
            return str(value.strftime(self.date_format))
        number = f"{float(value):{'.6g' if self.n_decimals is None else f'.{self.n_decimals}f'}}"
        return number.replace(".", ",") if self.has_commas else number


class ColumnScan:
    """Look through a column's text, some rows at a time, to find its format.

    Parameters
    ----------
    kind : {"number", "date", "text"} or None
        What the column is known to hold.
    may_have_commas : bool
        Whether numbers may have a decimal comma.
    """

    def __init__(self, kind: str | None, *, may_have_commas: bool = False) -> None:
        self.kind = kind
        self.is_whole = self.is_number = self.is_empty = True
        self.is_comma_number, self.has_commas = may_have_commas, False
        self.has_exponents = self.has_codes = False
        self.n_decimals = 0
        self.date_formats: tuple[str, ...] = _DATE_FORMATS if kind != "number" else ()
        self.is_counting, self.last_count = True, float("nan")
        self.levels: dict[str, int] = {}
        self.ends: dict[str, tuple[Any, int]] = {}

    def check_counting(self, column: pd.Series, *, is_complete: bool) -> None:
        """Check whether the column still counts its rows: whole numbers, each one more."""
        self.is_counting = self.is_counting and is_complete and all(map(_is_whole, column))
        if self.is_counting and len(column):
            counts = column.to_numpy(dtype=np.float64)
            before = counts[0] - 1 if math.isnan(self.last_count) else self.last_count
            self.is_counting = bool((np.diff(counts, prepend=before) == 1).all())
            self.last_count = float(counts[-1])

    def add(self, texts: list[str], rows: Sequence[int], *, has_codes: bool) -> None:
        """Add some distinct texts and the rows that they stand in."""
        for text, row in zip(texts, rows, strict=True):
            if len(self.levels) > MAX_LEVELS:
                break
            self.levels.setdefault(text, row)
        self.has_codes |= has_codes
        self.is_empty &= not texts
        if self.kind == "text" or not texts:
            return
        self.is_whole = self.is_whole and all(map(_is_whole, texts))
        self.is_number = self.is_number and all(map(is_number_text, texts))
        self.is_comma_number = self.is_comma_number and all(map(is_comma_number, texts))
        self.has_commas |= self.is_comma_number and any("," in text for text in texts)
        by_comma = self.is_comma_number and self.has_commas
        plain = list(map(with_point, texts)) if by_comma else texts
        if self.is_number or self.is_whole or by_comma:
            self.has_exponents |= any("e" in text or "E" in text for text in texts)
            self.n_decimals = max(self.n_decimals, *(len(text.partition(".")[2]) for text in plain))
        self.date_formats = tuple(form for form in self.date_formats if _are_dates(texts, form))
        if self.is_number or self.is_whole or by_comma:
            self._keep_ends([float(text) for text in plain], rows)
        elif self.date_formats:
            self._keep_ends(texts, rows)

    def merged(self, other: "ColumnScan") -> "ColumnScan":
        """Return what both saw of the format of a column, as where a table has several files."""
        both = copy(self)
        for name in ("is_whole", "is_number", "is_empty", "is_comma_number"):
            setattr(both, name, getattr(self, name) and getattr(other, name))
        for name in ("has_commas", "has_exponents", "has_codes"):
            setattr(both, name, getattr(self, name) or getattr(other, name))
        both.n_decimals = max(self.n_decimals, other.n_decimals)
        both.date_formats = tuple(form for form in self.date_formats if form in other.date_formats)
        return both

    def _keep_ends(self, values: Sequence[Any], rows: Sequence[int]) -> None:
        """Keep the rows of the lowest and the highest value, and of one that is not whole."""
        pairs = list(zip(values, rows, strict=True))
        self.ends["low"] = min([*pairs, *self._end("low")])
        self.ends["high"] = max([*pairs, *self._end("high")])
        fractions = [pair for pair in pairs if isinstance(pair[0], float) and pair[0] % 1]
        if fractions:
            self.ends.setdefault("fraction", fractions[0])

    def _end(self, name: str) -> list[tuple[Any, int]]:
        return [self.ends[name]] if name in self.ends else []

    def examples(self) -> list[int]:
        """Return rows that together hold the levels, the lowest and the highest value."""
        return [*self.levels.values(), *(row for _, row in self.ends.values())]

    def choose(self) -> ColumnFormat:
        """Return the format that all texts so far have."""
        of_kind = partial(ColumnFormat, has_codes=self.has_codes)
        if self.kind == "text" or (self.kind is None and self.is_empty):
            return of_kind("text")
        if self.kind is None and self.is_whole:
            return of_kind("whole")
        by_comma = self.is_comma_number and self.has_commas
        is_number = self.is_number or by_comma or (self.kind == "number" and self.is_whole)
        if self.kind != "date" and is_number:
            n_decimals = None if self.is_empty or self.has_exponents else self.n_decimals
            return of_kind("number", n_decimals=n_decimals, has_commas=by_comma)
        return (
            of_kind("date", date_format=self.date_formats[0])
            if self.date_formats
            else of_kind("text")
        )


def known_kind(schema: Schema | None, name: str) -> str | None:
    """Return what a schema says that a column's text stands for; None: find out from the text."""
    column = next((c for c in schema.columns if c.name == name), None) if schema else None
    if column is None:
        return None
    if column.kind is Kind.DATETIME:
        return "date"
    is_text = any(isinstance(level, str) for level in column.levels)
    return "text" if is_text or not column.is_modelled else "number"


def _is_whole(text: str) -> bool:
    return is_number_text(text) and bool(_WHOLE.fullmatch(text))


def _are_dates(texts: list[str], form: str) -> bool:
    """Return whether all texts are dates in one format; the first alone mostly tells."""
    return all(
        bool((pd.to_datetime(some, format=form, errors="coerce").dt.strftime(form) == some).all())
        for some in (pd.Series(texts[:1], dtype=str), pd.Series(texts, dtype=str))
    )
