"""Read codes in the data that say why a cell is missing, such as "refused" or -7."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from diffjoint._numbers import is_number_text
from diffjoint._types import Mask
from diffjoint.errors import InputError, option
from diffjoint.knowledge.labels import Labels
from diffjoint.parameters.checks import check
from diffjoint.parameters.choices import REASONS
from diffjoint.table.frame import (
    Table,
    is_date,
    iso_microseconds,
    microseconds,
    numbers,
    objects,
    with_new_types,
    without_cells,
)
from diffjoint.table.pass_through import how_to_model, why_passed_through
from diffjoint.table.schema import MAX_EXACT_INTEGER, Column, Kind, Schema

INFINITE = ("inf", "-inf")
"""Spellings of infinite numbers in codes."""
_WORDS = {
    "meaningful": re.compile(
        r"\b(in-?applicable|not applicable|iap|not in universe|niu|does(n't| not) apply"
        r"|(legitimate|valid|logical|structural) skip)\b",
        re.IGNORECASE,
    ),
    "lost": re.compile(
        r"\b(refus(ed|al|es)|do(n't| not) know|no answer|not answered|not ascertained|declined"
        r"|prefer(s|red)? not to|illegible|interview broken off)\b",
        re.IGNORECASE,
    ),
}
"""Words that say why a cell is missing. Others, such as NA, have two meanings."""


def reason_in_words(text: str) -> str | None:
    """Return the reason that words give, such as the label of a code, if they give one alone.

    Examples
    --------
    >>> [reason_in_words(text) for text in ("Refused", "Not applicable", "NA")]
    ['lost', 'meaningful', None]
    """
    found = [why for why, words in _WORDS.items() if words.search(text)]
    return found[0] if len(found) == 1 else None


def read_reasons(
    table: Table, reason_codes: Any, schema: Schema | None = None
) -> tuple[Table, Labels]:
    """Read codes as missing cells; return the table without them, and the labels they give.

    Parameters
    ----------
    reason_codes : mapping or None
        "meaningful", "lost" or "missing" (nobody knows why) by code, by column label. A code at
        the top level, in place of a label, applies to all columns.
    schema : Schema, optional
        The columns, once they are known. Columns that are passed through keep their codes.

    Examples
    --------
    >>> from diffjoint.table import open_table
    >>> raw = pd.DataFrame({"income": ["1200", "refused", "900"], "hours": [-1, 40, 35]})
    >>> codes = {"refused": "lost", "hours": {-1: "meaningful"}}
    >>> table, labels = read_reasons(open_table(raw), codes)
    >>> table.frame.to_native()
       income  hours
    0    1200   <NA>
    1    <NA>     40
    2     900     35
    >>> labels.meaningful.any(axis=0).tolist(), labels.lost.any(axis=0).tolist()
    ([False, True], [True, False])
    """
    shape = (table.n_rows, table.n_columns)
    labels = Labels(np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
    changed, may_stay = [], False
    for position, codes in enumerate(codes_by_column(table, reason_codes, schema)):
        if codes and (schema is None or schema.columns[position].is_modelled):
            series = table.column(position)
            cells = _coded_cells(series, codes)
            labels.meaningful[:, position] = cells["meaningful"]
            labels.lost[:, position] = cells["lost"]
            coded = np.logical_or.reduce(list(cells.values()))
            may_stay |= bool((cells["meaningful"] | cells["missing"]).any())
            column = schema.columns[position] if schema is not None else None
            series = _without(series, coded, column, in_array=table.is_array)
            changed.append(series.alias(table.names[position]))
    if not changed:
        return table, labels
    array_dtype = table.array_dtype
    if array_dtype is not None and array_dtype.kind in "iu" and may_stay:
        array_dtype = np.dtype(np.float64)
    frame = with_new_types(table.frame, changed)
    return replace(table, frame=frame, array_dtype=array_dtype), labels


def codes_by_column(
    table: Table, reason_codes: Any, schema: Schema | None = None
) -> list[dict[Any, str]]:
    """Return what each code means, for every column; its own codes override those for all."""
    if reason_codes is None:
        return [{}] * table.n_columns
    check("reason_codes", reason_codes)
    of_all = {k: v for k, v in reason_codes.items() if not isinstance(v, Mapping)}
    _check_codes(of_all, option("reason_codes"))
    for label, why in of_all.items():
        if label in table.names:
            raise InputError(
                f"{option('reason_codes')} says of the column {label!r} that it is {why!r}; say so "
                f"of its codes: {option('reason_codes', {label: {'refused': why}})}.",
                parameter="reason_codes",
            )
    codes = [dict(of_all) for _ in range(table.n_columns)]
    for label, own in reason_codes.items():
        if isinstance(own, Mapping):
            position = table.require(label, "reason_codes")
            says_why = any(why != "missing" for why in own.values())
            if schema is not None and says_why and not schema.columns[position].is_modelled:
                column = table.column(position)
                raise InputError(
                    f"{option('reason_codes')} names {label!r}, which is passed through unmodelled "
                    f"({why_passed_through(column)}). Leave it out, or "
                    f"{how_to_model(column, label)}.",
                    parameter="reason_codes",
                )
            _check_codes(own, f"{option('reason_codes')}[{label!r}]")
            meant = {_key(code) for code in own}
            others = {code: why for code, why in of_all.items() if _key(code) not in meant}
            codes[position] = {**others, **own}
    return codes


def matches(codes: Mapping[Any, str], cells: list[Any]) -> dict[Any, str]:
    """Return those distinct values of some cells that are codes, with their meaning.

    A number in text equals the number: -7, -7.0 and "-7" are the same code.

    Examples
    --------
    >>> matches({-7: "lost", "none": "meaningful"}, ["-7", "3", "none", -7.0])
    {'-7': 'lost', 'none': 'meaningful', -7.0: 'lost'}
    """
    meaning = {_key(code): why for code, why in codes.items()}
    distinct = dict.fromkeys(cell for cell in cells if cell is not None)
    return {cell: meaning[_key(cell)] for cell in distinct if _key(cell) in meaning}


def _check_codes(codes: Mapping[Any, Any], where: str) -> None:
    for code, why in codes.items():
        if why not in REASONS:
            raise InputError(
                f"{where} must say 'meaningful', 'lost' or 'missing' of each code; of {code!r} it "
                f"says {why!r}. To give codes of one column, pass a dict for that column.",
                parameter="reason_codes",
            )
        is_code = isinstance(code, str | Real) and not isinstance(code, bool)
        if not is_code or (isinstance(code, Real) and math.isnan(code)):
            raise InputError(
                f"{where} must have text or numbers for codes; got {code!r}. Cells that are "
                "simply missing need no code.",
                parameter="reason_codes",
            )


def _key(value: Any) -> Any:
    """Return a key that all spellings of a code share."""
    if isinstance(value, str):
        return float(value) if is_number_text(value) or value in INFINITE else value
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    return (type(value).__name__, str(value))


def _coded_cells(series: nw.Series[Any], codes: dict[Any, str]) -> dict[str, Mask]:
    """Return the cells with codes, by what the codes say."""
    if series.dtype.is_numeric() or is_date(series):
        held = microseconds(series) if is_date(series) else numbers(series)
        of_dates = is_date(series)
        found = {why: np.zeros(len(held), dtype=bool) for why in REASONS}
        for code, why in codes.items():
            wanted = iso_microseconds(str(code)) if of_dates else _key(code)
            if isinstance(wanted, float):
                found[why] |= held == wanted
        return found
    cells = objects(series)
    meaning = matches(codes, cells)
    whys = [meaning.get(cell) for cell in cells] if meaning else []
    return {
        reason: np.array([why == reason for why in whys] or [False] * len(cells), dtype=bool)
        for reason in REASONS
    }


def _without(
    series: nw.Series[Any], coded: Mask, column: Column | None, *, in_array: bool
) -> nw.Series[Any]:
    """Return a column with its codes set to missing, as numbers if it holds nothing else.

    Parameters
    ----------
    column : Column or None
        The column's description, if it is known.
    in_array : bool
        Whether it belongs to an array; these have no dtype for integers with missing cells.
    """
    rows = np.flatnonzero(coded)
    if series.dtype in (nw.String, nw.Object):
        numbers_left = _numbers_left(series, coded)
        wanted = len(rows) > 0 if column is None else _holds_numbers(column)
        if wanted and numbers_left is not None and (column or set(numbers_left) != {None}):
            return _as_numbers(series, numbers_left, column, in_array=in_array)
    series = _nullable(series, "float64" if in_array else None) if len(rows) else series
    return without_cells(series, rows)


def _numbers_left(series: nw.Series[Any], coded: Mask) -> list[float | None] | None:
    """Return the numbers that the text other than codes stands for; None if some is no number."""
    cells = [None if gone else cell for cell, gone in zip(objects(series), coded, strict=True)]
    keys = {cell: _key(cell) for cell in set(cells) if cell is not None}
    if any(not isinstance(key, float) or math.isinf(key) for key in keys.values()):
        return None
    return [None if cell is None else keys[cell] for cell in cells]


def _holds_numbers(column: Column) -> bool:
    if column.is_categorical:
        return not any(isinstance(level, str | bool) for level in column.levels)
    return column.kind is not Kind.DATETIME


def _as_numbers(
    series: nw.Series[Any], held: list[float | None], column: Column | None, *, in_array: bool
) -> nw.Series[Any]:
    there = [number for number in held if number is not None]
    whole = all(number.is_integer() and abs(number) < MAX_EXACT_INTEGER for number in there)
    if column is not None:
        whole &= column.kind is not Kind.CONTINUOUS
        whole &= all(isinstance(level, int) for level in column.levels)
    cells = [None if n is None else int(n) if whole else n for n in held]
    if series.implementation.is_pandas_like():
        dtype: Any = object if in_array else "Int64" if whole else "float64"
        native = pd.Series(cells, index=series.to_native().index, dtype=dtype, name=series.name)
        return nw.from_native(native, series_only=True)
    polars_like = nw.Int64() if whole else nw.Float64()
    return nw.new_series(series.name, cells, polars_like, backend=series.implementation)


def _nullable(series: nw.Series[Any], dtype: str | None) -> nw.Series[Any]:
    """Return a NumPy-backed integer column in a dtype that allows missing cells."""
    native = series.to_native()
    old = getattr(native, "dtype", None)
    if not isinstance(old, np.dtype) or old.kind not in "iu":
        return series
    new = dtype or old.name.replace("int", "Int").replace("uI", "UI")
    return nw.from_native(native.astype(new), series_only=True)


def unused_code_doubts(table: Table, reason_codes: Any) -> tuple[str, ...]:
    """Return doubts about columns, or the whole table, in which none of their codes occurs.

    Single codes of a list may well not occur; if none does, they may be misspelt.
    """
    doubts = []
    of_all = {k: v for k, v in (reason_codes or {}).items() if not isinstance(v, Mapping)}
    everywhere = range(table.n_columns)
    if of_all and not any(_occurs(table, position, of_all) for position in everywhere):
        doubts.append(f"{', '.join(map(repr, of_all))} in any column")
    for label, own in (reason_codes or {}).items():
        if isinstance(own, Mapping) and not _occurs(
            table, table.require(label, "reason_codes"), dict(own)
        ):
            doubts.append(f"{', '.join(map(repr, own))} in {label!r}")
    return tuple(
        f"{option('reason_codes')}: no cell holds {doubt}. Check how they are spelt."
        for doubt in doubts
    )


def _occurs(table: Table, position: int, codes: dict[Any, str]) -> bool:
    return any(cells.any() for cells in _coded_cells(table.column(position), codes).values())


def columns_named_by_codes(table: Table, reason_codes: Any) -> list[int]:
    """Return the positions of columns for which codes for "meaningful" are given."""
    return [
        table.require(label, "reason_codes")
        for label, codes in (reason_codes or {}).items()
        if isinstance(codes, Mapping) and "meaningful" in codes.values()
    ]


def columns_searched_by_codes(table: Table, reason_codes: Any, labels: Labels) -> list[int]:
    """Return the positions of columns with codes for "meaningful": given for them, or found."""
    named = columns_named_by_codes(table, reason_codes)
    return sorted({*named, *np.flatnonzero(labels.meaningful.any(axis=0)).tolist()})
