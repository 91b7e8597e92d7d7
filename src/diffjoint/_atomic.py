"""Files written whole or not at all, and saved models without pickle.

A saved model is one safetensors file: arrays, and JSON facts in its header. It carries a
format version and a digest, so that a cut-off, altered or newer file is told from a good one.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from diffjoint.errors import FileError, InputError, ModelFileError

FORMAT_VERSION = 1

DENOISER = "denoiser."
"""What the names of a denoiser's weights begin with."""

Arrays = dict[str, NDArray[Any]]


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside ``path`` and put it there in one step when it is complete.

    An interruption leaves what was at ``path`` before as it was.
    """
    with writing_whole(path) as file:
        write(file)


@contextmanager
def writing_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` to write to, and put it there at the end, as above."""
    target = Path(path).resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        beside.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now rather than after an hour's work if ``path`` cannot be written."""
    try:
        target = Path(path).resolve()
        if target.is_dir():
            raise FileError(f"Cannot write {path}: it is a directory. Name a file.")
        probe = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        probe.touch(exist_ok=False)
        probe.unlink()
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
    write_whole(path, lambda file: file.write(content))


def read_bundle(path: str | os.PathLike[str], kind: str) -> tuple[Arrays, Any]:
    """Read what :func:`write_bundle` wrote, or say why not."""
    if not Path(path).is_file():
        raise FileError(f"Cannot read {path}: there is no such file. Check the path.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _checked_header(path, kind, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError, KeyError, UnicodeDecodeError) as error:
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
    """A numpy scalar as a Python one; anything else cannot be saved."""
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
