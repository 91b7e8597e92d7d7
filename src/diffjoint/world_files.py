"""Worlds as folders of files, so that any tool can be judged against them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from diffjoint.errors import FileError, InputError
from diffjoint.files import NA_VALUES, check_ending, read_file, write_file
from diffjoint.persist import write_whole
from diffjoint.simulate import World

FACTS = "world.json"
OBSERVED, MEANINGFUL, LOST = "observed", "meaningful", "lost"
NEAR = 1e-6
"""Relative difference up to which two numbers are the same: other tools may round."""


def save_world(world: World, folder: Path, ending: str = ".csv") -> list[Path]:
    """Write a world to a folder.

    Parameters
    ----------
    world : World
    folder : Path
    ending : str
        Which format the tables get.

    Returns
    -------
    list of Path
        ``observed``, ``truth``, ``labels`` (each cell: observed, meaningful or lost) and ``split``
        (each row: train or test); ``train`` and ``test``, the observed table's rows of each, if
        there are both; ``world.json`` with the rest.
    """
    check_ending(f"table{ending}")
    folder.mkdir(parents=True, exist_ok=True)
    observed = world.observed_table
    tables = {
        "observed": observed,
        "truth": world.truth,
        "labels": _labels(world),
        "split": pd.DataFrame({"split": np.where(world.is_train, "train", "test")}),
    }
    if not world.is_train.all():
        tables |= {"train": observed[world.is_train], "test": observed[~world.is_train]}
    paths = [folder / f"{name}{ending}" for name in tables]
    for path, table in zip(paths, tables.values(), strict=True):
        write_file(str(path), table.reset_index(drop=True))
    facts = json.dumps(_facts(world, ending), indent=2, ensure_ascii=False)
    write_whole(str(folder / FACTS), lambda file: file.write(facts.encode()))
    return [*paths, folder / FACTS]


def read_world(folder: Path) -> World:
    """The world that :func:`save_world` wrote; how its cells got lost is not read back."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        ending = facts["ending"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"{folder} is not a world: {FACTS} cannot be read there ({error}). Make one with "
            "diffjoint simulate."
        ) from error
    truth, labels, split = (
        _read_table(str(folder / f"{name}{ending}"), ()) for name in ("truth", "labels", "split")
    )
    return World(
        name=facts["name"],
        seed=facts["seed"],
        truth=truth,
        meaningful=labels == MEANINGFUL,
        lost=labels == LOST,
        mm_columns=facts["mm_columns"],
        column_kinds=facts["column_kinds"],
        is_train=(split["split"] == "train").to_numpy(),
    )


def na_values_of(world: World) -> list[str]:
    """Tokens for an empty cell in text files about this world: none that is a value in it."""
    return [token for token in NA_VALUES if not world.truth.isin([token]).any(axis=None)]


def read_about(world: World, path: str) -> pd.DataFrame:
    """A table about a world, its columns in the world's order; an error if it is not about it."""
    table = _read_table(path, na_values_of(world))
    names = list(world.truth.columns)
    absent = [name for name in names if name not in table]
    if absent:
        raise InputError(
            f"{path} must have the world's columns; {', '.join(absent)} not found. Score a table "
            "that was made from the world's observed table."
        )
    if len(table) != len(world.truth):
        raise InputError(
            f"{path} must have {len(world.truth):,} rows, as the world does; got {len(table):,}. "
            "Keep all rows, in their order."
        )
    return table[names].set_axis(world.truth.index)


def _read_table(path: str, na_values: Sequence[str]) -> pd.DataFrame:
    table = read_file(path, na_values).table
    frame: pd.DataFrame = table.to_pandas() if isinstance(table, pa.Table) else table
    return frame


def n_observed_changed(world: World, completed: pd.DataFrame) -> int:
    """How many observed cells are not as they were; an error if most are not."""
    observed = world.observed_table.notna().to_numpy()
    same = np.column_stack([_same(world.truth[c], completed[c]) for c in world.truth])
    changed = observed & ~same
    if changed.sum() > observed.sum() / 2:
        worst = world.truth.columns[changed.mean(axis=0).argmax()]
        raise InputError(
            f"{changed.sum():,} of {observed.sum():,} observed cells are not as they were, most "
            f"in {worst}. Are the rows in another order, or the values coded? Score the table in "
            "the order and the words of the world's observed table."
        )
    return int(changed.sum())


def _same(truth: pd.Series, state: pd.Series) -> NDArray[np.bool_]:
    if pd.api.types.is_numeric_dtype(truth) and pd.api.types.is_numeric_dtype(state):
        values, found = (column.to_numpy(dtype=float, na_value=np.nan) for column in (truth, state))
        return np.asarray(np.isclose(values, found, rtol=NEAR, atol=0.0))
    return np.asarray(truth.astype(str) == state.astype(str), dtype=bool)


def _labels(world: World) -> pd.DataFrame:
    labels = np.full(world.truth.shape, OBSERVED, dtype=object)
    labels[world.lost.to_numpy()] = LOST
    labels[world.meaningful.to_numpy()] = MEANINGFUL
    return pd.DataFrame(labels, columns=world.truth.columns)


def _facts(world: World, ending: str) -> dict[str, Any]:
    mechanism = world.mechanism
    return {
        "name": world.name,
        "seed": world.seed,
        "ending": ending,
        "rows": len(world.truth),
        "mm_columns": world.mm_columns,
        "column_kinds": world.column_kinds,
        "mechanism": mechanism
        and {
            "name": mechanism.name,
            "loss_rate": mechanism.loss_rate,
            "drivers": list(mechanism.drivers),
        },
    }
