"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffjoint.imputer import Imputation, SelectiveImputer, load
    from diffjoint.search import find_mm_columns

__version__ = version("diffjoint")

__all__ = ["Imputation", "SelectiveImputer", "__version__", "find_mm_columns", "load"]


def __getattr__(name: str) -> Any:
    """Import the estimator, and torch with it, when it is first asked for."""
    if name in __all__:
        home = "diffjoint.search" if name == "find_mm_columns" else "diffjoint.imputer"
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'diffjoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
