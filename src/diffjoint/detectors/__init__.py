"""Detectors: how meaningful missing cells are told from lost ones.

A detector looks at a table before anything is drawn. It returns a belief about the mask, or None if
it has none yet: then the draws themselves decide, as in the paper.

Each is a file here that is called as the detector is and ends with its ``DETECTOR``. A new one is
such a file, and its name in :data:`diffjoint.parameters.choices.DetectorName`.
"""

from importlib import import_module

from diffjoint.detectors.belief import Belief, Detector
from diffjoint.detectors.evidence import EvidenceBelief, learn_evidence
from diffjoint.evidence import LossRate
from diffjoint.settings import DETECTOR_NAMES

__all__ = ["Belief", "Detector", "EvidenceBelief", "LossRate", "learn_evidence", "load_detector"]


def load_detector(name: str) -> Detector:
    """Return the detector of that name."""
    if name not in DETECTOR_NAMES:
        raise ValueError(f"there is no detector {name!r}")
    found: Detector = import_module(f"diffjoint.detectors.{name}").DETECTOR
    return found
