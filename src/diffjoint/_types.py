"""Name the types of arrays of cells."""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""Boolean mask over cells."""
Values = NDArray[np.float64]
"""Coded values of cells, or another number for each cell."""
Places = NDArray[np.int64]
"""Positions of rows or columns."""
