"""What each column is: its kind, its levels, its range."""

import math
import numbers as numeric
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint.errors import InputError
from diffjoint.table.frame import Table, days, numbers, objects

FEW_VALUES = 10
"""A numeric column with at most this many distinct values is categorical ..."""
MIN_REPEATS = 5
"""... if its values come back at least this often on average."""
MAX_LEVELS = 200
"""A text column with more levels than this is passed through."""
MAX_ID_LEVELS = 20
"""A text column with more levels than this, most of them seen once, is passed through."""

_STEPS_IN_DAYS = (1.0, 1 / 24, 1 / 1440, 1 / 86400)


class Kind(StrEnum):
    """What a column is to the model."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    DATETIME = "datetime"
    PASS_THROUGH = "pass-through"


@dataclass(frozen=True)
class Column:
    """One column as the model knows it.

    Attributes
    ----------
    name : str
    kind : Kind
    levels : tuple
        Categorical: the levels seen, in a fixed order.
    mean, scale : float
        Numbers: mean and standard deviation of the observed cells.
    low, high : float
        Numbers: observed range.
    step : float
        Numbers: the grid that values lie on; 0 for none.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    mean: float = 0.0
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0

    @property
    def is_modelled(self) -> bool:
        """Whether the model sees the column at all."""
        return self.kind is not Kind.PASS_THROUGH

    @property
    def is_categorical(self) -> bool:
        """Whether the column is one of levels, not a number."""
        return self.kind is Kind.CATEGORICAL

    @property
    def width(self) -> int:
        """Coordinates in model space."""
        return len(self.levels) if self.is_categorical else 1

    def in_words(self) -> str:
        """Levels or range, briefly."""
        if self.kind is Kind.PASS_THROUGH:
            return "carried along, not modelled"
        if self.is_categorical:
            shown = ", ".join(str(level) for level in self.levels[:4])
            return shown + (f", ... ({len(self.levels)} levels)" if len(self.levels) > 4 else "")
        if self.kind is Kind.DATETIME:
            low, high = np.array([self.low, self.high]).round().astype("datetime64[D]")
            return f"{low} to {high}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Schema:
    """All columns of a table, in order.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import open_table
    >>> table = open_table(pd.DataFrame({"age": [31.5, 40.0, None], "town": ["Ulm", None, "Bonn"]}))
    >>> print(infer_schema(table))
    column  kind         values
    age     continuous   31.5 to 40
    town    categorical  Bonn, Ulm
    """

    columns: tuple[Column, ...]

    @property
    def modelled(self) -> tuple[Column, ...]:
        """The columns the model sees."""
        return tuple(column for column in self.columns if column.is_modelled)

    @property
    def modelled_positions(self) -> NDArray[np.intp]:
        """Where the modelled columns stand in the table."""
        return np.flatnonzero([column.is_modelled for column in self.columns])

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, kind and values of each column, to print."""
        return [(column.name, str(column.kind), column.in_words()) for column in self.columns]

    def __str__(self) -> str:
        lines = [("column", "kind", "values"), *self.rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(2)]
        return "\n".join(f"{n:<{widths[0]}}  {k:<{widths[1]}}  {v}".rstrip() for n, k, v in lines)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data that :meth:`from_json` reads back."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_json(cls, columns: list[dict[str, Any]]) -> "Schema":
        """The schema that :meth:`to_json` wrote."""
        return cls(
            tuple(
                Column(
                    **{**fields, "kind": Kind(fields["kind"]), "levels": tuple(fields["levels"])}
                )
                for fields in columns
            )
        )


def infer_schema(table: Table, column_kinds: Mapping[Hashable, str] | None = None) -> Schema:
    """Kinds inferred from dtypes and values, overridden by ``column_kinds``."""
    overrides = _overrides(table, column_kinds or {})
    columns = []
    for position, name in enumerate(table.names):
        series = table.column(position)
        kind = overrides.get(position) or infer_kind(series, name)
        columns.append(_describe(series, name, kind))
    return Schema(tuple(columns))


def infer_kind(series: nw.Series[Any], name: str) -> Kind:
    """The kind a column most likely has."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return Kind.CATEGORICAL
    if dtype in (nw.Datetime, nw.Date):
        return Kind.DATETIME
    if dtype.is_integer() or dtype.is_float():
        return _kind_of_numbers(numbers(series), name)
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return _kind_of_objects([value for value in objects(series) if value is not None], name)
    return Kind.PASS_THROUGH


def _kind_of_numbers(column: NDArray[np.float64], name: str) -> Kind:
    observed = column[~np.isnan(column)]
    distinct = np.unique(observed)
    if len(distinct) <= FEW_VALUES and len(observed) >= MIN_REPEATS * len(distinct):
        return Kind.CATEGORICAL
    if not np.all(distinct == np.round(distinct)):
        return Kind.CONTINUOUS
    complete_and_distinct = len(distinct) == len(column)
    if complete_and_distinct and (_named_like_an_id(name) or np.all(np.diff(column) == 1)):
        return Kind.PASS_THROUGH
    return Kind.INTEGER


