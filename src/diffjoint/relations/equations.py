"""Find numbers that are sums or products of others, or a line of another, in observed rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Places, Values

MOST_NUMBERS, MOST_ROWS, MOST_ROWS_OF_SUMS, SCREENED_ROWS = 80, 5_000, 1_000, 200
"""Columns and rows to search in at most, rows to search long sums in, and rows that candidates are
compared in first."""
HOLDS, FEWEST = 0.97, 20
"""Share of the rows in which an equation holds, and rows in which it says something, at least."""
FEWEST_OF_REST = 8
"""Rows that must show what a column adds to a sum that holds nearly always without it."""
MOST_ADDENDS, MOST_ALIKE = 6, 4
EXACT, WHOLE = 1e-6, 0.02
"""How near two equal numbers are, in standard deviations, and a weight to a whole number."""
ALIKE = 0.99999
"""Correlation of two columns of which one may be a line of the other."""
LEAST_VARIATION = 0.05
"""Standard deviation of the log of a factor, at least."""
MOST_DECIMALS = 6
Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Equation:
    """An equation between columns of numbers that holds in nearly all observed rows.

    Attributes
    ----------
    columns : tuple of int
        The column that the others add up to, and these.
    weights : tuple of float
        Of the others. Of a product, the first is the factor of both.
    constant : float
        What is added.
    is_product : bool
        Whether the others, two, are multiplied.
    share : float
        Of the rows in which it holds.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    constant: float = 0.0
    is_product: bool = False
    share: float = 1.0

    def solve(self, column: int, cells: Values) -> Values:
        """Return what one of its columns must be, given the others; NaN where they do not say.

        Parameters
        ----------
        cells : array of shape (n_rows, n_columns)
            NaN where there is no value.

        Examples
        --------
        >>> total = Equation((0, 1, 2), (1.0, 1.0))
        >>> total.solve(1, np.array([[5.0, np.nan, 2.0]]))
        array([3.])
        """
        of, *others = self.columns
        if column == of:
            return self._right_side(cells)
        place = others.index(column)
        rest = [other for other in others if other != column]
        if self.is_product:
            divisor = self.weights[0] * cells[:, rest[0]]
            found: Values = cells[:, of] / np.where(np.abs(divisor) > 0, divisor, np.nan)
            return found
        left = cells[:, of] - self.constant
        for other, weight in zip(others, self.weights, strict=True):
            if other != column:
                left = left - weight * cells[:, other]
        return np.asarray(left / self.weights[place])

    def range_of(
        self, column: int, cells: Values, ranges: Sequence[tuple[float, float]]
    ) -> tuple[Values, Values]:
        """Return the least and the most that a sum leaves to one of its columns.

        Parameters
        ----------
        cells : array of shape (n_rows, n_columns)
            NaN where there is no value.
        ranges : sequence of (float, float)
            Between which numbers each of the other columns lies where it has no value.

        Examples
        --------
        >>> total = Equation((0, 1, 2), (1.0, 1.0))
        >>> total.range_of(1, np.array([[5.0, np.nan, np.nan]]), [(0.0, 9.0), (0.0, 4.0)])
        (array([1.]), array([5.]))
        """
        weights = dict(zip(self.columns, (1.0, *(-weight for weight in self.weights)), strict=True))
        own = weights.pop(column)
        least = most = np.full(len(cells), self.constant)
        for (other, weight), limits in zip(weights.items(), ranges, strict=True):
            ends = np.stack(
                [np.where(np.isnan(cells[:, other]), at, cells[:, other]) for at in limits]
            )
            least = least - (weight * ends).max(axis=0)
            most = most - (weight * ends).min(axis=0)
        return (least / own, most / own) if own > 0 else (most / own, least / own)

    def _right_side(self, cells: Values) -> Values:
        others = cells[:, self.columns[1:]]
        if self.is_product:
            return np.asarray(self.weights[0] * others.prod(axis=1))
        return np.asarray(self.constant + others @ np.array(self.weights))

    def off(self, cells: Values) -> Values:
        """Return by how much rows miss the equation; NaN where they do not say."""
        return np.asarray(cells[:, self.columns[0]] - self._right_side(cells))


def find_equations(
    values: Values, numbers: Sequence[int], few: Sequence[int] = ()
) -> tuple[Equation, ...]:
    """Find the equations between columns of numbers.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        NaN where missing.
    numbers : sequence of int
        The columns to search.
    few : sequence of int
        Columns that hold few different numbers: these are searched for sums of two alone.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).integers(1, 9, (2, 60)).astype(float)
    >>> [found.columns for found in find_equations(np.column_stack([a, b, a + b]), [0, 1, 2])]
    [(2, 0, 1)]
    """
    values = values[:MOST_ROWS]
    with np.errstate(all="ignore"):
        varied = [j for j in numbers if _n_distinct(values[:, j]) > MOST_ALIKE][:MOST_NUMBERS]
        summed = [*varied, *(j for j in few if _n_distinct(values[:, j]) > 1)][:MOST_NUMBERS]
        found: dict[frozenset[int], Equation] = {}
        for equation in (
            *_lines(values, varied),
            *_sums_of_two(values, summed),
            *_products(values, varied),
            *_longer_sums(values, varied),
        ):
            inside = any(known <= set(equation.columns) for known in found)
            if not inside:
                found[frozenset(equation.columns)] = equation
        return tuple(_with_the_rest(equation, values, numbers) for equation in found.values())


