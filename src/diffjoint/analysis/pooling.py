"""Pool the estimates from several completed tables by Rubin's rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from diffjoint.errors import InputError

Estimate = float | NDArray[np.float64]
"""One number, or one for each of several parameters."""


@dataclass(frozen=True)
class Pooled:
    """Pooled estimate of several completed tables: numbers, or arrays with one per parameter.

    Attributes
    ----------
    estimate : float or array
        Mean of the estimates.
    standard_error : float or array
        Square root of the total variance, within and between tables.
    within : float or array
        Mean of the variances within tables.
    between : float or array
        Variance of the estimates between tables.
    dof : float or array
        Degrees of freedom by Barnard and Rubin.
    missing_information : float or array
        Share of the information about the parameter that is lost through missing cells.
    n_tables : int
    """

    estimate: Estimate
    standard_error: Estimate
    within: Estimate
    between: Estimate
    dof: Estimate
    missing_information: Estimate
    n_tables: int

    def interval(self, level: float = 0.95) -> tuple[Estimate, Estimate]:
        """Return the lower and upper end of the confidence interval."""
        if not 0.0 < level < 1.0:
            raise InputError(
                f"level must lie between 0 and 1; got {level!r}. Pass 0.95, say.", parameter="level"
            )
        reach = student.ppf((1 + level) / 2, self.dof) * self.standard_error
        return _plain(self.estimate - reach), _plain(self.estimate + reach)


def pool(
    estimates: ArrayLike, variances: ArrayLike, *, dof_complete: float | None = None
) -> Pooled:
    """Pool the estimates of an analysis on several completed tables by Rubin's rules.

    Parameters
    ----------
    estimates : array of shape (n_tables,) or (n_tables, n_parameters)
        Estimate from each table.
    variances : array of the same shape
        Squared standard errors.
    dof_complete : float, optional
        Degrees of freedom if no cell were missing; for a regression, rows minus coefficients. If
        not given, they are taken as infinite.

    Returns
    -------
    Pooled

    Notes
    -----
    With m tables, within variance W and between variance B, the total is T = W + (1 + 1/m) B and
    the share of it due to missing cells lambda = (1 + 1/m) B / T. The degrees of freedom are
    Rubin's (m - 1) / lambda^2, joined with those of the observed data as Barnard and Rubin (1999)
    do, so that they never exceed ``dof_complete``. The missing information is
    (r + 2 / (dof + 3)) / (r + 1) with r = (1 + 1/m) B / W.

    Examples
    --------
    >>> pooled = pool([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    >>> pooled.estimate, pooled.within, pooled.between
    (2.0, 0.5, 1.0)
    >>> round(pooled.standard_error**2, 4), round(pooled.dof, 4)
    (1.8333, 3.7812)
    """
    checked, squared_errors = _checked(estimates, variances, dof_complete)
    m = len(checked)
    within, between = squared_errors.mean(axis=0), checked.var(axis=0, ddof=1)
    added = (1 + 1 / m) * between
    total = within + added
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, added / total, 0.0)
        ratio = np.where(total > 0, added / within, 0.0)
        rubin = (m - 1) / share**2
        dof = _combined_dof(rubin, share, dof_complete)
        lost = np.where(np.isinf(ratio), 1.0, (ratio + 2 / (dof + 3)) / (ratio + 1))
    return Pooled(
        _plain(checked.mean(axis=0)),
        _plain(np.sqrt(total)),
        _plain(within),
        _plain(between),
        _plain(dof),
        _plain(lost),
        m,
    )


def _combined_dof(
    rubin: NDArray[np.float64], share: NDArray[np.float64], dof_complete: float | None
) -> NDArray[np.float64]:
    """Combine the degrees of freedom of the draws with those of the observed data."""
    if dof_complete is None or np.isinf(dof_complete):
        return rubin
    observed = (dof_complete + 1) / (dof_complete + 3) * dof_complete * (1 - share)
    return 1 / (1 / rubin + 1 / observed)


def _checked(
    estimates: ArrayLike, variances: ArrayLike, dof_complete: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found, spread = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if found.ndim not in (1, 2) or found.shape != spread.shape:
        raise InputError(
            "estimates and variances must have one shape, (n_tables,) or (n_tables, "
            f"n_parameters); got {found.shape} and {spread.shape}.",
            parameter="variances",
        )
    if len(found) < 2:
        raise InputError(
            f"pool needs the estimates of at least 2 tables; got {len(found)}. Draw more: "
            "sample(X, n_draws=20).",
            parameter="estimates",
        )
    if not np.isfinite(found).all() or not np.isfinite(spread).all() or (spread < 0).any():
        raise InputError(
            "estimates must be finite, and variances finite and not negative. Pass squared "
            "standard errors, and look at tables whose analysis failed.",
            parameter="estimates",
        )
    if dof_complete is not None and not dof_complete > 0:
        raise InputError(
            f"dof_complete must be above 0; got {dof_complete!r}. Pass rows minus coefficients, "
            "or leave it out.",
            parameter="dof_complete",
        )
    return found, spread


def _plain(numbers: Any) -> Any:
    """Return a float for one parameter, and an array for several."""
    return float(numbers) if np.ndim(numbers) == 0 else np.asarray(numbers)
