"""Make the explainer of the calls on a table; raise if the detector cannot explain."""

from diffjoint._types import Mask
from diffjoint.detectors import Belief
from diffjoint.errors import InputError, option
from diffjoint.fitting.model import Model
from diffjoint.fitting.prepare import CodedTable
from diffjoint.results.explain import CellExplainer
from diffjoint.settings import DEFAULT_DETECTOR
from diffjoint.state.rules import FALSE, TRUE


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
    schema, settled = model.space.schema, _settled_by_found(coded)
    rules = {rule.target: rule.text for rule in coded.rules}
    return CellExplainer(coded.table, observation, schema, belief, called, waiting, settled, rules)


def _settled_by_found(coded: CodedTable) -> dict[int, tuple[Mask, str]]:
    """Return the cells that each found rule decides by itself, and the rule's text."""
    known, settled = coded.known, {}
    for rule in known.rules:
        if rule.is_found:
            j = rule.target
            answers = rule.answers(known.rule_values, known.meaningful)
            kept = known.meaningful[:, j] & (answers == FALSE)
            filled = known.lost[:, j] & (answers == TRUE) & (not rule.only_if)
            is_open = coded.missing[:, j] & ~known.labelled[:, j]
            settled[j] = (is_open & (kept | filled), rule.text)
    return settled


def explainer_of(coded: CodedTable, model: Model, called: Mask) -> CellExplainer | None:
    """Return the explainer for a table; None if nothing can explain its calls."""
    belief = model.belief
    if belief is None or not belief.can_explain:
        return None
    return make_explainer(coded, model, belief, called)


def require_belief(model: Model, detector: str) -> Belief:
    """Return what can explain a model's calls; raise if nothing can."""
    if model.belief is not None and model.belief.can_explain:
        return model.belief
    if not model.space.mm:
        raise InputError(
            "There is nothing to explain: no column was searched in fit, so that every missing "
            f"cell is taken for lost. Fit with {option('mm_columns')}.",
            parameter="mm_columns",
        )
    raise InputError(
        f"explain is for {option('detector', DEFAULT_DETECTOR)}; this imputer was fitted with "
        f"{option('detector', detector)}, which {_instead(model)}, or fit with the other "
        "detector.",
        parameter="detector",
    )


def _instead(model: Model) -> str:
    """Say how a detector decides that cannot explain its calls, and what to look at instead."""
    if model.belief is None:
        return "decides by how much drawn values disagree. Look at uncertainty(X)"
    return "does not explain its calls. Look at predict_mm_proba(X)"