def _with_the_rest(equation: Equation, values: Values, numbers: Sequence[int]) -> Equation:
    """Add a column to a sum that fails in some rows, if it is what these rows miss.

    Such a column is hardly ever another number than 0, so that sums do without it nearly always.
    """
    off = equation.off(values)
    near = EXACT * max(float(np.nanstd(values[:, equation.columns[0]])), 1e-12)
    if equation.is_product or not (np.abs(off) > near).any():
        return equation
    for column in numbers:
        for weight in (1.0, -1.0) if column not in equation.columns else ():
            known = ~np.isnan(off) & ~np.isnan(values[:, column])
            says = known & (values[:, column] != 0)
            holds = np.abs(off - weight * values[:, column]) <= near
            if says.sum() < FEWEST_OF_REST or holds[says].mean() < HOLDS:
                continue
            share = float(holds[known].mean())
            if share > equation.share:
                return Equation(
                    (*equation.columns, column),
                    (*equation.weights, weight),
                    equation.constant,
                    share=share,
                )
    return equation


def _n_distinct(cells: Values) -> int:
    return len(np.unique(cells[~np.isnan(cells)]))


def _kept(equation: Equation, values: Values) -> Equation | None:
    """Return the equation with the share of rows in which it holds; None if it does not hold.

    It must hold where it says something, too: in rows in which none of the others is 0.
    """
    off = equation.off(values)
    known = ~np.isnan(off)
    of = values[known, equation.columns[0]]
    near = EXACT * max(float(of.std()), 1e-12) if known.any() else 0.0
    if equation.is_product:
        near += 0.51 * unit_of(of)
    holds = np.abs(off[known]) <= near
    says = (values[known][:, equation.columns[1:]] != 0).all(axis=1)
    if says.sum() < FEWEST or min(holds.mean(), holds[says].mean()) < HOLDS:
        return None
    parts = {**vars(equation), "share": float(holds.mean())}
    return Equation(**parts)


def unit_of(cells: Values) -> float:
    """Return the unit that numbers are rounded to; 0 if they are not."""
    for decimals in range(MOST_DECIMALS):
        if np.allclose(cells, np.round(cells, decimals), rtol=0, atol=1e-9):
            return float(10.0**-decimals)
    return 0.0


def _lines(values: Values, numbers: Sequence[int]) -> Iterable[Equation]:
    """Find columns that are a line of another: other units, say."""
    for of, other in combinations(numbers, 2):
        known = ~np.isnan(values[:, of]) & ~np.isnan(values[:, other])
        if known.sum() < FEWEST:
            continue
        line = _line_through(values[known, other], values[known, of])
        if line is not None:
            slope, constant = line
            kept = _kept(Equation((of, other), (slope,), constant), values)
            if kept:
                yield kept


def _line_through(x: Values, y: Values) -> tuple[float, float] | None:
    """Return slope and constant of cells that are nearly on a line; None if they are not.

    In units of their own, since cells may be huge or tiny.
    """
    unit_x, unit_y = (float(np.abs(cells).max()) or 1.0 for cells in (x, y))
    x, y = x / unit_x, y / unit_y
    with np.errstate(over="ignore", under="ignore"):
        slope, constant = np.polyfit(x, y, 1)
        if abs(np.corrcoef(x, y)[0, 1]) <= ALIKE:
            return None
        line = float(slope * (unit_y / unit_x)), float(constant * unit_y)
    return line if np.isfinite(line).all() else None


