"""Name what can go wrong.

Every message says what was expected, what came, and what to do about it. Each class also derives
from the builtin that callers already catch.

Messages refer to parameters by :func:`option`, so that each front end shows them in its own words:
``str(error)`` has ``loss_rate=0.1``, the command line ``--loss-rate 0.1``. Errors, warnings and the
text that :func:`in_python` returns keep their references in ``message``.
"""

import ast
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

_OPEN, _VALUE, _CLOSE = "\ue000", "\ue001", "\ue002"
"""Private-use characters around a reference: text that people write does not hold them."""
_REFERENCE = re.compile(f"{_OPEN}([^{_VALUE}{_CLOSE}]*)(?:{_VALUE}([^{_CLOSE}]*))?{_CLOSE}")
NO_VALUE: Any = object()
"""Says that a parameter is named without a value."""

Shown = Callable[[str, Any], str]
"""How a front end writes a parameter, given its name and its value (or ``NO_VALUE``)."""


def option(name: str, value: Any = NO_VALUE) -> str:
    """Refer to a parameter in a message.

    Parameters
    ----------
    name : str
        As the estimator calls it.
    value : optional
        The message then shows the parameter set to it.

    Examples
    --------
    >>> in_python(f"Leave out {option('rules')}, or set {option('detector', 'paper')}.")
    "Leave out rules, or set detector='paper'."
    """
    said = "" if value is NO_VALUE else f"{_VALUE}{value!r}"
    return f"{_OPEN}{name}{said}{_CLOSE}"


class _AsWritten(str):
    """A value that cannot be read back from how it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _read_value(written: str) -> Any:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return _AsWritten(written)


def show_options(message: str, shown: Shown) -> str:
    """Return a message with each reference to a parameter written by ``shown``.

    Examples
    --------
    >>> show_options(f"Set {option('loss_rate')}.", lambda name, value: f"--{name}")
    'Set --loss_rate.'
    """

    def write(reference: re.Match[str]) -> str:
        name, value = reference.groups()
        return shown(name, NO_VALUE if value is None else _read_value(value))

    return _REFERENCE.sub(write, message)


class Words(str):
    """A message in the words of Python, which keeps its references in ``message``."""

    message: str


def in_python(message: str) -> Words:
    """Return a message with its references as a caller in Python writes them.

    Examples
    --------
    >>> in_python(f"Set {option('column_kinds', {'zip': 'categorical'})}.")
    "Set column_kinds={'zip': 'categorical'}."
    """
    words = Words(
        show_options(
            message, lambda name, value: name if value is NO_VALUE else f"{name}={value!r}"
        )
    )
    words.message = message_of(message)
    return words


def message_of(said: object) -> str:
    """Return what an error, a warning or a text says, with the references that it keeps."""
    message = getattr(said, "message", None)
    return message if isinstance(message, str) else str(said)


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
