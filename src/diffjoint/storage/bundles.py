"""Saved models and checkpoints, without pickle.

A saved model is one safetensors file: arrays, and JSON facts in its header. It carries a
format version and a digest, so that a cut-off, altered or newer file is told from a good one.
Whoever alters a file can renew its digest, but not its signature, which takes a key.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from diffjoint.errors import FileError, InputError, ModelFileError
from diffjoint.storage.atomic import write_whole

FORMAT_VERSION = 1

DENOISER = "denoiser."
"""What the names of a denoiser's weights begin with."""

SHORTEST_KEY = 16
"""Characters of a key to sign with, at least."""

Arrays = dict[str, NDArray[Any]]
Key = str | bytes


def write_bundle(
    path: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    facts: Any,
    key: Key | None = None,
) -> None:
    """Write arrays and JSON facts to one file, signed if there is a key."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "sha256": _digest(contiguous, facts),
        "facts": facts,
    }
    if key is not None:
        header["signature"] = _signature(key, header)
    content = to_safetensors(contiguous, metadata={"diffjoint": _json(header)})
    write_whole(path, lambda file: file.write(content), at_once=kind == "checkpoint")


def read_bundle(
    path: str | os.PathLike[str], kind: str, key: Key | None = None
) -> tuple[Arrays, Any]:
    """Read what :func:`write_bundle` wrote, or say why not.

    Parameters
    ----------
    key : str or bytes, optional
        Only a file that was signed with it is read; its signature is checked before its content.
    """
    if not Path(path).is_file():
        raise FileError(f"Cannot read {path}: there is no such file. Check the path.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _checked_header(path, kind, file.metadata() or {})
            if key is not None:
                _check_signature(path, header, key)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{path} is not a whole diffjoint {kind} file: it is cut off, damaged or something "
            f"else ({error}). Save it again."
        ) from error
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error}. Check the file and try again.") from error
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


def check_key(key: Any) -> Key:
    """Raise unless a key to sign with is long enough not to be guessed."""
    if not isinstance(key, str | bytes) or len(_as_bytes(key)) < SHORTEST_KEY:
        given = f"{len(key)} characters" if isinstance(key, str | bytes) else type(key).__name__
        raise InputError(
            f"A key must be text or bytes of at least {SHORTEST_KEY} characters; got {given}. Make "
            "one with python -c 'import secrets; print(secrets.token_hex())', and keep it secret.",
            parameter="key",
        )
    return key


def _check_signature(path: str | os.PathLike[str], header: dict[str, Any], key: Key) -> None:
    signature = header.get("signature")
    if signature is None:
        raise ModelFileError(
            f"{path} must be signed, as a key is given; it is not. Save it with the key, or load "
            "it without one if you know where it comes from."
        )
    if not hmac.compare_digest(str(signature).encode(), _signature(key, header).encode()):
        raise ModelFileError(
            f"{path} must be signed with the key that is given; it was signed with another one, or "
            "altered. Take the right key, or a file from whoever has it."
        )


def _signature(key: Key, header: Mapping[str, Any]) -> str:
    """Sign what a file is and the digest of its content."""
    signed = "\n".join(str(header[name]) for name in ("kind", "format_version", "sha256"))
    return hmac.new(_as_bytes(check_key(key)), signed.encode(), hashlib.sha256).hexdigest()


def _as_bytes(key: Key) -> bytes:
    return key.encode() if isinstance(key, str) else key


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
