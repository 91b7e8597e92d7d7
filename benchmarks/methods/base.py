"""What every method can do: learn from a table, and complete it or another."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

MODELLED = ("continuous", "integer", "categorical")


class Method(ABC):
    """A way of completing tables.

    Parameters
    ----------
    column_kinds : dict
        Kind of each column, as a world says it.
    """

    def __init__(self, column_kinds: Mapping[str, str]) -> None:
        self.column_kinds = dict(column_kinds)

    @abstractmethod
    def fit(self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int) -> Self:
        """Learn from a table; only some methods care for ``mm_columns``."""

    @abstractmethod
    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with its missing cells filled, NA where they are kept."""

    def fit_transform(
        self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int
    ) -> pd.DataFrame:
        """Learn from a table and complete it."""
        return self.fit(table, mm_columns, seed).transform(table)

    def transform_with_probability(
        self, table: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Return the completed table, and P(meaningful) of each cell where the method says it."""
        return self.transform(table), None

    @property
    def settings_used(self) -> dict[str, Any]:
        """Its numbers, for the result file; of a fitted method."""
        return {k: v for k, v in vars(self).items() if isinstance(v, int | float | str)}

    def watch(self, table: pd.DataFrame, seen: Callable[[pd.DataFrame], object]) -> None:
        """Have ``seen`` called with the completed table after each pass of ``fit``."""
        raise NotImplementedError(f"{type(self).__name__} makes no passes that can be watched.")


@dataclass(frozen=True)
class Coding:
    """Modelled columns as numbers: levels by their position, NaN where missing or never seen.

    Attributes
    ----------
    names : list of str
        Columns of which something was seen; the others stay as they are.
    levels : dict
        The levels of categorical columns, sorted.
    whole : dict
        Least and greatest value of integer columns.
    """

    names: list[str]
    levels: "dict[str, pd.Index[Any]]"
    whole: dict[str, tuple[float, float]]

    @classmethod
    def learn(cls, table: pd.DataFrame, kinds: Mapping[str, str]) -> "Coding":
        """Learn the coding of a table's columns."""
        modelled = [name for name, kind in kinds.items() if kind in MODELLED]
        names = [name for name in modelled if table[name].notna().any()]
        levels = {
            name: pd.Index(table[name].dropna().unique()).sort_values()
            for name in names
            if kinds[name] == "categorical"
        }
        whole = {
            name: (float(table[name].min()), float(table[name].max()))
            for name in names
            if kinds[name] == "integer"
        }
        return cls(names, levels, whole)

    @property
    def is_level(self) -> Bools:
        """Which of the columns are categorical."""
        return np.array([name in self.levels for name in self.names])

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """How many levels each column has; 0 for numbers."""
        return np.array([len(self.levels.get(name, ())) for name in self.names])

    def encode(self, table: pd.DataFrame) -> Array:
        """Return a table as numbers, one column each."""
        codes = np.empty((len(table), len(self.names)))
        for j, name in enumerate(self.names):
            if name in self.levels:
                place = self.levels[name].get_indexer(pd.Index(table[name]))
                codes[:, j] = np.where(place < 0, np.nan, place)
            else:
                codes[:, j] = table[name].to_numpy(dtype=float, na_value=np.nan)
        return codes

    def decode(self, codes: Array, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with missing cells from ``codes`` and observed cells as they are."""
        completed = table.copy()
        for j, name in enumerate(self.names):
            missing = table[name].isna().to_numpy()
            if not missing.any():
                continue
            values: Any = codes[missing, j]
            if name in self.levels:
                values = self.levels[name].take(np.rint(values).astype(int))
            elif name in self.whole:
                values = np.clip(np.rint(values), *self.whole[name])
            filled = pd.Series(values, index=table.index[missing], dtype=table[name].dtype)
            completed[name] = table[name].where(~missing, filled.reindex(table.index))
        return completed


class CodedMethod(Method):
    """A method that sees numbers alone and fills every missing cell."""

    coding: Coding

    def fit(self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int) -> Self:
        """Code the table and learn from it."""
        self.coding = Coding.learn(table, self.column_kinds)
        self.fit_codes(self.coding.encode(table), seed)
        return self

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        """Fill the missing cells."""
        return self.coding.decode(self.complete_codes(self.coding.encode(table)), table)

    @abstractmethod
    def fit_codes(self, codes: Array, seed: int) -> None:
        """Learn from a coded table."""

    @abstractmethod
    def complete_codes(self, codes: Array) -> Array:
        """Return the coded table with every cell filled."""


def typical(codes: Array, discrete: Bools) -> Array:
    """Return the mean of each number, the most frequent value of each discrete column."""
    fill = np.zeros(codes.shape[1])
    for j, column in enumerate(codes.T):
        seen = column[~np.isnan(column)]
        if len(seen) == 0:
            continue
        values, counts = np.unique(seen, return_counts=True)
        fill[j] = values[counts.argmax()] if discrete[j] else seen.mean()
    return fill


def filled_with(codes: Array, fill: Array) -> Array:
    """Fill the missing cells of each column of the coded table with one value."""
    return np.where(np.isnan(codes), fill, codes)


class Blocks:
    """Coded columns side by side: numbers standardised, columns of few levels one-hot.

    Columns of more levels stay positions, standardised like numbers.

    Parameters
    ----------
    codes : array of shape (n_rows, n_columns)
    n_levels : array of shape (n_columns,)
        0 for numbers.
    most_levels : int
        Columns of more are not one-hot.
    n_left_out : {0, 1}
        Levels without a place in the block: 1 for regressions, which would otherwise learn a place
        from the others of its own block, and so nothing of a row in which all are missing.
    """

    def __init__(
        self, codes: Array, n_levels: NDArray[np.int64], most_levels: int, n_left_out: int = 0
    ) -> None:
        self.n_levels, self.n_left_out = n_levels, n_left_out
        self.hot = (n_levels > 0) & (n_levels <= most_levels)
        plain = codes[:, ~self.hot]
        self.centre = typical(plain, np.zeros(plain.shape[1], dtype=bool))
        spread = np.sqrt(np.nanmean(np.square(plain - self.centre), axis=0)) if len(codes) else 1.0
        self.spread = np.where(spread > 0, spread, 1.0)

    def widen(self, codes: Array) -> Array:
        """Coded cells as blocks; a missing cell is a block of NaN."""
        parts = [(codes[:, ~self.hot] - self.centre) / self.spread]
        for j in np.flatnonzero(self.hot):
            column = codes[:, [j]]
            block = (column == np.arange(self.n_left_out, self.n_levels[j])).astype(float)
            parts.append(np.where(np.isnan(column), np.nan, block))
        return np.concatenate(parts, axis=1)

    def narrow(self, wide: Array) -> Array:
        """Blocks as coded cells: the level whose place is highest; one left out has the rest."""
        n_plain = int((~self.hot).sum())
        codes = np.empty((len(wide), len(self.n_levels)))
        codes[:, ~self.hot] = wide[:, :n_plain] * self.spread + self.centre
        start = n_plain
        for j in np.flatnonzero(self.hot):
            end = start + self.n_levels[j] - self.n_left_out
            rest = 1.0 - wide[:, start:end].sum(axis=1, keepdims=True)
            block = np.hstack([np.repeat(rest, self.n_left_out, axis=1), wide[:, start:end]])
            codes[:, j], start = block.argmax(axis=1), end
        several = self.n_levels > 0
        codes[:, several] = np.clip(np.rint(codes[:, several]), 0, self.n_levels[several] - 1)
        return codes
