"""Find the files of a dataset, and cut them into pieces that are worked on one by one."""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from diffjoint._numbers import whole_number_of
from diffjoint.errors import FileError, InputError, message_of
from diffjoint.io.compression import split_endings
from diffjoint.io.files import check_ending, text_columns
from diffjoint.io.places import place_of

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".tab")
_HIDDEN = ("_", ".")
"""What names begin with that are no part of a dataset: marks of other programs, manifests."""
_WILDCARDS = re.compile(r"[*?\\[]")
_ENDS = 1 << 16
"""Bytes at each end of a file that tell whether it was changed; Parquet has statistics there."""
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_PADDING, _TOO_LARGE = re.compile(r"^([+-]?)0+(?=[0-9])"), 10**18
"""Zeros that folders pad numbers with, as in ``month=01``; elsewhere such text is no number."""

Partition = tuple[tuple[str, int | str | None], ...]
"""Columns that the folders of a file name, such as ``year=2024``, and their values."""


@dataclass(frozen=True)
class Piece:
    """Some rows of a file of a dataset.

    Attributes
    ----------
    source : str
        The file.
    name : str
        Where the completed rows go, relative to the folder of outputs. It says which rows they are.
    first, last : int
        The rows, as positions in the file, the last one excluded. Text files are one piece: -1.
    partition : tuple of (name, value)
    whole : frozenset of str
        Columns among these that hold whole numbers; others hold text.
    """

    source: str
    name: str
    first: int
    last: int
    partition: Partition = ()
    whole: frozenset[str] = frozenset()

    @property
    def is_text(self) -> bool:
        """Whether the file is text."""
        return _ending(Path(self.source)) in TEXT

    def added(self, own: Sequence[str], wanted: Sequence[str] | None = None) -> Partition:
        """Return what the folders name that the file's own columns lack; some names of it alone.

        Parameters
        ----------
        wanted : sequence of str, optional
            These; all if not given.
        """
        return tuple(
            (name, value)
            for name, value in self.partition
            if name not in own and (wanted is None or name in wanted)
        )


@dataclass(frozen=True)
class Dataset:
    """The files of a dataset.

    Attributes
    ----------
    folder : Path
        The folder that names of files are relative to.
    files : tuple of Path
        In the order of their names.
    partitions : tuple of Partition
        One for each file.
    whole : frozenset of str
        Columns that folders name which hold whole numbers; others hold text.
    """

    folder: Path
    files: tuple[Path, ...]
    partitions: tuple[Partition, ...]
    whole: frozenset[str] = frozenset()

    @property
    def is_text(self) -> bool:
        """Whether the files are text."""
        return _ending(self.files[0]) in TEXT

    def facts(self) -> list[dict[str, Any]]:
        """Return what tells these files from others: names, sizes, and how they begin and end."""
        return [
            {"file": file.relative_to(self.folder).as_posix(), **_facts(file)}
            for file in self.files
        ]

    def heads(self) -> Iterator[Piece]:
        """Return each file without its rows."""
        for file, partition in zip(self.files, self.partitions, strict=True):
            name = file.relative_to(self.folder).as_posix()
            yield Piece(str(file), name, 0, 0, partition, self.whole)

    def pieces(self, most_rows: int) -> Iterator[Piece]:
        """Cut the files into pieces of at most so many rows, at the ends of row groups if possible.

        Parameters
        ----------
        most_rows : int
            Text files are not cut: they are read in blocks.
        """
        for file, partition in zip(self.files, self.partitions, strict=True):
            name = file.relative_to(self.folder)
            if self.is_text:
                yield Piece(str(file), name.as_posix(), 0, -1, partition, self.whole)
                continue
            bounds = _bounds(_group_sizes(file), most_rows)
            for first, last in bounds:
                own = name
                if len(bounds) > 1:
                    own = name.with_name(f"{name.stem}.rows-{first:012d}-{last:012d}{name.suffix}")
                yield Piece(str(file), own.as_posix(), first, last, partition, self.whole)


def find_dataset(source: str | os.PathLike[str], as_text: Collection[str] = frozenset()) -> Dataset:
    """Find the files of a dataset.

    Parameters
    ----------
    source : path
        A file, a folder, or a pattern such as ``"visits/*.parquet"``. Of a folder all Parquet, CSV
        and TSV files are taken, those in folders within it too; names that begin with ``_`` or
        ``.`` are left out. Folders called ``name=value`` make a column of their own.
    as_text : collection of str
        Such columns that hold text even where all of it looks like whole numbers.
    """
    path = Path(source).absolute()
    if path.is_dir():
        folder, found = path, _files_in(path)
    elif _WILDCARDS.search(str(source)) and not path.exists():
        folder = _before_wildcards(path)
        listed = folder.glob(str(path.relative_to(folder)))
        found = [file for one in listed for file in (_files_in(one) if one.is_dir() else [one])]
    else:
        folder, found = path.parent, [path]
    files = sorted({*found}, key=lambda file: file.relative_to(folder).parts)
    if not files:
        raise FileError(
            f"There is no table in {source}: a Parquet, CSV or TSV file was expected, whose name "
            "does not begin with _ or a point. Check the path."
        )
    _check_files(files)
    texts = [_partition_texts(file.relative_to(folder)) for file in files]
    whole = _whole_columns(texts) - {*as_text}
    return Dataset(folder, tuple(files), tuple(_typed(texts, whole)), whole)


def is_dataset(source: str) -> bool:
    """Whether a path names a folder or a pattern, and no single file."""
    if place_of(source) is not None:
        return False
    return Path(source).is_dir() or bool(_WILDCARDS.search(source) and not Path(source).exists())


