"""Complete a dataset of files, on any engine."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import diffjoint
from diffjoint._progress import NoProgress, Progress, progress_bar
from diffjoint.engines import manifest as written
from diffjoint.engines.engine import Engine, Run, explaining_files
from diffjoint.engines.fragment import (
    SIDES,
    Unreadable,
    before_path,
    completing_task,
    counting_task,
    counts_path,
    read_counts,
    write_counts,
)
from diffjoint.engines.local import LocalEngine
from diffjoint.engines.manifest import Manifest, Record
from diffjoint.engines.pieces import Dataset, Piece, check_columns, find_dataset
from diffjoint.engines.shared import Shared
from diffjoint.engines.summary import highest_key, n_kept
from diffjoint.errors import FileError, InputError, warn_user
from diffjoint.imputer import SelectiveImputer
from diffjoint.parameters.checks import check
from diffjoint.settings import DEFAULT_MEMORY_LIMIT, NA_VALUES, parse_bytes
from diffjoint.state import counts_before
from diffjoint.steps import depends_on_repeats
from diffjoint.table import Column

Result = TypeVar("Result")

DEFAULT_PIECE_ROWS = 50_000
"""Rows of a piece at most, unless memory is short."""
FEWEST_PIECE_ROWS = 1_000
"""Rows of a piece where memory is short."""
PROGRAM_BYTES = 350 * 10**6
"""Memory that a worker takes before it reads anything."""
BYTES_BY_CELL = 250
"""Memory that a worker takes for each cell of a piece."""
SHARE_OF_COUNTING = 0.2
"""Time to count the repeats of rows, as a share of the time to complete them."""
_MOST_NAMED = 5


@explaining_files()
def transform_dataset(
    model: SelectiveImputer | str | os.PathLike[str],
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    piece_rows: int | None = None,
    memory_limit: int | str | None = None,
    mask_out: str | os.PathLike[str] | None = None,
    proba_out: str | os.PathLike[str] | None = None,
    uncertainty_out: str | os.PathLike[str] | None = None,
    n_draws: int = 0,
    unseen: str | None = None,
    na_values: Sequence[str] = NA_VALUES,
    encoding: str = "utf-8",
    n_threads: int = 1,
    verbose: bool = False,
) -> Manifest:
    """Complete a dataset of files with a fitted imputer; go on where an earlier run stopped.

    Each row gets what ``transform`` of the whole dataset in memory would give it, whatever the
    engine and the pieces.

    Parameters
    ----------
    model : SelectiveImputer or path
        A fitted imputer, or the file that its ``save`` wrote.
    source : path
        A file, a folder or a pattern of Parquet, CSV or TSV files, see :func:`find_dataset`.
    out : path
        A folder for the completed files. They keep their names, and those of their folders; large
        Parquet files become several.
    engine : LocalEngine, DaskEngine or SparkEngine, optional
        Where to work; in this process if not given.
    piece_rows : int, optional
        Rows that are held at a time, at most.
    memory_limit : int or str, optional
        Memory of each worker, such as "1GB"; pieces are cut to fit.
    mask_out, proba_out, uncertainty_out : path, optional
        Folders for what :meth:`SelectiveImputer.impute` says of each cell.
    n_draws : int
        Completed tables to draw, as :meth:`SelectiveImputer.sample` does. Their folders are called
        as ``out``, with ``.draw-1`` and so on behind.
    unseen, na_values, encoding
        As in :class:`SelectiveImputer` and on the command line.
    n_threads : int
        Threads of each worker.
    verbose : bool
        Show progress and time left.

    Returns
    -------
    Manifest
        Files with their digests, and counts of rows and cells. :func:`verify` checks them;
        :func:`report_dataset` reports on them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import transform_dataset, verify
    >>> from diffjoint.simulate import household_survey
    >>> world, folder = household_survey(300), pathlib.Path(tempfile.mkdtemp())
    >>> survey = world.observed_table
    >>> (folder / "survey").mkdir()
    >>> survey[:200].to_parquet(folder / "survey" / "a.parquet", index=False)
    >>> survey[200:].to_parquet(folder / "survey" / "b.parquet", index=False)
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0).fit(survey)
    >>> done = transform_dataset(imputer, folder / "survey", folder / "completed")
    >>> done.n_rows, verify(folder / "completed") == done
    (300, True)
    """
    check("n_threads", n_threads)
    content = model_bytes(model)
    folders = _folders(out, mask_out, proba_out, uncertainty_out, n_draws)
    limit = DEFAULT_MEMORY_LIMIT if memory_limit is None else str(memory_limit)
    reading = (unseen, tuple(na_values), encoding, n_threads, limit)
    imputer = Shared(content, folders, n_draws, False, *reading).imputer
    if n_draws:
        imputer._fitted.choose_draws(None)
    columns = imputer.schema_.columns
    names = [column.name for column in columns]
    dataset = find_dataset(source, [column.name for column in columns if _is_text(column)])
    _check_apart(source, dataset, folders)
    check_columns(dataset, names, encoding)
    counts_repeats = depends_on_repeats(imputer, draws=n_draws > 0)
    most_rows = _rows_of_a_piece(piece_rows, memory_limit, len(names))
    pieces = list(dataset.pieces(most_rows))
    wanted = n_kept(len(names))
    kept = (wanted, highest_key(pieces, wanted))
    shared = Shared(content, folders, n_draws, counts_repeats, *reading, *kept)
    written.begin(shared.state, _plan(shared, dataset, pieces))
    with progress_bar() if verbose else _Silent() as progress:
        records = _records(engine or LocalEngine(), shared, pieces, progress)
    done = Manifest.of(_plan(shared, dataset, pieces), records)
    written.finish(shared.state, done)
    for said in sorted({text for record in records for text in record.warned}):
        warn_user(said)
    return done


def model_bytes(model: SelectiveImputer | str | os.PathLike[str]) -> bytes:
    """Return the content of a model's file, of a fitted imputer that is not saved, too."""
    if not isinstance(model, SelectiveImputer):
        if not Path(model).is_file():
            raise FileError(f"Cannot read {model}: there is no such file. Check the path.")
        return Path(model).read_bytes()
    with tempfile.TemporaryDirectory(prefix="diffjoint-") as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


