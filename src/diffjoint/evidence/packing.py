"""Evidence as named arrays, and back."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from diffjoint.evidence.column import ColumnEvidence
from diffjoint.evidence.detector import Evidence, LearntColumn
from diffjoint.evidence.losses import LossModel, Scores
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.trees import Arrays, Trees, join_arrays, pack_trees, split_arrays, unpack_trees


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
        "doubts": np.frombuffer(json.dumps(evidence.doubts).encode(), dtype=np.uint8),
        "leans_on_values": np.array([evidence.leans_on_values]),
        "is_by_values": np.array([isinstance(c, ValuesEvidence) for c in columns], dtype=bool),
        "n_trees": np.array([len(column.trees) for column in columns], dtype=np.int64),
        "n_second": np.array([len(_second(column)) for column in columns], dtype=np.int64),
        "correction": np.array([(c.slope, c.shift, c.nearest) for c in columns]).reshape(-1, 3),
    }
    arrays |= join_arrays("level_scores", evidence.scores.level_scores)
    arrays |= _pack_by_gaps([c for c in columns if isinstance(c, ColumnEvidence)])
    arrays |= _pack_by_values([c for c in columns if isinstance(c, ValuesEvidence)])
    trees = [grown for column in columns for grown in (*column.trees, *_second(column))]
    return arrays | pack_trees(trees)


def unpack(arrays: Arrays) -> Evidence:
    """The evidence that :func:`pack` made arrays of."""
    columns = list(_columns(arrays))
    searched = arrays["searched"].tolist()
    return Evidence(
        n_levels=arrays["n_levels"],
        n_folds=int(arrays["n_folds"][0]),
        scores=Scores(
            tuple(split_arrays(arrays, "level_scores")), arrays["centre"], arrays["spread"]
        ),
        drivers=tuple(arrays["drivers"].tolist()),
        columns=dict(zip(searched, columns[: len(searched)], strict=True)),
        in_turn=dict(zip(searched, columns[len(searched) :], strict=False)),
        implied=arrays["implied"],
        typical=arrays["typical"],
        seen=arrays["seen"],
        doubts=tuple(json.loads(arrays["doubts"].tobytes().decode())),
        leans_on_values=bool(arrays["leans_on_values"][0]),
    )


def _columns(arrays: Arrays) -> Iterator[LearntColumn]:
    """Columns in the order in which they were packed."""
    trees, by_gaps, by_values = iter(unpack_trees(arrays)), _by_gaps(arrays), _by_values(arrays)
    names = ("is_by_values", "n_trees", "n_second", "correction")
    for is_by_values, n_trees, n_second, correction in zip(*map(arrays.get, names), strict=True):
        own, second = tuple(islice(trees, int(n_trees))), tuple(islice(trees, int(n_second)))
        slope, shift, nearest = correction.tolist()
        parts = {"trees": own, "slope": slope, "shift": shift, "nearest": nearest}
        if is_by_values:
            yield replace(next(by_values), **parts, second=second)
        else:
            yield replace(next(by_gaps), **parts)


def _second(column: LearntColumn) -> tuple[Trees, ...]:
    return column.second if isinstance(column, ValuesEvidence) else ()


def _pack_by_gaps(columns: Sequence[ColumnEvidence]) -> Arrays:
    arrays: Arrays = {"loss.bias": np.array([column.loss.bias for column in columns])}
    arrays["n_curves"] = np.array([len(column.excess) for column in columns], dtype=np.int64)
    for name in ("excess", "mm_rate"):
        arrays |= join_arrays(
            name, [knots for column in columns for knots in getattr(column, name)]
        )
    for name in ("drivers", "weights"):
        arrays |= join_arrays(f"loss.{name}", [getattr(column.loss, name) for column in columns])
    return arrays


def _by_gaps(arrays: Arrays) -> Iterator[ColumnEvidence]:
    drivers, weights = split_arrays(arrays, "loss.drivers"), split_arrays(arrays, "loss.weights")
    excess, mm_rate = iter(split_arrays(arrays, "excess")), iter(split_arrays(arrays, "mm_rate"))
    parts = zip(drivers, weights, arrays["loss.bias"].tolist(), arrays["n_curves"], strict=True)
    for driver, weight, bias, n_curves in parts:
        curves = tuple(islice(excess, int(n_curves))), tuple(islice(mm_rate, int(n_curves)))
        yield ColumnEvidence((), LossModel(driver, weight, bias), *curves)


def _pack_by_values(columns: Sequence[ValuesEvidence]) -> Arrays:
    arrays: Arrays = {
        "view.loss": np.array(
            [(c.loss_logit, c.lift_bias, c.second_shift) for c in columns]
        ).reshape(-1, 3)
    }
    for name in ("score", "missing_logit", "lift"):
        arrays |= join_arrays(f"view.{name}", [getattr(column, name) for column in columns])
    return arrays


def _by_values(arrays: Arrays) -> Iterator[ValuesEvidence]:
    names = ("score", "missing_logit", "lift")
    parts = zip(
        *(split_arrays(arrays, f"view.{name}") for name in names), arrays["view.loss"], strict=True
    )
    for score, missing_logit, lift, losses in parts:
        loss_logit, lift_bias, second_shift = losses.tolist()
        learnt = ValuesEvidence((), score, missing_logit, loss_logit, lift, lift_bias)
        yield replace(learnt, second_shift=second_shift)
