"""Evidence as named arrays, and back."""

import numpy as np

from diffjoint.evidence.column import ColumnEvidence
from diffjoint.evidence.detector import Evidence
from diffjoint.evidence.losses import LossModel, Scores
from diffjoint.trees import Arrays, apart, end_to_end, pack_trees, unpack_trees


def pack(evidence: Evidence) -> Arrays:
    """Plain arrays that :func:`unpack` makes the evidence from."""
    columns = [*evidence.columns.values(), *evidence.in_turn.values()]
    arrays: Arrays = {
        "n_levels": evidence.n_levels,
        "n_folds": np.array([evidence.n_folds]),
        "drivers": np.array(evidence.drivers, dtype=np.int64),
        "searched": np.array(list(evidence.columns), dtype=np.int64),
        "implied": evidence.implied,
        "centre": evidence.scores.centre,
        "spread": evidence.scores.spread,
        "typical": evidence.typical,
        "seen": evidence.seen,
        "doubts": np.frombuffer("\n".join(evidence.doubts).encode(), dtype=np.uint8),
    }
    arrays |= end_to_end("level_scores", evidence.scores.level_scores)
    for name in ("excess", "mm_rate"):
        arrays |= end_to_end(name, [knots for column in columns for knots in getattr(column, name)])
    for name in ("drivers", "weights"):
        arrays |= end_to_end(f"loss.{name}", [getattr(column.loss, name) for column in columns])
    arrays["n_trees"] = np.array([len(column.trees) for column in columns], dtype=np.int64)
    arrays["correction"] = np.array([(column.slope, column.shift) for column in columns])
    arrays["loss.bias"] = np.array([column.loss.bias for column in columns])
    return arrays | pack_trees([grown for column in columns for grown in column.trees])


def unpack(arrays: Arrays) -> Evidence:
    """The evidence that :func:`pack` made arrays of."""
    trees = unpack_trees(arrays)
    drivers, weights = apart(arrays, "loss.drivers"), apart(arrays, "loss.weights")
    biases = arrays["loss.bias"].tolist()
    losses = [LossModel(*loss) for loss in zip(drivers, weights, biases, strict=True)]
    excess, mm_rate = apart(arrays, "excess"), apart(arrays, "mm_rate")
    columns, ends = [], np.cumsum(arrays["n_trees"]).tolist()
    for i, (loss, start, end) in enumerate(zip(losses, [0, *ends], ends, strict=False)):
        own = slice(start, end)
        slope, shift = arrays["correction"][i].tolist()
        knots = tuple(excess[own]), tuple(mm_rate[own])
        columns.append(ColumnEvidence(tuple(trees[own]), loss, *knots, slope, shift))
    searched = arrays["searched"].tolist()
    return Evidence(
        n_levels=arrays["n_levels"],
        n_folds=int(arrays["n_folds"][0]),
        scores=Scores(tuple(apart(arrays, "level_scores")), arrays["centre"], arrays["spread"]),
        drivers=tuple(arrays["drivers"].tolist()),
        columns=dict(zip(searched, columns[: len(searched)], strict=True)),
        in_turn=dict(zip(searched, columns[len(searched) :], strict=True)),
        implied=arrays["implied"],
        typical=arrays["typical"],
        seen=arrays["seen"],
        doubts=tuple(arrays["doubts"].tobytes().decode().splitlines()),
    )
