"""Read what an analysis found in each table: estimates, their variances and their names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint.errors import InputError

FEWEST_BOOTSTRAPS = 2


@dataclass(frozen=True)
class Found:
    """What an analysis found in some tables.

    Attributes
    ----------
    estimates, variances : array of shape (n_tables, n_parameters) or (n_tables,)
    names : tuple of str
        Of the parameters; empty if they have none.
    dof_complete : float or None
        Degrees of freedom that the results themselves tell.
    """

    estimates: NDArray[np.float64]
    variances: NDArray[np.float64]
    names: tuple[str, ...] = ()
    dof_complete: float | None = None


def is_result(one: Any) -> bool:
    """Return whether something is a result like those of statsmodels, with standard errors."""
    return hasattr(one, "params") and hasattr(one, "bse")


def read_results(results: Sequence[Any]) -> Found:
    """Read results like those of statsmodels: ``params``, ``bse`` and, if there, ``df_resid``."""
    wrong = next((one for one in results if not is_result(one)), None)
    if wrong is not None:
        raise InputError(
            "pool takes estimates and variances, results with params and bse as statsmodels has "
            f"them, or tables and a function; got {type(wrong).__name__} alone. Pass variances, or "
            "pool(tables, function).",
            parameter="estimates",
        )
    names = _shared_names([one.params for one in results])
    estimates = np.array([np.asarray(one.params, dtype=float) for one in results])
    variances = np.array([np.asarray(one.bse, dtype=float) ** 2 for one in results])
    dof = getattr(results[0], "df_resid", None)
    return Found(estimates, variances, names, float(dof) if dof is not None and dof > 0 else None)


def analyse(
    tables: Sequence[Any],
    analysis: Callable[[Any], Any],
    n_bootstraps: int,
    random_state: int,
) -> Found:
    """Call a function on every table and read what it returns.

    Parameters
    ----------
    analysis : callable
        Returns a result like those of statsmodels, a pair of estimates and variances, or something
        without variances: a number, an array, a Series, or a fitted scikit-learn model with
        ``coef_``. Variances of the latter are those over bootstraps of the table's rows.
    """
    first = [analysis(table) for table in tables]
    if all(map(is_result, first)):
        return read_results(first)
    if all(isinstance(one, tuple) and len(one) == 2 for one in first):
        return given_pair([one[0] for one in first], [one[1] for one in first])
    if n_bootstraps < FEWEST_BOOTSTRAPS:
        raise InputError(
            f"n_bootstraps must be at least {FEWEST_BOOTSTRAPS} where the function returns no "
            f"variances; got {n_bootstraps}.",
            parameter="n_bootstraps",
        )
    names = _shared_names(first)
    rng = np.random.default_rng(random_state)
    found = []
    for table in tables:
        rows = [rng.integers(0, len(table), len(table)) for _ in range(n_bootstraps)]
        again = np.array([_numbers(analysis(_rows_of(table, some))) for some in rows])
        found.append(again.var(axis=0, ddof=1))
    return Found(np.array([_numbers(one) for one in first]), np.array(found), names)


def given_pair(estimates: Sequence[Any], variances: Sequence[Any]) -> Found:
    """Read estimates and variances of each table; of covariances, their diagonal."""
    names = _shared_names(estimates)
    found = [_numbers(one) for one in estimates]
    square = 2 * np.shape(found[0]) if found and found[0].ndim == 1 else None
    spread = [_numbers(one) for one in variances]
    spread = [np.diag(one) if one.shape == square else one for one in spread]
    return Found(np.array(found), np.array(spread), names)


def _shared_names(found: Sequence[Any]) -> tuple[str, ...]:
    """Return the names that estimates of all tables have; raise if they are not the same."""
    names, sizes = [_names(one) for one in found], [np.size(_numbers(one)) for one in found]
    for k, (own, size) in enumerate(zip(names, sizes, strict=True)):
        if own == names[0] and size == sizes[0]:
            continue
        other = sorted(set(own) ^ set(names[0]))
        which = (
            f"{other[0]!r} is in one of them alone" if other else f"{size} and {sizes[0]} of them"
        )
        raise InputError(
            f"The analysis of table {k} has other parameters than that of table 0: {which}. A "
            "level that is not in every table makes them so: fix the levels, such as by pandas' "
            "Categorical, or leave rare ones out.",
            parameter="estimates",
        )
    return names[0] if names else ()


def _rows_of(table: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a pandas or polars table, or of an array."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _numbers(found: Any) -> NDArray[np.float64]:
    """Return estimates as an array: those of a linear model with its intercept first."""
    if isinstance(found, Mapping):
        found = [*found.values()]
    if not hasattr(found, "coef_"):
        return np.asarray(found, dtype=float)
    intercept = np.atleast_1d(getattr(found, "intercept_", np.empty(0)))
    joined: NDArray[np.float64] = np.r_[np.ravel(intercept), np.ravel(found.coef_)].astype(float)
    return joined


def _names(found: Any) -> tuple[str, ...]:
    """Return the names of estimates, if they have any."""
    if hasattr(found, "coef_"):
        names = getattr(found, "feature_names_in_", None)
        n_intercepts = np.size(getattr(found, "intercept_", np.empty(0)))
        if names is None or np.size(found.coef_) != len(names):
            return ()
        return (*["intercept"] * n_intercepts, *map(str, names))
    if isinstance(found, Mapping):
        return tuple(map(str, found))
    index = getattr(found, "index", None)
    return () if index is None or callable(index) else tuple(map(str, index))
