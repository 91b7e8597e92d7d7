"""A PostgreSQL server of one's own, for as long as it is asked for."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("initdb", "postgres", "pg_ctl")
OWNER = "postgres"
"""Who runs the server where the tests run as the superuser, as whom it does not start."""


def is_there() -> bool:
    """Whether the programs of a server are on this machine."""
    return all(map(shutil.which, PROGRAMS))


@contextmanager
def server() -> Iterator[str]:
    """Start a server that listens to a socket in a folder of its own; yield its address."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_whom = {}
    if os.geteuid() == 0:
        shutil.chown(folder, OWNER)
        as_whom = {"user": OWNER}

    def run(*command: str) -> None:
        subprocess.run(
            command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **as_whom,
        )  # fmt: skip

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-A", "trust", "-U", OWNER, "-E", "UTF8", "--no-sync")
        options = f"-c fsync=off -c listen_addresses='' -c unix_socket_directories='{folder}'"
        run("pg_ctl", "-D", data, "-w", "-o", options, "start")
        try:
            yield f"postgresql://{OWNER}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
