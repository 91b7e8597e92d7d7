"""Locks that tell what is in use from what a process that is gone left behind."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no locks on this system: what is left over stays
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
HOUR = 3_600
"""Seconds after which something counts as left over where no lock tells."""
OWN_FOLDERS: set[Path] = set()
"""Folders that this process has made and holds locked: nobody else puts files there."""
_LONGEST_WAIT, _PAUSE = 5.0, 0.01
"""Seconds to wait for another process that puts files in the same folder, and between looks."""


def is_locked_by_us(file: BinaryIO) -> bool:
    """Lock a temporary file; False if another process holds it."""
    return lock(file.fileno()) is not False


def lock(number: int) -> bool | None:
    """Lock an open file; False if another process holds it, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


@contextmanager
def alone_in(folders: Iterable[Path]) -> Iterator[None]:
    """Wait until no other process puts files in these folders; keep others out meanwhile.

    Whoever else locks a folder is not waited for longer than a moment, nor is a folder that
    cannot be locked.
    """
    with ExitStack() as held:
        deadline = time.monotonic() + _LONGEST_WAIT
        for folder in sorted({*folders} - OWN_FOLDERS) if fcntl is not None else ():
            with suppress(OSError):
                number = os.open(folder, os.O_RDONLY)
                held.callback(os.close, number)
                while lock(number) is False and time.monotonic() < deadline:
                    time.sleep(_PAUSE)
        yield


def is_left_over(number: int, path: Path) -> bool:
    """Whether the process that made an open file is gone, and nobody has seen to it since.

    Where there are no locks, what is old enough counts.
    """
    locked = lock(number)
    if locked is False:
        return False
    own = os.fstat(number)
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    if (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino):
        return False
    return bool(locked) or time.time() - own.st_mtime > HOUR
