"""Set bounds on the values that are filled into a column."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from numbers import Real
from typing import Any

import numpy as np

from diffjoint.errors import InputError, option
from diffjoint.parameters.checks import check
from diffjoint.table.frame import Table, iso_microseconds
from diffjoint.table.schema import Column, Kind, Schema, column_numbers

EXAMPLE = "{'age': (0, 120)}"


def with_bounds(schema: Schema, table: Table, bounds: Any) -> Schema:
    """Return the schema with bounds; raise if an observed cell lies outside of them.

    Parameters
    ----------
    bounds : mapping or None
        Pairs of a lowest and a highest value by column label; None leaves a side open.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"age": [31.5, 40.0, None]}))
    >>> column = with_bounds(infer_schema(table), table, {"age": (0, None)}).columns[0]
    >>> column.lowest, column.highest
    (0.0, None)
    """
    if bounds is None:
        return schema
    check("bounds", bounds)
    columns = list(schema.columns)
    for label, pair in bounds.items():
        position = table.require(label, "bounds")
        columns[position] = _bounded(columns[position], label, pair)
        _check_observed(columns[position], table, position)
    return Schema(tuple(columns))


def number_for(column: Column, value: Any, where: str, parameter: str) -> float:
    """Return a number or date that the user wrote as a coded value of a column.

    Parameters
    ----------
    where, parameter : str
        What an error calls the value, and the parameter that it is in.
    """
    if column.kind is Kind.DATETIME:
        text = value.isoformat() if isinstance(value, date) else value
        coded = iso_microseconds(text) if isinstance(text, str) else None
        if coded is None:
            raise InputError(
                f"{where} must be a date such as '2024-01-31'; got {value!r}, and "
                f"'{column.name}' holds dates.",
                parameter=parameter,
            )
        return coded
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not math.isfinite(value):
        raise InputError(
            f"{where} must be a finite number; got {value!r}, and '{column.name}' is "
            f"{column.kind} ({column.in_words()}).",
            parameter=parameter,
        )
    return float(value)


def _bounded(column: Column, label: Any, pair: Any) -> Column:
    where = f"{option('bounds')}[{label!r}]"
    if column.is_categorical or not column.is_modelled:
        raise InputError(
            f"{option('bounds')} is for numbers and dates; '{column.name}' is {column.kind} "
            f"({column.in_words()}). Leave it out, or set its kind in {option('column_kinds')}.",
            parameter="bounds",
        )
    if isinstance(pair, str | Mapping) or not np.iterable(pair) or len(list(pair)) != 2:
        raise InputError(
            f"{where} must be a pair, lowest and highest, with None for an open side; got "
            f"{pair!r}. Pass a dict such as {EXAMPLE}.",
            parameter="bounds",
        )
    low, high = (
        None if side is None else number_for(column, side, where, "bounds") for side in pair
    )
    if column.step:
        low = None if low is None else math.ceil(low / column.step) * column.step
        high = None if high is None else math.floor(high / column.step) * column.step
    if low is not None and high is not None and low > high:
        raise InputError(
            f"{where} leaves no value: its lowest lies above its highest; got {pair!r}.",
            parameter="bounds",
        )
    return replace(column, lowest=low, highest=high)


def _check_observed(column: Column, table: Table, position: int) -> None:
    """Raise if observed cells lie outside the bounds: then one of the two is wrong."""
    wrong = InputError(
        f"'{column.name}' must hold numbers or dates to have bounds.", parameter="bounds"
    )
    observed = column_numbers(table.column(position), column.name, column.kind, wrong)
    below = int((observed < (-np.inf if column.lowest is None else column.lowest)).sum())
    above = int((observed > (np.inf if column.highest is None else column.highest)).sum())
    if below or above:
        raise InputError(
            f"The bounds of '{column.name}' do not hold for what is observed: {below:,} cells lie "
            f"below and {above:,} above; it holds {column.in_words()}. Widen the bounds, or make "
            "those cells missing if they are errors.",
            parameter="bounds",
        )
