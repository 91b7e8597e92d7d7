"""Saved models and checkpoints, without pickle.

A saved model is one safetensors file: arrays, and JSON facts in its header. It carries a
format version and a digest, so that a cut-off, altered or newer file is told from a good one.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from diffjoint._atomic import write_whole
from diffjoint.errors import FileError, InputError, ModelFileError

FORMAT_VERSION = 1

DENOISER = "denoiser."
"""What the names of a denoiser's weights begin with."""

Arrays = dict[str, NDArray[Any]]


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
