"""Represent what is known of a table's cells, and the space that the diffusion model sees."""

from diffjoint.state.joint import Draws, JointSpace, JointState, Masks, one_mask
from diffjoint.state.keys import (
    canonical_order,
    content_keys,
    keyed_uniform,
    number_repeats,
    row_keys,
)
from diffjoint.state.observation import Observation

__all__ = [
    "Draws",
    "JointSpace",
    "JointState",
    "Masks",
    "Observation",
    "canonical_order",
    "content_keys",
    "keyed_uniform",
    "number_repeats",
    "one_mask",
    "row_keys",
]
