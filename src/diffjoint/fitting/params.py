"""Parameters as JSON can carry them, and back."""

from collections.abc import Hashable, Mapping
from datetime import date
from numbers import Integral
from typing import Any

from diffjoint.parameters.checks import OF_THE_RUN
from diffjoint.settings import Diffusion

MAPPINGS = (
    "bounds",
    "column_kinds",
    "loss_rate",
    "mm_fill",
    "mm_label",
    "reason_codes",
    "rules",
)
"""Parameters by column label; labels need not be text."""
OF_THE_PROCESS = {"callback", "n_threads", "verbose"}
"""Parameters that say nothing of what was learnt; the same holds for those ``OF_THE_RUN``."""


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can carry them, without those of the process."""
    plain = {name: value for name, value in params.items() if name not in OF_THE_PROCESS}
    if not isinstance(plain["mm_columns"], str | None):
        plain["mm_columns"] = list(plain["mm_columns"])
    for name in MAPPINGS:
        plain[name] = _pairs(plain[name])
    if plain["diffusion"] is not None:
        settings = plain["diffusion"].get_params()
        plain["diffusion"] = {n: v for n, v in settings.items() if n not in OF_THE_RUN}
    if not isinstance(plain["random_state"], Integral):
        plain["random_state"] = None
    return plain


def params_from(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that :func:`plain_params` made plain."""
    params = dict(plain)
    if isinstance(params["mm_columns"], list):
        params["mm_columns"] = [label_from(label) for label in params["mm_columns"]]
    for name in MAPPINGS:
        params[name] = _mapping(params.get(name))
    if params["diffusion"] is not None:
        params["diffusion"] = Diffusion(**params["diffusion"])
    if params["review_band"] is not None:
        params["review_band"] = tuple(params["review_band"])
    return params


def label_from(saved: Any) -> Hashable:
    """Return a column's label as it was before JSON made a list of a tuple."""
    return tuple(saved) if isinstance(saved, list) else saved


def _pairs(params: Any) -> Any:
    """Make lists of pairs of mappings, within each other too: JSON would make text of every key."""
    if isinstance(params, date):
        return params.isoformat()
    if isinstance(params, tuple | list):
        return {"together": [_pairs(part) for part in params]}
    if not isinstance(params, Mapping):
        return params
    return [[label, _pairs(value)] for label, value in params.items()]


def _mapping(saved: Any) -> Any:
    """Return the mapping that :func:`_pairs` made a list of."""
    if isinstance(saved, dict):
        return tuple(saved["together"])
    if not isinstance(saved, list):
        return saved
    return {label_from(label): _mapping(value) for label, value in saved}
