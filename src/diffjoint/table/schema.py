"""Infer and describe the columns of a table: kinds, levels and ranges."""

import math
import numbers as numeric
from collections.abc import Collection, Hashable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from diffjoint._numbers import is_comma_number
from diffjoint.errors import InputError, option
from diffjoint.parameters.checks import check
from diffjoint.parameters.choices import Checkboxes
from diffjoint.table.frame import (
    DATE_STEPS,
    MICROSECONDS_PER_DAY,
    Table,
    is_date,
    microseconds,
    missing_cells,
    numbers,
    objects,
)
from diffjoint.table.ranks import quantiles_of

TICKED, NOT_TICKED = 0.0, 1.0
"""Codes of a checkbox: its only level, and a missing cell."""
UNTICKED = "not ticked"
"""How messages name a missing cell of a checkbox."""
FEW_VALUES = 10
"""A numeric column with at most this many distinct values is categorical ..."""
MIN_REPEATS = 5
"""... if each occurs at least this often on average."""
MAX_LEVELS = 200
"""A text column with more levels than this is passed through, not modelled."""
MAX_ID_LEVELS = 20
"""A column with more distinct values than this, most of which occur once, may be an id."""

MAX_EXACT_INTEGER = 2.0**53
"""Floats do not hold all whole numbers beyond this."""
FEWEST_OBSERVED = 20
"""A column with fewer observed cells than this, and more missing ones, is passed through."""


class Kind(StrEnum):
    """Kind of a column: how it is coded and modelled."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    CHECKBOX = "checkbox"
    DATETIME = "datetime"
    PASS_THROUGH = "pass-through"


@dataclass(frozen=True)
class Column:
    """Description of one column.

    Attributes
    ----------
    name : str
    kind : Kind
    levels : tuple
        Categorical: the levels seen in fit, in a fixed order. Checkbox: the one value it holds.
    mean, scale : float
        Numbers: mean and standard deviation of the observed cells.
    low, high : float
        Numbers: observed range.
    quantiles : tuple of float
        Numbers: quantiles of the observed cells, see :mod:`diffjoint.table.ranks`.
    step : float
        Numbers: the grid that values lie on; 0 for none.
    lowest, highest : float or None
        Numbers: bounds that the user set for filled values; None if not set.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    mean: float = 0.0
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    quantiles: tuple[float, ...] = ()
    step: float = 0.0
    lowest: float | None = None
    highest: float | None = None

    @property
    def is_modelled(self) -> bool:
        """Whether the column is modelled, and not passed through."""
        return self.kind is not Kind.PASS_THROUGH

    @property
    def is_categorical(self) -> bool:
        """Whether the column has levels; False for numbers and dates."""
        return self.kind in (Kind.CATEGORICAL, Kind.CHECKBOX)

    @property
    def is_checkbox(self) -> bool:
        """Whether a missing cell has a meaning of its own: not ticked."""
        return self.kind is Kind.CHECKBOX

    @property
    def n_codes(self) -> int:
        """Number of codes: one for each level, and one for a box not ticked; 0 for numbers."""
        return len(self.levels) + self.is_checkbox if self.is_categorical else 0

    @property
    def width(self) -> int:
        """Number of coordinates in model space."""
        return self.n_codes if self.is_categorical else 1

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest value that may be filled in: the user's bounds, or as observed."""
        low = self.low if self.lowest is None else self.lowest
        return low, self.high if self.highest is None else self.highest

    def standardised(self, differences: Any) -> Any:
        """Return coded differences, a number or an array, in standard deviations."""
        return differences / (self.scale or 1.0)

    @property
    def unit(self) -> float:
        """The unit to report values in, as a coded value: a day for dates, else 1."""
        return float(MICROSECONDS_PER_DAY) if self.kind is Kind.DATETIME else 1.0

    def in_words(self) -> str:
        """Return a short description of the levels or the range."""
        if self.kind is Kind.PASS_THROUGH:
            return "carried along, not modelled"
        if self.is_checkbox:
            return f"{self.levels[0]}, or missing: {UNTICKED}"
        if self.is_categorical:
            shown = ", ".join(str(level) for level in self.levels[:4])
            return shown + (f", ... ({len(self.levels)} levels)" if len(self.levels) > 4 else "")
        if self.kind is Kind.DATETIME:
            low, high = np.round(np.array([self.low, self.high]) / self.unit).astype("M8[D]")
            return f"{low} to {high}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Schema:
    """Descriptions of all columns of a table, in order.

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
        """The modelled columns."""
        return tuple(column for column in self.columns if column.is_modelled)

    @property
    def modelled_positions(self) -> NDArray[np.intp]:
        """Positions of the modelled columns in the table."""
        return np.flatnonzero([column.is_modelled for column in self.columns])

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """Number of levels of each modelled column; 0 for numbers, 2 for checkboxes."""
        return np.array([column.n_codes for column in self.modelled], dtype=np.int64)

    @property
    def checkboxes(self) -> NDArray[np.bool_]:
        """Boolean mask of the modelled columns that are checkboxes."""
        return np.array([column.is_checkbox for column in self.modelled], dtype=bool)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, kind and values of each column, as text."""
        return [(column.name, str(column.kind), column.in_words()) for column in self.columns]

    def __str__(self) -> str:
        lines = [("column", "kind", "values"), *self.rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(2)]
        return "\n".join(f"{n:<{widths[0]}}  {k:<{widths[1]}}  {v}".rstrip() for n, k, v in lines)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the schema as data that JSON can hold."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_json(cls, columns: list[dict[str, Any]]) -> "Schema":
        """Return the schema that :meth:`to_json` wrote."""
        return cls(
            tuple(
                Column(
                    **{
                        **fields,
                        "kind": Kind(fields["kind"]),
                        "levels": tuple(fields["levels"]),
                        "quantiles": tuple(fields["quantiles"]),
                    }
                )
                for fields in columns
            )
        )


