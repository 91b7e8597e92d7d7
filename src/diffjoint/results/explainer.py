"""Who can explain the calls on a table, if anyone can."""

from diffjoint._types import Mask
from diffjoint.detectors import Belief
from diffjoint.errors import InputError, option
from diffjoint.fitting.model import Model
from diffjoint.fitting.prepare import CodedTable
from diffjoint.results.explain import CellExplainer
from diffjoint.settings import DEFAULT_DETECTOR


def make_explainer(coded: CodedTable, model: Model, belief: Belief, called: Mask) -> CellExplainer:
    """Return the explainer for a table.

    Parameters
    ----------
    called : bool array of shape (n_rows, n_modelled)
        The calls as they stand in the completed table.
    """
    known = coded.known
    waiting = {rule.target: (known.undecided[:, rule.target], rule.text) for rule in known.rules}
    observation = coded.observe(model.space, model.seed)
    return CellExplainer(coded.table, observation, model.space.schema, belief, called, waiting)


def require_belief(model: Model, detector: str) -> Belief:
    """Return what can explain a model's calls; raise if nothing can."""
    if model.belief is not None:
        return model.belief
    if not model.space.mm:
        raise InputError(
            "There is nothing to explain: no column was searched in fit, so that every missing "
            f"cell is taken for lost. Fit with {option('mm_columns')}.",
            parameter="mm_columns",
        )
    raise InputError(
        f"explain is for {option('detector', DEFAULT_DETECTOR)}; this imputer was fitted with "
        f"{option('detector', detector)}, which decides by how much drawn values disagree. "
        "Look at uncertainty(X), or fit with the other detector.",
        parameter="detector",
    )
