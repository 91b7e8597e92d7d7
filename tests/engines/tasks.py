"""Tasks for tests of engines; workers import them."""

import os
import signal
import time
from pathlib import Path

from diffjoint.engines import local
from diffjoint.engines.fragment import completing_task
from diffjoint.errors import FileError


def _first_time(shared, what):
    """Whether this is the first call in the run."""
    mark = Path(shared.folders["table"]).with_suffix(f".{what}")
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def complete_and_die_once(shared, piece):
    """Complete pieces; the worker that comes to the second one is killed before, the first time."""
    if "000000000070" in piece.name and _first_time(shared, "killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    return completing_task(shared, piece)


def fail(shared, piece):
    """Find the disk full, whatever the piece."""
    raise FileError(f"Cannot write {piece.name}: No space left on device")


def die(shared, piece):
    """Kill the worker, whatever the piece."""
    os.kill(os.getpid(), signal.SIGKILL)


def set_up_and_wait(file, ended):
    """Be a worker that nobody gives work."""
    local._set_up(file, ended)
    time.sleep(600)
