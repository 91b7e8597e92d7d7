"""Run tasks on Spark."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diffjoint.engines.engine import Run, Task, gave_up, require
from diffjoint.errors import InputError

ATTEMPTS = 4
"""How often a task is tried, in a session on this machine; a cluster has its own setting."""
LOCAL = f"local[2,{ATTEMPTS}]"
_NAMED = re.compile(r"diffjoint\.[\w.]*Error: (.+)")
_DIED = re.compile("worker (exited|crashed|died)|lost task|ExecutorLost", re.IGNORECASE)
"""How Spark tells of an error that has a name here, and of workers that died."""


class SparkEngine:
    """Work on Spark: in a session that is there, or in one on this machine.

    Spark does the tasks of a worker that dies again. Workers must see the files that are read and
    written under the same paths, and have diffjoint installed.

    Parameters
    ----------
    session : pyspark.sql.SparkSession, optional
        If not given, one is started for the run and stopped after it.
    master : str
        Where to start that one, such as "spark://head:7077".
    """

    def __init__(self, session: Any = None, *, master: str = LOCAL) -> None:
        require("spark", "pyspark")
        if session is None:
            check_java()
        self.session, self.master = session, master

    @contextmanager
    def started(self, shared: Any) -> Iterator[Run]:
        """Connect to the cluster, and send what tasks share to each worker."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        session = self.session or start_session(self.master)
        context = session.sparkContext
        held = context.broadcast(shared)

        def run(task: Task, pieces: Sequence[Any]) -> Iterator[Any]:
            if not pieces:
                return iter(())
            each = context.parallelize(pieces, len(pieces))
            try:
                return iter(each.map(lambda piece: task(held.value, piece)).collect())
            except (PySparkException, Py4JJavaError) as error:
                named = _NAMED.search(str(error))
                if not named and not _DIED.search(str(error)):
                    raise
                died = "a task was tried several times, and its worker died"
                raise gave_up("Spark", named[1] if named else died) from error

        try:
            yield run
        finally:
            held.destroy()
            if self.session is None:
                session.stop()


def start_session(master: str = LOCAL) -> Any:
    """Start a Spark session whose workers run this Python."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("diffjoint")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    for name, value in quiet.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def check_java() -> None:
    """Raise unless there is a Java to run Spark on this machine."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") or (home and (Path(home) / "bin" / "java").exists()):
        return
    raise InputError(
        "Spark needs Java 17 or later, and there is no java on this machine. Install a JDK (such "
        "as OpenJDK 17) or set JAVA_HOME; or use the local or the Dask engine, which need none."
    )
