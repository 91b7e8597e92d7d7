"""Read ``mm_fill``: constants for meaningful cells, such as 0 pack years for non-smokers."""

from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from diffjoint.errors import InputError, option
from diffjoint.parameters.checks import check
from diffjoint.state import JointSpace
from diffjoint.table import Column, Kind, Table, number_for


def read_constants(
    mm_fill: Any, table: Table, space: JointSpace, *, were_found: bool
) -> dict[int, Any]:
    """Check ``mm_fill`` and return its values by position among the modelled columns.

    Parameters
    ----------
    mm_fill : mapping or None
        Column labels to values.
    were_found : bool
        Whether the searched columns were found rather than named. A constant for a column that
        was not found is then ignored instead of refused.

    Returns
    -------
    dict
        Coded numbers and dates; levels as they are.
    """
    if mm_fill is None:
        return {}
    check("mm_fill", mm_fill)
    modelled = space.schema.modelled_positions.tolist()
    constants = {}
    for label, value in mm_fill.items():
        position = table.require(label, "mm_fill")
        place = modelled.index(position) if position in modelled else None
        if place in space.can_be_meaningful:
            column = space.schema.columns[position]
            constants[place] = _constant(column, table.column(position), label, value)
        elif not were_found:
            searched = ", ".join(space.schema.modelled[j].name for j in space.mm) or "none"
            raise InputError(
                f"{option('mm_fill')} names {label!r}, which is not among {option('mm_columns')} "
                f"({searched}): it has no meaningful cell to fill. Add it there, or leave it out.",
                parameter="mm_fill",
            )
    return constants


def _constant(column: Column, series: nw.Series[Any], label: Any, value: Any) -> Any:
    where = f"{option('mm_fill')}[{label!r}]"
    if column.is_categorical:
        return _level(column, where, value)
    number = number_for(column, value, where, "mm_fill")
    if column.kind is Kind.DATETIME:
        return number
    needs_whole = column.kind is Kind.INTEGER or series.dtype.is_integer()
    if needs_whole and not number.is_integer():
        raise InputError(
            f"{where} must be a whole number, since '{column.name}' holds those; got {value!r}.",
            parameter="mm_fill",
        )
    if series.dtype.is_integer():
        held = np.iinfo(str(series.dtype).lower())
        if not held.min <= number <= held.max:
            raise InputError(
                f"{where} must fit into the column's dtype, {series.dtype} ({held.min} to "
                f"{held.max}); got {value!r}. Convert the column, or choose another value.",
                parameter="mm_fill",
            )
    return number


def _level(column: Column, where: str, value: Any) -> Any:
    """Return a level of the same type as the column's levels; it may be a new one."""
    kinds = {_type(level) for level in column.levels}
    plain = value.item() if isinstance(value, np.generic) else value
    if _type(plain) in kinds:
        return plain
    if kinds == {"number"} and _type(plain) == "whole number":
        return float(plain)
    raise InputError(
        f"{where} must be a {' or '.join(sorted(kinds))}, as '{column.name}' holds "
        f"({column.in_words()}); got {value!r}.",
        parameter="mm_fill",
    )


def _type(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, Real) and np.isfinite(float(value)):
        return "whole number" if float(value).is_integer() else "number"
    return f"something else ({type(value).__name__})"
