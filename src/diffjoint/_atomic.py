"""Files written whole or not at all, and saved models without pickle.

A saved model is one safetensors file: arrays, and JSON facts in its header. It carries a
format version and a digest, so that a cut-off, altered or newer file is told from a good one.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from diffjoint.errors import FileError, InputError, ModelFileError

try:
    import fcntl
except ImportError:  # no locks on this system: what is left over stays
    fcntl = None  # type: ignore[assignment]

FORMAT_VERSION = 1

DENOISER = "denoiser."
"""What the names of a denoiser's weights begin with."""

Arrays = dict[str, NDArray[Any]]

_TEMPORARY = ".tmp"
_STREAMS = {"stdout": 1, "stderr": 2}
_OPEN_FILE = re.compile(r"/dev/(?P<name>stdout|stderr)|/(dev|proc/self)/fd/(?P<number>[0-9]{1,9})")


def write_whole(
    path: str | os.PathLike[str], write: Callable[[BinaryIO], object], *, at_once: bool = False
) -> None:
    """Write a file beside ``path`` and put it there in one step when it is complete.

    An interruption leaves what was at ``path`` before as it was.

    Parameters
    ----------
    path : path
    write : callable
        Is given the open file.
    at_once : bool
        True: put the file there now, even among :func:`staged_outputs`.
    """
    with writing_whole(path, at_once=at_once) as file:
        write(file)


@contextmanager
def staged_outputs() -> Iterator[None]:
    """Hold back every file written inside, and put all in their places together at the end.

    If something fails before, none is put there: what was there before stays. Temporary files that
    a kill leaves behind are removed when the same files are written again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with staged_outputs():
    ...     write_whole(folder / "a", lambda file: file.write(b"first"))
    ...     held_back = not (folder / "a").exists()
    >>> held_back, (folder / "a").read_text()
    (True, 'first')
    """
    with ExitStack() as unfinished:
        outputs = _Outputs([], unfinished)
        token = _STAGED.set(outputs)
        try:
            yield
        finally:
            _STAGED.reset(token)
        for finish in outputs.finishing:
            finish()


