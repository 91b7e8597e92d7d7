"""Tables at the door: kinds, coding, model space, and dtypes back as they came. No torch."""

from diffjoint.table.bounds import number_for, with_bounds
from diffjoint.table.carried import check_observed, doubts_on_carried
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
from diffjoint.table.labels import Labels, open_flags, open_labels
from diffjoint.table.ranks import from_scores, to_scores
from diffjoint.table.reasons import (
    codes_by_column,
    idle_codes,
    matches,
    read_reasons,
    searched_by_codes,
)
from diffjoint.table.schema import Column, Kind, Schema, infer_kind, infer_schema

__all__ = [
    "Column",
    "Kind",
    "Labels",
    "Schema",
    "Table",
    "cells_of",
    "check_mapping",
    "check_observed",
    "code_table",
    "codes_by_column",
    "coordinates",
    "decode",
    "doubts_on_carried",
    "encode",
    "fill_column",
    "fill_constant",
    "from_scores",
    "idle_codes",
    "infer_kind",
    "infer_schema",
    "is_date",
    "iso_microseconds",
    "matches",
    "microseconds",
    "number_for",
    "numbers",
    "objects",
    "on_grid",
    "open_flags",
    "open_labels",
    "open_table",
    "read_reasons",
    "searched_by_codes",
    "to_scores",
    "with_bounds",
    "with_cells",
    "with_microseconds",
    "without_cells",
]
