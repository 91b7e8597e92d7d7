"""Worlds as folders of files, so that any tool can be judged against them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from diffjoint.errors import FileError, InputError
from diffjoint.io.files import check_ending, read_file, write_file
from diffjoint.settings import NA_VALUES
from diffjoint.simulate import World
from diffjoint.storage.placing import whole_folder

FACTS = "world.json"
OBSERVED, MEANINGFUL, LOST, UNKNOWN = "observed", "meaningful", "lost", "unknown"
NEAR = 1e-6
"""Relative difference up to which two numbers are the same: other tools may round."""
ALIKE = 0.5
"""Agreement beyond chance, from 0 to 1, below which a column is not the one it was."""
TRUTH_VALUES = {"true": "1", "false": "0", "yes": "1", "no": "0"}


def save_world(world: World, folder: Path, ending: str = ".csv") -> list[Path]:
    """Write a world to a new folder, whole or not at all.

    Parameters
    ----------
    world : World
    folder : Path
        Must not exist, or be empty.
    ending : str
        Which format the tables get.

    Returns
    -------
    list of Path
        ``observed``, ``truth``, ``labels`` (each cell: observed, meaningful, lost, or
        unknown if it is missing and nobody knows which) and ``split``
        (each row: train or test); ``train`` and ``test``, the observed table's rows of each, if
        there are both; ``world.json`` with the rest.
    """
    check_ending(f"table{ending}")
    check_new(folder)
    try:
        with whole_folder(folder) as beside:
            for name, table in _tables(world).items():
                write_file(str(beside / f"{name}{ending}"), table.reset_index(drop=True))
            facts = json.dumps(_facts(world, ending), indent=2, ensure_ascii=False)
            (beside / FACTS).write_text(facts, encoding="utf-8")
    except OSError as error:
        raise FileError(f"Cannot write {folder}: {error.strerror or error}.") from error
    return sorted(folder.iterdir())


def check_new(folder: Path) -> None:
    """Raise now, not after the work, if the folder has something in it already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already. Name a new folder, or remove it first.")


