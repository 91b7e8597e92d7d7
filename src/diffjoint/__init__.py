"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffjoint.decisions import read_decisions
    from diffjoint.imputer import Imputation, SelectiveImputer, load
    from diffjoint.inspection import inspect
    from diffjoint.keep import keep_na
    from diffjoint.report import Report
    from diffjoint.rubin import Pooled, pool
    from diffjoint.search import find_mm_columns
    from diffjoint.self_check import SelfCheck

    __version__: str

__all__ = [
    "Imputation",
    "Pooled",
    "Report",
    "SelectiveImputer",
    "SelfCheck",
    "__version__",
    "find_mm_columns",
    "inspect",
    "keep_na",
    "load",
    "pool",
    "read_decisions",
]
_HOMES = {
    "Imputation": "imputer",
    "Pooled": "rubin",
    "Report": "report",
    "SelectiveImputer": "imputer",
    "SelfCheck": "self_check",
    "find_mm_columns": "search",
    "inspect": "inspection",
    "keep_na": "keep",
    "load": "imputer",
    "pool": "rubin",
    "read_decisions": "decisions",
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
