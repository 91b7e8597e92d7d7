"""Check a model file before anything is made of it: files may come from anyone."""

import math
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np

from diffjoint.detectors import load_detector
from diffjoint.draws.packing import check_draws
from diffjoint.errors import ModelFileError
from diffjoint.fitting.found import rules_from
from diffjoint.fitting.model import BELIEF, EXPECTATION, RELATIONS, TREE_DRAWS, arrays_of
from diffjoint.fitting.params import label_from, params_from
from diffjoint.relations import check_relations
from diffjoint.settings import Settings
from diffjoint.state import JointSpace
from diffjoint.storage.bundles import DENOISER, Arrays
from diffjoint.table import Column, Kind, Schema
from diffjoint.table.ranks import SCORES
from diffjoint.trees import stored
from diffjoint.values.boosted import check_expectation

MOST = {
    "n_boosters": 1_000,
    "n_iterations": 10_000,
    "n_draws": 100_000,
    "n_steps": 100_000,
    "n_inpaint_repeats": 10_000,
    "width": 1 << 16,
}
"""Settings from a file at most: more would take longer than anyone waits, or more than there is."""
NAMED = {
    "params": dict,
    "schema": list,
    "mm": list,
    "mm_columns": list,
    "mm_evidence": list,
    "kept_unjudged": list,
    "found_rules": list,
    "settings": dict,
    "seed": int,
    "detector": str,
    "history": list,
    "identity": str,
    "n_features": int,
    "feature_names": list,
}
"""What a model file says beside its arrays, and as what."""


def check_stored(path: Any, arrays: Arrays, facts: Any) -> None:
    """Raise ModelFileError unless a file's arrays and facts make a model that can be asked.

    Parameters
    ----------
    path : path
        For the error.
    """
    try:
        _check_facts(facts)
        schema, settings = Schema.from_json(facts["schema"]), Settings(**facts["settings"])
        _check_schema(schema, facts)
        rules_from(facts["found_rules"], len(schema.modelled))
        _check_settings(settings)
        _check_arrays(arrays, facts["detector"], schema, settings, facts["mm"])
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise laid_out_otherwise(path, error) from error


def laid_out_otherwise(path: Any, error: Exception) -> ModelFileError:
    """Return the error for a file whose parts are not those of a model."""
    return ModelFileError(
        f"{path} is laid out in another way than this diffjoint reads ({error}). Use the diffjoint "
        "release that wrote it, or fit and save again."
    )


def _check_facts(facts: Any) -> None:
    if not isinstance(facts, dict):
        raise TypeError("it says nothing of its model")
    for name, kind in NAMED.items():
        if name not in facts:
            raise KeyError(name)
        if not isinstance(facts[name], kind) or isinstance(facts[name], bool):
            raise TypeError(f"its {name} is {type(facts[name]).__name__}")
    if not 0 <= facts["seed"] < 2**63:
        raise ValueError("its seed is out of range")
    for name in ("kept_unjudged", "feature_names"):
        if not all(isinstance(text, str) for text in facts[name]):
            raise TypeError(f"its {name} are no texts")
    for label in facts["mm_columns"]:
        hash(label_from(label))
    for found in facts["mm_evidence"]:
        hash(label_from(found["column"]))
        if not isinstance(found["reason"], str):
            raise TypeError("its mm_evidence has no reasons")
    if not all(isinstance(record, dict) for record in facts["history"]):
        raise TypeError("its history is not one of passes")
    params_from(facts["params"])


def _check_schema(schema: Schema, facts: Mapping[str, Any]) -> None:
    names = [column.name for column in schema.columns]
    if len(set(names)) != len(names) or facts["n_features"] != len(names):
        raise ValueError("its columns are named twice, or are more or fewer than it says")
    if facts["feature_names"] and len(facts["feature_names"]) != len(names):
        raise ValueError("its columns have more or fewer names")
    for column in schema.columns:
        _check_column(column)
    n, mm = len(schema.modelled), facts["mm"]
    if not n or not all(type(j) is int and 0 <= j < n for j in mm) or sorted(set(mm)) != mm:
        raise ValueError("it searches columns that it does not model")


def _check_column(column: Column) -> None:
    if not isinstance(column.name, str):
        raise TypeError("its columns have names that are no text")
    numbers = [column.mean, column.scale, column.low, column.high, column.step]
    limits = [limit for limit in (column.lowest, column.highest) if limit is not None]
    for number in (*numbers, *limits, *column.quantiles):
        if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
            raise ValueError(f"column {column.name!r} has numbers that are none")
    if column.scale < 0 or column.step < 0 or column.low > column.high:
        raise ValueError(f"column {column.name!r} has a spread or a range below nothing")
    if len(limits) == 2 and limits[0] > limits[1]:
        raise ValueError(f"column {column.name!r} has its limits the wrong way round")
    if column.is_categorical:
        _check_levels(column)
    elif column.is_modelled:
        falls = any(a > b for a, b in zip(column.quantiles, column.quantiles[1:], strict=False))
        if len(column.quantiles) != len(SCORES) or falls or column.levels:
            raise ValueError(f"column {column.name!r} has quantiles that do not rise")