def read_world(folder: Path) -> World:
    """Read the world that :func:`save_world` wrote, without how its cells got lost."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        ending, kinds = facts["ending"], facts["column_kinds"]
        truth, labels, split = (
            _read_table(str(folder / f"{name}{ending}"), ())
            for name in ("truth", "labels", "split")
        )
        world = World(
            name=facts["name"],
            seed=facts["seed"],
            truth=truth[list(kinds)],
            meaningful=labels[list(kinds)] == MEANINGFUL,
            lost=labels[list(kinds)] == LOST,
            mm_columns=facts["mm_columns"],
            column_kinds=kinds,
            is_train=(split["split"] == "train").to_numpy(),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_world(folder, str(error)) from error
    if not len(world.truth) == len(world.meaningful) == len(world.is_train):
        raise _no_world(folder, "truth, labels and split differ in length")
    if (world.meaningful & world.truth.notna()).any(axis=None):
        raise _no_world(folder, "truth and labels are not of the same world")
    return world


def _no_world(folder: Path, why: str) -> FileError:
    return FileError(f"{folder} is not a world ({why}). Make one with diffjoint simulate.")


def na_values_of(world: World) -> list[str]:
    """Tokens for a missing cell in text files about this world: none that is a value in it."""
    return [token for token in NA_VALUES if not world.truth.isin([token]).any(axis=None)]


def read_completed(
    world: World,
    path: str,
    na_values: Sequence[str] | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
) -> pd.DataFrame:
    """Read a table that some tool completed, in the world's columns, order and words.

    Numbers that were written as text or without their leading zeros, and truth values in words,
    are taken for what they stand for.
    """
    tokens = na_values_of(world) if na_values is None else na_values
    table = _about(
        world, _read_table(path, tokens, encoding, decimal), path, list(world.truth.columns)
    )
    for name, kind in world.column_kinds.items():
        table[name] = _in_words_of(world.truth[name], table[name])
        if kind in ("continuous", "integer") and not pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(
                f"{path}: {name} holds numbers in this world; got text, such as "
                f"{table[name].dropna().iloc[0]!r}. Write numbers with a decimal point."
            )
    return table


def read_calls(world: World, path: str) -> pd.DataFrame:
    """Which cells a tool calls meaningful: true or false for at least the mm columns."""
    table = _about(world, _read_table(path, ()), path, world.mm_columns)
    calls = pd.DataFrame(False, index=world.truth.index, columns=world.truth.columns)
    for name in world.mm_columns:
        values = _numbers(table[name])
        if not values.isin([0.0, 1.0]).all():
            raise InputError(f"{path}: {name} must be true or false in every row.")
        calls[name] = values == 1.0
    return calls


def read_probabilities(world: World, path: str) -> pd.DataFrame:
    """How likely a tool calls each cell meaningful, for at least the mm columns."""
    table = _about(world, _read_table(path, NA_VALUES), path, world.mm_columns)
    likely = pd.DataFrame(0.0, index=world.truth.index, columns=world.truth.columns)
    for name in world.mm_columns:
        likely[name] = _numbers(table[name]).fillna(0.0)
        if not likely[name].between(0.0, 1.0).all():
            raise InputError(f"{path}: {name} must hold probabilities, from 0 to 1.")
    return likely


def observed_changed(world: World, completed: pd.DataFrame) -> pd.Series:
    """How many observed cells of each column are not as they were.

    Raises
    ------
    InputError
        If no column agrees with what it was much more than a shuffled one would.
    """
    observed = world.observed_table.notna()
    changed, alike = {}, []
    for name in world.truth.columns:
        there = observed[name].to_numpy()
        truth, state = world.truth[name][there], completed[name][there]
        same = (
            np.isclose(truth, state, rtol=NEAR, atol=0.0)
            if _both_numeric(truth, state)
            else (truth.astype(str) == state.astype(str)).to_numpy()
        )
        changed[name] = int((~same).sum())
        by_chance = (truth.value_counts(normalize=True) ** 2).sum() if len(truth) else 1.0
        if by_chance < 1.0:
            alike.append((same.mean() - by_chance) / (1.0 - by_chance))
    if alike and max(alike) < ALIKE:
        raise InputError(
            "No column's observed cells are as they were. Are the rows in another order, or the "
            "values coded or rounded? Score the table in the order and the words of the world's "
            "observed table."
        )
    return pd.Series(changed)


def _tables(world: World) -> dict[str, pd.DataFrame]:
    observed = world.observed_table
    tables = {
        "observed": observed,
        "truth": world.truth,
        "labels": _labels(world),
        "split": pd.DataFrame({"split": np.where(world.is_train, "train", "test")}),
    }
    if not world.is_train.all():
        tables |= {"train": observed[world.is_train], "test": observed[~world.is_train]}
    return tables


def _labels(world: World) -> pd.DataFrame:
    labels = np.full(world.truth.shape, OBSERVED, dtype=object)
    labels[~world.kind_known.to_numpy()] = UNKNOWN
    labels[world.lost.to_numpy()] = LOST
    labels[world.meaningful.to_numpy()] = MEANINGFUL
    return pd.DataFrame(labels, columns=world.truth.columns)


def _facts(world: World, ending: str) -> dict[str, Any]:
    return {
        "name": world.name,
        "seed": world.seed,
        "ending": ending,
        "rows": len(world.truth),
        "mm_columns": world.mm_columns,
        "column_kinds": world.column_kinds,
        "mechanism": world.mechanism and world.mechanism.describe(),
    }


def _read_table(
    path: str, na_values: Sequence[str], encoding: str = "utf-8", decimal: str | None = None
) -> pd.DataFrame:
    table = read_file(path, na_values, encoding, decimal=decimal).table
    frame: pd.DataFrame = table.to_pandas() if isinstance(table, pa.Table) else table
    return frame


def _about(world: World, table: pd.DataFrame, path: str, names: list[str]) -> pd.DataFrame:
    """Return the named columns of a table about a world; raise if it is not about it."""
    absent = [name for name in names if name not in table]
    if absent:
        raise InputError(f"{path} must have the world's columns; {', '.join(absent)} not found.")
    twice = sorted({name for name in names if list(table.columns).count(name) > 1})
    if twice:
        raise InputError(f"{path} has {', '.join(twice)} more than once. Keep one of each.")
    if len(table) != len(world.truth):
        raise InputError(
            f"{path} must have {len(world.truth):,} rows, as the world does; got {len(table):,}. "
            "Keep all rows in their order, or name the rows it has with --split."
        )
    return table[names].set_axis(world.truth.index)


def _in_words_of(truth: pd.Series, state: pd.Series) -> pd.Series:
    """Return a column as numbers where the truth has numbers, else in the words of the truth."""
    if pd.api.types.is_numeric_dtype(truth):
        numbers = _numbers(state)
        return numbers if (numbers.notna() == state.notna()).all() else state
    words = truth.dropna().astype(str).unique()
    numbers = _numbers(pd.Series(words))
    stands_for = dict(zip(numbers.dropna(), words[numbers.notna()], strict=True))
    as_numbers = _numbers(state)
    own = state.isin(words) | state.isna() | ~as_numbers.isin(stands_for)
    return state.astype(object).where(own, as_numbers.map(stands_for))


def _numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, true and yes as 1, false and no as 0; NaN for all else."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype("float64")
    lowered = column.astype(str).str.strip().str.lower()
    numbers: pd.Series = pd.to_numeric(lowered.replace(TRUTH_VALUES), errors="coerce")
    return numbers


def _both_numeric(*columns: pd.Series) -> bool:
    return all(pd.api.types.is_numeric_dtype(column) for column in columns)
