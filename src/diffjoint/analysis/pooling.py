"""Pool the estimates from several completed tables by Rubin's rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from diffjoint._extras import load
from diffjoint.analysis.estimates import Found, analyse, given_pair, read_results
from diffjoint.errors import InputError

Estimate = float | NDArray[np.float64]
"""One number, or one for each of several parameters."""


@dataclass(frozen=True, repr=False)
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
    by_table : array of shape (n_tables,) or (n_tables, n_parameters)
        The estimate of each table.
    names : tuple of str
        Names of the parameters, if the results have any.
    """

    estimate: Estimate
    standard_error: Estimate
    within: Estimate
    between: Estimate
    dof: Estimate
    missing_information: Estimate
    n_tables: int
    by_table: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), compare=False)
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = self.table().to_string(float_format=lambda number: f"{number:.4g}")
        return f"Pooled estimates of {self.n_tables} tables\n{shown}"

    def interval(self, level: float = 0.95) -> tuple[Estimate, Estimate]:
        """Return the lower and upper end of the confidence interval."""
        if not 0.0 < level < 1.0:
            raise InputError(
                f"level must lie between 0 and 1; got {level!r}. Pass 0.95, say.", parameter="level"
            )
        reach = student.ppf((1 + level) / 2, self.dof) * self.standard_error
        return _plain(self.estimate - reach), _plain(self.estimate + reach)

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row per parameter: estimate, standard error, interval, missing information.

        ``p_value`` is that of the hypothesis that the parameter is 0.

        Examples
        --------
        >>> pool([1.0, 2.0, 3.0], [0.5, 0.5, 0.5]).table().round(2).columns.tolist()
        ['estimate', 'standard_error', 'low', 'high', 'dof', 'p_value', 'missing_information']
        """
        low, high = self.interval(level)
        columns = {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "dof": self.dof,
            "p_value": self._p_value,
            "missing_information": self.missing_information,
        }
        shown = {name: np.atleast_1d(numbers) for name, numbers in columns.items()}
        return pd.DataFrame(shown, index=list(self.names) or None)

    @property
    def _p_value(self) -> Estimate:
        """P of estimates at least as far from 0 if the parameter is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.abs(self.estimate) / self.standard_error
        p_value: Estimate = _plain(2 * student.sf(far, self.dof))
        return p_value

    def enough_draws(self, error: float = 0.05) -> int:
        """Return how many draws make standard errors repeatable.

        Parameters
        ----------
        error : float
            By how much standard errors may vary, relative to their size, if tables were drawn anew.

        Returns
        -------
        int
            For the parameter with most missing information. If it is above ``n_tables``, draw so
            many and pool again.

        Notes
        -----
        1 + (g / error)^2 / 2 with g the missing information, by von Hippel (2020). It is itself
        estimated from the draws: twenty are a good start.

        Examples
        --------
        >>> pool([1.0, 1.1, 0.9, 1.0], [0.5, 0.5, 0.5, 0.5]).enough_draws()
        2
        """
        if not 0.0 < error < 1.0:
            raise InputError(
                f"error must lie between 0 and 1; got {error!r}. Pass 0.05, say.", parameter="error"
            )
        most = float(np.max(self.missing_information))
        return max(2, ceil(1 + (most / error) ** 2 / 2))

    def plot(
        self, level: float = 0.95, ax: Any = None, parameters: Sequence[str] | None = None
    ) -> Any:
        """Plot the estimate of each table beside the pooled one with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to plot; a new figure if not given.
        parameters : sequence of str, optional
            Names of those to plot; all if not given. An intercept may be far from the others.

        Returns
        -------
        Axes
        """
        pyplot = load("matplotlib", "plots", "plot needs", module="matplotlib.pyplot")
        asked = self._places(parameters)
        if ax is None:
            ax = pyplot.subplots(figsize=(6, 1 + 0.4 * len(asked)))[1]
        low, high = (np.atleast_1d(end)[asked] for end in self.interval(level))
        middle = np.atleast_1d(self.estimate)[asked]
        by_table = self.by_table.reshape(self.n_tables, -1)[:, asked]
        places = np.arange(len(middle))
        for place in places:
            beside = np.full(self.n_tables, place + 0.2)
            ax.plot(by_table[:, place], beside, "|", color="0.5")
        reach = np.abs(np.vstack([middle - low, high - middle]))
        ax.errorbar(middle, places, xerr=reach, fmt="o", color="black", capsize=3)
        names = self.names or [str(place) for place in range(np.size(self.estimate))]
        ax.set_yticks(places, [names[place] for place in asked])
        ax.invert_yaxis()
        ax.set_xlabel(f"estimate, {level:.0%} interval; strokes: {self.n_tables} draws")
        return ax

    def _places(self, parameters: Sequence[str] | None) -> list[int]:
        """Return the places of parameters with some names, in that order."""
        if parameters is None:
            return [*range(np.size(self.estimate))]
        unknown = [name for name in parameters if name not in self.names]
        if unknown:
            known = ", ".join(self.names) or "no names"
            raise InputError(
                f"parameters names {unknown[0]!r}; the pooled estimates have {known}.",
                parameter="parameters",
            )
        return [self.names.index(name) for name in parameters]


