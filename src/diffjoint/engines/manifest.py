"""What a run has done: a record for each piece, and a manifest of all when the run is complete."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow.parquet as pa_parquet

from diffjoint.engines.engine import explaining_files
from diffjoint.engines.pieces import PARQUET, Piece
from diffjoint.engines.shared import STATE
from diffjoint.engines.tally import add_up
from diffjoint.errors import FileError
from diffjoint.storage.atomic import write_whole

MANIFEST = "manifest.json"
PLAN = "plan.json"
PIECES = "pieces"
"""Folder of the records of pieces."""
COUNTS = ("repeats", "before")
"""Folders of counts: what the rows of a piece hold, and those of the pieces before it."""
_IN_WORDS = {
    "version": "the version of diffjoint",
    "model": "the model",
    "unseen": "--unseen",
    "na_values": "--na-values",
    "encoding": "--encoding",
    "folders": "which outputs are asked for, and where",
    "files": "the files that are read",
    "pieces": "pieces (--piece-rows, --memory-limit)",
}
"""What may differ between two runs, as users know it."""
_VERSION = 1
_MOST_NAMED = 10


@dataclass(frozen=True)
class Record:
    """What became of a piece.

    Attributes
    ----------
    name : str
        Of its files, in each folder of outputs.
    n_rows : int
    files : mapping
        Size and digest of its file, by the kind of output.
    tally : mapping
        Counts of cells.
    warned : list of str
    """

    name: str
    n_rows: int
    files: Mapping[str, Mapping[str, Any]]
    tally: Mapping[str, Any]
    warned: Sequence[str] = ()

    def is_in_place(self, folders: Mapping[str, str]) -> bool:
        """Whether all files are there, in the size that they had."""
        return self.files.keys() == folders.keys() and all(
            _size(Path(folders[part]) / self.name) == facts["bytes"]
            for part, facts in self.files.items()
        )


@dataclass(frozen=True)
class Manifest:
    """What a complete run has written: files with their digests, and counts of rows and cells.

    Attributes
    ----------
    model : str
        Digest of the model's file.
    folders : mapping
        Folders of outputs, relative to that of the completed table.
    n_rows : int
    tally : mapping
        Counts of cells: ``cells`` of the whole table, ``columns`` for each column.
    pieces : tuple of Record
    """

    model: str
    folders: Mapping[str, str]
    n_rows: int
    tally: Mapping[str, Any]
    pieces: tuple[Record, ...]

    @classmethod
    def of(cls, plan: Mapping[str, Any], records: Sequence[Record]) -> Self:
        """Put the records of a run together."""
        return cls(
            plan["model"],
            plan["folders"],
            sum(record.n_rows for record in records),
            add_up(record.tally for record in records),
            tuple(records),
        )


def digest_of(content: bytes) -> str:
    """Return the digest of a model's file."""
    return hashlib.sha256(content).hexdigest()


def read_record(state: Path, piece: Piece) -> Record | None:
    """Return what became of a piece, if it is done."""
    path = _record_path(state, piece.name)
    return Record(**_read(path)) if path.exists() else None


def write_record(state: Path, record: Record) -> None:
    """Note that a piece is done, after its files are in their places."""
    _write(_record_path(state, record.name), asdict(record))


