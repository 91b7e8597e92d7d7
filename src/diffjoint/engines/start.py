"""Choose an engine by its name."""

import os

from diffjoint.engines.dask import DaskEngine
from diffjoint.engines.engine import Engine
from diffjoint.engines.local import LocalEngine
from diffjoint.engines.spark import ATTEMPTS, SparkEngine
from diffjoint.errors import InputError
from diffjoint.parameters.checks import check_choice

ENGINES = ("local", "dask", "spark")


def start_engine(
    name: str = "local",
    n_workers: int | None = None,
    scheduler: str | None = None,
    memory_limit: str | None = None,
    n_threads: int = 1,
) -> Engine:
    """Return an engine; a cluster on this machine is started where it is needed.

    Parameters
    ----------
    name : {"local", "dask", "spark"}
    n_workers : int, optional
        Workers on this machine. If not given: one, which is this process, for "local"; as many as
        there are processors, each with ``n_threads``, for the others.
    scheduler : str, optional
        Address of a cluster that is there.
    memory_limit : str, optional
        Memory of each worker on this machine.
    n_threads : int
        Threads of each worker.
    """
    check_choice("--engine", name, ENGINES)
    if scheduler is not None and (name == "local" or n_workers is not None):
        raise InputError(
            "--scheduler is for --engine dask and --engine spark, whose clusters have their "
            "workers already. Leave out --scheduler, or --workers."
        )
    if name == "local":
        return LocalEngine(n_workers or 1)
    workers = n_workers or max(1, (os.cpu_count() or 1) // n_threads)
    if name == "dask":
        return DaskEngine(scheduler, n_workers=workers, memory_limit=memory_limit)
    return SparkEngine(master=scheduler or f"local[{workers},{ATTEMPTS}]")
