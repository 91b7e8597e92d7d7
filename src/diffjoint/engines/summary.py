"""What a piece tells of its rows for the report: sums that can be merged, and some of its rows.

Rows are chosen by what they hold, those with the lowest keys of the dataset: which ones they are
does not depend on the pieces, nor on the engine.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import pyarrow as pa

from diffjoint.engines.pieces import Piece
from diffjoint.engines.shared import Shared
from diffjoint.errors import FileError
from diffjoint.imputer import SelectiveImputer
from diffjoint.report.sketch import TableSketch
from diffjoint.results.imputation import Imputation
from diffjoint.state import Keys
from diffjoint.steps import sketch_rows
from diffjoint.storage.atomic import write_whole

SUMMARIES = "summaries"
"""Folder of what pieces tell."""
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 20_000, 2_000, 2_000_000
"""Rows of a dataset that are kept: at most, and at least so many as a wide table allows."""
SPARE = 6
"""Standard deviations by which more rows are kept than are wanted: how many lie below a key is
chance."""
_EVERY = 2**64 - 1


@dataclass(frozen=True)
class Kept:
    """Rows that are kept of a piece, or of all.

    Attributes
    ----------
    rows : pyarrow.Table or None
    keys : uint64 array
        Their keys, in ascending order.
    """

    rows: pa.Table | None
    keys: Keys

    def lowest(self, n_rows: int) -> "Kept":
        """Return the rows with the lowest keys, in the order of these."""
        order = np.argsort(self.keys, kind="stable")[:n_rows]
        return Kept(None if self.rows is None else self.rows.take(order), self.keys[order])


def n_kept(n_columns: int) -> int:
    """Return how many rows of a dataset are kept."""
    return min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(n_columns, 1)))


def highest_key(pieces: Sequence[Piece], n_wanted: int) -> int:
    """Return the key up to which rows are kept, so that as many are as are wanted."""
    n_rows = sum(piece.last - piece.first for piece in pieces)
    n_spared = n_wanted + SPARE * int(np.sqrt(n_wanted))
    if any(piece.is_text for piece in pieces) or n_rows <= n_spared:
        return _EVERY
    return _EVERY * n_spared // n_rows


class Summarizer:
    """Sums up the rows of a piece, some at a time."""

    def __init__(self, shared: Shared) -> None:
        self._highest, self._most = np.uint64(shared.highest_key), shared.n_kept
        self._sketch: TableSketch | None = None
        self._kept: list[Kept] = []

    def add(self, imputer: SelectiveImputer, rows: Any, result: Imputation) -> None:
        """Add what became of some rows."""
        own, keys = sketch_rows(imputer, result)
        self._sketch = own if self._sketch is None else self._sketch.merged(own)
        taken = np.flatnonzero(keys <= self._highest)
        if isinstance(rows, pd.DataFrame):
            chosen = pa.Table.from_pandas(rows.iloc[taken], preserve_index=False)
        else:
            chosen = rows.take(taken)
        self._kept = [_joined([*self._kept, Kept(chosen, keys[taken])], self._most)]

    def write(self, state: Path, name: str) -> None:
        """Write what the piece tells, if it has rows."""
        if self._sketch is None:
            return
        (kept,) = self._kept
        content = io.BytesIO()
        arrays: dict[str, Any] = {"keys": kept.keys, **self._sketch.arrays()}
        np.savez_compressed(content, **arrays)
        path = _path(state, name, "npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda file: file.write(content.getbuffer()))
        if len(kept.keys):
            write_whole(_path(state, name, "arrow"), lambda file: _write_rows(kept.rows, file))


def read_summaries(state: Path, names: Sequence[str], most: int) -> tuple[TableSketch, pa.Table]:
    """Return what all pieces tell together, and the rows that are kept.

    Parameters
    ----------
    names : sequence of str
        Of the pieces that have rows.
    most : int
        Rows to keep.
    """
    total: TableSketch | None = None
    kept = Kept(None, np.empty(0, np.uint64))
    for name in names:
        try:
            content = io.BytesIO(_path(state, name, "npz").read_bytes())
            arrays = dict(np.load(content, allow_pickle=False))
            keys = arrays.pop("keys")
            rows = _read_rows(_path(state, name, "arrow")) if len(keys) else None
        except (OSError, ValueError, BadZipFile, pa.ArrowException) as error:
            raise FileError(
                f"Cannot read what was noted of {name} in {state}: {error}. Remove {name} and "
                "start the run again: it is completed and noted anew."
            ) from error
        own = TableSketch.from_arrays(arrays)
        total = own if total is None else total.merged(own)
        kept = _joined([kept, Kept(rows, keys)], most)
    if total is None or kept.rows is None:
        raise FileError(f"{state.parent} has no rows to report on.")
    return total, kept.rows


def _joined(parts: Sequence[Kept], most: int) -> Kept:
    """Join the rows of parts; keep those with the lowest keys."""
    tables = [part.rows for part in parts if part.rows is not None]
    rows = pa.concat_tables(tables, promote_options="permissive") if tables else None
    keys = np.concatenate([part.keys for part in parts])
    joined = Kept(rows, keys).lowest(most)
    own = None if joined.rows is None else joined.rows.combine_chunks()
    return Kept(own, joined.keys)


def _write_rows(rows: pa.Table, file: Any) -> None:
    """Write rows in a format that no other program takes for a part of the dataset."""
    with pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows)


def _read_rows(path: Path) -> pa.Table:
    with pa.ipc.open_file(path.read_bytes()) as reader:
        return reader.read_all()


def _path(state: Path, name: str, ending: str) -> Path:
    return state / SUMMARIES / f"{name}.{ending}"