@contextmanager
def writing_whole(path: str | os.PathLike[str], *, at_once: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` to write to, and put it there at the end, as above.

    What is no regular file (a device, a pipe, a standard stream) is written to when all is there.
    """
    if _is_stream(path):
        with spooled(lambda file: _copy_to(path, file), at_once=at_once) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    try:
        with _kept_until_done(at_once) as (stack, finishing):
            _remove_left_over(target)
            file = stack.enter_context(_beside(target))
            yield file
            file.flush()
            os.fsync(file.fileno())
            finishing.append(lambda: _put(file, target, path))
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def spooled(
    write_out: Callable[[BinaryIO], object], *, at_once: bool = False
) -> Iterator[BinaryIO]:
    """Open a temporary file, and hand it over, from its start, when all is written to it."""
    with _kept_until_done(at_once) as (stack, finishing):
        file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        yield file
        file.seek(0)
        finishing.append(lambda: write_out(file))


@dataclass(frozen=True)
class _Outputs:
    """Files that are written but not yet in their places."""

    finishing: list[Callable[[], object]]
    unfinished: ExitStack


_STAGED: ContextVar[_Outputs | None] = ContextVar("staged", default=None)


@contextmanager
def _kept_until_done(
    at_once: bool,
) -> Iterator[tuple[ExitStack, list[Callable[[], object]]]]:
    """Where to keep open files and the steps that finish them: for the stage, or for now."""
    outputs = _STAGED.get()
    if outputs is not None and not at_once:
        yield outputs.unfinished, outputs.finishing
        return
    with ExitStack() as stack:
        finishing: list[Callable[[], object]] = []
        yield stack, finishing
        for finish in finishing:
            finish()


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """Create a temporary file beside a target, locked as long as it is open; removed at the end."""
    while True:
        beside = target.with_name(f"{_own_prefix(target)}{secrets.token_hex(4)}{_TEMPORARY}")
        file = open(beside, "xb")  # noqa: SIM115
        if _is_locked_by_us(file) and os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # taken for left over between its creation and its lock
    try:
        with file:
            yield file
    finally:
        beside.unlink(missing_ok=True)


def _put(file: BinaryIO, target: Path, path: str | os.PathLike[str]) -> None:
    """Put a complete temporary file in its place, with the mode and owner of the old one."""
    try:
        if target.exists():
            _keep_owner_and_mode(target, Path(file.name))
        if fcntl is None:
            file.close()
        os.replace(file.name, target)
    except OSError as error:
        raise _unwritable(path, error) from error


def _keep_owner_and_mode(target: Path, beside: Path) -> None:
    old, new = target.stat(), beside.stat()
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        for owner in (old.st_uid, -1):
            with suppress(PermissionError):
                os.chown(beside, owner, old.st_gid)
                break
    shutil.copymode(target, beside)


def _own_prefix(target: Path) -> str:
    """Return what the names of a target's temporary files begin with; short, whatever its name."""
    return f".diffjoint-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def _remove_left_over(target: Path) -> None:
    """Remove a target's temporary files that a process left behind; nobody holds their lock."""
    if fcntl is None:
        return
    for beside in target.parent.glob(f"{_own_prefix(target)}*{_TEMPORARY}"):
        with suppress(OSError):
            if stat.S_ISREG(beside.lstat().st_mode) and beside.lstat().st_uid == os.getuid():
                with open(beside, "rb") as file:
                    if _is_locked_by_us(file):
                        beside.unlink(missing_ok=True)


def _is_locked_by_us(file: BinaryIO) -> bool:
    """Lock a temporary file; False if another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is there and no regular file, or stands for an open one."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _descriptor(path) is not None


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the open file that a path such as /dev/stdout stands for."""
    found = _OPEN_FILE.fullmatch(str(Path(path).absolute()))
    if found is None:
        return None
    return int(found["number"]) if found["number"] else _STREAMS[found["name"]]


def _copy_to(path: str | os.PathLike[str], content: BinaryIO) -> None:
    """Write to what is no regular file; to an open one where it stands."""
    number = _descriptor(path)
    try:
        sys.stdout.flush()
        with open(path if number is None else os.dup(number), "wb") as file:
            shutil.copyfileobj(content, file)
    except OSError as error:
        raise _unwritable(path, error) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now rather than after an hour's work if ``path`` cannot be written."""
    if _is_stream(path):
        if not os.access(path, os.W_OK):
            raise _unwritable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        return
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise FileError(f"Cannot write {path}: it is a directory. Name a file.")
        with _beside(target):
            pass
    except FileError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def write_bundle(
    path: str | os.PathLike[str], kind: str, arrays: Mapping[str, NDArray[Any]], facts: Any
) -> None:
    """Write arrays and JSON facts to one file."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "sha256": _digest(contiguous, facts),
        "facts": facts,
    }
    content = to_safetensors(contiguous, metadata={"diffjoint": _json(header)})
    write_whole(path, lambda file: file.write(content), at_once=kind == "checkpoint")


def read_bundle(path: str | os.PathLike[str], kind: str) -> tuple[Arrays, Any]:
    """Read what :func:`write_bundle` wrote, or say why not."""
    if not Path(path).is_file():
        raise FileError(f"Cannot read {path}: there is no such file. Check the path.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _checked_header(path, kind, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{path} is not a whole diffjoint {kind} file: it is cut off, damaged or something "
            f"else ({error}). Save it again."
        ) from error
    if header["sha256"] != _digest(arrays, header["facts"]):
        raise ModelFileError(
            f"{path} was altered after it was saved: its content does not match its digest. "
            "Save it again."
        )
    return arrays, header["facts"]


def _checked_header(
    path: str | os.PathLike[str], kind: str, metadata: dict[str, str]
) -> dict[str, Any]:
    if "diffjoint" not in metadata:
        raise ModelFileError(
            f"{path} is a safetensors file, but not one of diffjoint's. Pass a file that "
            "SelectiveImputer.save wrote."
        )
    header: dict[str, Any] = json.loads(metadata["diffjoint"])
    if not isinstance(header, dict):
        raise TypeError("its header is not one of diffjoint's")
    if header["format_version"] != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {header['format_version']}; this diffjoint reads version "
            f"{FORMAT_VERSION}. Use the diffjoint release that wrote it, or fit and save again."
        )
    if header["kind"] != kind:
        raise ModelFileError(
            f"{path} must be a {kind} file; it is a {header['kind']} file. Pass the other one."
        )
    missing = {"sha256", "facts"} - set(header)
    if missing:
        raise KeyError(", ".join(sorted(missing)))
    return header


def _digest(arrays: Mapping[str, NDArray[Any]], facts: Any) -> str:
    digest = hashlib.sha256(_json(facts).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _json(facts: Any) -> str:
    return json.dumps(facts, default=_plain)


def _plain(value: Any) -> Any:
    """Return a numpy scalar as a Python one; raise for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(
        f"Only text, numbers and truth values can be saved; got {value!r} "
        f"({type(value).__name__}), in a parameter or as a column's label. Rename it, or leave it "
        "out."
    )


def _unwritable(path: str | os.PathLike[str], error: OSError) -> FileError:
    reason = error.strerror or str(error)
    return FileError(
        f"Cannot write {path}: {reason}. Choose a path in a folder that exists and that you may "
        "write to."
    )