def check_columns(dataset: Dataset, names: Sequence[str], encoding: str = "utf-8") -> None:
    """Raise if a file cannot be read or lacks columns, before anything else is done."""
    broken = []
    for piece in dataset.heads():
        try:
            own = columns_of(piece, encoding)
        except (OSError, pa.ArrowInvalid, FileError) as error:
            why = message_of(error).splitlines()[0].removeprefix(f"Cannot read {piece.source}: ")
            broken.append(f"{piece.source} ({why.rstrip('.')})")
            continue
        whole = [*own, *(name for name, _ in piece.added(own, names))]
        if whole != [*names]:
            raise InputError(
                f"{piece.source} must have the columns that fit saw, in their order: "
                f"{', '.join(names)}; it has {', '.join(whole)}. Name files that have the same "
                "columns."
            )
    if broken:
        what = "text" if dataset.is_text else "Parquet"
        raise FileError(
            f"{len(broken)} of {len(dataset.files)} files cannot be read as {what}: "
            f"{', '.join(broken[:10])}. Repair them, or move them out of the dataset."
        )


def columns_of(piece: Piece, encoding: str) -> list[str]:
    """Return the names of a file's own columns; no row is read."""
    if piece.is_text:
        return [*text_columns(piece.source, encoding)]
    names: list[str] = pa_parquet.read_schema(piece.source).names
    return names


def _facts(path: Path) -> dict[str, Any]:
    """Return the size of a file, and the digest of its first and last bytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        ends = file.read(_ENDS)
        file.seek(max(0, size - _ENDS))
        ends += file.read()
    return {"bytes": size, "ends": hashlib.sha256(ends).hexdigest()}


def _group_sizes(file: Path) -> list[int]:
    """Return how many rows each row group of a Parquet file has."""
    facts = pa_parquet.read_metadata(file)
    return [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]


def _bounds(sizes: Sequence[int], most_rows: int) -> list[tuple[int, int]]:
    """Join small row groups and cut large ones, to at most so many rows.

    Examples
    --------
    >>> _bounds([40, 40, 40, 210], 100)
    [(0, 80), (80, 120), (120, 190), (190, 260), (260, 330)]
    """
    bounds: list[tuple[int, int]] = []
    first = 0
    for size in sizes:
        last = first + size
        if bounds and last - bounds[-1][0] <= most_rows:
            bounds[-1] = (bounds[-1][0], last)
        elif size:
            n_parts = -(-size // most_rows)
            cuts = [first + round(size * i / n_parts) for i in range(n_parts + 1)]
            bounds += pairwise(cuts)
        first = last
    return bounds or [(0, 0)]


def _ending(file: Path) -> str:
    """Return what a file's ending says of its format; text may be packed, as in ``.csv.gz``."""
    ending, packed = split_endings(file.name)
    return ending if not packed or ending in TEXT else packed


def _files_in(folder: Path) -> list[Path]:
    """Return the tables in a folder and in the folders within it."""
    return [
        file
        for file in folder.rglob("*")
        if _ending(file) in (*PARQUET, *TEXT)
        and file.is_file()
        and not any(part.startswith(_HIDDEN) for part in file.relative_to(folder).parts)
    ]


def _before_wildcards(path: Path) -> Path:
    """Return the folders of a pattern that have no wildcards."""
    plain = []
    for part in path.parts:
        if _WILDCARDS.search(part):
            break
        plain.append(part)
    return Path(*plain)


def _check_files(files: Sequence[Path]) -> None:
    """Raise unless all files are there, and of one format."""
    for file in files:
        if not file.is_file():
            raise FileError(f"Cannot read {file}: there is no such file. Check the path.")
        if _ending(file) not in (*PARQUET, *TEXT):
            check_ending(str(file))
            raise InputError(
                f"The files of a dataset must be Parquet, CSV or TSV; got {file}. Convert it, or "
                "complete it by itself: name a file to write to, not a folder."
            )
    endings = sorted({_ending(file) for file in files})
    if len({ending in TEXT for ending in endings}) > 1:
        raise InputError(
            f"The files of a dataset must have one format; got {', '.join(endings)}. Name those of "
            'one format by a pattern, such as "visits/*.parquet".'
        )


def _partition_texts(name: Path) -> dict[str, str | None]:
    """Return the columns that the folders of a file name, as text."""
    pairs = (part.partition("=") for part in name.parts[:-1])
    return {
        unquote(key): None if value == _NULL_PARTITION else unquote(value)
        for key, equals, value in pairs
        if equals and key
    }


def _whole_columns(texts: Sequence[Mapping[str, str | None]]) -> frozenset[str]:
    """Return the columns of which all values in the dataset are whole numbers."""
    return frozenset(
        key
        for key in {key for own in texts for key in own}
        if all(_whole_number(own[key] or "0") is not None for own in texts if key in own)
    )


def _typed(
    texts: Sequence[Mapping[str, str | None]], whole: Collection[str]
) -> Iterator[Partition]:
    """Return the values that folders name, as numbers in columns of whole numbers."""
    for own in texts:
        yield tuple(
            (key, _whole_number(value) if key in whole and value is not None else value)
            for key, value in own.items()
        )


def _whole_number(text: str) -> int | None:
    """Return the whole number that a folder's name holds, which may be padded; None for text."""
    number = whole_number_of(_PADDING.sub(r"\1", text))
    return None if number is None or abs(number) >= _TOO_LARGE else number