class _Silent(NoProgress):
    """Shows no progress."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _records(
    engine: Engine, shared: Shared, pieces: Sequence[Piece], progress: Progress
) -> list[Record]:
    """Do all tasks; return the records of the pieces, in their order."""
    share = SHARE_OF_COUNTING if shared.counts_repeats else 0.0
    progress.begin(len(pieces) * (1 + share))
    done = {piece.name: written.read_record(shared.state, piece) for piece in pieces}
    left = [piece for piece in pieces if not _is_done(done[piece.name], shared)]
    progress.advance((len(pieces) - len(left)) * (1 + share))
    if left:
        with engine.started(shared) as run:
            if shared.counts_repeats:
                _count_before(run, shared, pieces, progress)
            progress.phase("completing")
            found = _all_read(_seen(run(completing_task, left), progress, 1.0))
        done.update({record.name: record for record in found})
    return [record for piece in pieces if (record := done[piece.name]) is not None]


def _is_done(record: Record | None, shared: Shared) -> bool:
    return record is not None and record.is_in_place(shared.folders)


def _count_before(run: Run, shared: Shared, pieces: Sequence[Piece], progress: Progress) -> None:
    """Write, for each piece, how often its rows occur in the pieces before it."""
    if before_path(shared, pieces[-1]).exists():
        return
    progress.phase("repeats of rows")
    left = [piece for piece in pieces if not counts_path(shared, piece).exists()]
    _all_read(_seen(run(counting_task, left), progress, SHARE_OF_COUNTING))
    parts = [read_counts(counts_path(shared, piece)) for piece in pieces]
    for piece, counts in zip(pieces, counts_before(parts), strict=True):
        write_counts(before_path(shared, piece), counts)


def _seen(results: Iterable[Result], progress: Progress, units: float) -> Iterator[Result]:
    """Tell the progress of each result."""
    for result in results:
        progress.advance(units)
        yield result


def _all_read(results: Iterable[Any]) -> list[Any]:
    """Return all results, or raise, when all are there, if pieces could not be read."""
    found: list[Any] = []
    unreadable: list[Unreadable] = []
    for result in results:
        (unreadable if isinstance(result, Unreadable) else found).append(result)
    if unreadable:
        unreadable.sort(key=lambda one: one.name)
        listed = "; ".join(one.why.rstrip(".") for one in unreadable[:_MOST_NAMED])
        more = f" and {len(unreadable) - _MOST_NAMED} more" if len(unreadable) > _MOST_NAMED else ""
        raise FileError(
            f"{len(unreadable)} of {len(found) + len(unreadable)} pieces cannot be read: "
            f"{listed}{more}. What could be done is kept. Repair the files, or restore them, and "
            "start the run again: it goes on with what is not done."
        )
    return found


def _is_text(column: Column) -> bool:
    """Whether a column held text in ``fit``: then it does so here, whatever its text looks like."""
    return any(isinstance(level, str) for level in column.levels)


def _folders(
    out: str | os.PathLike[str],
    mask_out: str | os.PathLike[str] | None,
    proba_out: str | os.PathLike[str] | None,
    uncertainty_out: str | os.PathLike[str] | None,
    n_draws: int,
) -> dict[str, str]:
    """Return the folders to write to."""
    if n_draws:
        check("n_draws", n_draws)
    table = str(Path(out).absolute())
    sides = zip(SIDES, (mask_out, proba_out, uncertainty_out), strict=True)
    folders = {
        "table": table,
        **{part: str(Path(path).absolute()) for part, path in sides if path is not None},
        **{f"draw-{k}": f"{table}.draw-{k}" for k in range(1, n_draws + 1)},
    }
    paths = [Path(path) for path in folders.values()]
    for i, one in enumerate(paths):
        for other in paths[:i]:
            if one == other or one in other.parents or other in one.parents:
                raise InputError(
                    f"Two outputs are to be written to {other} and {one}. Name folders that do not "
                    "lie in each other."
                )
    return folders


def _check_apart(source: str | os.PathLike[str], dataset: Dataset, folders: dict[str, str]) -> None:
    """Raise if an output would be among the files that are read, now or when a run goes on."""
    for folder in map(Path, folders.values()):
        if Path(source).is_dir() and dataset.folder.resolve() in folder.resolve().parents:
            raise InputError(
                f"{folder} is to be written to, and lies in the folder that is read: it would be "
                "taken for a part of it later. Name a folder beside it."
            )
        is_within = folder.resolve() == dataset.folder.resolve()
        if is_within or any(folder.resolve() in file.resolve().parents for file in dataset.files):
            raise InputError(
                f"{folder} is to be written to, and holds the files that are read. Name another "
                "folder."
            )


def _rows_of_a_piece(piece_rows: int | None, memory_limit: int | str | None, n_columns: int) -> int:
    """Return how many rows to hold at a time."""
    if piece_rows is not None:
        if isinstance(piece_rows, bool) or not isinstance(piece_rows, int) or piece_rows < 1:
            raise InputError(f"piece_rows must be a whole number from 1 on; got {piece_rows!r}.")
        return piece_rows
    if memory_limit is None:
        return DEFAULT_PIECE_ROWS
    room = (parse_bytes(memory_limit) - PROGRAM_BYTES) // (BYTES_BY_CELL * n_columns)
    if room < FEWEST_PIECE_ROWS:
        least = (PROGRAM_BYTES + FEWEST_PIECE_ROWS * BYTES_BY_CELL * n_columns) // 10**6 + 1
        raise InputError(
            f"Each worker needs {least} MB at least for {n_columns:,} columns; got "
            f"{memory_limit}. Raise the limit, or leave it out.",
            parameter="memory_limit",
        )
    return min(DEFAULT_PIECE_ROWS, room)


def _plan(shared: Shared, dataset: Dataset, pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return what tells a run from others: another run must not go on with its pieces."""
    table = shared.folders["table"]
    return {
        "version": diffjoint.__version__,
        "model": written.digest_of(shared.model),
        "unseen": shared.unseen,
        "na_values": list(shared.na_values),
        "encoding": shared.encoding,
        "folders": {part: os.path.relpath(to, table) for part, to in shared.folders.items()},
        "files": dataset.facts(),
        "pieces": [[piece.name, piece.first, piece.last] for piece in pieces],
    }
