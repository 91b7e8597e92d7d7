"""What arrays of cells are called."""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""Which cells are something: True or False for each."""
Values = NDArray[np.float64]
"""Coded cells, or what is said of each in a number."""
Places = NDArray[np.int64]
"""Positions of rows or columns."""
