"""What an engine is: something that does a task for each piece, somewhere."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from diffjoint._extras import need
from diffjoint.errors import FileError, InputError

Task = Callable[[Any, Any], Any]
"""Work on one item, given what all tasks share: a function of a module, so that workers find it."""
Run = Callable[[Task, Sequence[Any]], Iterator[Any]]
"""Does a task for each item; yields what each returns as it is done, in any order."""


UNDER_MAIN = 'under `if __name__ == "__main__":`'
"""Where a script starts processes that run it."""


class Engine(Protocol):
    """Runs tasks somewhere."""

    def started(self, shared: Any) -> AbstractContextManager[Run]:
        """Start the workers, and send them what tasks share; the context's value runs tasks."""


def require(extra: str, library: str) -> None:
    """Raise unless the library of an engine is installed."""
    instead = ", or use the local engine, which needs nothing"
    need(library, extra, "This engine needs", instead=instead)


def gave_up(engine: str, why: str) -> FileError:
    """Return the error of a cluster that has tried a task several times."""
    return FileError(
        f"{engine} gave up: {why.rstrip('.')}. What is done is kept: start the run again to go on."
    )


@contextmanager
def explaining_files() -> Iterator[None]:
    """Raise FileError for what the system cannot read or write, which says how to go on."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        what = "a file" if error.filename is None else error.filename
        raise FileError(
            f"Cannot read or write {what}: {error.strerror or error}. What is done is kept: check "
            "the disk and the path, and start the run again to go on."
        ) from error


def check_workers(n_workers: int) -> None:
    """Raise unless this is a number of workers."""
    if isinstance(n_workers, bool) or not isinstance(n_workers, int) or n_workers < 1:
        raise InputError(f"n_workers must be a whole number from 1 on; got {n_workers!r}.")
