"""Record the progress of a run, pass by pass."""

from typing import Any

import numpy as np

from diffjoint.diffusion.algorithm1 import Pass
from diffjoint.state import JointSpace, Observation


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


def _value_change(done: Pass, last: Pass, observation: Observation, space: JointSpace) -> float:
    """Return the RMS change of imputed cells: in standard deviations, or 1 for a new level."""
    squares = []
    for j, column in enumerate(space.schema.modelled):
        missing = ~observation.observed[:, j]
        change = (done.aggregated.values - last.aggregated.values)[missing, j]
        squares.append(
            (change != 0) if column.is_categorical else (change / (column.scale or 1.0)) ** 2
        )
    together = np.concatenate(squares)
    return float(np.sqrt(together.mean())) if len(together) else 0.0
