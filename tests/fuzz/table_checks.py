"""What must hold of any table: a clear error, or all observed cells come back as they were."""

import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.conftest import new_imputer
from tests.fuzz.judge import ChangedError, Counts
from tests.fuzz.tables import any_table

AT_ONCE = 250
"""Tables that hypothesis makes from one seed."""
ASK: dict[str, Callable[[Any, Any], object]] = {
    "report": lambda imputer, X: imputer.report(X).html,
    "explain": lambda imputer, X: imputer.explain(X) if imputer.mm_columns_ else None,
    "review": lambda imputer, X: imputer.review(X),
    "sample": lambda imputer, X: _check_all(X, imputer.sample(X, 2)),
    "judge": lambda imputer, X: imputer.predict_mm_proba(X),
    "nothing": lambda imputer, X: None,
}
"""What is asked beside the completed table, in turn."""


def try_tables(
    n: int, first_seed: int = 0, keep: Callable[[Counts], object] = lambda counts: None
) -> Counts:
    """Try so many tables; ``keep`` is given the counts now and then, in case of a kill."""
    counts = Counts()
    for number in range(first_seed, first_seed + -(-n // AT_ONCE)):
        left = min(AT_ONCE, n - counts.inputs)

        @seed(number)
        @settings(
            max_examples=left,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(any_table())
        def try_one(table: Any) -> None:
            if counts.inputs < n:
                counts.judge(table, lambda: try_table(table, counts.inputs))

        try_one()
        keep(counts)
    return counts


def try_table(table: Any, number: int) -> None:
    """Complete one table, and ask something else of it."""
    rng = random.Random(number)
    columns = rng.choice([None, [], _some_column(table)])
    before = [list(cells) for cells in _columns(table)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer = new_imputer(columns, n_boosters=1, random_state=0)
        completed = imputer.fit_transform(table)
        _check_cells(before, _columns(table))
        check_observed(table, completed)
        ASK[rng.choice(sorted(ASK))](imputer, table)


def check_observed(before: Any, after: Any) -> None:
    """Raise ChangedError unless types, labels, order and observed cells are the same."""
    if type(after) is not type(before) or after.shape != before.shape:
        raise ChangedError(f"{type(after)} of shape {after.shape}")
    if isinstance(before, pd.DataFrame):
        same_labels = before.index.equals(after.index) and before.columns.equals(after.columns)
        if not same_labels or list(before.dtypes) != list(after.dtypes):
            raise ChangedError(f"{list(before.dtypes)} became {list(after.dtypes)}")
    if isinstance(before, pl.DataFrame) and before.schema != after.schema:
        raise ChangedError(f"{before.schema} became {after.schema}")
    if isinstance(before, np.ndarray) and before.dtype != after.dtype:
        raise ChangedError(f"{before.dtype} became {after.dtype}")
    _check_cells(_columns(before), _columns(after))


def _check_cells(before: Iterable[list[Any]], after: Iterable[list[Any]]) -> None:
    for old, new in zip(before, after, strict=True):
        for cell, now in zip(old, new, strict=True):
            if not _is_missing(cell) and not _same(cell, now):
                raise ChangedError(f"{cell!r} became {now!r}")


def _check_all(before: Any, tables: Any) -> None:
    for table in tables:
        check_observed(before, table)


def _columns(table: Any) -> Iterator[list[Any]]:
    if isinstance(table, np.ndarray):
        yield from table.T.tolist()
    elif isinstance(table, pl.DataFrame):
        yield from (series.to_list() for series in table.get_columns())
    else:
        yield from (table.iloc[:, i].tolist() for i in range(table.shape[1]))


def _some_column(table: Any) -> list[Any]:
    """Return the first column that can be searched: some cells are missing, some observed."""
    labels = range(table.shape[1]) if isinstance(table, np.ndarray) else table.columns
    for label, cells in zip(labels, _columns(table), strict=True):
        if 0 < sum(map(_is_missing, cells)) < len(cells):
            return [label]
    return []


def _is_missing(cell: Any) -> bool:
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    return isinstance(cell, float | complex | np.number) and bool(np.isnan(cell))


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple | dict | np.ndarray | pl.Series):
        return repr(one) == repr(other)
    if isinstance(one, float | np.floating):
        return bool(one == other) and bool(np.signbit(one) == np.signbit(other))
    return one is other or bool(one == other)
