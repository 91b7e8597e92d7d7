"""Libraries that are not always there: each comes with an extra, and its absence is explained."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from diffjoint.errors import DiffJointError, InputError

DIFFUSION = ("torch", "diffusion")
"""The library of the diffusion model, and its extra."""


def is_there(library: str) -> bool:
    """Whether a library is installed; it is not loaded to find that out.

    Examples
    --------
    >>> is_there("json"), is_there("no_such_library")
    (True, False)
    """
    return find_spec(library) is not None


def need(
    library: str,
    extra: str,
    what: str,
    *,
    instead: str = "",
    error: type[DiffJointError] = InputError,
) -> None:
    """Raise, with what to install, unless a library is there.

    Parameters
    ----------
    library : str
    extra : str
        The extra that brings it.
    what : str
        What needs it, the verb included.
    instead : str
        What can be done without it, to follow the advice.
    error : type
        What to raise.

    Examples
    --------
    >>> need("no_such_library", "more", "A drawing needs")
    Traceback (most recent call last):
    ...
    diffjoint.errors.InputError: A drawing needs no_such_library, which is not installed. \
Install it: pip install 'diffjoint[more]'.
    """
    if not is_there(library):
        raise error(
            f"{what} {library}, which is not installed. Install it: pip install "
            f"'diffjoint[{extra}]'{instead}."
        )


def load(
    library: str,
    extra: str,
    what: str,
    *,
    module: str | None = None,
    error: type[DiffJointError] = InputError,
) -> ModuleType:
    """Return a library, or one module of it; raise as :func:`need` does if it is not there."""
    need(library, extra, what, error=error)
    return import_module(module or library)


def need_torch(what: str) -> None:
    """Raise, with what to install, unless the library of the diffusion model is there."""
    need(*DIFFUSION, f"{what} needs")
