"""Tables at the door: kinds, coding, model space, and dtypes back as they came. No torch."""

from diffjoint.table.bounds import number_for, with_bounds
from diffjoint.table.decode import decode, fill_column, fill_constant, on_grid
from diffjoint.table.encode import code_table, coordinates, encode
from diffjoint.table.frame import (
    Table,
    cells_of,
    check_mapping,
    is_date,
    iso_microseconds,
    microseconds,
    numbers,
    objects,
    open_table,
    with_cells,
    with_microseconds,
    without_cells,
)
from diffjoint.table.pass_through import (
    check_observed,
    check_unticked,
    doubts_on_carried,
    doubts_on_kept,
    scarce_columns,
)
from diffjoint.table.ranks import from_scores, to_scores
from diffjoint.table.schema import (
    FEWEST_OBSERVED,
    MAX_LEVELS,
    NOT_TICKED,
    TICKED,
    UNTICKED,
    Checkboxes,
    Column,
    Kind,
    Schema,
    infer_kind,
    infer_schema,
)
from diffjoint.table.text import is_number_text

__all__ = [
    "FEWEST_OBSERVED",
    "MAX_LEVELS",
    "NOT_TICKED",
    "TICKED",
    "UNTICKED",
    "Checkboxes",
    "Column",
    "Kind",
    "Schema",
    "Table",
    "cells_of",
    "check_mapping",
    "check_observed",
    "check_unticked",
    "code_table",
    "coordinates",
    "decode",
    "doubts_on_carried",
    "doubts_on_kept",
    "encode",
    "fill_column",
    "fill_constant",
    "from_scores",
    "infer_kind",
    "infer_schema",
    "is_date",
    "is_number_text",
    "iso_microseconds",
    "microseconds",
    "number_for",
    "numbers",
    "objects",
    "on_grid",
    "open_table",
    "scarce_columns",
    "to_scores",
    "with_bounds",
    "with_cells",
    "with_microseconds",
    "without_cells",
]
