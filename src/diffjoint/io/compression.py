"""Compressed text files, told by a second ending: ``survey.csv.gz``, ``survey.csv.zst``."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
"""Endings, and what Arrow calls the way of compression."""
_GZIP_LEVEL = 6
"""As the program gzip has it; the highest takes several times as long for a little less."""


def split_endings(path: str) -> tuple[str, str]:
    """Return the ending that tells a file's format, and that of its compression, or "".

    Examples
    --------
    >>> split_endings("survey.CSV.gz"), split_endings("survey.csv"), split_endings("survey.gz")
    (('.csv', '.gz'), ('.csv', ''), ('', '.gz'))
    """
    plain, ending = Path(path), Path(path).suffix.lower()
    if ending not in COMPRESSED:
        return ending, ""
    return plain.with_suffix("").suffix.lower(), ending


def opened(path: Path) -> BinaryIO:
    """Open a file to read the text in it; one that is broken raises ``OSError`` when it is read."""
    file = path.open("rb")
    ending = path.suffix.lower()
    if ending not in COMPRESSED:
        return file
    plain = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), COMPRESSED[ending])
    return cast(BinaryIO, plain)


@contextmanager
def compressing(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Compress what is written to an open file, as its path says; the file stays open.

    The same content always gives the same bytes.
    """
    _, ending = split_endings(path)
    if not ending:
        yield file
        return
    with _COMPRESSORS[ending](file) as compressor:
        yield compressor


class _StaysOpen:
    """A file that Arrow may close without consequence."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write
        self.flush = file.flush
        self.closed = False

    def close(self) -> None:
        """Say that it is closed."""
        self.closed = True


def _by_gzip(file: BinaryIO) -> Any:
    return gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0)


def _by_zstd(file: BinaryIO) -> Any:
    return pa.CompressedOutputStream(pa.PythonFile(_StaysOpen(file), mode="w"), "zstd")


_COMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {".gz": _by_gzip, ".zst": _by_zstd}
