"""Decimal numbers of databases, held as others are while a table is completed."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

_MOST_DIGITS = 15
"""Of a decimal number that a float holds, so that it comes back digit by digit."""


def as_numbers(table: pa.Table) -> tuple[pa.Table, dict[str, pa.DataType]]:
    """Return a table with floats in place of decimals that they can hold, and what those were.

    Examples
    --------
    >>> from decimal import Decimal
    >>> table, types = as_numbers(pa.table({"price": [Decimal("1.50"), None]}))
    >>> table["price"].to_pylist(), types
    ([1.5, None], {'price': Decimal128Type(decimal128(3, 2))})
    >>> as_decimals(table, types)["price"].to_pylist()
    [Decimal('1.50'), None]
    """
    types = {
        field.name: field.type
        for field in table.schema
        if pa.types.is_decimal(field.type) and _fits(table[field.name])
    }
    for name in types:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(pa.float64()))
    return table, types


def as_decimals(table: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return a table with its decimals; what was filled in is rounded to their digits."""
    for name, kind in types.items():
        place = table.schema.get_field_index(name)
        if place < 0 or not pa.types.is_floating(table.schema.field(place).type):
            continue
        rounded = pc.round(table[name], ndigits=kind.scale)
        table = table.set_column(place, name, rounded.cast(kind))
    return table


def _fits(column: pa.ChunkedArray) -> bool:
    """Whether a float holds each number so that its digits can be told again."""
    kind = column.type
    if kind.precision <= _MOST_DIGITS:
        return True
    back = column.cast(pa.float64())
    try:
        again = pc.round(back, ndigits=kind.scale).cast(kind)
    except pa.ArrowInvalid:
        return False
    return bool(again.equals(column))
