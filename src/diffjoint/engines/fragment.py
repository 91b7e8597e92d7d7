"""The work on one piece of a dataset. It knows of no engine: any of them may call it, and again.

Two tasks make up a run. :func:`count_repeats` looks at what the rows of a piece hold.
:func:`complete_piece` completes them. Both write whole files under names that depend on the piece
alone, and do nothing if their files are there. So tasks may be repeated, run twice at a time, or be
killed; what is there is whole.
"""

import hashlib
import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from diffjoint.engines.manifest import COUNTS, Record, read_record, write_record
from diffjoint.engines.pieces import Piece
from diffjoint.engines.shared import Shared
from diffjoint.engines.summary import Summarizer
from diffjoint.engines.tally import Tally
from diffjoint.errors import DataWarning, FileError, message_of
from diffjoint.imputer import SelectiveImputer
from diffjoint.io.files import TableFile, read_file, text_writer
from diffjoint.io.text import TextTable
from diffjoint.results.imputation import Imputation
from diffjoint.state import NOTHING, KeyCounts, as_part_of_a_table, counts_before
from diffjoint.steps import keys_of_rows
from diffjoint.storage.atomic import write_whole, writing_whole

SIDES = ("meaningful", "probability", "uncertainty")
"""Parts of an imputation that can be written beside the completed table."""
_AT_ONCE = 65_536
"""Rows of a Parquet file that are decoded at a time."""
Counts = tuple[Tally, Summarizer]
"""What is counted while rows are completed."""


@dataclass(frozen=True)
class Unreadable:
    """A piece that cannot be read, and why."""

    name: str
    why: str


class PieceError(FileError):
    """A piece cannot be read; other pieces may be."""


def counting_task(shared: Shared, piece: Piece) -> str | Unreadable:
    """Do :func:`count_repeats`, and return why if the piece cannot be read."""
    try:
        return count_repeats(shared, piece)
    except PieceError as error:
        return Unreadable(piece.name, message_of(error))


def completing_task(shared: Shared, piece: Piece) -> Record | Unreadable:
    """Do :func:`complete_piece`, and return why if the piece cannot be read."""
    try:
        return complete_piece(shared, piece)
    except PieceError as error:
        return Unreadable(piece.name, message_of(error))


def count_repeats(shared: Shared, piece: Piece) -> str:
    """Write how often the content of each row occurs in a piece; return the piece's name."""
    path = counts_path(shared, piece)
    if not path.exists():
        with reading(piece):
            blocks = (block for block, _ in _blocks(shared, piece))
            parts = [keys_of_rows(shared.imputer, block) for block in blocks if len(block)]
        keys = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
        write_counts(path, KeyCounts.of(keys))
    return piece.name


def complete_piece(shared: Shared, piece: Piece) -> Record:
    """Complete a piece and write what was asked for, unless that is done; return what was done."""
    done = read_record(shared.state, piece)
    if done is not None and done.is_in_place(shared.folders):
        return done
    before = _before(shared, piece)
    tally, summary = Tally(), Summarizer(shared)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", DataWarning)
        write = _complete_text if piece.is_text else _complete_rows
        write(shared, piece, before, (tally, summary))
    summary.write(shared.state, piece.name)
    doubts = (one.message for one in warned if issubclass(one.category, DataWarning))
    said = sorted({message_of(doubt) for doubt in doubts})
    files = {part: _facts(Path(folder) / piece.name) for part, folder in shared.folders.items()}
    record = Record(piece.name, tally.n_rows, files, tally.to_json(), said)
    write_record(shared.state, record)
    return record


def counts_path(shared: Shared, piece: Piece) -> Path:
    """Where the counts of a piece are."""
    return shared.state / COUNTS[0] / f"{piece.name}.npy"


def before_path(shared: Shared, piece: Piece) -> Path:
    """Where the counts of the pieces before a piece are."""
    return shared.state / COUNTS[1] / f"{piece.name}.npy"


def write_counts(path: Path, counts: KeyCounts) -> None:
    """Write how often keys occur."""
    both = np.stack([counts.keys, counts.counts.view(np.uint64)])
    content = io.BytesIO()
    np.save(content, both, allow_pickle=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content.getbuffer()))


def read_counts(path: Path) -> KeyCounts:
    """Read what :func:`write_counts` wrote; it stays on disk until it is needed."""
    keys, counts = np.load(path, mmap_mode="r", allow_pickle=False)
    return KeyCounts(keys, counts.view(np.int64))


def read_rows(piece: Piece, names: list[str] | None = None) -> pa.Table:
    """Read the rows of a piece of a Parquet file, with the columns that its folders name.

    Parameters
    ----------
    names : list of str, optional
        Columns that are wanted of those that the folders name; all if not given.
    """
    with pa_parquet.ParquetFile(piece.source) as file:
        parts, groups, first = [], [], 0
        for i in range(file.metadata.num_row_groups):
            last = first + file.metadata.row_group(i).num_rows
            if first < piece.last and last > piece.first:
                groups.append((i, first))
            first = last
        place = groups[0][1] if groups else 0
        chosen = [i for i, _ in groups]
        for batch in file.iter_batches(_AT_ONCE, row_groups=chosen, use_threads=False):
            low, high = max(piece.first - place, 0), min(piece.last - place, len(batch))
            if low < high:
                parts.append(batch.slice(low, high - low))
            place += len(batch)
        table = pa.Table.from_batches(parts, file.schema_arrow).unify_dictionaries()
    for name, value in piece.added(table.column_names, names):
        kind = pa.int64() if name in piece.whole else pa.string()
        table = table.append_column(name, pa.array([value] * table.num_rows, kind))
    return table


