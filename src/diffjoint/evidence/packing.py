"""Evidence as named arrays, and back."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint.evidence.column import ColumnEvidence
from diffjoint.evidence.detector import Evidence
from diffjoint.evidence.losses import LossModel, Scores
from diffjoint.evidence.trees import Trees

Arrays = dict[str, NDArray[Any]]


def pack(evidence: Evidence) -> Arrays:
    """Plain arrays that :func:`unpack` makes the evidence from."""
    columns = [*evidence.columns.values(), *evidence.in_turn.values()]
    arrays: Arrays = {
        "n_levels": evidence.n_levels,
        "n_folds": np.array([evidence.n_folds]),
        "drivers": np.array(evidence.drivers, dtype=np.int64),
        "searched": np.array(list(evidence.columns), dtype=np.int64),
        "centre": evidence.scores.centre,
        "spread": evidence.scores.spread,
        "typical": evidence.typical,
        "doubts": np.frombuffer("\n".join(evidence.doubts).encode(), dtype=np.uint8),
    }
    arrays |= _end_to_end("level_scores", evidence.scores.level_scores)
    for name in ("excess", "mm_rate"):
        arrays |= _end_to_end(
            name, [knots for column in columns for knots in getattr(column, name)]
        )
    for name in ("drivers", "weights"):
        arrays |= _end_to_end(f"loss.{name}", [getattr(column.loss, name) for column in columns])
    arrays["loss.bias"] = np.array([column.loss.bias for column in columns])
    trees = [grown for column in columns for grown in column.trees]
    arrays["trees.baseline"] = np.array([grown.baseline for grown in trees])
    for name in _TREE_PARTS:
        arrays |= _end_to_end(f"trees.{name}", [getattr(grown, name) for grown in trees])
    return arrays


def unpack(arrays: Arrays) -> Evidence:
    """The evidence that :func:`pack` made arrays of."""
    n_folds = int(arrays["n_folds"][0])
    parts = {name: _apart(arrays, f"trees.{name}") for name in _TREE_PARTS}
    baselines = arrays["trees.baseline"]
    trees = [
        Trees(float(baseline), **{name: parts[name][i] for name in _TREE_PARTS})
        for i, baseline in enumerate(baselines)
    ]
    drivers, weights = _apart(arrays, "loss.drivers"), _apart(arrays, "loss.weights")
    biases = arrays["loss.bias"].tolist()
    losses = [LossModel(*loss) for loss in zip(drivers, weights, biases, strict=True)]
    excess, mm_rate = _apart(arrays, "excess"), _apart(arrays, "mm_rate")
    columns = []
    for i, loss in enumerate(losses):
        own = slice(i * n_folds, (i + 1) * n_folds)
        columns.append(
            ColumnEvidence(tuple(trees[own]), loss, tuple(excess[own]), tuple(mm_rate[own]))
        )
    searched = arrays["searched"].tolist()
    return Evidence(
        n_levels=arrays["n_levels"],
        n_folds=n_folds,
        scores=Scores(tuple(_apart(arrays, "level_scores")), arrays["centre"], arrays["spread"]),
        drivers=tuple(arrays["drivers"].tolist()),
        columns=dict(zip(searched, columns[: len(searched)], strict=True)),
        in_turn=dict(zip(searched, columns[len(searched) :], strict=True)),
        typical=arrays["typical"],
        doubts=tuple(arrays["doubts"].tobytes().decode().splitlines()),
    )


_TREE_PARTS = tuple(field.name for field in fields(Trees) if field.name != "baseline")


def _end_to_end(name: str, parts: Sequence[NDArray[Any]]) -> Arrays:
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    joined = np.concatenate(parts) if len(parts) else np.empty(0)
    return {name: joined, f"{name}.lengths": lengths}


def _apart(arrays: Arrays, name: str) -> list[NDArray[Any]]:
    return np.split(arrays[name], arrays[f"{name}.lengths"].cumsum()[:-1])
