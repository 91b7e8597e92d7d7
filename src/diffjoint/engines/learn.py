"""Learn from a dataset of files: look through all rows, and learn from some that stand for all."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from diffjoint.engines.engine import Engine, explaining_files
from diffjoint.engines.fragment import read_rows
from diffjoint.engines.local import LocalEngine
from diffjoint.engines.pieces import Piece, check_columns, find_dataset
from diffjoint.engines.survey import Survey, merge, row_contents, survey_rows
from diffjoint.errors import InputError
from diffjoint.imputer import SelectiveImputer
from diffjoint.state import KeyCounts, Keys, as_part_of_a_table, counts_before, number_repeats

DEFAULT_FIT_ROWS = 100_000
"""Rows to learn from: no part of a model learns from more."""
_PIECE_ROWS = 100_000


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
    """A piece, and which of its rows to take."""

    name: str
    piece: Piece
    before: KeyCounts
    limit: int


@explaining_files()
def fit_dataset(
    imputer: SelectiveImputer,
    source: str | os.PathLike[str],
    *,
    fit_rows: int = DEFAULT_FIT_ROWS,
    engine: Engine | None = None,
) -> SelectiveImputer:
    """Fit an imputer on a dataset of Parquet files that need not fit in memory.

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
    return imputer.fit(sample_dataset(source, fit_rows, engine).table)


@explaining_files()
def sample_dataset(
    source: str | os.PathLike[str],
    n_rows: int = DEFAULT_FIT_ROWS,
    engine: Engine | None = None,
) -> Sample:
    """Look through a dataset, and choose rows that stand for all, as :func:`fit_dataset` does."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, int) or n_rows < 2:
        raise InputError(f"fit_rows must be a whole number from 2 on; got {n_rows!r}.")
    dataset = find_dataset(source)
    if dataset.is_text:
        raise InputError(
            f"Models are fitted on folders of Parquet files; {source} holds text. Fit on one of "
            "the files, or convert them to Parquet."
        )
    columns = _columns(read_rows(next(dataset.pieces(1))))
    check_columns(dataset, columns)
    pieces = list(dataset.pieces(_PIECE_ROWS))
    places = {piece.name: i for i, piece in enumerate(pieces)}
    with (engine or LocalEngine()).started(tuple(columns)) as run:
        found: list[tuple[Survey, KeyCounts] | None] = [None] * len(pieces)
        for name, *looked in run(_look, pieces):
            found[places[name]] = (looked[0], looked[1])
        looked_at = [one for one in found if one is not None]
        survey = merge(one for one, _ in looked_at)
        before = counts_before([counts for _, counts in looked_at])
        limit = _limit([counts for _, counts in looked_at], before, n_rows)
        picks = [
            _Pick(piece.name, piece, own, limit) for piece, own in zip(pieces, before, strict=True)
        ]
        chosen = list(run(_pick, picks))
    return _put_together(survey, [rows for rows, _ in chosen], [keys for _, keys in chosen])


def _columns(rows: pa.Table) -> list[str]:
    names: list[str] = rows.column_names
    return names


def _look(columns: Sequence[str], piece: Piece) -> tuple[str, Survey, KeyCounts]:
    """Look through a piece."""
    rows = read_rows(piece, list(columns))
    keys = row_contents(rows)
    return piece.name, survey_rows(rows, keys), KeyCounts.of(keys)


def _pick(columns: Sequence[str], pick: _Pick) -> tuple[pa.Table, Keys]:
    """Take the rows of a piece whose keys are low; repeats of a row have different ones."""
    rows = read_rows(pick.piece, list(columns))
    with as_part_of_a_table(pick.before):
        keys = number_repeats(row_contents(rows)).view(np.uint64)
    taken = np.flatnonzero(keys <= np.uint64(pick.limit))
    return rows.take(taken).combine_chunks(), keys[taken]


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