def with_folders(rows: pd.DataFrame, piece: Piece, names: list[str] | None = None) -> pd.DataFrame:
    """Return rows of a text file with the columns that its folders name, as :func:`read_rows`."""
    added = {
        name: pd.Series(value, index=rows.index, dtype="Int64" if name in piece.whole else "str")
        for name, value in piece.added([*rows.columns], names)
    }
    return rows.assign(**added) if added else rows


@contextmanager
def reading(piece: Piece) -> Iterator[None]:
    """Say which piece it is that cannot be read."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        rows = "" if piece.is_text else f", rows {piece.first:,} to {piece.last:,}"
        why = (message_of(error).splitlines() or [type(error).__name__])[0]
        raise PieceError(f"{piece.source}{rows}: {why}") from error


def _before(shared: Shared, piece: Piece) -> KeyCounts:
    """Return how often the content of a piece's rows occurs in the pieces before it."""
    path = before_path(shared, piece)
    if not shared.counts_repeats or not path.exists():
        return NOTHING
    return read_counts(path)


def _blocks(shared: Shared, piece: Piece) -> Iterator[tuple[Any, Any]]:
    """Read a piece some rows at a time; of a text file also the text of these rows."""
    if not piece.is_text:
        yield read_rows(piece, _names(shared.imputer)), None
        return
    file = _open_text(shared, piece)
    for block in text_of(file).blocks():
        yield with_folders(block.table, piece, _names(shared.imputer)), block


def _open_text(shared: Shared, piece: Piece) -> TableFile:
    imputer = shared.imputer
    codes = imputer.reason_codes
    return read_file(piece.source, shared.na_values, shared.encoding, imputer.schema_, codes)


def text_of(file: TableFile) -> TextTable:
    """Return the text that a text file holds."""
    if file.text is None:
        raise TypeError("blocks are read from text files")
    return file.text


def _names(imputer: SelectiveImputer) -> list[str]:
    return [column.name for column in imputer.schema_.columns]


def _infer(shared: Shared, rows: Any, counts: Counts) -> tuple[Imputation, list[Any]]:
    """Complete some rows, count what became of them, and draw them."""
    imputer = shared.imputer
    result = imputer.impute(rows)
    for counted in counts:
        counted.add(imputer, rows, result)
    return result, imputer.sample(rows, shared.n_draws) if shared.n_draws else []


def _tables(result: Imputation, draws: list[Any], folders: Mapping[str, str]) -> dict[str, Any]:
    """Return the tables to write, by the folders they go to."""
    drawn = {f"draw-{k + 1}": draw for k, draw in enumerate(draws)}
    parts = {"table": result.table, **{side: getattr(result, side) for side in SIDES}, **drawn}
    return {part: parts[part] for part in folders}


def _complete_rows(shared: Shared, piece: Piece, before: KeyCounts, counts: Counts) -> None:
    """Complete a piece of a Parquet file."""
    with reading(piece):
        rows = read_rows(piece, _names(shared.imputer))
        facts = pa_parquet.read_metadata(piece.source)
    codec = facts.row_group(0).column(0).compression if facts.num_row_groups else "SNAPPY"
    if rows.num_rows:
        with as_part_of_a_table(before):
            result, draws = _infer(shared, rows, counts)
        tables = _tables(result, draws, shared.folders)
    else:
        tables = dict.fromkeys(shared.folders, rows)
    named = [name for name, _ in piece.partition if name in rows.column_names]
    for part, table in tables.items():
        path = Path(shared.folders[part]) / piece.name
        path.parent.mkdir(parents=True, exist_ok=True)
        own = table.drop_columns(named) if named else table
        with writing_whole(path) as file:
            pa_parquet.write_table(own, file, compression=codec)


def _complete_text(shared: Shared, piece: Piece, before: KeyCounts, counts: Counts) -> None:
    """Complete a text file, some rows at a time."""
    names = _names(shared.imputer)
    with reading(piece):
        file = _open_text(shared, piece)
        text = text_of(file)
        earlier = _within(shared, piece, text, before)
    added = [name for name, _ in piece.added(text.source.names, names)]
    with ExitStack() as stack:
        writers = {}
        for part, folder in shared.folders.items():
            path = Path(folder) / piece.name
            path.parent.mkdir(parents=True, exist_ok=True)
            own_text = None if part in SIDES else file
            writers[part] = stack.enter_context(text_writer(str(path), own_text))
        for block, own in zip(text.blocks(), earlier, strict=True):
            with as_part_of_a_table(own):
                rows = with_folders(block.table, piece, names)
                result, draws = _infer(shared, rows, counts)
            for part, table in _tables(result, draws, shared.folders).items():
                kept = table.drop(columns=added) if added else table
                writers[part].write(kept, None if part in SIDES else block)


def _within(
    shared: Shared, piece: Piece, text: TextTable, before: KeyCounts
) -> Iterator[KeyCounts]:
    """Return, for each block of a text file, how often its rows occur before it."""
    if not shared.counts_repeats:
        return (NOTHING for _ in text.blocks())
    names = _names(shared.imputer)
    tables = (with_folders(block.table, piece, names) for block in text.blocks())
    keys = (keys_of_rows(shared.imputer, table) for table in tables)
    return iter(counts_before([KeyCounts.of(own) for own in keys], before))


def _facts(path: Path) -> dict[str, Any]:
    """Return the size and the digest of a file that was written."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}
