"""Put complete files in their places: each in one step, and several together.

Several files cannot be renamed at once. So a journal is written first, and the old files are kept
beside the new ones until all are in place: after a failure, or a kill at any moment, the files are
put back as they were, at once or by the next run that names one of them.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from diffjoint.errors import FileError

try:
    import fcntl
except ImportError:  # no locks on this system: what is left over stays
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".tmp"
_PREFIX, _BACKUP = ".diffjoint-", ".old"
_JOURNAL = re.compile(rf"{re.escape(_PREFIX)}(?P<token>[0-9a-f]{{8}})\.(?P<state>begun|done)")
_LONGEST_JOURNAL = 1 << 20

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Complete:
    """A complete temporary file.

    Attributes
    ----------
    file : binary file
        Open still, in the folder of its target.
    target : Path
        Where it belongs: a real path.
    path : path
        What the user calls it.
    """

    file: BinaryIO
    target: Path
    path: PathLike


@dataclass(frozen=True)
class _Entry:
    """One line of a journal.

    Attributes
    ----------
    target : str
    was_there : bool
        Whether there was a file at the target before.
    new : tuple of int
        What tells the new file from any other.
    """

    target: str
    was_there: bool
    new: tuple[int, int, int]

    @property
    def is_new(self) -> bool:
        """Whether the new file is in its place, and nobody wrote to it since."""
        try:
            return _stamp(Path(self.target).stat()) == self.new
        except OSError:
            return False

    def backup(self, token: str) -> Path:
        """Return where the old file is kept."""
        target = Path(self.target)
        return target.with_name(f"{own_prefix(target)}{token}{_BACKUP}")


def put_together(files: Iterable[Complete]) -> None:
    """Put files in their places: all, or, if something goes wrong, none.

    If two files share a target, the later wins.
    """
    last = list({one.target: one for one in files}.values())
    if len(last) > 1:
        _put_by_journal(last)
        return
    for one in last:
        _put(one)


def tidy(path: PathLike) -> None:
    """Finish or undo what a process that is gone left half done beside a file."""
    if fcntl is None:
        return
    target = Path(os.path.realpath(path))
    with suppress(OSError):
        beside = [entry for entry in os.scandir(target.parent) if entry.name.startswith(_PREFIX)]
        for entry in beside:
            found = _JOURNAL.fullmatch(entry.name)
            if found is not None and _is_ours(entry):
                _settle(Path(entry.path), found["token"], is_done=found["state"] == "done")
        own = own_prefix(target)
        for entry in beside:
            if entry.name.startswith(own) and entry.name.endswith(TEMPORARY):
                if _is_ours(entry):
                    _remove_unlocked(Path(entry.path))
                elif entry.is_dir(follow_symlinks=False):
                    _remove_unlocked_folder(Path(entry.path))


@contextmanager
def whole_folder(path: PathLike) -> Iterator[Path]:
    """Make a folder beside a path, to be filled, and put it there in one step when it is complete.

    Left-over ones of processes that are gone are removed first.
    """
    tidy(path)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f"{own_prefix(target)}{secrets.token_hex(4)}{TEMPORARY}")
    beside.mkdir(parents=True)
    number = None if fcntl is None else os.open(beside, os.O_RDONLY)
    try:
        if number is not None:
            with suppress(OSError):
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield beside
        os.replace(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if number is not None:
            os.close(number)


def own_prefix(target: Path) -> str:
    """Return what the names of a target's temporary files begin with; short, whatever its name."""
    return f"{_PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def is_locked_by_us(file: BinaryIO) -> bool:
    """Lock a temporary file; False if another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def unwritable(path: PathLike, error: OSError) -> FileError:
    """Return the error for a file that cannot be written."""
    reason = error.strerror or str(error)
    return FileError(
        f"Cannot write {path}: {reason}. Choose a path in a folder that exists and that you may "
        "write to."
    )


def _put(one: Complete) -> None:
    """Put a complete temporary file in its place, with the mode and owner of the old one."""
    try:
        if one.target.exists():
            _keep_owner_and_mode(one.target, Path(one.file.name))
        if fcntl is None:
            one.file.close()
        os.replace(one.file.name, one.target)
    except OSError as error:
        raise unwritable(one.path, error) from error


def _put_by_journal(files: Sequence[Complete]) -> None:
    token = secrets.token_hex(4)
    begun, done = (files[0].target.with_name(f"{_PREFIX}{token}.{s}") for s in ("begun", "done"))
    entries = [
        _Entry(str(one.target), one.target.exists(), _stamp(os.fstat(one.file.fileno())))
        for one in files
    ]
    try:
        with open(begun, "xb") as journal:
            is_locked_by_us(journal)
            journal.write(json.dumps([asdict(entry) for entry in entries]).encode())
            journal.flush()
            os.fsync(journal.fileno())
            for one, entry in zip(files, entries, strict=True):
                if entry.was_there:
                    _keep(one, entry.backup(token))
            for one in files:
                _put(one)
            for folder in {one.target.parent for one in files}:
                _sync(folder)
            os.replace(begun, done)
    except BaseException as error:
        _put_back(entries, token)
        for journal_path in (begun, done):
            journal_path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(files[0].path, error) from error
        raise
    with suppress(OSError):  # all is in place: what cannot be removed now is removed later
        _forget(entries, token)
        done.unlink()


def _settle(journal: Path, token: str, *, is_done: bool) -> None:
    """Undo what a journal says, or forget it where all was done, if its process is gone."""
    with open(journal, "rb") as file:
        if not is_locked_by_us(file):
            return
        entries = _entries(file.read(_LONGEST_JOURNAL))
        if is_done:
            _forget(entries, token)
        else:
            _put_back(entries, token)
        journal.unlink(missing_ok=True)


def _entries(content: bytes) -> list[_Entry]:
    """Read a journal; one that is not whole was never acted on."""
    try:
        return [
            _Entry(str(said["target"]), bool(said["was_there"]), tuple(map(int, said["new"])))  # type: ignore[arg-type]
            for said in json.loads(content)
        ]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []


def _put_back(entries: Sequence[_Entry], token: str) -> None:
    """Put the old files back where the new ones are; leave alone what others wrote since."""
    for entry in entries:
        backup = entry.backup(token)
        if not entry.is_new:
            backup.unlink(missing_ok=True)
        elif not entry.was_there:
            Path(entry.target).unlink(missing_ok=True)
        elif backup.exists():
            os.replace(backup, entry.target)


def _forget(entries: Sequence[_Entry], token: str) -> None:
    for entry in entries:
        entry.backup(token).unlink(missing_ok=True)


def _keep(one: Complete, backup: Path) -> None:
    """Keep the old file by another name; a copy where the file system has no second names."""
    try:
        os.link(one.target, backup)
    except OSError:
        try:
            shutil.copy2(one.target, backup)
            _keep_owner_and_mode(one.target, backup)
        except OSError as error:
            raise unwritable(one.path, error) from error


def _keep_owner_and_mode(target: Path, beside: Path) -> None:
    old, new = target.stat(), beside.stat()
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        for owner in (old.st_uid, -1):
            with suppress(PermissionError):
                os.chown(beside, owner, old.st_gid)
                break
    shutil.copymode(target, beside)


def _stamp(told: os.stat_result) -> tuple[int, int, int]:
    return told.st_ino, told.st_size, told.st_mtime_ns


def _sync(folder: Path) -> None:
    """Call fsync on a folder, where the system can: its new names then survive a power cut."""
    if fcntl is None:
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Whether a file that is left over may be looked at: a regular one of this user."""
    told = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(told.st_mode) and told.st_uid == os.getuid()


def _remove_unlocked(path: Path) -> None:
    """Remove a temporary file that a process left behind; nobody holds its lock."""
    with suppress(OSError), open(path, "rb") as file:
        if is_locked_by_us(file):
            path.unlink(missing_ok=True)


def _remove_unlocked_folder(path: Path) -> None:
    """Remove a folder that a process left behind while it was filled."""
    number = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # in use still
        pass
    finally:
        os.close(number)
