"""Draw first values for missing cells, each given what is observed and drawn before it."""

import numpy as np

from diffjoint._types import Mask, Places, Values
from diffjoint.values.boosted import Expectation


def start_in_turn(
    expectation: Expectation, values: Values, meaningful: Mask, order: Places, uniform: Values
) -> Values:
    """Return values with every missing cell drawn once, by the models of what is filled in.

    These use missing cells as they are, so that the first cell of a row can be drawn as well as the
    last. Meaningful cells stay missing for all others.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        Coded cells, NaN where missing.
    uniform : array of the same shape
    """
    seen, drawn = values.copy(), values.copy()
    columns = expectation.space.schema.modelled
    for j in order.tolist():
        rows = np.flatnonzero(np.isnan(values[:, j]))
        if len(rows):
            cells = expectation.columns[j].draw_cells(seen[rows], columns[j], uniform[rows, j])
            drawn[rows, j] = cells
            seen[rows, j] = np.where(meaningful[rows, j], np.nan, cells)
    return drawn