def pool(
    estimates: ArrayLike | Sequence[Any],
    variances: ArrayLike | Callable[[Any], Any] | None = None,
    *,
    dof_complete: float | None = None,
    n_bootstraps: int = 100,
    random_state: int = 0,
) -> Pooled:
    """Pool the estimates of an analysis on several completed tables by Rubin's rules.

    Parameters
    ----------
    estimates : array of shape (n_tables,) or (n_tables, n_parameters), results, or tables
        Estimate from each table; or a statsmodels result of each; or the tables themselves.
    variances : array of the same shape, or callable
        Squared standard errors. Left out for results, which have their own. For tables a function
        of a table, which returns a statsmodels result, a pair of estimates and variances (or a
        matrix of covariances), or what has no variances: numbers, also by name, or a fitted
        scikit-learn model with ``coef_``.
    dof_complete : float, optional
        Degrees of freedom if no cell were missing; for a regression, rows minus coefficients. If
        not given, those of the results; else they are taken as infinite.
    n_bootstraps : int
        Bootstraps of each table that give the variances of a function which returns none.
    random_state : int
        Of these bootstraps.

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

    Tables and a function of a table; its variances are found by bootstraps:

    >>> tables = [pd.DataFrame({"x": np.arange(30.0) + shift}) for shift in (0, 1, 2)]
    >>> pool(tables, lambda table: table["x"].mean()).estimate
    15.5
    """
    found = _found(estimates, variances, n_bootstraps, random_state)
    estimates, variances = found.estimates, found.variances
    dof_complete = found.dof_complete if dof_complete is None else dof_complete
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
        checked,
        found.names,
    )


def _found(estimates: Any, variances: Any, n_bootstraps: int, random_state: int) -> Found:
    """Return estimates and variances, whatever they were given as."""
    if callable(variances):
        return analyse(list(estimates), variances, n_bootstraps, random_state)
    if variances is None:
        return read_results(list(estimates))
    if not (np.iterable(estimates) and np.iterable(variances)):
        return Found(estimates, variances)
    return given_pair(list(estimates), list(variances))


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
    estimated, variance = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if estimated.ndim not in (1, 2) or estimated.shape != variance.shape:
        raise InputError(
            "estimates and variances must have one shape, (n_tables,) or (n_tables, "
            f"n_parameters); got {estimated.shape} and {variance.shape}.",
            parameter="variances",
        )
    if len(estimated) < 2:
        raise InputError(
            f"pool needs the estimates of at least 2 tables; got {len(estimated)}. Draw more: "
            "sample(X, n_draws=20).",
            parameter="estimates",
        )
    if not np.isfinite(estimated).all() or not np.isfinite(variance).all() or (variance < 0).any():
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
    return estimated, variance


def _plain(numbers: Any) -> Any:
    """Return a float for one parameter, and an array for several."""
    return float(numbers) if np.ndim(numbers) == 0 else np.asarray(numbers)