def infer_schema(
    table: Table,
    column_kinds: Mapping[Hashable, str] | None = None,
    *,
    checkboxes: Checkboxes = "keep",
    named: Collection[int] = (),
    labelled: Collection[int] = (),
) -> Schema:
    """Infer the kinds of columns from their dtypes and values.

    Parameters
    ----------
    column_kinds : mapping, optional
        Kinds by column label, which override those inferred.
    checkboxes : {"keep", "fill"}
        Whether columns that hold one value or nothing are checkboxes or categorical.
    named : collection of int
        Positions of columns that another parameter names. They are never taken for checkboxes, and
        are modelled however few of their cells are observed.
    labelled : collection of int
        Positions of columns with labelled cells; these are modelled, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from diffjoint.table import open_table
    >>> table = open_table(pd.DataFrame({"sprouts": ["served", None, None], "age": [31, 40, 52]}))
    >>> print(infer_schema(table))
    column   kind      values
    sprouts  checkbox  served, or missing: not ticked
    age      integer   31 to 52
    """
    overrides = _overrides(table, column_kinds or {})
    columns = []
    for position, name in enumerate(table.names):
        series = table.column(position)
        kind = overrides.get(position) or infer_kind(series, name)
        if position not in overrides and position not in named:
            if _is_checkbox(series, kind):
                kind = Kind.CHECKBOX if checkboxes == "keep" else kind
            elif position not in labelled and is_scarce(series, kind):
                kind = Kind.PASS_THROUGH
        columns.append(_describe(series, name, kind))
    return Schema(tuple(columns))


def is_scarce(series: nw.Series[Any], kind: Kind) -> bool:
    """Return whether a column has too few observed cells to learn its missing ones from."""
    n_missing = int(missing_cells(series).sum())
    n_observed = len(series) - n_missing
    return kind is not Kind.PASS_THROUGH and n_observed < min(FEWEST_OBSERVED, n_missing)


def _is_checkbox(series: nw.Series[Any], kind: Kind) -> bool:
    """Return whether a column holds a single value, and has missing cells."""
    if kind is not Kind.CATEGORICAL or not missing_cells(series).any():
        return False
    return len({cell for cell in objects(series) if cell is not None}) == 1


