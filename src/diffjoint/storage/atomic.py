"""Files written whole or not at all, and several of them together."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar, cast

from diffjoint.errors import FileError
from diffjoint.storage.locks import is_locked_by_us
from diffjoint.storage.placing import (
    TEMPORARY,
    Complete,
    own_prefix,
    put_together,
    tidy,
    unwritable,
)

_ORDINARY, _PRIVATE = 0o666, 0o600
_STREAMS = {"stdout": 1, "stderr": 2}
_OPEN_FILE = re.compile(r"/dev/(?P<name>stdout|stderr)|/(dev|proc/self)/fd/(?P<number>[0-9]{1,9})")


def write_whole(
    path: str | os.PathLike[str], write: Callable[[BinaryIO], object], *, at_once: bool = False
) -> None:
    """Write a file beside ``path`` and put it there in one step when it is complete.

    An interruption leaves what was at ``path`` before as it was.

    Parameters
    ----------
    path : path
    write : callable
        Is given the open file.
    at_once : bool
        True: put the file there now, even among :func:`staged_outputs`.
    """
    with writing_whole(path, at_once=at_once) as file:
        write(file)


@contextmanager
def staged_outputs() -> Iterator[None]:
    """Hold back every file written inside, and put all in their places together at the end.

    If something fails, or the process is killed at any moment, all are as they were before: at
    once, or as soon as one of them is written again. What goes to streams goes there just before.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with staged_outputs():
    ...     write_whole(folder / "a", lambda file: file.write(b"first"))
    ...     held_back = not (folder / "a").exists()
    >>> held_back, (folder / "a").read_text()
    (True, 'first')
    """
    if _STAGED.get() is not None:
        yield
        return
    with ExitStack() as unfinished:
        outputs = _Outputs(unfinished)
        token = _STAGED.set(outputs)
        try:
            yield
        finally:
            _STAGED.reset(token)
        outputs.finish()
    for tell in outputs.told:
        tell()


def when_in_place(tell: Callable[[], object]) -> None:
    """Call a function once all that was written so far is in its place; now, if it is already."""
    outputs = _STAGED.get()
    if outputs is None:
        tell()
    else:
        outputs.told.append(tell)


@contextmanager
def writing_whole(path: str | os.PathLike[str], *, at_once: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` to write to, and put it there at the end, as above.

    What is no regular file (a device, a pipe, a standard stream) is written to when all is there.
    """
    if _is_stream(path):
        with spooled(lambda file: _copy_to(path, file), at_once=at_once) as file:
            yield file
        return
    try:
        target = _real(path)
        with _kept_until_done(at_once) as outputs:
            tidy(target)
            file = outputs.unfinished.enter_context(_beside(target))
            yield file
            file.flush()
            os.fsync(file.fileno())
            outputs.files.append(Complete(file, target, path))
    except FileError:  # what is written has an error of its own
        raise
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def spooled(
    write_out: Callable[[BinaryIO], object], *, at_once: bool = False
) -> Iterator[BinaryIO]:
    """Open a temporary file, and hand it over, from its start, when all is written to it."""
    with _kept_until_done(at_once) as outputs:
        file = outputs.unfinished.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        yield file
        file.seek(0)
        outputs.to_streams.append(lambda: write_out(file))


class Transaction(Protocol):
    """An open database: what is written to it lasts once it is committed, or not at all."""

    def commit(self) -> None:
        """Make lasting what was written."""

    def close(self) -> None:
        """Let go of the database, and of what was not committed."""


Begun = TypeVar("Begun", bound=Transaction)


