"""Distributions and statistics of a column: observed, imputed and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Values
from diffjoint.report.words import coded_text, shorten
from diffjoint.results.explain import plain_text
from diffjoint.table import Column, Kind

MOST_LEVELS = 8
"""Largest number of levels to show of a column; the others are shown together."""
MOST_BINS = 24
"""Largest number of bins of a distribution."""
NEARLY_ALL = 0.005, 0.995
"""Quantiles of the observed numbers between which a distribution is shown."""
FINE, POINTS = 240, 60
"""Number of bins to smooth for a density, and number of its points."""
FEWEST_DENSE = 13
"""Smallest number of bins of a column that has densities; fewer numbers are counted one by one."""
FEWEST_DRAWN = 20
"""Smallest number of cells of a draw that is shown by itself."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of the observed and the imputed values of a column.

    Attributes
    ----------
    labels : tuple of str
        Levels, or the edges of the bins (one more than there are counts).
    observed, imputed : tuple of int
        Number of cells in each level or bin.
    is_binned : bool
        True for numbers and dates, False for levels.
    n_others : int
        Number of levels that the last label stands for; 0 if it is a level itself.
    drawn : tuple of tuple of int
        For each draw, the number of imputed cells in each level or bin; all draws together if a
        draw has few cells.
    densities : tuple of tuple of float
        Smoothed densities at points at equal distances over all bins: of the observed cells, then
        of each draw; empty without draws, and for levels and few different numbers.
    """

    labels: tuple[str, ...]
    observed: tuple[int, ...]
    imputed: tuple[int, ...]
    is_binned: bool
    n_others: int = 0
    drawn: tuple[tuple[int, ...], ...] = ()
    densities: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Statistics:
    """Statistics of some cells of a column, in words.

    Attributes
    ----------
    n_cells : int
    mean, deviation : str
        Mean and standard deviation of numbers and dates (in days); empty for levels.
    lowest, lower, median, upper, highest : str
        Quartiles of numbers and dates; empty for levels.
    n_levels : int
        Number of levels that occur; 0 for numbers.
    level : str
        The most frequent level; empty for numbers.
    level_share : float
        Its share.
    """

    n_cells: int
    mean: str = ""
    deviation: str = ""
    lowest: str = ""
    lower: str = ""
    median: str = ""
    upper: str = ""
    highest: str = ""
    n_levels: int = 0
    level: str = ""
    level_share: float = 0.0


def find_statistics(column: Column, cells: Values) -> Statistics | None:
    """Return statistics of coded cells; None if there are none.

    Examples
    --------
    >>> column = Column("age", Kind.INTEGER)
    >>> found = find_statistics(column, np.array([20.0, 30.0, 30.0, 60.0]))
    >>> found.mean, found.deviation, found.median, found.highest
    ('35', '17.32', '30', '60')
    >>> town = Column("town", Kind.CATEGORICAL, levels=("Bonn", "Ulm"))
    >>> find_statistics(town, np.array([1.0, 1.0, 0.0, 1.0])).level
    'Ulm'
    """
    if not len(cells):
        return None
    if column.is_categorical:
        codes, counts = np.unique(cells, return_counts=True)
        most = int(counts.argmax())
        level = shorten(coded_text(column, codes[most]))
        share = float(counts[most] / len(cells))
        return Statistics(len(cells), n_levels=len(codes), level=level, level_share=share)
    deviation = cells.std(ddof=1) / column.unit if len(cells) > 1 else np.nan
    days = " days" if column.kind is Kind.DATETIME else ""
    quartiles = np.quantile(cells, [0, 0.25, 0.5, 0.75, 1])
    lowest, lower, median, upper, highest = (_number(column, value) for value in quartiles)
    return Statistics(
        len(cells),
        _number(column, cells.mean()),
        "" if np.isnan(deviation) else f"{deviation:.4g}{days}",
        lowest,
        lower,
        median,
        upper,
        highest,
    )


def _number(column: Column, value: float) -> str:
    """Write a number or a date."""
    if column.kind is Kind.DATETIME:
        return coded_text(column, value)
    return plain_text(float(value))


def find_distribution(
    column: Column, seen: Values, filled: Values, drawn: Sequence[Values] = ()
) -> Distribution | None:
    """Count the observed, imputed and drawn cells of a column; None if none is observed.

    Parameters
    ----------
    drawn : sequence of array
        The imputed cells in each draw.
    """
    if drawn and len(drawn[0]) < FEWEST_DRAWN:
        drawn = [np.concatenate(drawn)]
    if not len(seen):
        return None
    if column.is_categorical:
        codes = (cells.astype(np.int64) for cells in (seen, filled, *drawn))
        return of_levels([np.bincount(own, minlength=column.n_codes) for own in codes], column)
    low, high = np.quantile(seen, NEARLY_ALL).tolist()
    edges = bin_edges(low, high, column)
    clipped = (np.clip(cells, edges[0], edges[-1]) for cells in (seen, filled, *drawn))
    counts = [tuple(np.histogram(cells, edges)[0].tolist()) for cells in clipped]
    labels = tuple(coded_text(column, edge) for edge in edges)
    is_dense = drawn and len(counts[0]) >= FEWEST_DENSE
    return Distribution(
        labels,
        counts[0],
        counts[1],
        is_binned=True,
        drawn=tuple(counts[2:]),
        densities=_densities([seen, *drawn], edges) if is_dense else (),
    )


def _densities(groups: Sequence[Values], edges: Values) -> tuple[tuple[float, ...], ...]:
    """Return the densities of some groups of numbers, observed ones first, all as smooth.

    The width of the kernel is that which suits the observed spread and the number of cells in a
    draw: curves that are smoothed alike can be compared. What lies outside is left out.
    """
    seen, low, high = groups[0], edges[0], edges[-1]
    lower, upper = np.quantile(seen, [0.25, 0.75])
    spread = min(seen.std(), (upper - lower) / 1.34) or seen.std()
    width = max(0.9 * spread * len(groups[-1]) ** -0.2, (high - low) / POINTS)
    reach = int(np.clip(np.ceil(3 * width / (high - low) * FINE), 1, FINE))
    kernel = np.exp(-0.5 * ((np.arange(-reach, reach + 1) / FINE) * (high - low) / width) ** 2)
    kernel /= kernel.sum()
    found = []
    for cells in groups:
        shares = np.histogram(cells, FINE, (low, high))[0] / len(cells)
        smooth = np.convolve(np.pad(shares, reach, mode="symmetric"), kernel, mode="valid")
        points = smooth.reshape(POINTS, -1).sum(axis=1)
        found.append(tuple(np.round(points, 5).tolist()))
    return tuple(found)


def of_levels(counts: Sequence[NDArray[np.int64]], column: Column) -> Distribution:
    """Show the most frequent levels, and the others together.

    Parameters
    ----------
    counts : sequence of int array of shape (n_codes,)
        How many cells of each group hold each code: observed, imputed, then those of each draw.
    """
    order = np.argsort(-(counts[0] + counts[1]), kind="stable")
    top, others = order[:MOST_LEVELS], order[MOST_LEVELS:]
    labels = [shorten(coded_text(column, code)) for code in top]
    shown = [count[top].tolist() for count in counts]
    if len(others):
        labels.append(f"{len(others):,} other levels")
        shown = [[*part, int(n[others].sum())] for part, n in zip(shown, counts, strict=True)]
    seen, filled, *drawn = map(tuple, shown)
    return Distribution(
        tuple(labels), seen, filled, is_binned=False, n_others=len(others), drawn=tuple(drawn)
    )


def bin_edges(low: float, high: float, column: Column) -> Values:
    """Return the edges of bins between two numbers; of whole width for integers."""
    if column.kind is Kind.INTEGER:
        low, high = np.floor(low), np.ceil(high) + 1
        width = max(1.0, np.ceil((high - low) / MOST_BINS))
        return np.asarray(low + width * np.arange(int(np.ceil((high - low) / width)) + 1))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, MOST_BINS + 1)
    return edges if np.all(np.diff(edges) > 0) else np.array([low, np.nextafter(high, np.inf)])
