"""Open tables, infer what their columns are, convert to model space and back. No torch."""

from diffjoint.table.bounds import number_for, with_bounds
from diffjoint.table.decode import (
    decode,
    fill_column,
    fill_constant,
    from_standard_units,
    on_grid,
)
from diffjoint.table.dummies import dummy_levels, from_dummies, to_dummies
from diffjoint.table.encode import code_table, coordinates, encode, to_standard_units
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
    pass_through_doubts,
    scarce_columns,
    unjudged_doubts,
)
from diffjoint.table.ranks import from_scores, to_scores
from diffjoint.table.schema import (
    FEWEST_OBSERVED,
    MAX_LEVELS,
    NOT_TICKED,
    TICKED,
    UNTICKED,
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
    "dummy_levels",
    "encode",
    "fill_column",
    "fill_constant",
    "from_dummies",
    "from_scores",
    "from_standard_units",
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
    "pass_through_doubts",
    "scarce_columns",
    "to_dummies",
    "to_scores",
    "to_standard_units",
    "unjudged_doubts",
    "with_bounds",
    "with_cells",
    "with_microseconds",
    "without_cells",
]
