"""Run tasks on a Dask cluster."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from diffjoint.engines.engine import UNDER_MAIN, Run, Task, check_workers, gave_up, require
from diffjoint.errors import FileError

_AHEAD = 4
"""Tasks for each thread of the cluster that are handed over at a time."""


class DaskEngine:
    """Work on a Dask cluster: one that is there, or a small one on this machine.

    A worker that dies is no matter: Dask gives its pieces to others. Workers must see the files
    that are read and written under the same paths, and have diffjoint installed.

    Parameters
    ----------
    client : str or distributed.Client, optional
        Address of the scheduler, or a client that is connected. Processes are started on this
        machine if not given.
    n_workers : int
        Processes to start.
    memory_limit : str, optional
        Memory of each of them; Dask starts one anew that takes more.
    """

    def __init__(
        self, client: Any = None, *, n_workers: int = 2, memory_limit: str | None = None
    ) -> None:
        require("dask", "distributed")
        check_workers(n_workers)
        self.client, self.n_workers, self.memory_limit = client, n_workers, memory_limit

    @contextmanager
    def started(self, shared: Any) -> Iterator[Run]:
        """Connect to the cluster, and send what tasks share to each worker."""
        with ExitStack() as stack:
            client = self._connect(stack)
            held = client.scatter(shared, broadcast=True, hash=False)

            def run(task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
                return _run(client, task, held, pieces)

            yield run

    def _connect(self, stack: ExitStack) -> Any:
        """Return a client; what was started for it ends with the stack."""
        from distributed import Client, LocalCluster

        if isinstance(self.client, Client):
            return self.client
        where = self.client
        if where is None:
            try:
                where = stack.enter_context(
                    LocalCluster(
                        n_workers=self.n_workers,
                        threads_per_worker=1,
                        memory_limit=self.memory_limit or "auto",
                        dashboard_address=None,
                    )
                )
            except RuntimeError as error:
                why = f"its workers could not be started (a script starts them {UNDER_MAIN})"
                raise gave_up("Dask", why) from error
        try:
            return stack.enter_context(Client(where))
        except OSError as error:
            raise FileError(
                f"Cannot reach a Dask scheduler at {where}: {error}. Check the address, and that "
                "the scheduler runs the same version of Dask."
            ) from error


def _run(client: Any, task: Task, shared: Any, pieces: Sequence[Any]) -> Iterator[Any]:
    """Do a task for each piece; a few are handed over at a time."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    at_once = _AHEAD * max(1, sum(client.nthreads().values()))
    left = iter(pieces)

    def submit(piece: Any) -> Any:
        return client.submit(task, shared, piece, pure=False)

    begun = as_completed([submit(piece) for _, piece in zip(range(at_once), left, strict=False)])
    for future in begun:
        try:
            result = future.result()
        except KilledWorker as error:
            raise gave_up("Dask", "a task was tried several times, and its worker died") from error
        yield result
        for piece in left:
            begun.add(submit(piece))
            break
