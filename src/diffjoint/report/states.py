"""What became of each cell of a table."""

import numpy as np
from numpy.typing import NDArray

from diffjoint.report.findings import Findings

OBSERVED, IMPUTED, KEPT, LEFT = range(4)
"""States of a cell. LEFT: missing, in a column that is passed through."""

States = NDArray[np.int8]


def cell_states(findings: Findings) -> States:
    """Return the state of every cell of the table, shape (n_rows, n_columns)."""
    table, schema = findings.table, findings.schema
    states = np.zeros((table.n_rows, table.n_columns), dtype=np.int8)
    for position, column in enumerate(schema.columns):
        if not column.is_modelled:
            states[:, position] = LEFT * table.missing(position)
    states[:, schema.modelled_positions] = np.where(
        findings.is_missing, np.where(findings.called, KEPT, IMPUTED), OBSERVED
    )
    return states
