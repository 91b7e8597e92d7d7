"""Chained equations with the defaults of R's mice 3.15, written here from its documentation.

Numbers by predictive mean matching with five donors, columns of two levels by logistic regression
with parameters drawn from their posterior, columns of more levels by multinomial regression; five
rounds. It stands in for mice where there is no R: what it gives is not mice's own.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

ROUNDS, DONORS, RIDGE = 5, 5, 1e-5
NEWTON_STEPS, NO_PENALTY = 12, 1e6
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of the table as chained equations see it.

    Attributes
    ----------
    name : str
    levels : list
        Of a category; none for a number.
    cells : array of shape (n_rows,)
        Numbers, or places among the levels; NaN where missing.
    """

    name: str
    levels: list[object]
    cells: Numbers

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each cell is missing."""
        return np.isnan(self.cells)

    def design(self, cells: Numbers) -> Numbers:
        """Return what other columns regress on: the number, or an indicator of each level."""
        if not self.levels:
            return cells[:, None]
        return np.eye(len(self.levels))[cells.astype(int)][:, 1:]


def chain(observed: pd.DataFrame, n_draws: int, seed: int) -> list[pd.DataFrame]:
    """Complete a table so many times; columns that are not numbers are categories.

    Examples
    --------
    >>> table = pd.DataFrame({"a": [1.0, 2.0, None] * 9, "b": ["x", None, "y"] * 9})
    >>> [bool(drawn.notna().all(axis=None)) for drawn in chain(table, 2, seed=0)]
    [True, True]
    """
    columns = [_open(observed[name]) for name in observed]
    rng = np.random.default_rng(seed)
    return [_chain_once(columns, observed, rng) for _ in range(n_draws)]


def _open(cells: pd.Series) -> Column:
    if pd.api.types.is_numeric_dtype(cells):
        return Column(str(cells.name), [], cells.to_numpy(float, na_value=np.nan))
    levels = sorted(cells.dropna().unique())
    codes = pd.Categorical(cells, levels).codes.astype(float)
    return Column(str(cells.name), levels, np.where(codes < 0, np.nan, codes))


def _chain_once(
    columns: list[Column], observed: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    filled = [column.cells.copy() for column in columns]
    for column, cells in zip(columns, filled, strict=True):
        seen = column.cells[~column.missing]
        cells[column.missing] = rng.choice(seen, size=column.missing.sum())
    designs = [column.design(cells) for column, cells in zip(columns, filled, strict=True)]
    for _ in range(ROUNDS):
        for j, column in enumerate(columns):
            if column.missing.any():
                others = np.hstack([np.ones((len(observed), 1)), *designs[:j], *designs[j + 1 :]])
                filled[j][column.missing] = _draw(column, others, rng)
                designs[j] = column.design(filled[j])
    drawn = observed.copy()
    for column, cells in zip(columns, filled, strict=True):
        levels = np.array(column.levels, dtype=object)
        drawn[column.name] = levels[cells.astype(int)] if column.levels else cells
    return drawn


def _draw(column: Column, others: Numbers, rng: np.random.Generator) -> Numbers:
    """Draw the missing cells of a column given completed others, an intercept first."""
    seen = ~column.missing
    varies = others[seen].std(axis=0) > 0
    varies[0] = True
    known, asked, cells = others[seen][:, varies], others[~seen][:, varies], column.cells[seen]
    if not column.levels:
        return _match_means(known, cells, asked, rng)
    if len(column.levels) == 2:
        return _draw_two_levels(known, cells, asked, rng)
    found = LogisticRegression(C=NO_PENALTY, max_iter=200)
    scale = known.std(axis=0)[1:]
    fitted = found.fit(known[:, 1:] / scale, cells.astype(int))
    ends = fitted.predict_proba(asked[:, 1:] / scale).cumsum(axis=1)
    place = (ends < rng.random(len(asked))[:, None]).sum(axis=1)
    drawn: Numbers = fitted.classes_[np.minimum(place, len(fitted.classes_) - 1)].astype(float)
    return drawn


def _match_means(
    known: Numbers, cells: Numbers, asked: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw a number: the cell of one of the five rows expected nearest, by drawn parameters."""
    gram = known.T @ known
    inverse = np.linalg.pinv(gram + RIDGE * np.diag(np.diag(gram)))
    found = inverse @ known.T @ cells
    left = cells - known @ found
    n_free = max(len(cells) - known.shape[1], 1)
    sigma = np.sqrt(left @ left / rng.chisquare(n_free))
    values, vectors = np.linalg.eigh(inverse)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = found + sigma * (root @ rng.normal(size=len(found)))
    return _near_cells(known @ found, cells, asked @ drawn, rng)


def _near_cells(
    expected: Numbers, cells: Numbers, asked: Numbers, rng: np.random.Generator
) -> Numbers:
    """Return for each number asked the cell of one of the five rows that are expected nearest."""
    shuffled = rng.permutation(len(cells))  # ties are broken at random
    order = shuffled[np.argsort(expected[shuffled], kind="stable")]
    near = np.searchsorted(expected[order], asked)[:, None] + np.arange(-DONORS, DONORS)
    inside = (near >= 0) & (near < len(cells))
    near = np.clip(near, 0, len(cells) - 1)
    distance = np.where(inside, np.abs(expected[order][near] - asked[:, None]), np.inf)
    n_donors = min(DONORS, len(cells))
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :n_donors]
    taken = nearest[np.arange(len(asked)), rng.integers(n_donors, size=len(asked))]
    drawn: Numbers = cells[order[near[np.arange(len(asked)), taken]]]
    return drawn


def _draw_two_levels(
    known: Numbers, cells: Numbers, asked: Numbers, rng: np.random.Generator
) -> Numbers:
    """Draw one of two levels by a logistic regression whose parameters are drawn.

    Rows around the mean, of little weight, keep coefficients finite where levels are told apart
    without error, as White, Daniel and Royston (2010) have it.
    """
    rows, truth, weights = _augment(known, cells)
    found = np.zeros(rows.shape[1])
    for _ in range(NEWTON_STEPS):
        likely = expit(rows @ found)
        slope = rows.T @ (weights * (truth - likely))
        curve = (rows * (weights * np.maximum(likely * (1 - likely), 1e-10))[:, None]).T @ rows
        found = found + np.clip(np.linalg.pinv(curve, hermitian=True) @ slope, -5, 5)
    values, vectors = np.linalg.eigh(np.linalg.pinv(curve, hermitian=True))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = found + root @ rng.normal(size=len(found))
    return (rng.random(len(asked)) < expit(asked @ drawn)).astype(float)


def _augment(known: Numbers, cells: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    mean, spread = known.mean(axis=0), known.std(axis=0)
    n_inputs = known.shape[1] - 1
    moved = np.vstack([mean + sign * 0.5 * np.diag(spread)[1:] for sign in (-1, 1)])
    added = np.vstack([moved, moved])
    truth = np.repeat([0.0, 1.0], len(moved))
    weight = (n_inputs + 1) / max(len(added), 1)
    weights = np.r_[np.ones(len(cells)), np.full(len(added), weight)]
    return np.vstack([known, added]), np.r_[cells, truth], weights
