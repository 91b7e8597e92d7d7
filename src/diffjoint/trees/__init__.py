"""Boosted trees as plain arrays, and the columns that they see."""

from diffjoint.trees.boosted import (
    Arrays,
    Trees,
    apart,
    constant,
    end_to_end,
    grow,
    mean_of,
    pack_trees,
    unpack_trees,
)
from diffjoint.trees.parallel import MANY_ROWS, MOST_AT_ONCE, side_by_side
from diffjoint.trees.screen import (
    WHAT_IT_HOLDS,
    WHO_IS_MISSING,
    Most,
    Screen,
    open_screen,
)

__all__ = [
    "MANY_ROWS",
    "MOST_AT_ONCE",
    "WHAT_IT_HOLDS",
    "WHO_IS_MISSING",
    "Arrays",
    "Most",
    "Screen",
    "Trees",
    "apart",
    "constant",
    "end_to_end",
    "grow",
    "mean_of",
    "open_screen",
    "pack_trees",
    "side_by_side",
    "unpack_trees",
]
