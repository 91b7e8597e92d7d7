"""Read ``mm_fill`` and ``mm_label``: what stands for meaningful cells, and what they mean."""

from collections.abc import Mapping
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
    places = _places("mm_fill", mm_fill, table, space, were_found=were_found)
    positions = space.schema.modelled_positions
    return {
        j: _constant(
            space.schema.modelled[j], table.column(int(positions[j])), label, mm_fill[label]
        )
        for j, label in places.items()
    }


def read_meanings(
    mm_label: Any, table: Table, space: JointSpace, *, were_found: bool
) -> dict[int, str]:
    """Check ``mm_label`` and return what the user says that meaningful cells of columns mean.

    Parameters
    ----------
    mm_label : str or mapping
        Column labels to texts; one text for all columns says nothing of any of them.
    were_found : bool
        As in :func:`read_constants`.

    Returns
    -------
    dict
        By position among the modelled columns.
    """
    check("mm_label", mm_label)
    if isinstance(mm_label, str):
        return {}
    places = _places("mm_label", mm_label, table, space, were_found=were_found)
    return {j: mm_label[label] for j, label in places.items()}


def _places(
    parameter: str, given: Mapping[Any, Any], table: Table, space: JointSpace, *, were_found: bool
) -> dict[int, Any]:
    """Return the labels that a parameter names, by position among the modelled columns."""
    modelled = space.schema.modelled_positions.tolist()
    places = {}
    for label in given:
        position = table.require(label, parameter)
        place = modelled.index(position) if position in modelled else None
        if place in space.can_be_meaningful:
            places[place] = label
        elif not were_found:
            searched = ", ".join(space.schema.modelled[j].name for j in space.mm) or "none"
            raise InputError(
                f"{option(parameter)} names {label!r}, which is not among {option('mm_columns')} "
                f"({searched}): it has no meaningful cell to fill. Add it there, or leave it out.",
                parameter=parameter,
            )
    return places


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
