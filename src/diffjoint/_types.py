"""What arrays of cells are called, and what parameters that are words can be."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""Which cells are something: True or False for each."""
Values = NDArray[np.float64]
"""Coded cells, or what is said of each in a number."""
Places = NDArray[np.int64]
"""Positions of rows or columns."""

Band = tuple[float, float]
"""A lower and an upper probability."""
PresetName = Literal["fast", "balanced", "paper"]
DetectorName = Literal["evidence", "paper"]
Sampler = Literal["amortised", "inpaint"]
Fusion = Literal["or", "and", "uncertainty", "vote"]
IntegerSummary = Literal["mean", "mode"]
Unseen = Literal["error", "missing", "keep"]
MMOutput = Literal["na", "category", "indicator"]
Checkboxes = Literal["keep", "fill"]
