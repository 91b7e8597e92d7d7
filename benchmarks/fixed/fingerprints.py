"""Fingerprints of results: the same exactly where results are the same, bit for bit."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

Parts = dict[str, str]
"""A digest for each part of a result."""


def fingerprint(result: Any) -> Parts:
    """Digest a result in parts, so that a difference can be told by its place.

    Parameters
    ----------
    result : table, array, mapping, bytes or plain value
        A table has a part for each column, and one for its kind and rows; a mapping has one for
        each key; anything else is one part.

    Examples
    --------
    >>> before = fingerprint(pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]}))
    >>> after = fingerprint(pd.DataFrame({"a": [1.0, None], "b": ["x", "z"]}))
    >>> [part for part in before if before[part] != after[part]]
    ['b']
    >>> fingerprint(0.1 + 0.2) == fingerprint(0.3)
    False
    """
    if isinstance(result, pd.DataFrame):
        columns = {str(name): _of_pandas(result[name]) for name in result}
        index = str(result.index.dtype), result.index.tolist()
        return {**columns, "(rows)": _digest("pandas", list(result), *index)}
    if isinstance(result, pl.DataFrame):
        columns = {cells.name: _digest(str(cells.dtype), cells.to_list()) for cells in result}
        return {**columns, "(rows)": _digest("polars", result.columns, result.height)}
    if isinstance(result, np.ndarray):
        return {"(cells)": _digest(str(result.dtype), result.shape, result.tolist())}
    if isinstance(result, bytes):
        return {"(bytes)": hashlib.sha256(result).hexdigest()}
    if isinstance(result, Mapping):
        return {str(name): _digest(_plain(value)) for name, value in result.items()}
    return {"(value)": _digest(_plain(result))}


def _of_pandas(column: "pd.Series[Any]") -> str:
    """Digest a column: its dtype, with the levels of a categorical one, and its cells."""
    dtype: tuple[Any, ...] = (str(column.dtype),)
    if isinstance(column.dtype, pd.CategoricalDtype):
        dtype = (*dtype, column.dtype.categories.tolist(), column.dtype.ordered)
    return _digest(*dtype, column.tolist())


def _digest(*parts: Any) -> str:
    """Digest what Python writes of some values: it tells 1 from 1.0, and each float from others."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Rewrite a value without numpy's scalars, and without the order of a mapping's keys."""
    if isinstance(value, Mapping):
        return [(key, _plain(value[key])) for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
