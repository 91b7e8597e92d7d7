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

import sys
import warnings
from typing import Any

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


_ON_THE_WAY = ("diffjoint", "sklearn", "joblib")
"""Packages between the user's line and the place where a doubt comes up."""


def warn_user(doubt: str) -> None:
    """Warn of data, at the line of the user's own code that led here.

    Parameters
    ----------
    doubt : str
        What is probably not as meant; it may hold references by :func:`option`.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _ON_THE_WAY:
        level, frame = level + 1, frame.f_back
    warnings.warn(DataWarning(doubt), stacklevel=level)


def _package(module: dict[str, Any]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
