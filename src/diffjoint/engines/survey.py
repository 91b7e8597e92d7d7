"""Look through a dataset once: counts, levels and ranges of columns, which cells are missing.

What is found of two pieces can be merged, and does not depend on how rows are cut into pieces.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diffjoint.state import Keys, mix_columns
from diffjoint.table import MAX_LEVELS

Example = tuple[Any, int]
"""A value, and the key of a row that holds it: the lowest of all rows that do."""


@dataclass(frozen=True)
class ColumnSurvey:
    """What a column of a dataset holds.

    Attributes
    ----------
    levels : dict or None
        Distinct values, and for each the key of a row that holds it; None if there are more than
        a categorical column may have.
    low, high : Example or None
        The lowest and the highest number or date.
    fraction : int or None
        Key of a row that holds a number that is not whole.
    """

    levels: dict[Hashable, int] | None
    low: Example | None = None
    high: Example | None = None
    fraction: int | None = None

    def merged(self, other: "ColumnSurvey") -> "ColumnSurvey":
        """Return what both hold."""
        levels = None
        if self.levels is not None and other.levels is not None:
            shared = self.levels.keys() | other.levels.keys()
            levels = {
                value: min(one[value] for one in (self.levels, other.levels) if value in one)
                for value in shared
            }
        lows = [one for one in (self.low, other.low) if one is not None]
        highs = [one for one in (self.high, other.high) if one is not None]
        fractions = [one for one in (self.fraction, other.fraction) if one is not None]
        return ColumnSurvey(
            None if levels is None or len(levels) > MAX_LEVELS else levels,
            min(lows, default=None),
            max(highs, key=lambda one: (one[0], -one[1]), default=None),
            min(fractions, default=None),
        )

    def examples(self) -> set[int]:
        """Return keys of rows that together hold the levels, both ends and a fraction."""
        ends = {one[1] for one in (self.low, self.high) if one is not None}
        fractions = set() if self.fraction is None else {self.fraction}
        return {*(self.levels or {}).values(), *ends, *fractions}


@dataclass(frozen=True)
class Survey:
    """What a dataset holds.

    Attributes
    ----------
    n_rows : int
    columns : dict of ColumnSurvey
    missing_together : int array of shape (n_columns, n_columns)
        In how many rows the cells of two columns are both missing; on the diagonal, in how many
        the cell of a column is.
    examples : pyarrow.Table
        Rows that together hold the levels and ends of all columns.
    example_keys : uint64 array
        Their keys.
    """

    n_rows: int
    columns: dict[str, ColumnSurvey]
    missing_together: NDArray[np.int64]
    examples: pa.Table
    example_keys: Keys

    @property
    def n_missing(self) -> dict[str, int]:
        """Missing cells of each column."""
        counts = np.diagonal(self.missing_together).tolist()
        return dict(zip(self.columns, counts, strict=True))

    def merged(self, other: "Survey") -> "Survey":
        """Return what both hold."""
        columns = {name: one.merged(other.columns[name]) for name, one in self.columns.items()}
        keys = np.concatenate([self.example_keys, other.example_keys])
        rows = pa.concat_tables([self.examples, other.examples])
        wanted = np.array(sorted(set().union(*(c.examples() for c in columns.values()))), np.uint64)
        distinct, places = np.unique(keys, return_index=True)
        chosen = places[np.isin(distinct, wanted)]
        return Survey(
            self.n_rows + other.n_rows,
            columns,
            self.missing_together + other.missing_together,
            rows.take(chosen).combine_chunks(),
            keys[chosen],
        )


def survey_rows(rows: pa.Table, keys: Keys) -> Survey:
    """Look through some rows."""
    missing = np.column_stack([missing_in(column) for column in rows.columns])
    counted = missing.astype(np.float64)
    in_order = np.argsort(keys, kind="stable")
    columns = {
        name: _survey_column(rows.column(name), missing[:, i], keys, in_order)
        for i, name in enumerate(rows.column_names)
    }
    wanted = np.array(sorted(set().union(*(c.examples() for c in columns.values()))), np.uint64)
    distinct, places = np.unique(keys, return_index=True)
    chosen = places[np.isin(distinct, wanted)]
    together = (counted.T @ counted).round().astype(np.int64)
    examples = rows.take(chosen).combine_chunks()
    return Survey(rows.num_rows, columns, together, examples, keys[chosen])


def merge(surveys: Iterable[Survey]) -> Survey:
    """Return what all pieces hold."""
    found: Survey | None = None
    for one in surveys:
        found = one if found is None else found.merged(one)
    if found is None:
        raise ValueError("a dataset has a piece at least")
    return found


def row_contents(rows: pa.Table) -> Keys:
    """Return a key for each row that depends on its content alone, in any piece and encoding."""
    return mix_columns([_codes(column) for column in rows.columns], rows.num_rows)


def missing_in(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which cells of a column are missing; NaN counts."""
    missing: NDArray[np.bool_] = pc.is_null(column, nan_is_null=True).to_numpy()
    return missing


def _survey_column(
    column: pa.ChunkedArray, missing: NDArray[np.bool_], keys: Keys, in_order: NDArray[np.intp]
) -> ColumnSurvey:
    plain = _plain(column)
    there = in_order[~missing[in_order]]
    if not len(there):
        return ColumnSurvey({})
    if pa.types.is_nested(plain.type):  # lists and the like are passed through: no levels
        return ColumnSurvey(None)
    levels = None
    encoded = pc.dictionary_encode(plain.combine_chunks())
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = np.asarray(encoded.indices.fill_null(-1))[there]
    distinct, first = np.unique(codes, return_index=True)
    if len(distinct) <= MAX_LEVELS:
        values = encoded.dictionary.take(pa.array(distinct)).to_pylist()
        levels = dict(zip(values, keys[there[first]].tolist(), strict=True))
    if not _is_ordered(plain.type):
        return ColumnSurvey(levels)
    numbers = _numbers(plain)[there]
    low, high = (
        (numbers[place].item(), int(keys[there[place]]))
        for place in (np.argmin(numbers), np.argmax(numbers))
    )
    fraction = None
    if pa.types.is_floating(plain.type):
        broken = np.flatnonzero(numbers % 1 != 0)
        fraction = int(keys[there[broken[0]]]) if len(broken) else None
    return ColumnSurvey(levels, low, high, fraction)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without a dictionary."""
    is_coded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_coded else column


def _is_ordered(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_date(kind)
    )


def _whole(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return whole numbers and dates as int64, 0 where missing."""
    if pa.types.is_boolean(column.type) or pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return np.asarray(column.cast(pa.int64(), safe=False).fill_null(0))


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return numbers and dates as they compare."""
    if pa.types.is_floating(column.type):
        return np.asarray(column.cast(pa.float64()).fill_null(np.nan))
    return _whole(column)


def _codes(column: pa.ChunkedArray) -> Keys:
    """Return a number for each cell that depends on what it holds."""
    plain = _plain(column)
    kind, missing = plain.type, missing_in(column)
    if pa.types.is_floating(kind):
        codes = (_numbers(plain) + 0.0).view(np.uint64)
    elif _is_ordered(kind) or pa.types.is_boolean(kind):
        codes = _whole(plain).view(np.uint64)
    else:
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        cells = plain.to_pylist()
        texts = cells if is_text else [None if cell is None else repr(cell) for cell in cells]
        held = np.array(["" if text is None else text for text in texts], dtype=object)
        codes = pd.util.hash_array(held)
    return np.where(missing, _MISSING, codes)


_MISSING = np.uint64(0x7FF8DEADBEEF0001)
"""The number of a missing cell."""
