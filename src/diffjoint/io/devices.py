"""Devices, which may never end, are not read."""

import os
import stat
from pathlib import Path

from diffjoint.errors import FileError


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Raise if a path is a device, such as /dev/zero; a terminal and a pipe have an end.

    Examples
    --------
    >>> refuse_device("no/such/file")
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):  # told by what reads it
        return
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_terminal(path)):
        raise FileError(f"Cannot read {path}: it is a device, not a file. Name a file or a pipe.")


def _is_terminal(path: str | os.PathLike[str]) -> bool:
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return os.isatty(number)
    finally:
        os.close(number)