def infer_kind(series: nw.Series[Any], name: str) -> Kind:
    """Return the kind that a column most likely has; pass-through if no cell is observed."""
    dtype = series.dtype
    if missing_cells(series).all():
        return Kind.PASS_THROUGH
    if is_date(series):
        return Kind.DATETIME
    if dtype.is_integer() or dtype.is_float():
        column = numbers(series)
        exact = np.nanmax(np.abs(column), initial=0.0) <= MAX_EXACT_INTEGER
        return _kind_of_numbers(column, name) if exact or dtype.is_float() else Kind.PASS_THROUGH
    observed = [value for value in objects(series) if value is not None]
    if dtype in (nw.Boolean, nw.Categorical, nw.Enum):
        if not all(isinstance(value, str | bool | numeric.Real) for value in observed):
            return Kind.PASS_THROUGH
        return Kind.CATEGORICAL if len(set(observed)) <= MAX_LEVELS else Kind.PASS_THROUGH
    return (
        _kind_of_objects(observed, name) if dtype in (nw.String, nw.Object) else Kind.PASS_THROUGH
    )


def _kind_of_numbers(column: NDArray[np.float64], name: str) -> Kind:
    observed = column[~np.isnan(column)]
    distinct = np.unique(observed)
    few = len(distinct) <= FEW_VALUES and len(observed) >= MIN_REPEATS * len(distinct)
    if few or len(distinct) == 1:
        return Kind.CATEGORICAL
    exact = np.abs(distinct).max(initial=0.0) <= MAX_EXACT_INTEGER
    if not exact or not np.all(distinct == np.round(distinct)):
        return Kind.CONTINUOUS
    complete_and_distinct = len(distinct) == len(column) and len(column) > MAX_ID_LEVELS
    if complete_and_distinct and (_named_like_an_id(name) or np.all(np.diff(column) == 1)):
        return Kind.PASS_THROUGH
    return Kind.INTEGER


def _kind_of_objects(observed: list[Any], name: str) -> Kind:
    if all(isinstance(value, numeric.Real) and not isinstance(value, bool) for value in observed):
        try:
            return _kind_of_numbers(np.array(observed, dtype=np.float64), name)
        except OverflowError:
            return Kind.PASS_THROUGH
    if not all(isinstance(value, str | bool | numeric.Real) for value in observed):
        return Kind.PASS_THROUGH
    n_levels = len(set(observed))
    mostly_unique = n_levels > MAX_ID_LEVELS and n_levels > len(observed) / 2
    return Kind.PASS_THROUGH if n_levels > MAX_LEVELS or mostly_unique else Kind.CATEGORICAL


def _named_like_an_id(name: str) -> bool:
    return name.lower() == "id" or name.endswith(("_id", " id", "Id", "ID"))


def _overrides(table: Table, column_kinds: Mapping[Hashable, str]) -> dict[int, Kind]:
    check("column_kinds", column_kinds)
    overrides = {}
    for label, kind in column_kinds.items():
        position = table.require(label, "column_kinds")
        if kind not in set(Kind):
            raise InputError(
                f"{option('column_kinds')}[{label!r}] must be one of "
                f"{', '.join(map(repr, map(str, Kind)))}; got {kind!r}.",
                parameter="column_kinds",
            )
        overrides[position] = Kind(kind)
    return overrides


def column_numbers(
    series: nw.Series[Any], name: str, kind: Kind, wrong: InputError
) -> NDArray[np.float64]:
    """Return a column of numbers or dates as floats; raise ``wrong`` if it is neither."""
    if missing_cells(series).all():
        return np.full(len(series), np.nan)
    if is_date(series) != (kind is Kind.DATETIME):
        raise wrong
    try:
        column = microseconds(series) if is_date(series) else numbers(series)
    except TypeError as error:
        raise wrong from error
    infinite = column[np.isinf(column)]
    if len(infinite):
        raise InputError(
            f"Column '{name}' must hold finite numbers; it has infinity in {len(infinite):,} "
            "cells. Replace infinite values by missing ones or by a bound, or have them read as "
            f"lost: {option('reason_codes', {name: {f'{infinite[0]:g}': 'lost'}})}."
        )
    return column


