"""Start the command line, and end it in a sentence whatever happens, imports included."""

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

RUN_FAILED = 1
WRONG_USE = 2
INTERRUPTED = "Interrupted; no file was left half written."
NO_MEMORY = (
    "There is not enough memory for this table, and no file was left half written. Bound what is "
    "held with --memory-limit, take fewer columns, or close other programs."
)
_SECRET = re.compile(r"(://[^/@:\s]*:)[^/@\s]*(@)")
"""The password in an address of a database."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line. Exit code 0: done; 1: the run failed; 2: wrong use."""
    with _ending_in_a_sentence(is_process=arguments is None):
        # Before threads are started: those that wait must not spin, or a busy neighbour slows them
        # tenfold.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import warnings

        from diffjoint.cli.app import app
        from diffjoint.cli.console import told_once

        warnings.showwarning = told_once()
        app(arguments)
    sys.exit(0)


@contextmanager
def _ending_in_a_sentence(*, is_process: bool) -> Iterator[None]:
    """Tell interruptions and unexpected errors in a sentence, and exit with code 1.

    Parameters
    ----------
    is_process : bool
        Whether the process has nothing else to do: an interruption while it ends is then silent.
    """
    with _signals(is_process=is_process):
        try:
            yield
        except KeyboardInterrupt as error:
            ignore_signals()
            _fail(str(error) or INTERRUPTED)
        except MemoryError:
            _fail(NO_MEMORY)
        except OSError as error:
            _fail(_refused(error))
        except Exception as error:
            _fail(_unexpected(error))


@contextmanager
def _signals(*, is_process: bool) -> Iterator[None]:
    """Take SIGTERM for Ctrl-C meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if is_process else handler)


def ignore_signals() -> None:
    """Let what is said of an interruption not be interrupted, nor replace the exit code.

    Python ends itself by SIGINT, whatever the exit code, if an interruption went through text that
    it ran, as libraries do when they are loaded; running text again makes it forget that.
    """
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    exec("")


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Take a request to end for Ctrl-C: files are cleared away, and the run says how to go on."""
    raise KeyboardInterrupt


def _refused(error: OSError) -> str:
    """Say what the system did not do: a disk that is full or broken, a folder that is gone."""
    what = "a file" if error.filename is None else error.filename
    return (
        f"The system could not read or write {what}: {error.strerror or error}. No file was left "
        "half written. Check the disk and the path, and run again."
    )


def _unexpected(error: Exception) -> str:
    """Write down the details of an error that nobody foresaw; say where, and what to do."""
    import traceback

    what = f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]
    asked = _SECRET.sub(r"\1***\2", " ".join(sys.argv))
    facts = f"{asked}\nPython {sys.version}\n"
    details = facts + "".join(traceback.format_exception(error))
    path = _written_down(details)
    where = (
        f"The details could not be written to a file:\n{details}"
        if path is None
        else f"The details are in {path}: please send it to the developers. It may hold names and "
        "values of the table."
    )
    return f"Unexpected {what}. No file was left half written. {where}"


def _written_down(details: str) -> Path | None:
    """Write details to a new file, if that can be.

    It may hold something of the table. So it goes to the temporary folder, of which nothing is
    shared by mistake, and to the current one only where that takes nothing.
    """
    import tempfile

    for folder in (None, "."):
        try:
            number, name = tempfile.mkstemp(".txt", "diffjoint-error-", folder)
        except OSError:
            continue
        with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(details)
        return Path(name).absolute()
    return None


def plain(text: str) -> str:
    r"""Return text with control characters written out, so that they do nothing to a terminal.

    Examples
    --------
    >>> print(plain("a\x1b[2J\u009bb"))
    a\x1b[2J\x9bb
    """
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _fail(text: str) -> NoReturn:
    """Print why the run failed, needing nothing that may not be loaded yet; exit."""
    print(f"Error: {plain(text)}", file=sys.stderr)
    sys.exit(RUN_FAILED)
