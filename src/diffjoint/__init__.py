"""Selective imputation: fill the cells that were lost, keep those missing for a reason."""

from importlib.metadata import version

from diffjoint.imputer import Imputation, SelectiveImputer, load

__version__ = version("diffjoint")

__all__ = ["Imputation", "SelectiveImputer", "__version__", "load"]
