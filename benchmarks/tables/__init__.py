"""One config per table or figure of the paper, and some beyond it."""

from benchmarks.tables import (
    ablations,
    budgets,
    calibration,
    downstream_tables,
    held_out,
    meaningful,
    method_comparison,
    mimic,
    real_tables,
    reproduced,
    times,
)
from benchmarks.tables.table import FULL, QUICK, Size, Table

__all__ = ["FULL", "QUICK", "TABLES", "Size", "Table"]

TABLES: tuple[Table, ...] = (
    method_comparison.TABLE,
    held_out.TABLE,
    meaningful.RECALL_PRECISION,
    meaningful.ALL_MECHANISMS,
    downstream_tables.NETWORK_TABLE,
    reproduced.TABLE,
    ablations.COMPONENT_TABLE,
    ablations.RULE_TABLE,
    ablations.PASSES,
    mimic.COMPARISON,
    mimic.RECALL_PRECISION,
    downstream_tables.STAYS_TABLE,
    real_tables.TABLE,
    calibration.TABLE,
    times.TABLE,
    budgets.TABLE,
)
"""In the order in which they are run: what takes days comes last."""
