"""Learn from a dataset of files: look through all rows, and learn from some that stand for all."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from diffjoint.engines.engine import Engine, explaining_files
from diffjoint.engines.local import LocalEngine
from diffjoint.engines.pieces import find_dataset
from diffjoint.engines.rows import HowToRead, Rows, rows_of
from diffjoint.engines.survey import Survey, merge, row_contents, survey_rows
from diffjoint.errors import InputError
from diffjoint.imputer import SelectiveImputer
from diffjoint.settings import NA_VALUES
from diffjoint.state import KeyCounts, Keys, as_part_of_a_table, counts_before, number_repeats

DEFAULT_FIT_ROWS = 100_000
"""Rows to learn from: no part of a model learns from more."""


@dataclass(frozen=True)
class Sample:
    """Rows of a dataset that stand for all.

    Attributes
    ----------
    table : pyarrow.Table
        In an order that depends on what they hold.
    n_examples : int
        Rows among them that are there for a rare level, or the end of a range.
    survey : Survey
        What all rows hold.
    """

    table: pa.Table
    n_examples: int
    survey: Survey


@dataclass(frozen=True)
class _Pick:
    """A piece, what occurs before each of its parts, and which of its rows to take."""

    rows: Rows
    before: Sequence[KeyCounts]
    limit: int

    @property
    def name(self) -> str:
        """The piece's name."""
        return self.rows.name


@explaining_files()
def fit_dataset(
    imputer: SelectiveImputer,
    source: str | os.PathLike[str],
    *,
    fit_rows: int = DEFAULT_FIT_ROWS,
    engine: Engine | None = None,
    na_values: Sequence[str] = NA_VALUES,
    encoding: str = "utf-8",
) -> SelectiveImputer:
    """Fit an imputer on a dataset of files that need not fit in memory.

    All rows are looked through. Rows to learn from are then chosen by what they hold, so that the
    model does not depend on the order of rows, on files or on the engine. Every level of a column,
    and both ends of its range, are among them.

    Parameters
    ----------
    imputer : SelectiveImputer
    source : path
        A file, a folder or a pattern, see :func:`find_dataset`.
    fit_rows : int
        Rows to learn from.
    engine : LocalEngine, DaskEngine or SparkEngine, optional
        Where to look through the rows; in this process if not given. Learning happens here.
    na_values : sequence of str
        Text that stands for a missing cell, in text files.
    encoding : str
        Of text files.

    Returns
    -------
    SelectiveImputer
        The imputer, fitted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import fit_dataset
    >>> from diffjoint.simulate import household_survey
    >>> world, folder = household_survey(400), pathlib.Path(tempfile.mkdtemp())
    >>> world.observed_table[:200].to_parquet(folder / "a.parquet", index=False)
    >>> world.observed_table[200:].to_parquet(folder / "b.parquet", index=False)
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0)
    >>> fit_dataset(imputer, folder, fit_rows=300).mm_columns_
    ['spouse_age', 'weekly_hours', 'commute']
    """
    sample = sample_dataset(
        source,
        fit_rows,
        engine,
        na_values=na_values,
        encoding=encoding,
        reason_codes=imputer.reason_codes,
    )
    return imputer.fit(sample.table)


@explaining_files()
def sample_dataset(
    source: str | os.PathLike[str],
    n_rows: int = DEFAULT_FIT_ROWS,
    engine: Engine | None = None,
    *,
    na_values: Sequence[str] = NA_VALUES,
    encoding: str = "utf-8",
    reason_codes: Mapping[Any, Any] | None = None,
) -> Sample:
    """Look through a dataset, and choose rows that stand for all, as :func:`fit_dataset` does."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, int) or n_rows < 2:
        raise InputError(f"fit_rows must be a whole number from 2 on; got {n_rows!r}.")
    dataset = find_dataset(source)
    how = HowToRead(tuple(na_values), encoding, reason_codes)
    with (engine or LocalEngine()).started(how) as run:
        pieces = rows_of(dataset, how, run)
        parts: dict[str, list[KeyCounts]] = {}
        survey = merge(_kept(run(_look, pieces), parts))
        every = [part for piece in pieces for part in parts[piece.name]]
        before = counts_before(every)
        limit, left = _limit(every, before, n_rows), iter(before)
        picks = [_Pick(piece, [next(left) for _ in parts[piece.name]], limit) for piece in pieces]
        chosen = list(run(_pick, picks))
    return _put_together(survey, [rows for rows, _ in chosen], [keys for _, keys in chosen])


def _kept(
    looked: Iterable[tuple[str, Survey, list[KeyCounts]]], parts: dict[str, list[KeyCounts]]
) -> Iterator[Survey]:
    """Keep the counts of each piece; pass on the rest, so that only the sum of it is held."""
    for name, survey, counts in looked:
        parts[name] = counts
        yield survey


def _look(_: HowToRead, rows: Rows) -> tuple[str, Survey, list[KeyCounts]]:
    """Look through a piece; repeats are counted in each of its parts."""
    surveys, counts = [], []
    for table in rows.tables():
        keys = row_contents(table)
        surveys.append(survey_rows(table, keys))
        counts.append(KeyCounts.of(keys))
    return rows.name, merge(surveys), counts


def _pick(_: HowToRead, pick: _Pick) -> tuple[pa.Table, Keys]:
    """Take the rows of a piece whose keys are low; repeats of a row have different ones."""
    tables, lowest = [], []
    for table, before in zip(pick.rows.tables(), pick.before, strict=True):
        with as_part_of_a_table(before):
            keys = number_repeats(row_contents(table)).view(np.uint64)
        taken = np.flatnonzero(keys <= np.uint64(pick.limit))
        tables.append(table.take(taken))
        lowest.append(keys[taken])
    return pa.concat_tables(tables).combine_chunks(), np.concatenate(lowest)


def _limit(parts: Sequence[KeyCounts], before: Sequence[KeyCounts], n_rows: int) -> int:
    """Return the key up to which as many rows are taken."""
    keys = []
    for part, earlier in zip(parts, before, strict=True):
        with as_part_of_a_table(earlier):
            keys.append(number_repeats(np.repeat(part.keys, part.counts)).view(np.uint64))
    every = np.concatenate(keys)
    if len(every) <= n_rows:
        return 2**64 - 1
    return int(np.partition(every, n_rows - 1)[n_rows - 1])


def _put_together(survey: Survey, tables: Sequence[pa.Table], keys: Sequence[Keys]) -> Sample:
    """Join the chosen rows, in the order of their keys, and examples that they lack."""
    every = np.concatenate(keys)
    rows = pa.concat_tables(tables).take(np.argsort(every, kind="stable"))
    has = np.isin(survey.example_keys, row_contents(rows))
    missing = np.flatnonzero(~has)
    table = pa.concat_tables([rows, survey.examples.take(missing)]).combine_chunks()
    return Sample(table.unify_dictionaries(), len(missing), survey)