def _describe(series: nw.Series[Any], name: str, kind: Kind) -> Column:
    if kind is Kind.PASS_THROUGH:
        return Column(name, kind)
    if kind in (Kind.CATEGORICAL, Kind.CHECKBOX):
        return Column(name, kind, levels=_levels(series, name, kind))
    column = column_numbers(series, name, kind, _wrong_kind(series, name, kind))
    observed = np.sort(column[~np.isnan(column)])  # sums must not depend on the row order
    if len(observed) == 0:
        raise _nothing_observed(name)
    with np.errstate(over="ignore"):
        mean, scale = float(np.mean(observed)), float(np.std(observed))
    if not math.isfinite(mean + scale):
        raise InputError(
            f"Column '{name}' must have a finite spread; its numbers reach {observed[-1]:g}. "
            "Rescale it or take its logarithm."
        )
    return Column(
        name,
        kind,
        mean=mean,
        scale=scale,
        low=float(observed[0]),
        high=float(observed[-1]),
        quantiles=quantiles_of(observed),
        step=_step(series, observed, name, kind),
    )


def _step(series: nw.Series[Any], observed: NDArray[np.float64], name: str, kind: Kind) -> float:
    if kind is Kind.INTEGER:
        fractional = observed[observed != np.round(observed)]
        if len(fractional):
            raise InputError(
                f"{option('column_kinds')} says that '{name}' is an integer column; it holds "
                f"{fractional[0]:g}. Use 'continuous'.",
                parameter="column_kinds",
            )
        return 1.0
    if kind is Kind.DATETIME:
        on_the_wall = microseconds(series, on_the_wall=True)
        stamps = on_the_wall[~np.isnan(on_the_wall)]
        return next((step for step in DATE_STEPS if np.all(stamps % step == 0)), 0.0)
    return 0.0


def _levels(series: nw.Series[Any], name: str, kind: Kind) -> tuple[Any, ...]:
    found = [value for value in set(objects(series)) if value is not None]
    if not found:
        raise _nothing_observed(name)
    if not all(isinstance(level, str | bool | numeric.Real) for level in found):
        raise _wrong_kind(series, name, kind)
    if kind is Kind.CHECKBOX and len(found) > 1:
        raise InputError(
            f"{option('column_kinds')} says that '{name}' is a checkbox, which holds one value or "
            f"nothing; it holds {len(found):,} values. Use 'categorical'.",
            parameter="column_kinds",
        )
    plain = [level.item() if isinstance(level, np.generic) else level for level in found]
    return tuple(sorted(plain, key=lambda level: (isinstance(level, str), level)))


def _nothing_observed(name: str) -> InputError:
    return InputError(
        f"Column '{name}' must have at least one observed cell; all of its cells are missing, so "
        "there is nothing to learn from. Drop the column, or carry it along with "
        f"{option('column_kinds', {name: 'pass-through'})}."
    )


def _has_decimal_commas(series: nw.Series[Any]) -> bool:
    texts = [cell for cell in objects(series) if cell is not None]
    return any("," in str(text) for text in texts) and all(
        isinstance(text, str) and is_comma_number(text) for text in texts
    )


def _wrong_kind(series: nw.Series[Any], name: str, kind: Kind) -> InputError:
    written = ""
    if kind is Kind.DATETIME and series.dtype == nw.String:
        written = " Dates in text are read if all are written like 2024-03-31."
    elif series.dtype in (nw.String, nw.Object) and _has_decimal_commas(series):
        written = (
            " Its text looks like numbers with a decimal comma: read the file with "
            f"{option('decimal', ',')}."
        )
    return InputError(
        f"{option('column_kinds')} says that '{name}' is {kind}; its dtype is "
        f"{series.dtype}.{written} Convert the column, or choose another kind.",
        parameter="column_kinds",
    )
