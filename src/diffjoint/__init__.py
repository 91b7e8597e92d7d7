"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffjoint.decisions import read_decisions
    from diffjoint.imputer import Imputation, SelectiveImputer, load
    from diffjoint.inspection import inspect
    from diffjoint.report import Report
    from diffjoint.search import find_mm_columns

__version__ = version("diffjoint")

__all__ = [
    "Imputation",
    "Report",
    "SelectiveImputer",
    "__version__",
    "find_mm_columns",
    "inspect",
    "load",
    "read_decisions",
]
_HOMES = {
    "Report": "diffjoint.report",
    "find_mm_columns": "diffjoint.search",
    "inspect": "diffjoint.inspection",
    "read_decisions": "diffjoint.decisions",
}
"""Where names that are not the imputer's come from."""


def __getattr__(name: str) -> Any:
    """Import the estimator, and torch with it, when it is first asked for."""
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "diffjoint.imputer")), name)
    raise AttributeError(f"module 'diffjoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
