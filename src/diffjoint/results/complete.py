"""Build the completed table: fill lost cells, and mark meaningful ones as ``mm_output`` says."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.errors import InputError, option
from diffjoint.parameters.choices import MMOutput
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

USUAL_LABEL = "not applicable"
"""What meaningful cells are called unless ``mm_label`` says otherwise."""


def complete(
    table: Table,
    space: JointSpace,
    values: Values,
    meaningful: Mask,
    is_missing: Mask,
    mm_output: MMOutput,
    labels: Mapping[int, str],
    constants: Mapping[int, Any] = MappingProxyType({}),
) -> Any:
    """Return the table with its missing cells filled or kept; observed cells stay as they are.

    Parameters
    ----------
    values, meaningful, is_missing : arrays of shape (n_rows, n_modelled)
        Coded values, calls, and the missing cells, which are the only ones that are written to.
    labels : mapping
        Levels for the meaningful cells of columns that get one, by position among the modelled
        columns.
    constants : mapping
        Values for the meaningful cells of some columns, by position among the modelled columns.
    """
    schema = space.schema
    labelled, indicated = _mm_places(space, mm_output)
    columns = {}
    for j, position in enumerate(schema.modelled_positions):
        kept = is_missing[:, j] & meaningful[:, j] & (j not in indicated or j in constants)
        fill = np.flatnonzero(is_missing[:, j] & ~kept)
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
                series = with_cells(series, rows, [labels[j]] * len(rows))
            elif len(rows):
                series = without_cells(series, rows)
        columns[int(position)] = series
    completed = table.replace_columns(columns)
    if not indicated:
        return completed
    names = indicator_names(space, mm_output)
    return table.append_columns(completed, table.wrap(meaningful[:, indicated], names))


def indicator_names(space: JointSpace, mm_output: MMOutput) -> list[str]:
    """Return the names of the columns that ``mm_output`` adds."""
    _, indicated = _mm_places(space, mm_output)
    return [f"{space.schema.modelled[j].name}_meaningful" for j in indicated]


def labels_for(
    space: JointSpace, mm_output: MMOutput, mm_label: Any, meanings: Mapping[int, str]
) -> dict[int, str]:
    """Return the level for meaningful cells of each column that gets one.

    Parameters
    ----------
    mm_label : str or mapping
        As it was given; a mapping leaves the columns that it does not name with ``USUAL_LABEL``.
    meanings : mapping
        What it says by position, see :func:`diffjoint.results.constants.read_meanings`.
    """
    usual = mm_label if isinstance(mm_label, str) else USUAL_LABEL
    return {j: meanings.get(j, usual) for j in _mm_places(space, mm_output)[0]}


def check_output(
    space: JointSpace, mm_output: MMOutput, mm_label: Any, meanings: Mapping[int, str]
) -> None:
    """Raise an error if ``mm_output`` or a label clashes with a column or level of X.

    Parameters
    ----------
    mm_output, mm_label, meanings
        As in :func:`labels_for`.
    """
    for j, label in labels_for(space, mm_output, mm_label, meanings).items():
        column = space.schema.modelled[j]
        if label in column.levels:
            raise InputError(
                f"{option('mm_label')} is {label!r}, which '{column.name}' already has as a "
                f"level. Choose another {option('mm_label')}.",
                parameter="mm_label",
            )
    taken = {column.name for column in space.schema.columns}
    for name in indicator_names(space, mm_output):
        if name in taken:
            raise InputError(
                f"{option('mm_output', mm_output)} adds a column {name!r}, which the table has "
                "already. Rename it there.",
                parameter="mm_output",
            )


def in_table_shape(cells: Values | Mask, table: Table, schema: Schema) -> Any:
    """Widen an array over the modelled columns to all columns of the table; zero elsewhere."""
    whole = np.zeros((table.n_rows, table.n_columns), dtype=cells.dtype)
    whole[:, schema.modelled_positions] = cells
    return whole


def _mm_places(space: JointSpace, mm_output: MMOutput) -> tuple[list[int], list[int]]:
    """Return the columns whose meaningful cells get a level, and those that get an indicator."""
    if mm_output == "na":
        return [], []
    columns, kept = space.schema.modelled, space.can_be_meaningful
    is_text = {j: all(isinstance(v, str) for v in columns[j].levels) for j in kept}
    labelled = [
        j for j in kept if mm_output == "category" and columns[j].is_categorical and is_text[j]
    ]
    return labelled, [j for j in kept if j not in labelled]
