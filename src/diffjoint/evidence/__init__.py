"""Learn from which cells are missing together, and beside what, which are meaningful."""

from diffjoint.evidence.candidates import FALSE_FIND_RATE, TOO_FEW, Candidate, find_candidates
from diffjoint.evidence.detector import Evidence, n_folds_alone, n_folds_in_turn
from diffjoint.evidence.explain import CellReasons, explain_cells
from diffjoint.evidence.folds import NEW, Judged
from diffjoint.evidence.in_turn import learn_in_turn
from diffjoint.evidence.learning import at_loss_rate, fit_evidence
from diffjoint.evidence.packing import pack, unpack
from diffjoint.evidence.search_table import LossRate

__all__ = [
    "FALSE_FIND_RATE",
    "NEW",
    "TOO_FEW",
    "Candidate",
    "CellReasons",
    "Evidence",
    "Judged",
    "LossRate",
    "at_loss_rate",
    "explain_cells",
    "find_candidates",
    "fit_evidence",
    "learn_in_turn",
    "n_folds_alone",
    "n_folds_in_turn",
    "pack",
    "unpack",
]
