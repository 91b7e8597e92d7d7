"""Boosted trees as plain arrays, and the columns that they see."""

from diffjoint.trees.boosted import (
    MANY_ROWS,
    MOST_AT_ONCE,
    Arrays,
    Trees,
    apart,
    constant,
    end_to_end,
    grow,
    mean_of,
    pack_trees,
    side_by_side,
    unpack_trees,
)
from diffjoint.trees.screen import (
    WHAT_IT_HOLDS,
    WHO_IS_MISSING,
    Most,
    Screen,
    open_screen,
)
from diffjoint.trees.stored import check_trees, stored, stored_lengths

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
    "check_trees",
    "constant",
    "end_to_end",
    "grow",
    "mean_of",
    "open_screen",
    "pack_trees",
    "side_by_side",
    "stored",
    "stored_lengths",
    "unpack_trees",
]
