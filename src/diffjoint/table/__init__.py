"""Tables at the door: kinds, coding, model space, and dtypes back as they came. No torch."""

from diffjoint.table.decode import decode, fill_column, on_grid
from diffjoint.table.encode import code_table, coordinates, encode
from diffjoint.table.frame import Table, cells_of, open_table, with_cells
from diffjoint.table.schema import Column, Kind, Schema, infer_kind, infer_schema

__all__ = [
    "Column",
    "Kind",
    "Schema",
    "Table",
    "cells_of",
    "code_table",
    "coordinates",
    "decode",
    "encode",
    "fill_column",
    "infer_kind",
    "infer_schema",
    "on_grid",
    "open_table",
    "with_cells",
]
