"""Give inputs to a part of the library, and count how it takes them."""

import hashlib
import resource
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from diffjoint.errors import DiffJointError

LONGEST = 10.0
"""Seconds of processor time that an input may take."""
LARGEST = 3 << 30
"""Bytes of memory that a process may take beyond what it has."""
_FAULT = "fault of diffjoint"
"""Words of an error that is named, but never should be seen."""


class ChangedError(Exception):
    """An observed cell came back as another, or an answer is none."""


class HangError(BaseException):
    """An input takes too long; no ``except Exception`` stops it."""


@dataclass(frozen=True)
class Target:
    """A part of the library that takes what strangers give it.

    Attributes
    ----------
    run : callable
        Is given an input, and a folder for files; raises ChangedError if it came out wrong.
    seeds : callable
        Returns inputs to start from, given what the folder of ``prepare`` holds.
    words : tuple of bytes
        That inputs are made of.
    n_runs : int
        Inputs in a night.
    prepare : callable
        Makes what runs share, in a folder.
    longest : int
        Bytes of an input.
    """

    run: Callable[[bytes, Path], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...]
    n_runs: int
    prepare: Callable[[Path], object] = lambda folder: None
    longest: int = 4_096


@dataclass
class Counts:
    """How inputs were taken.

    Attributes
    ----------
    inputs : int
    taken, refused : int
        Without an error; with one of the library's own.
    internal_errors, hangs, changed : int
    found : dict
        For each place where something went wrong, the shortest input and what was said.
    """

    inputs: int = 0
    taken: int = 0
    refused: int = 0
    internal_errors: int = 0
    hangs: int = 0
    changed: int = 0
    found: dict[str, tuple[Any, str]] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.internal_errors or self.hangs or self.changed)

    def told(self) -> dict[str, int]:
        """Return the counts by name."""
        return {name: n for name, n in vars(self).items() if isinstance(n, int)}

    def judge(self, given: Any, run: Callable[[], object]) -> None:
        """Run with one input, and count what comes of it."""
        self.inputs += 1
        try:
            with _limited():
                run()
            self.taken += 1
        except DiffJointError as error:
            if _FAULT in str(error):
                self.changed += 1
                self._keep(given, error)
            else:
                self.refused += 1
        except HangError as error:
            self.hangs += 1
            self._keep(given, error)
        except ChangedError as error:
            self.changed += 1
            self._keep(given, error)
        except Exception as error:
            if _is_of_the_contract(error):
                self.refused += 1
                return
            self.internal_errors += 1
            self._keep(given, error)

    def _keep(self, given: Any, error: BaseException) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"
        before = self.found.get(where)
        if before is None or len(repr(given)) < len(repr(before[0])):
            self.found[where] = given, "".join(traceback.format_exception(error)[-8:])


def _is_of_the_contract(error: Exception) -> bool:
    """Whether scikit-learn's check of a table refuses it, as it does for every estimator."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Path(last.filename).parts[-3:] == ("sklearn", "utils", "validation.py")


@contextmanager
def _limited() -> Iterator[None]:
    """Raise HangError after the longest time of the processor."""
    before = signal.signal(signal.SIGVTALRM, _hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _hang(number: int, frame: FrameType | None) -> NoReturn:
    raise HangError(f"more than {LONGEST:g} s")


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Let more memory than inputs may take raise MemoryError."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + LARGEST, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def name_of(data: bytes) -> str:
    """Return what a kept input is called."""
    return hashlib.sha256(data).hexdigest()[:12]