@contextmanager
def in_transaction(
    key: str, path: str | None, begin: Callable[[str | None], Begun]
) -> Iterator[Begun]:
    """Open a database to write to; it is committed at the end, with all that goes to the same one.

    Parameters
    ----------
    key : str
        What to call the database; this tells it from others.
    path : str or None
        Its file, if it is one. One that is not there yet is made beside its place.
    begin : callable
        Takes the path of the file to write to; None without a path.
    """
    with _kept_until_done(at_once=False) as outputs:
        if key not in outputs.transactions:
            where = path
            if path is not None and not Path(path).exists():
                target = _real(path)
                tidy(target)
                file = outputs.unfinished.enter_context(_beside(target))
                outputs.files.append(Complete(file, target, path))
                where = file.name
            begun = outputs.unfinished.enter_context(closing(begin(where)))
            outputs.transactions[key] = begun
        yield cast(Begun, outputs.transactions[key])


@dataclass(frozen=True)
class _Outputs:
    """What is written but not yet in its place.

    Attributes
    ----------
    unfinished : ExitStack
        Closes and removes temporary files.
    to_streams : list of callable
        Write to what is no regular file.
    files : list of Complete
    transactions : dict
        Databases that are written to.
    told : list of callable
        What is to be said when all is done.
    """

    unfinished: ExitStack
    to_streams: list[Callable[[], object]] = field(default_factory=list)
    files: list[Complete] = field(default_factory=list)
    transactions: dict[str, Transaction] = field(default_factory=dict)
    told: list[Callable[[], object]] = field(default_factory=list)

    def finish(self) -> None:
        """Put all in its place; files last, as what others were given cannot be taken back."""
        for write_out in self.to_streams:
            write_out()
        for key, transaction in self.transactions.items():
            try:
                transaction.commit()
            except OSError as error:
                raise FileError(f"Cannot write {key}: {error}. Run again.") from error
        for one in self.files if self.transactions else ():
            try:
                os.fsync(one.file.fileno())
            except OSError as error:
                raise unwritable(one.path, error) from error
        put_together(self.files)


_STAGED: ContextVar[_Outputs | None] = ContextVar("staged", default=None)


@contextmanager
def _kept_until_done(at_once: bool) -> Iterator[_Outputs]:
    """Where to keep open files until they are in their places: for the stage, or for now."""
    staged = _STAGED.get()
    if staged is not None and not at_once:
        yield staged
        return
    with ExitStack() as unfinished:
        outputs = _Outputs(unfinished)
        yield outputs
        outputs.finish()


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """Create a temporary file beside a target, locked as long as it is open; removed at the end.

    Whoever may not read the target may not read it either.
    """
    mode = _PRIVATE if target.exists() else _ORDINARY

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags, mode)

    while True:
        beside = target.with_name(f"{own_prefix(target)}{secrets.token_hex(4)}{TEMPORARY}")
        file = open(beside, "xb", opener=opener)  # noqa: SIM115
        if is_locked_by_us(file) and os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # taken for left over between its creation and its lock
    try:
        yield file
    finally:  # what is not put in its place is dropped, so that it need not be written out
        with suppress(OSError):
            file.close()
        with suppress(OSError):  # it is removed later, as what is left over is
            beside.unlink(missing_ok=True)


def _real(path: str | os.PathLike[str]) -> Path:
    """Return where links lead to; OSError for one that leads to itself."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is there and no regular file, or stands for an open one."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _descriptor(path) is not None


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the open file that a path such as /dev/stdout stands for."""
    found = _OPEN_FILE.fullmatch(str(Path(path).absolute()))
    if found is None:
        return None
    return int(found["number"]) if found["number"] else _STREAMS[found["name"]]


def _copy_to(path: str | os.PathLike[str], content: BinaryIO) -> None:
    """Write to what is no regular file; to an open one where it stands."""
    number = _descriptor(path)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        with open(path if number is None else os.dup(number), "wb") as file:
            shutil.copyfileobj(content, file)
    except OSError as error:
        raise unwritable(path, error) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now rather than after an hour's work if ``path`` cannot be written."""
    if _is_stream(path):
        if not os.access(path, os.W_OK):
            raise unwritable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        return
    tidy(path)
    try:
        target = _real(path)
        if target.is_dir():
            raise FileError(f"Cannot write {path}: it is a directory. Name a file.")
        with _beside(target):
            pass
    except FileError:
        raise
    except OSError as error:
        raise unwritable(path, error) from error
