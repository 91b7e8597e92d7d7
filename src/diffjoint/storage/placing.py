"""Put complete files in their places: each in one step, and several together.

Several files cannot be renamed at once. So a journal is written first, and the old files are kept
beside the new ones until all are in place: after a failure, or a kill at any moment, the files are
put back as they were, at once or by the next run that names one of them. Where they are in several
folders, the others hold a note of where the journal is.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from diffjoint.errors import FileError
from diffjoint.storage.locks import (
    HAS_LOCKS,
    OWN_FOLDERS,
    alone_in,
    is_left_over,
    is_locked_by_us,
    lock,
)

TEMPORARY = ".tmp"
_PREFIX, _BACKUP = ".diffjoint-", ".old"
_BEGUN, _DONE, _ELSEWHERE = "begun", "done", "elsewhere"
_JOURNAL = re.compile(
    rf"{re.escape(_PREFIX)}(?P<token>[0-9a-f]{{8}})\.(?P<state>{_BEGUN}|{_DONE}|{_ELSEWHERE})"
)
_ANY_TEMPORARY = re.compile(
    rf"{re.escape(_PREFIX)}[0-9a-f]{{12}}-[0-9a-f]{{8}}{re.escape(TEMPORARY)}"
)
_LONGEST_JOURNAL = 1 << 20
_DAY = 86_400
"""Seconds after which what belongs to another output counts as left over."""

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

    If two files share a target, the later wins. Of two processes with the same outputs, the files
    of one are put in place before those of the other.
    """
    last = list({one.target: one for one in files}.values())
    with alone_in({one.target.parent for one in last}):
        if len(last) > 1:
            _put_by_journal(last)
            return
        for one in last:
            _put(one)


def tidy(path: PathLike) -> None:
    """Finish or undo what a process that is gone left half done beside a file."""
    if not HAS_LOCKS:
        return
    target = Path(os.path.realpath(path))
    with suppress(OSError):
        beside = [one for one in target.parent.iterdir() if one.name.startswith(_PREFIX)]
        for one in beside:
            found = _JOURNAL.fullmatch(one.name)
            if found is not None:
                settle = _settle_elsewhere if found["state"] == _ELSEWHERE else _settle_here
                with suppress(OSError):
                    settle(one, found["token"])
        own = own_prefix(target)
        for one in beside:
            if _ANY_TEMPORARY.fullmatch(one.name):
                with suppress(OSError):
                    _remove_left_over(one, is_own=one.name.startswith(own))


@contextmanager
def whole_folder(path: PathLike) -> Iterator[Path]:
    """Make a folder beside a path, to be filled, and put it there in one step when it is complete.

    Left-over ones of processes that are gone are removed first.
    """
    tidy(path)
    target = Path(os.path.realpath(path))
    beside, number = _locked_folder(target)
    OWN_FOLDERS.add(beside)
    try:
        yield beside
        os.replace(beside, target)
    finally:
        OWN_FOLDERS.discard(beside)
        shutil.rmtree(beside, ignore_errors=True)
        if number is not None:
            os.close(number)


def _locked_folder(target: Path) -> tuple[Path, int | None]:
    """Make a folder beside a target; return it, and the number under which it is held locked."""
    while True:
        beside = target.with_name(f"{own_prefix(target)}{secrets.token_hex(4)}{TEMPORARY}")
        beside.mkdir(parents=True)
        if not HAS_LOCKS:
            return beside, None
        with suppress(FileNotFoundError):  # taken for left over before it was locked
            number = os.open(beside, os.O_RDONLY)
            if lock(number) is not False and beside.exists():
                return beside, number
            os.close(number)


def own_prefix(target: Path) -> str:
    """Return what the names of a target's temporary files begin with; short, whatever its name."""
    return f"{_PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


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
        if not HAS_LOCKS:
            one.file.close()
        os.replace(one.file.name, one.target)
    except OSError as error:
        raise unwritable(one.path, error) from error


def _put_by_journal(files: Sequence[Complete]) -> None:
    token, home = secrets.token_hex(4), files[0].target.parent
    folders = sorted({one.target.parent for one in files})
    begun, done = (_journal_path(home, token, state) for state in (_BEGUN, _DONE))
    notes = [_journal_path(folder, token, _ELSEWHERE) for folder in folders if folder != home]
    entries = [
        _Entry(str(one.target), one.target.exists(), _stamp(os.fstat(one.file.fileno())))
        for one in files
    ]
    try:
        with _new_journal(begun) as journal:
            _write_down(journal, [asdict(entry) for entry in entries])
            for note in notes:
                with open(note, "xb") as file:
                    _write_down(file, str(home))
            for folder in folders:
                _sync(folder)
            for one, entry in zip(files, entries, strict=True):
                if entry.was_there:
                    _keep(one, entry.backup(token))
            for one in files:
                _put(one)
            for folder in folders:
                _sync(folder)
            os.replace(begun, done)
    except BaseException as error:
        if done.exists():
            raise
        _undo(entries, token, begun, notes, files)
        if isinstance(error, OSError):
            raise unwritable(files[0].path, error) from error
        raise
    with suppress(OSError):  # all is in place: what cannot be removed now is removed later
        _sync(home)
        _finish(entries, token, done, notes)


