"""What parameters that are words can be. Nothing is loaded for it."""

from typing import Literal

Band = tuple[float, float]
"""A lower and an upper probability."""
PresetName = Literal["fast", "balanced", "paper"]
DetectorName = Literal["evidence", "paper"]
Sampler = Literal["amortised", "inpaint"]
Fusion = Literal["or", "and", "uncertainty", "vote"]
IntegerSummary = Literal["mean", "mode"]
FirstFill = Literal["any", "mean"]
Unseen = Literal["warn", "keep", "missing", "error"]
MMOutput = Literal["na", "category", "indicator"]
Checkboxes = Literal["keep", "fill"]
DrawsName = Literal["trees", "diffusion"]
REASONS = ("meaningful", "lost", "missing")
"""What a code can say: why its cell is missing, or only that it is."""
