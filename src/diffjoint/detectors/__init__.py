"""Detectors: how meaningful missing cells are told from lost ones.

A detector looks at a table before anything is drawn. It returns a belief about the mask, or None if
it has none yet: then the draws themselves decide, as in the paper.
"""

from collections.abc import Callable, Mapping

from diffjoint._bundles import Arrays
from diffjoint._progress import Progress
from diffjoint.detectors.belief import Belief
from diffjoint.detectors.evidence import EvidenceBelief, learn_evidence
from diffjoint.detectors.paper import by_draws
from diffjoint.evidence import LossRate, unpack
from diffjoint.state import JointSpace, Observation

__all__ = ["DETECTORS", "Belief", "EvidenceBelief", "LossRate", "belief_from", "learn_evidence"]

Detector = Callable[[Observation, JointSpace, LossRate, int, Progress], Belief | None]
DETECTORS: Mapping[str, Detector] = {"evidence": learn_evidence, "paper": by_draws}


def belief_from(arrays: Arrays) -> Belief | None:
    """Return the belief whose arrays these are; None if there are none."""
    return EvidenceBelief(unpack(arrays)) if arrays else None
