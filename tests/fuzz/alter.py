"""Alter the arrays and the facts of a saved model, as somebody would who means harm."""

import copy
from typing import Any

import numpy as np

SIZES = [-1, 0, 1, 2, 7, 2**31 - 1, 2**40, -(2**40), 2**62]
ODD = [None, True, "x", [], {}, -1, 0, 200_000, 2**70, 1e308, float("nan"), float("inf"), [[1]]]


def alter(arrays: dict[str, Any], facts: dict[str, Any], rng: Any) -> None:
    """Alter one array, or one fact.

    Parameters
    ----------
    rng : random.Random or Choices
    """
    if arrays and rng.random() < 0.7:
        alter_array(arrays, rng)
    elif facts:
        alter_facts(facts, rng)


def alter_array(arrays: dict[str, Any], rng: Any) -> None:
    name = rng.choice(sorted(arrays))
    array = arrays[name].copy()
    how = rng.choice(
        ["cell", "cell", "cell", "bits", "dtype", "shape", "cut", "gone", "other", "huge"]
    )
    if how in ("cell", "bits") and array.size:
        flat = array.reshape(-1)
        place = rng.randrange(flat.size)
        if how == "bits":
            raw = flat.view(np.uint8)
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            if flat.dtype == bool:
                flat[:] = raw > 0
        elif flat.dtype.kind == "f":
            flat[place] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e300, 0.5])
        elif flat.dtype.kind in "iu":
            info = np.iinfo(flat.dtype)
            flat[place] = min(max(rng.choice(SIZES), info.min), info.max)
        else:
            flat[place] = not flat[place]
    elif how == "dtype":
        array = array.astype(rng.choice(["float16", "int8", "uint64", "bool", "float64"]))
    elif how == "shape":
        array = array.reshape(rng.choice([(-1, 1), (1, -1), (-1,)]))
    elif how == "cut":
        array = array[: len(array) // 2] if array.ndim else array
    elif how == "gone":
        del arrays[name]
        return
    elif how == "other":
        arrays[rng.choice([f"{name}.x", "x", "denoiser.x"])] = array
    elif how == "huge" and array.ndim:
        array = np.concatenate([array] * 3)
    arrays[name] = array


def alter_facts(facts: dict[str, Any], rng: Any) -> None:
    """Put something odd in some place of what the file says."""
    inside, key = facts, rng.choice(sorted(facts))
    while isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
        inside = inside[key]
        key = rng.choice(sorted(inside) if isinstance(inside, dict) else range(len(inside)))
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = copy.deepcopy(rng.choice(ODD))