def _kind_of_objects(observed: list[Any], name: str) -> Kind:
    if not observed:
        return Kind.CATEGORICAL
    if all(isinstance(value, numeric.Real) and not isinstance(value, bool) for value in observed):
        return _kind_of_numbers(np.array(observed, dtype=np.float64), name)
    if not all(isinstance(value, str | bool | numeric.Real) for value in observed):
        return Kind.PASS_THROUGH
    n_levels = len(set(observed))
    mostly_unique = n_levels > MAX_ID_LEVELS and n_levels > len(observed) / 2
    return Kind.PASS_THROUGH if n_levels > MAX_LEVELS or mostly_unique else Kind.CATEGORICAL


def _named_like_an_id(name: str) -> bool:
    return name.lower() == "id" or name.endswith(("_id", " id", "Id", "ID"))


def _overrides(table: Table, column_kinds: Mapping[Hashable, str]) -> dict[int, Kind]:
    overrides = {}
    for label, kind in column_kinds.items():
        position = table.require(label, "column_kinds")
        if kind not in set(Kind):
            raise InputError(
                f"column_kinds[{label!r}] must be one of {', '.join(map(repr, map(str, Kind)))}; "
                f"got {kind!r}."
            )
        overrides[position] = Kind(kind)
    return overrides


def _describe(series: nw.Series[Any], name: str, kind: Kind) -> Column:
    if kind is Kind.PASS_THROUGH:
        return Column(name, kind)
    if kind is Kind.CATEGORICAL:
        return Column(name, kind, levels=_levels(series, name))
    column = _as_numbers(series, name, kind)
    observed = np.sort(column[~np.isnan(column)])  # sums must not depend on the row order
    if len(observed) == 0:
        raise _nothing_observed(name)
    if not np.isfinite(observed).all():
        raise InputError(
            f"Column '{name}' must hold finite numbers; it has infinity. "
            "Replace infinite values by missing ones or by a bound."
        )
    scale = float(np.std(observed))
    return Column(
        name,
        kind,
        mean=float(np.mean(observed)),
        scale=scale if scale > 0 else 1.0,
        low=float(observed.min()),
        high=float(observed.max()),
        step=_step(observed, name, kind),
    )


def _as_numbers(series: nw.Series[Any], name: str, kind: Kind) -> NDArray[np.float64]:
    is_date = series.dtype in (nw.Datetime, nw.Date)
    if is_date != (kind is Kind.DATETIME):
        raise _wrong_kind(series, name, kind)
    if is_date:
        return days(series)
    try:
        return numbers(series)
    except (ValueError, TypeError, nw.exceptions.NarwhalsError) as error:
        raise _wrong_kind(series, name, kind) from error


def _step(observed: NDArray[np.float64], name: str, kind: Kind) -> float:
    if kind is Kind.INTEGER:
        fractional = observed[observed != np.round(observed)]
        if len(fractional):
            raise InputError(
                f"column_kinds says that '{name}' is an integer column; it holds "
                f"{fractional[0]:g}. Use 'continuous'."
            )
        return 1.0
    if kind is Kind.DATETIME:
        on_grid = (step for step in _STEPS_IN_DAYS if _all_multiples(observed, step))
        return next(on_grid, 0.0)
    return 0.0


def _all_multiples(column: NDArray[np.float64], step: float) -> bool:
    counts = column / step
    return bool(np.all(np.abs(counts - np.round(counts)) < 1e-5))


def _levels(series: nw.Series[Any], name: str) -> tuple[Any, ...]:
    if series.dtype.is_numeric():
        column = numbers(series)
        distinct = np.unique(column[~np.isnan(column)]).tolist()
        found = [
            int(level) if math.isfinite(level) and level == int(level) else level
            for level in distinct
        ]
    else:
        found = [value for value in set(objects(series)) if value is not None]
    if not found:
        raise _nothing_observed(name)
    if not all(isinstance(level, str | bool | numeric.Real) for level in found):
        raise _wrong_kind(series, name, Kind.CATEGORICAL)
    plain = [level.item() if isinstance(level, np.generic) else level for level in found]
    return tuple(sorted(plain, key=lambda level: (isinstance(level, str), level)))


def _nothing_observed(name: str) -> InputError:
    return InputError(
        f"Column '{name}' must have at least one observed cell; all of its cells are missing, so "
        "there is nothing to learn from. Drop the column, or carry it along with "
        f"column_kinds={{'{name}': 'pass-through'}}."
    )


def _wrong_kind(series: nw.Series[Any], name: str, kind: Kind) -> InputError:
    return InputError(
        f"column_kinds says that '{name}' is {kind}; its dtype is {series.dtype}. "
        "Convert the column, or choose another kind."
    )