def _undo(
    entries: Sequence[_Entry],
    token: str,
    begun: Path,
    notes: Sequence[Path],
    files: Sequence[Complete],
) -> None:
    """Put the old files back now; what cannot be is put back by the next run."""
    try:
        _put_back(entries, token)
        for path in (begun, *notes):
            _remove(path)
    except OSError as error:
        raise FileError(
            f"Cannot write {files[0].path}, nor put back what was there before: "
            f"{error.strerror or error}. The next run that names it puts it back."
        ) from error


def _journal_path(folder: Path, token: str, state: str) -> Path:
    return folder / f"{_PREFIX}{token}.{state}"


@contextmanager
def _new_journal(path: Path) -> Iterator[BinaryIO]:
    """Create a journal, locked as long as it is open."""
    while True:
        file = open(path, "xb")  # noqa: SIM115
        if is_locked_by_us(file) and os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # taken for left over between its creation and its lock
    with file:
        yield file


def _write_down(file: BinaryIO, what: Any) -> None:
    file.write(json.dumps(what).encode())
    file.flush()
    os.fsync(file.fileno())


def _settle_elsewhere(note: Path, token: str) -> None:
    """Settle the journal that a note tells of; drop the note if there is none any more."""
    if not _is_ours(note.lstat()):
        return
    home = _home(note.read_bytes()[:_LONGEST_JOURNAL])
    if home is not None and not home.is_dir():
        return  # it may be there again later: a disk that was taken out
    if home is not None:
        for state in (_BEGUN, _DONE):
            journal = _journal_path(home, token, state)
            _settle_here(journal, token)
            if journal.exists():
                return
    _remove(note)


def _settle_here(journal: Path, token: str) -> None:
    """Undo what a journal says, or forget it where all was done, if its process is gone."""
    if not (journal.exists() and _is_ours(journal.lstat())):
        return
    with open(journal, "rb") as file:
        if not is_left_over(file.fileno(), journal):
            return
        entries = _entries(file.read(_LONGEST_JOURNAL))
        folders = {Path(entry.target).parent for entry in entries}
        with alone_in(folders):
            if journal.suffix == f".{_BEGUN}":
                _put_back(entries, token)
            notes = [_journal_path(folder, token, _ELSEWHERE) for folder in folders]
            _finish(entries, token, journal, notes)


def _home(content: bytes) -> Path | None:
    """Read a note; None for one that is not whole."""
    try:
        home = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return Path(home) if _is_path(home) else None


def _is_path(said: Any) -> bool:
    """Whether something that a file says can be the path of a file."""
    if not isinstance(said, str) or "\0" in said or not Path(said).is_absolute():
        return False
    try:
        os.fsencode(said)
    except UnicodeEncodeError:
        return False
    return True


def _entries(content: bytes) -> list[_Entry]:
    """Read a journal; one that is not whole was never acted on."""
    try:
        entries = [
            _Entry(said["target"], bool(said["was_there"]), tuple(map(int, said["new"])))  # type: ignore[arg-type]
            for said in json.loads(content)
        ]
    except (ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return []
    return entries if all(_is_path(e.target) and Path(e.target).name for e in entries) else []


def _put_back(entries: Sequence[_Entry], token: str) -> None:
    """Put the old files back where the new ones are; leave alone what others wrote since."""
    for entry in entries:
        backup = entry.backup(token)
        if not entry.is_new:
            _remove(backup)
        elif not entry.was_there:
            _remove(Path(entry.target))
        elif backup.exists():
            os.replace(backup, entry.target)


def _finish(entries: Sequence[_Entry], token: str, journal: Path, notes: Iterable[Path]) -> None:
    """Remove the old files that were kept, the journal, and then the notes of it."""
    for entry in entries:
        _remove(entry.backup(token))
    for path in (journal, *notes):
        _remove(path)


def _keep(one: Complete, backup: Path) -> None:
    """Keep the old file by another name; a copy where the file system has no second names."""
    try:
        os.link(one.target, backup)
    except OSError:
        try:
            backup.touch(mode=0o600, exist_ok=False)
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


def _remove(path: Path) -> None:
    """Remove a file, if it and its folder are there."""
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()


def _sync(folder: Path) -> None:
    """Call fsync on a folder, where the system can: its new names then survive a power cut."""
    if not HAS_LOCKS:
        return
    try:
        number = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one to write to but not to look into
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _is_ours(told: os.stat_result) -> bool:
    """Whether what is left over may be looked at: a regular file or a folder of this user."""
    is_plain = stat.S_ISREG(told.st_mode) or stat.S_ISDIR(told.st_mode)
    return is_plain and told.st_uid == os.getuid()


def _remove_left_over(path: Path, *, is_own: bool) -> None:
    """Remove a temporary file or folder that a process left behind; nobody holds its lock.

    Parameters
    ----------
    is_own : bool
        Whether it belongs to the output that is asked about; others are left alone for a day.
    """
    told = path.lstat()
    if not _is_ours(told) or not (is_own or time.time() - told.st_mtime > _DAY):
        return
    number = os.open(path, os.O_RDONLY)
    try:
        if not is_left_over(number, path):
            return
        if stat.S_ISDIR(told.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            _remove(path)
    finally:
        os.close(number)
