"""Columns that are carried along though someone may want them filled: a word on each."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

import narwhals as nw
import pandas as pd

from diffjoint.errors import InputError
from diffjoint.table.frame import Table, objects
from diffjoint.table.schema import Kind, Schema

MOST_NAMED = 10


def check_observed(table: Table, named: Mapping[str, Iterable[Hashable]]) -> None:
    """Raise if a column that an option names has no cell to learn from.

    Parameters
    ----------
    named : mapping
        Options, and the labels that each of them names. Labels of no column are not judged here.
    """
    for option, labels in named.items():
        for label in labels:
            position = table.position(label)
            if position is not None and table.missing(position).all():
                raise InputError(
                    f"{option} names {label!r}, which must have at least one observed cell; all of "
                    "its cells are missing, so there is nothing to learn from. Leave it out of "
                    f"{option}: then the column is carried along as it is."
                )


def doubts_on_carried(
    table: Table, schema: Schema, column_kinds: Mapping[Hashable, str] | None = None
) -> tuple[str, ...]:
    """A word on columns that no one asked to carry along: without a value, or of dates as objects.

    Examples
    --------
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"age": [31, 40], "born": [date(1993, 5, 1), None]}))
    >>> doubts_on_carried(table, infer_schema(table))[0].split(". ")[0]
    "'born' holds dates as Python objects, so that it is carried along and not filled"
    """
    asked = {table.position(label) for label in column_kinds or {}}
    carried = [
        position
        for position, column in enumerate(schema.columns)
        if column.kind is Kind.PASS_THROUGH and position not in asked
    ]
    empty = [position for position in carried if table.missing(position).all()]
    return (
        *_on_empty([table.names[position] for position in empty]),
        *(
            doubt
            for position in carried
            if position not in empty
            for doubt in _on_dates(table.column(position), table.labels[position])
        ),
    )


def _on_empty(names: list[str]) -> Iterator[str]:
    if not names:
        return
    more, shown = len(names) - MOST_NAMED, [repr(name) for name in names[:MOST_NAMED]]
    listed = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    kinds = ", ".join(f"{name}: 'pass-through'" for name in shown) + (", ..." if more > 0 else "")
    as_is, it = ("as it is", "it") if len(names) == 1 else ("as they are", "them")
    yield (
        f"No cell of {listed} holds a value, so that there is nothing to learn from: carried along "
        f"{as_is}. Drop {it}, or say that this is meant: column_kinds={{{kinds}}}."
    )


def _on_dates(series: nw.Series[Any], label: Hashable) -> Iterator[str]:
    """What to do about dates that pandas holds in a dtype which is not one of datetimes."""
    if isinstance(getattr(series.to_native(), "dtype", None), pd.PeriodDtype):
        what, how = "periods", f"X[{label!r}].dt.to_timestamp()"
    elif series.dtype == nw.Object and any(isinstance(cell, date) for cell in objects(series)):
        what, how = "dates as Python objects", f"pd.to_datetime(X[{label!r}])"
    else:
        return
    yield (
        f"{label!r} holds {what}, so that it is carried along and not filled. Convert it first, "
        f"X[{label!r}] = {how}, or say that this is meant: column_kinds={{{label!r}: "
        "'pass-through'}."
    )
