"""Grow boosted trees, keep them as plain arrays, and choose the columns that they see."""

from diffjoint.trees.boosted import (
    Arrays,
    Trees,
    constant,
    join_arrays,
    mean_of,
    pack_trees,
    split_arrays,
    unpack_trees,
)
from diffjoint.trees.growing import Features, grow
from diffjoint.trees.parallel import MANY_ROWS, MOST_AT_ONCE, side_by_side
from diffjoint.trees.screen import (
    MISSINGNESS_INPUTS,
    VALUE_INPUTS,
    InputLimits,
    Screen,
    open_screen,
)
from diffjoint.trees.stored import check_trees, stored, stored_lengths

__all__ = [
    "MANY_ROWS",
    "MISSINGNESS_INPUTS",
    "MOST_AT_ONCE",
    "VALUE_INPUTS",
    "Arrays",
    "Features",
    "InputLimits",
    "Screen",
    "Trees",
    "check_trees",
    "constant",
    "grow",
    "join_arrays",
    "mean_of",
    "open_screen",
    "pack_trees",
    "side_by_side",
    "split_arrays",
    "stored",
    "stored_lengths",
    "unpack_trees",
]
