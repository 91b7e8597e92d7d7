"""How work runs: with progress shown, and with the threads that were asked for."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
from threadpoolctl import threadpool_limits

from diffjoint._extras import need_torch
from diffjoint._progress import NoProgress, Progress, progress_bar


@contextmanager
def running(n_threads: int | None, *, verbose: bool, draws: bool = False) -> Iterator[Progress]:
    """Show progress as asked for and keep to the threads set; both as before afterwards.

    Parameters
    ----------
    n_threads : int or None
        None leaves what is set.
    verbose : bool
        Whether progress is shown.
    draws : bool
        Whether the diffusion model is used, so that torch is loaded and kept to them as well.
    """
    _keep_freed_memory()
    n_threads = None if n_threads is None else int(n_threads)
    with (
        _torch_threads(n_threads) if draws else nullcontext(),
        _pool_threads(n_threads),
        progress_bar() if verbose else nullcontext(NoProgress()) as progress,
    ):
        yield progress


def _pool_threads(n_threads: int | None) -> AbstractContextManager[object]:
    """Limit the threads of all libraries that are loaded, from now on."""
    return nullcontext() if n_threads is None else threadpool_limits(n_threads)


def _torch_threads(n_threads: int | None) -> AbstractContextManager[None]:
    """Load torch, and let it use so many threads; raise, with what to install, if it is absent."""
    need_torch("The diffusion model")
    from diffjoint.diffusion.engine import limited_threads

    return limited_threads(n_threads)


def _keep_freed_memory() -> None:
    """Free one large block, after which the C library keeps what is freed for what comes next.

    Otherwise glibc hands each layer's output back to the system and takes it anew for the next
    batch, which costs a fifth of the run time. Its limit for this grows with the largest block
    freed, up to 32 MiB.
    """
    np.empty(31 * 2**20, dtype=np.uint8)