def _pairs_that_give(
    screened: Values, sums: Values, of: int, near: Values, *, any_constant: bool
) -> NDArray[np.intp]:
    """Return the pairs whose sums are nearly always a column, or that and a constant."""
    apart = sums - screened[:, [of]]
    known = ~np.isnan(apart)
    if any_constant:
        met = known.any(axis=0)
        apart[:, met] -= np.nanmedian(apart[:, met], axis=0)
    n_hits = (np.abs(apart) <= near[:, None]).sum(axis=0)
    n_known = known.sum(axis=0)
    return np.flatnonzero((n_known >= FEWEST // 2) & (n_hits >= HOLDS * n_known - 1))


def _sums_of_two(values: Values, numbers: Sequence[int]) -> Iterable[Equation]:
    screened = _fullest(values, numbers)
    pairs = np.array([*combinations(range(len(numbers)), 2)], dtype=np.int64).reshape(-1, 2)
    sums = screened[:, pairs[:, 0]] + screened[:, pairs[:, 1]]
    for place, of in enumerate(numbers):
        if _n_distinct(screened[:, place]) <= 2:
            continue
        near = np.full(len(screened), EXACT * np.nanstd(screened[:, place]))
        for pair in _pairs_that_give(screened, sums, place, near, any_constant=True):
            a, b = (int(numbers[at]) for at in pairs[pair])
            if of not in (a, b):
                apart = float(np.nanmedian(values[:, of] - values[:, a] - values[:, b]))
                constant = 0.0 if abs(apart) <= near[0] else apart
                kept = _kept(Equation((of, a, b), (1.0, 1.0), constant), values)
                if kept:
                    yield kept


def _products(values: Values, numbers: Sequence[int]) -> Iterable[Equation]:
    positive = [j for j in numbers if _can_be_factor(values[:, j])]
    screened = _fullest(values, positive)
    logs = np.log(np.where(screened > 0, screened, np.nan))
    pairs = np.array([*combinations(range(len(positive)), 2)], dtype=np.int64).reshape(-1, 2)
    sums = logs[:, pairs[:, 0]] + logs[:, pairs[:, 1]]
    for place, of in enumerate(positive):
        cells = screened[:, place]
        grid = unit_of(cells[~np.isnan(cells)])
        near = EXACT + np.nan_to_num(grid / np.where(cells > 0, cells, np.nan))
        for pair in _pairs_that_give(logs, sums, place, near, any_constant=True):
            a, b = (int(positive[at]) for at in pairs[pair])
            if of in (a, b):
                continue
            factor = _factor(values, of, a, b)
            kept = _kept(Equation((of, a, b), (factor, 1.0), is_product=True), values)
            if kept:
                yield kept


def _can_be_factor(cells: Values) -> bool:
    known = cells[~np.isnan(cells)]
    positive = known[known > 0]
    return len(positive) > 0.8 * len(known) and float(np.log(positive).std()) > LEAST_VARIATION


def _factor(values: Values, of: int, a: int, b: int) -> float:
    """Return the factor of a product: 1 if that is as good."""
    product = values[:, a] * values[:, b]
    ratio = values[:, of] / np.where(product > 0, product, np.nan)
    largest = np.argsort(-np.nan_to_num(values[:, of] * (ratio > 0)))[:FEWEST]
    factor = float(np.nanmedian(ratio[largest]))
    return 1.0 if abs(factor - 1.0) < 1e-3 else factor


def _longer_sums(values: Values, numbers: Sequence[int]) -> Iterable[Equation]:
    """Find sums of three and more: addends are added that go best with what is left."""
    cells = values[:MOST_ROWS_OF_SUMS, numbers]
    for place, of in enumerate(numbers):
        chosen: list[int] = []
        left = cells[:, place].copy()
        for _ in range(MOST_ADDENDS):
            strength = _correlations(left, cells)
            strength[[place, *chosen]] = 0.0
            chosen.append(int(strength.argmax()))
            known = ~np.isnan(cells[:, [place, *chosen]]).any(axis=1)
            if known.sum() < max(FEWEST, 3 * len(chosen)) or strength.max() <= 0:
                break
            inputs, target = cells[known][:, chosen], cells[known, place]
            weights = np.linalg.lstsq(inputs, target, rcond=None)[0]
            left = cells[:, place] - cells[:, chosen] @ weights
            if np.abs(left[known]).max() > 10 * EXACT * target.std() and len(chosen) < 3:
                continue
            equation = _with_whole_weights(of, [int(numbers[at]) for at in chosen], weights)
            kept = _kept(equation, values) if equation else None
            if kept:
                yield kept
                break


def _with_whole_weights(of: int, others: list[int], weights: Numbers) -> Equation | None:
    """Return the equation if each weight is 1, -1 or, for columns that do not belong, 0."""
    whole = np.round(weights)
    if (np.abs(weights - whole) > WHOLE).any() or (np.abs(whole) > 1).any():
        return None
    kept = [at for at in range(len(others)) if whole[at]]
    if len(kept) < 3:
        return None
    return Equation((of, *(others[at] for at in kept)), tuple(float(whole[at]) for at in kept))


def _correlations(left: Values, cells: Values) -> Values:
    """Return how each column goes with a number, in the rows that have both."""
    known = ~np.isnan(cells) & ~np.isnan(left)[:, None]
    n_known = np.maximum(known.sum(axis=0), 1)
    y = np.where(known, np.nan_to_num(left)[:, None], 0.0)
    x = np.where(known, np.nan_to_num(cells), 0.0)
    y = np.where(known, y - y.sum(axis=0) / n_known, 0.0)
    x = np.where(known, x - x.sum(axis=0) / n_known, 0.0)
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    found: Values = np.abs((x * y).sum(axis=0)) / np.where(scale > 0, scale, np.inf)
    return found


def _fullest(values: Values, numbers: Sequence[int]) -> Values:
    """Return the rows with the fewest missing cells among some columns."""
    cells = values[:, list(numbers)]
    n_missing: Places = np.isnan(cells).sum(axis=1)
    return cells[np.argsort(n_missing, kind="stable")[:SCREENED_ROWS]]
