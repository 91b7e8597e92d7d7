"""Run tasks in this process, or in a few processes of this machine."""

import multiprocessing
import os
import pickle
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, Self

from diffjoint.engines.engine import UNDER_MAIN, Run, Task, check_workers
from diffjoint.errors import FileError, InputError

MOST_ATTEMPTS = 3
"""How often workers may die in a row while no piece is finished."""
_AHEAD = 2
"""Pieces that each worker is given ahead."""


@dataclass(frozen=True)
class LocalEngine:
    """Work on this machine.

    Parameters
    ----------
    n_workers : int
        1: in this process, one piece after the other. More: in as many processes. One that dies is
        replaced, and its piece is done again.
    """

    n_workers: int = 1

    def __post_init__(self) -> None:
        check_workers(self.n_workers)

    def started(self, shared: Any) -> AbstractContextManager[Run]:
        """Start the workers; the context's value does a task for each piece."""
        if self.n_workers == 1:
            return nullcontext(lambda task, pieces: (task(shared, piece) for piece in pieces))
        _check_main()
        return _Processes(self.n_workers, shared)


class _Processes:
    """Worker processes, started anew if one of them dies.

    What tasks share is handed to them in a file. If it were sent through the pipe by which Python
    starts them, and one died before it has read all, this process would wait for ever.
    """

    def __init__(self, n_workers: int, shared: Any) -> None:
        self._n_workers, self._shared = n_workers, shared
        self._pool: ProcessPoolExecutor | None = None
        self._ending: Connection | None = None
        self._file = ""

    def __enter__(self) -> "Self":
        with tempfile.NamedTemporaryFile(prefix="diffjoint-", delete=False) as file:
            self._file = file.name
            pickle.dump(self._shared, file)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        Path(self._file).unlink(missing_ok=True)

    def __call__(self, task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
        """Do a task for each piece; what workers died with is done again."""
        left = list(reversed(pieces))
        deaths: Counter[str] = Counter()
        begun: dict[Future[Any], Any] = {}
        while left or begun:
            try:
                while left and len(begun) < _AHEAD * self._n_workers:
                    begun[self._submit(task, left[-1])] = left[-1]
                    left.pop()
                done, _ = wait(begun, return_when=FIRST_COMPLETED)
                for future in done:
                    result = future.result()
                    del begun[future]
                    deaths.clear()
                    yield result
            except BrokenProcessPool:
                self._end_workers()
                self._stop()
                left += reversed([*begun.values()])
                begun.clear()
                deaths[left[-1].name] += 1
                _check_deaths(deaths)

    def _submit(self, task: Task, piece: Any) -> Future[Any]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")  # libraries with threads do not fork
            ended, self._ending = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(
                self._n_workers, context, initializer=_set_up, initargs=(self._file, ended)
            )
        try:
            return self._pool.submit(_work, task, piece)
        except OSError as error:  # it broke, and closed its pipes, while it started a worker
            raise BrokenProcessPool(str(error)) from error

    def _end_workers(self) -> None:
        """Tell all workers to end, also one that is only starting: a broken pool forgets it."""
        if self._ending is not None:
            self._ending.close()
            self._ending = None

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._end_workers()


_given: Any = None
"""In a worker: what all tasks share."""


def _set_up(file: str, ended: Connection) -> None:
    """Set up a worker; it ends when the process that started it does, or says so."""
    global _given  # noqa: PLW0603
    _given = pickle.loads(Path(file).read_bytes())
    threading.Thread(target=_end_when_told, args=(ended,), daemon=True).start()


def _end_when_told(ended: Connection) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel, ended])
        os._exit(1)


def _work(task: Task, piece: Any) -> Any:
    """Do a task in a worker."""
    if _given is None:
        raise RuntimeError("a worker is set up before it is given work")
    return task(_given, piece)


def _check_main() -> None:
    """Raise in a worker that runs, as it is started, the script that starts workers."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            f"A script that starts workers must do so {UNDER_MAIN}: each worker runs the script to "
            "know its functions. Put the call there, or use one worker."
        )


def _check_deaths(deaths: Counter[str]) -> None:
    """Give up if workers keep dying."""
    if deaths.total() >= MOST_ATTEMPTS:
        raise FileError(
            f"Workers have died {deaths.total()} times in a row, at {', '.join(deaths)}. They may "
            "need more memory than there is: use fewer of them, or a lower memory limit, which "
            f"makes pieces smaller. In a script of yours, start workers {UNDER_MAIN}. What is done "
            "is kept: start the run again to go on."
        )
