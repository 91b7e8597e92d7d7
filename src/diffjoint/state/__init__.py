"""Represent what is known of a table's cells, and the space that the diffusion model sees."""

from diffjoint.state.joint import Draws, JointSpace, JointState, Masks, one_mask
from diffjoint.state.keys import (
    Keys,
    canonical_order,
    content_keys,
    keyed_uniform,
    mix_columns,
    number_repeats,
    row_keys,
)
from diffjoint.state.observation import Observation
from diffjoint.state.repeats import (
    NOTHING,
    KeyCounts,
    as_part_of_a_table,
    counts_before,
    each_row_by_itself,
)

__all__ = [
    "NOTHING",
    "Draws",
    "JointSpace",
    "JointState",
    "KeyCounts",
    "Keys",
    "Masks",
    "Observation",
    "as_part_of_a_table",
    "canonical_order",
    "content_keys",
    "counts_before",
    "each_row_by_itself",
    "keyed_uniform",
    "mix_columns",
    "number_repeats",
    "one_mask",
    "row_keys",
]