def _check_levels(column: Column) -> None:
    levels = column.levels
    plain = all(isinstance(level, str | bool | int | float) for level in levels)
    if not levels or not plain or len(set(levels)) != len(levels):
        raise ValueError(f"column {column.name!r} has no levels, or some twice")
    if any(isinstance(level, float) and not math.isfinite(level) for level in levels):
        raise ValueError(f"column {column.name!r} has levels that are no numbers")
    if any(type(level) is int and abs(level) >= 2**63 for level in levels):
        raise ValueError(f"column {column.name!r} has levels that are too large")
    if column.kind is Kind.CHECKBOX and len(levels) != 1:
        raise ValueError(f"checkbox {column.name!r} holds more than one value")


def _check_settings(settings: Settings) -> None:
    for name, most in MOST.items():
        if getattr(settings, name) > most:
            raise ValueError(f"its {name} is more than {most:,}")
    if not math.isfinite(settings.log_sigma_mean):
        raise ValueError("its log_sigma_mean is no number")


def _check_arrays(
    arrays: Arrays, detector: str, schema: Schema, settings: Settings, mm: list[int]
) -> None:
    named = (BELIEF, EXPECTATION, TREE_DRAWS, RELATIONS)
    parts = {prefix: arrays_of(arrays, prefix) for prefix in named}
    parts[DENOISER] = {name: a for name, a in arrays.items() if name.startswith(DENOISER)}
    others = set(arrays) - {"shares" if parts[EXPECTATION] else "clusters"}
    if len(others) != sum(map(len, parts.values())):
        raise ValueError("it has arrays that belong to nothing")
    load_detector(detector).check(parts[BELIEF], schema.n_levels, mm)
    if parts[EXPECTATION]:
        check_expectation(parts[EXPECTATION], schema.n_levels)
        check_relations(parts[RELATIONS], schema.n_levels)
    else:
        _check_clusters(arrays, len(mm), is_settled=bool(parts[BELIEF]))
        if not parts[DENOISER]:
            raise ValueError("it has nothing to fill cells by")
    if parts[TREE_DRAWS]:
        if not parts[EXPECTATION]:
            raise ValueError("its draws have nothing to start from")
        check_draws(parts[TREE_DRAWS], JointSpace.of(schema, mm, settings))
    if "shares" in arrays:
        stored(arrays, "shares", "f", (len(schema.modelled),), low=0.0, high=1.0)
    if parts[DENOISER]:
        _check_denoiser(parts[DENOISER], schema, settings, len(mm))


def _check_clusters(arrays: Arrays, n_mm: int, *, is_settled: bool) -> None:
    """Check the clusters of a model of passes; a belief settles calls without any."""
    n_clusters = 0 if is_settled and not len(arrays["clusters"]) else n_mm
    if np.isinf(stored(arrays, "clusters", "f", (n_clusters, 2), is_finite=False)).any():
        raise ValueError("its clusters are not finite")


def _check_denoiser(arrays: Arrays, schema: Schema, settings: Settings, n_mm: int) -> None:
    n_coordinates = sum(column.width for column in schema.modelled) + n_mm
    shapes = dict(_weights(n_coordinates, settings))
    if set(arrays) != set(shapes):
        raise ValueError("its denoiser has other layers")
    for name, shape in shapes.items():
        if stored(arrays, name, "f", shape).dtype != np.float32:
            raise ValueError(f"its array {name} is not of float32")
    if settings.standardised and (arrays[f"{DENOISER}scale"] <= 0).any():
        raise ValueError("its denoiser scales coordinates to nothing")


def _weights(n_coordinates: int, settings: Settings) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of a denoiser's weights, see :mod:`diffjoint.diffusion.edm.denoiser`."""
    width, n_inputs = settings.width, n_coordinates * (2 if settings.is_amortised else 1)
    layers = {
        "project": (n_inputs, width),
        "embed_noise.mlp.0": (2 * (width // 2), width),
        "embed_noise.mlp.2": (width, width),
        "hidden.0": (width, 2 * width),
        "hidden.2": (2 * width, 2 * width),
        "hidden.4": (2 * width, width),
        "read_out": (width, n_coordinates),
    }
    for name, (n_in, n_out) in layers.items():
        yield f"{DENOISER}network.{name}.weight", (n_out, n_in)
        yield f"{DENOISER}network.{name}.bias", (n_out,)
    if settings.standardised:
        yield f"{DENOISER}shift", (n_coordinates,)
        yield f"{DENOISER}scale", (n_coordinates,)
