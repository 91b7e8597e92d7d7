"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib import import_module
from importlib.metadata import version
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

__version__ = version("diffjoint")

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
    "Pooled": "rubin",
    "Report": "report",
    "SelfCheck": "self_check",
    "find_mm_columns": "search",
    "inspect": "inspection",
    "keep_na": "keep",
    "pool": "rubin",
    "read_decisions": "decisions",
}
"""Where public names live, if not beside the estimator."""


def __getattr__(name: str) -> Any:
    """Import the estimator, and torch with it, when it is first asked for."""
    if name in __all__:
        home = import_module(f"diffjoint.{_HOMES.get(name, 'imputer')}")
        return getattr(home, name)
    raise AttributeError(f"module 'diffjoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