def begin(state: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan of a run, or go on with the run of the same plan.

    Raises
    ------
    FileError
        If the folder holds what another run has written, or other files.
    """
    path = state / PLAN
    if path.exists():
        differing = _differing(_read(path), plan, state)
        if differing:
            raise FileError(
                f"{state.parent} holds the output of another run; what differs: "
                f"{', '.join(_IN_WORDS[name] for name in differing)}. Start it as that one was "
                "started to go on with it, name another folder, or remove that one."
            )
        _write(path, plan)
        return
    for to in plan["folders"].values():
        folder = Path(os.path.normpath(state.parent / to))
        if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
            raise FileError(
                f"{folder} must be a new or an empty folder; it holds files that this run did not "
                "write. Name another one."
            )
    _write(path, plan)


def read_plan(state: Path) -> dict[str, Any]:
    """Return the plan of a run."""
    return _read(state / PLAN)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any], state: Path) -> list[str]:
    """Return in what a run differs from the one that has begun.

    Files that are read may have been repaired or replaced as long as no piece was done.
    """
    if old.get("files") != new["files"] and not any((state / PIECES).rglob("*.json")):
        _remove_counts(state)
        old = {**old, "files": new["files"], "pieces": new["pieces"]}
    return [name for name in new if old.get(name) != new[name]]


def finish(state: Path, manifest: Manifest) -> None:
    """Write the manifest, which says that a run is complete; remove what only a run needs."""
    _write(state / MANIFEST, {"version": _VERSION, **asdict(manifest)})
    _remove_counts(state)


def _remove_counts(state: Path) -> None:
    for folder in COUNTS:
        shutil.rmtree(state / folder, ignore_errors=True)


def read_manifest(out: str | os.PathLike[str]) -> Manifest:
    """Read what a complete run has written."""
    state = Path(out) / STATE
    path = state / MANIFEST
    if not path.exists():
        n_done = sum(1 for _ in (state / PIECES).rglob("*.json"))
        raise FileError(
            f"{out} is not complete: the run that wrote it has not ended; {n_done:,} pieces are "
            "done. Start it again with the same arguments: it goes on with what is not done."
            if (state / PLAN).exists()
            else f"{out} holds no manifest: expected a folder that transform has written. Check "
            "the path."
        )
    facts = _read(path)
    if facts.pop("version") != _VERSION:
        raise FileError(f"{path} is of another version of diffjoint. Use the one that wrote it.")
    pieces = tuple(Record(**piece) for piece in facts.pop("pieces"))
    return Manifest(**facts, pieces=pieces)


@explaining_files()
def verify(out: str | os.PathLike[str]) -> Manifest:
    """Check that a dataset is whole: every file there, unaltered, with its rows, and no other.

    Parameters
    ----------
    out : path
        A folder that :func:`transform_dataset` has written.

    Returns
    -------
    Manifest
        What the run has written.

    Raises
    ------
    FileError
        If the run is not complete, or files are missing, altered, or too many; it names them.
    """
    manifest = read_manifest(out)
    wrong = []
    for part, to in manifest.folders.items():
        folder = Path(out) / to
        for piece in manifest.pieces:
            fault = _fault(folder / piece.name, piece.files[part], piece.n_rows)
            if fault:
                wrong.append(f"{folder / piece.name} {fault}")
        known = {piece.name for piece in manifest.pieces}
        wrong += [
            f"{file} is not in the manifest"
            for file in _data_files(folder)
            if file.relative_to(folder).as_posix() not in known
        ]
    if wrong:
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise FileError(
            f"{out} is not as it was written: {'; '.join(wrong[:_MOST_NAMED])}{more}. Remove "
            "these files and start the run again: it writes them anew."
        )
    return manifest


def _fault(path: Path, facts: Mapping[str, Any], n_rows: int) -> str:
    """Return what is wrong with a file; nothing if it is as it was written."""
    size = _size(path)
    if size is None:
        return "is missing"
    if size != facts["bytes"]:
        return f"has {size:,} bytes in place of {facts['bytes']:,}"
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != facts["sha256"]:
            return "was altered"
    if path.suffix.lower() in PARQUET and pa_parquet.read_metadata(path).num_rows != n_rows:
        return f"does not have {n_rows:,} rows"
    return ""


def _data_files(folder: Path) -> Iterable[Path]:
    """Return the files of a folder that other programs would take for data."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(("_", ".")) for part in parts):
            yield path


def _record_path(state: Path, name: str) -> Path:
    return state / PIECES / f"{name}.json"


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _read(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise FileError(
            f"Cannot read {path}: {error}. Remove it and start the run again."
        ) from error
    if not isinstance(facts, dict):
        raise FileError(f"{path} is no file of a run. Remove it and start the run again.")
    return facts


def _write(path: Path, facts: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(facts, ensure_ascii=False).encode()
    write_whole(path, lambda file: file.write(content))
