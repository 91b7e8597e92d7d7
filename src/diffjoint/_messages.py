"""Write messages that refer to parameters, so that each front end shows them in its own words.

``str(error)`` has ``loss_rate=0.1``, the command line ``--loss-rate 0.1``. A message refers to a
parameter by :func:`option`; who shows it says how by :func:`show_options`.
"""

import ast
import re
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
