"""Imputers for measurements, with every setting given by its name."""

from typing import Any

from diffjoint import Diffusion, SelectiveImputer


def new_imputer(mm_columns: Any = None, **settings: Any) -> SelectiveImputer:
    """Return an imputer; settings of the diffusion model may stand beside the others."""
    names = Diffusion().get_params()
    inner = {name: value for name, value in settings.items() if name in names}
    outer = {name: value for name, value in settings.items() if name not in names}
    if inner:
        outer["diffusion"] = Diffusion(**inner)
    return SelectiveImputer(mm_columns, **outer)
