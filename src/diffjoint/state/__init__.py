"""The state of a table's cells, what is known of them, and the space the model sees them in."""

from diffjoint.state.joint import (
    Draws,
    JointSpace,
    JointState,
    Masks,
    one_mask,
)
from diffjoint.state.observation import (
    Observation,
)

__all__ = [
    "Draws",
    "JointSpace",
    "JointState",
    "Masks",
    "Observation",
    "one_mask",
]
