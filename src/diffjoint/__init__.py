"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffjoint.analysis.keep_na import keep_na
    from diffjoint.analysis.pooling import Pooled, pool
    from diffjoint.fitting.auto_columns import find_mm_columns
    from diffjoint.imputer import SelectiveImputer, load
    from diffjoint.inspection.inspect import inspect
    from diffjoint.inspection.rules import apply_rules, check_rules, find_rules
    from diffjoint.io.decisions import read_decisions
    from diffjoint.report import Report
    from diffjoint.results.imputation import Imputation
    from diffjoint.results.self_check import SelfCheck
    from diffjoint.settings import Diffusion

    __version__: str

__all__ = [
    "Diffusion",
    "Imputation",
    "Pooled",
    "Report",
    "SelectiveImputer",
    "SelfCheck",
    "__version__",
    "apply_rules",
    "check_rules",
    "find_mm_columns",
    "find_rules",
    "inspect",
    "keep_na",
    "load",
    "pool",
    "read_decisions",
]
_HOMES = {
    "Diffusion": "settings",
    "Imputation": "results.imputation",
    "Pooled": "analysis.pooling",
    "Report": "report",
    "SelectiveImputer": "imputer",
    "SelfCheck": "results.self_check",
    "apply_rules": "inspection.rules",
    "check_rules": "inspection.rules",
    "find_mm_columns": "fitting.auto_columns",
    "find_rules": "inspection.rules",
    "inspect": "inspection.inspect",
    "keep_na": "analysis.keep_na",
    "load": "imputer",
    "pool": "analysis.pooling",
    "read_decisions": "io.decisions",
}
"""Where public names live."""


def __getattr__(name: str) -> Any:
    """Import what is public when it is first asked for: pandas and the like take a second."""
    if name == "__version__":
        return import_module("importlib.metadata").version("diffjoint")
    if name in _HOMES:
        return getattr(import_module(f"diffjoint.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'diffjoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
