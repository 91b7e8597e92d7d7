"""Record the progress of a run, pass by pass."""

from typing import Any

import numpy as np

from diffjoint.diffusion.algorithm1 import Pass
from diffjoint.state import JointSpace, Observation

JUMP = 1.5
"""A loss so many times that of the pass before is reported."""
FEWEST_ROWS = 50
"""Rows below which the loss of a pass is mostly chance, and no jump is reported."""


def history_entry(
    done: Pass, last: Pass | None, observation: Observation, space: JointSpace
) -> dict[str, Any]:
    """Return the record of one pass."""
    candidates = observation.candidates
    called = done.aggregated.state.meaningful[candidates]
    before = last.aggregated.state.meaningful[candidates] if last else np.zeros_like(called)
    return {
        "iteration": done.iteration + 1,
        "loss": done.loss,
        "n_epochs": done.n_epochs,
        "meaningful_share": float(called.mean()) if len(called) else 0.0,
        "changed_share": float((called != before).mean()) if len(called) else 0.0,
        "value_change": _value_change(done, last, observation, space) if last else None,
    }


def loss_jump(history: list[dict[str, Any]], n_rows: int) -> str | None:
    """Return a doubt if the loss of the last pass is far above that of the pass before.

    Examples
    --------
    >>> loss_jump([{"iteration": 1, "loss": 0.2}, {"iteration": 2, "loss": 0.25}], 800)
    >>> loss_jump([{"iteration": 1, "loss": 0.2}, {"iteration": 2, "loss": 0.5}], 800)[:45]
    'The training loss rose from 0.2 in pass 1 to '
    """
    if len(history) < 2 or n_rows < FEWEST_ROWS:
        return None
    before, last = history[-2:]
    if not last["loss"] > JUMP * before["loss"]:
        return None
    return (
        f"The training loss rose from {before['loss']:.3g} in pass {before['iteration']} to "
        f"{last['loss']:.3g} in pass {last['iteration']}: what was drawn in between is harder to "
        "learn than what was drawn before it, and a draw may have run away. Look at history_, and "
        "compare with another random_state."
    )


def _value_change(done: Pass, last: Pass, observation: Observation, space: JointSpace) -> float:
    """Return the RMS change of imputed cells: in standard deviations, or 1 for a new level."""
    squares = []
    for j, column in enumerate(space.schema.modelled):
        missing = ~observation.observed[:, j]
        change = (done.aggregated.values - last.aggregated.values)[missing, j]
        squares.append((change != 0) if column.is_categorical else column.standardised(change) ** 2)
    together = np.concatenate(squares)
    return float(np.sqrt(together.mean())) if len(together) else 0.0
