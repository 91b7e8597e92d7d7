"""Put what was inferred into the table: lost cells filled, meaningful ones as asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from diffjoint._choices import MMOutput
from diffjoint._types import Mask, Values
from diffjoint.errors import InputError
from diffjoint.state import JointSpace
from diffjoint.table import (
    TICKED,
    Schema,
    Table,
    fill_column,
    fill_constant,
    with_cells,
    without_cells,
)


def complete(
    table: Table,
    space: JointSpace,
    values: Values,
    meaningful: Mask,
    gaps: Mask,
    mm_output: MMOutput,
    mm_label: str,
    constants: Mapping[int, Any] = MappingProxyType({}),
) -> Any:
    """The table with its gaps filled or kept; nothing else is touched.

    Parameters
    ----------
    values, meaningful, gaps : arrays of shape (n_rows, n_modelled)
        Coded values, calls, and which cells are to be filled or kept at all.
    constants : mapping
        What meaningful cells of some columns get, by position among the modelled ones.
    """
    schema = space.schema
    labelled, indicated = _mm_places(space, mm_output)
    columns = {}
    for j, position in enumerate(schema.modelled_positions):
        kept = gaps[:, j] & meaningful[:, j] & (j not in indicated or j in constants)
        fill = np.flatnonzero(gaps[:, j] & ~kept)
        series, column = table.column(position), schema.columns[position]
        codes = np.full(len(fill), TICKED) if column.is_checkbox else values[fill, j]
        series = fill_column(series, column, fill, codes)
        if j in constants:
            rows = np.flatnonzero(kept)
            series = fill_constant(series, column, rows, constants[j])
        else:
            occupied = kept if j in labelled else kept & ~table.missing(position)
            rows = np.flatnonzero(occupied)
            if j in labelled:
                series = with_cells(series, rows, [mm_label] * len(rows))
            elif len(rows):
                series = without_cells(series, rows)
        columns[int(position)] = series
    completed = table.rebuilt(columns)
    if not indicated:
        return completed
    names = indicator_names(space, mm_output)
    return table.beside(completed, table.like(meaningful[:, indicated], names))


def indicator_names(space: JointSpace, mm_output: MMOutput) -> list[str]:
    """Columns that ``mm_output`` adds."""
    _, indicated = _mm_places(space, mm_output)
    return [f"{space.schema.modelled[j].name}_meaningful" for j in indicated]


def check_output(space: JointSpace, mm_output: MMOutput, mm_label: str) -> None:
    """Raise if the output asked for would clash with what the table holds."""
    for j in _mm_places(space, mm_output)[0]:
        column = space.schema.modelled[j]
        if mm_label in column.levels:
            raise InputError(
                f"mm_label is {mm_label!r}, which '{column.name}' already has as a level. "
                "Choose another mm_label."
            )
    taken = {column.name for column in space.schema.columns}
    for name in indicator_names(space, mm_output):
        if name in taken:
            raise InputError(
                f"mm_output={mm_output!r} adds a column {name!r}, which X already has. Rename "
                "it in X."
            )


def spread(cells: Values | Mask, table: Table, schema: Schema) -> Any:
    """Cells of the modelled columns in the shape of the whole table; zero elsewhere."""
    whole = np.zeros((table.n_rows, table.n_columns), dtype=cells.dtype)
    whole[:, schema.modelled_positions] = cells
    return whole


def _mm_places(space: JointSpace, mm_output: MMOutput) -> tuple[list[int], list[int]]:
    """Columns whose meaningful cells get a level, and those that get an indicator."""
    if mm_output == "na":
        return [], []
    columns, kept = space.schema.modelled, space.kept
    is_text = {j: all(isinstance(v, str) for v in columns[j].levels) for j in kept}
    labelled = [
        j for j in kept if mm_output == "category" and columns[j].is_categorical and is_text[j]
    ]
    return labelled, [j for j in kept if j not in labelled]
