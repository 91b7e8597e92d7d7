"""Make a world from a real table of text and its labels."""

import gzip
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from diffjoint.errors import FileError
from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.world import World, lose_cells, nothing_lost, shuffled_split

TRAIN_SHARE = 0.7

DataFolder = str | os.PathLike[str] | None


def names(text: str) -> list[str]:
    """Split column names at commas."""
    return [name.strip() for name in text.split(",")]


def read_text(file: Path | IO[bytes], **options: Any) -> pd.DataFrame:
    """Read every cell as text, without reading any as missing."""
    with readable(file):
        table: pd.DataFrame = pd.read_csv(file, dtype=str, keep_default_na=False, **options)
    return table


@contextmanager
def readable(file: Path | IO[bytes]) -> Iterator[None]:
    """Raise a :class:`FileError` if a file is damaged or not what its name says."""
    try:
        yield
    except (ValueError, EOFError, KeyError, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise FileError(
            f"Cannot read {file}: it is damaged, or not what its name says ({error}). Download it "
            "again."
        ) from error


def labelled_world(
    name: str,
    text: pd.DataFrame,
    meaningful: pd.DataFrame,
    *,
    numbers: Mapping[str, str],
    seed: int,
    gone: pd.DataFrame | None = None,
    unknown: pd.DataFrame | None = None,
    mechanism: MechanismName | None = None,
    loss_rate: float = 0.0,
) -> World:
    """Make a world from a real table.

    Parameters
    ----------
    name : str
    text : DataFrame of str
    meaningful : bool DataFrame
        Meaningful cells.
    numbers : mapping
        "continuous" or "integer" for columns of numbers; the others are categorical.
    seed : int
    gone : bool DataFrame, optional
        Lost cells that the table came without; their values are unknown.
    unknown : bool DataFrame, optional
        Missing cells of which it is unknown whether they are meaningful or lost.
    mechanism : str or None
        How to lose further cells: one of ``MECHANISM_NAMES``, or None to lose none.
    loss_rate : float
    """
    rng = np.random.default_rng(seed)
    columns = [str(column) for column in text]
    gone = nothing_lost(text) if gone is None else gone
    unknown = nothing_lost(text) if unknown is None else unknown
    truth = text.mask(meaningful | gone | unknown).reset_index(drop=True)
    for column, kind in numbers.items():
        truth[column] = pd.to_numeric(truth[column]).astype(
            "Int64" if kind == "integer" else "float64"
        )
    world = World(
        name=name,
        seed=seed,
        truth=truth,
        meaningful=meaningful.reset_index(drop=True),
        lost=gone.reset_index(drop=True),
        mm_columns=[column for column in columns if meaningful[column].any()],
        column_kinds={column: numbers.get(column, "categorical") for column in columns},
        is_train=shuffled_split(len(truth), round(TRAIN_SHARE * len(truth)), rng),
    )
    return lose_cells(world, mechanism, loss_rate, rng)
