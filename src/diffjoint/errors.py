"""Name what can go wrong.

Every message says what was expected, what came, and what to do about it. Each class also derives
from the builtin that callers already catch::

    DiffJointError
      InputError        (ValueError)    a table or a setting; ``parameter`` says which
      TrainingError     (RuntimeError)  a diffusion model
      FileError         (OSError)       a file
        ModelFileError  (ValueError)    a saved model or checkpoint
    DataWarning         (UserWarning)   something that works, but probably not as meant

Errors and warnings keep their references to parameters in ``message``, see
:mod:`diffjoint._messages`.
"""

import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

from diffjoint._messages import (
    NO_VALUE,
    Shown,
    Words,
    in_python,
    message_of,
    option,
    show_options,
)

__all__ = [
    "NO_VALUE",
    "DataWarning",
    "DiffJointError",
    "FileError",
    "InputError",
    "ModelFileError",
    "Shown",
    "TrainingError",
    "Words",
    "in_python",
    "message_of",
    "option",
    "show_options",
    "warn_user",
]


class DiffJointError(Exception):
    """Base of everything diffjoint raises on purpose.

    Parameters
    ----------
    message : str
        What was expected, what came, and what to do; it may hold references by :func:`option`.
    parameter : str, optional
        The parameter that the error is about.

    Attributes
    ----------
    message : str
        With its references, for :func:`show_options`.
    parameter : str or None
    """

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(in_python(message))
        self.message = message_of(message)
        self.parameter = parameter


class InputError(DiffJointError, ValueError):
    """A table or a setting that cannot be worked with."""


class TrainingError(DiffJointError, RuntimeError):
    """Training could not go on."""


class FileError(DiffJointError, OSError):
    """A file that cannot be read or written as asked."""


class ModelFileError(FileError, ValueError):
    """A saved model or checkpoint that is cut off, altered, or from another version."""


class DataWarning(UserWarning):
    """Something that works, but probably not as meant; its message may hold references."""

    def __init__(self, message: str) -> None:
        super().__init__(in_python(message))
        self.message = message_of(message)


def warn_user(doubt: str) -> None:
    """Warn of data, at the line of the user's own code that led here.

    Parameters
    ----------
    doubt : str
        What is probably not as meant; it may hold references by :func:`option`.
    """
    own = _as_prefix(str(Path(__file__).parent))
    libraries = (own, *_library_folders())
    files = [*_files_of_callers()]
    outside = [level for level, file in enumerate(files) if not file.startswith(own)]
    of_user = [level for level in outside if not files[level].startswith(libraries)]
    level = (of_user or outside or [0])[0]  # a thread's first line is a library's
    warnings.warn(DataWarning(doubt), stacklevel=level + 2)


def _files_of_callers() -> Iterator[str]:
    """Go through the files of the lines that led to ``warn_user``, the nearest first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield os.path.normcase(frame.f_code.co_filename)
        frame = frame.f_back


def _as_prefix(folder: str) -> str:
    return f"{os.path.normcase(folder)}{os.sep}"


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of Python's own modules and of those that were installed."""
    for_user = sysconfig.get_preferred_scheme("user")
    schemes = (sysconfig.get_default_scheme(), for_user)
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {sysconfig.get_path(name, scheme) for scheme in schemes for name in names}
    return tuple(_as_prefix(path) for path in sorted(paths))
