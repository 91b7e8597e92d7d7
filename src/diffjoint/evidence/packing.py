"""Evidence as named arrays, and back."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Values
from diffjoint.evidence.by_rules import RuleEvidence
from diffjoint.evidence.column import ColumnEvidence
from diffjoint.evidence.detector import Evidence, LearntColumn
from diffjoint.evidence.losses import LossModel, Scores
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.state.rules import MOST_GROUNDS
from diffjoint.trees import (
    Arrays,
    Trees,
    check_trees,
    join_arrays,
    pack_trees,
    split_arrays,
    stored,
    stored_lengths,
    unpack_trees,
)

MOST_FOLDS, MOST_LEAVES, MOST_TYPICAL = 100, 8, 4_096
"""What evidence from a file may have at most; to explain a leaf takes memory by 4 ** leaves."""
LEAST_SPREAD = 1e-300
N_OF_RULE = 5 + MOST_GROUNDS
"""Numbers that are kept of a column's rule."""


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
        "n_by_rule": np.array([len(_by_rule(column)) for column in columns], dtype=np.int64),
        "has_rule": np.array([c.rule is not None for c in columns], dtype=bool),
        "rule": np.array([_numbers_of(c.rule) for c in columns]).reshape(-1, N_OF_RULE),
        "correction": np.array([(c.slope, c.shift, c.nearest) for c in columns]).reshape(-1, 3),
    }
    arrays |= join_arrays("level_scores", evidence.scores.level_scores)
    arrays |= _pack_by_missingness([c for c in columns if isinstance(c, ColumnEvidence)])
    arrays |= _pack_by_values([c for c in columns if isinstance(c, ValuesEvidence)])
    trees = [
        grown
        for column in columns
        for grown in (*column.trees, *_second(column), *_by_rule(column))
    ]
    return arrays | pack_trees(trees)


def unpack(arrays: Arrays) -> Evidence:
    """Return the evidence that :func:`pack` made arrays of."""
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


def check_packed(arrays: Arrays, n_levels: NDArray[np.int64], searched: Sequence[int]) -> None:
    """Raise ValueError unless arrays from a file are evidence on a table with such columns.

    Parameters
    ----------
    n_levels : array of shape (n_columns,)
        Levels of categorical columns; 0 for numbers.
    searched : sequence of int
        Columns that evidence may be on.
    """
    n = len(n_levels)
    if stored(arrays, "n_levels", "i", (n,)).tolist() != n_levels.tolist():
        raise ValueError("its evidence is on columns with other levels")
    stored(arrays, "n_folds", "i", (1,), low=1, high=MOST_FOLDS)
    stored(arrays, "drivers", "i", (None,), low=0, high=n - 1)
    own = stored(arrays, "searched", "i", (None,)).tolist()
    if len(set(own)) != len(own) or not set(own) <= set(searched):
        raise ValueError("its evidence is on columns that are not searched")
    for name, dims in (("implied", (n, n)), ("leans_on_values", (1,))):
        stored(arrays, name, "b", dims)
    for name, low in (("centre", -np.inf), ("spread", LEAST_SPREAD)):
        stored(arrays, name, "f", (n,), low=low)
    stored(arrays, "seen", "u", (None,))
    _check_typical(stored(arrays, "typical", "f", (None, n), is_finite=False), n_levels)
    lengths = stored_lengths(arrays, "level_scores", n)
    if ((lengths != 0) & (lengths != n_levels)).any() or (lengths[n_levels > 0] == 0).any():
        raise ValueError("its evidence has scores of other levels")
    stored(arrays, "level_scores", "f", (None,))
    doubts = json.loads(stored(arrays, "doubts", "u", (None,)).tobytes().decode())
    if not isinstance(doubts, list) or not all(isinstance(doubt, str) for doubt in doubts):
        raise ValueError("its doubts are no sentences")
    _check_columns(arrays, n_levels, len(own))


def _check_typical(typical: NDArray[np.float64], n_levels: NDArray[np.int64]) -> None:
    if not 0 < len(typical) <= MOST_TYPICAL or np.isinf(typical).any():
        raise ValueError("its evidence has no usual cells")
    codes = typical[:, n_levels > 0]
    is_code = (codes == np.floor(codes)) & (codes >= 0) & (codes < n_levels[n_levels > 0])
    if not (is_code | np.isnan(codes)).all():
        raise ValueError("its usual cells hold levels that there are not")


def _check_columns(arrays: Arrays, n_levels: NDArray[np.int64], n_searched: int) -> None:
    """Check what was learnt of each column, those learnt in turn after the others."""
    n = len(n_levels)
    by_values = stored(arrays, "is_by_values", "b", (None,))
    n_columns = len(by_values)
    if not n_searched <= n_columns <= 2 * n_searched:
        raise ValueError("its evidence is on another number of columns")
    n_trees = stored(arrays, "n_trees", "i", (n_columns,), low=1, high=MOST_FOLDS)
    n_second = stored(arrays, "n_second", "i", (n_columns,), low=0, high=MOST_FOLDS)
    n_by_rule = stored(arrays, "n_by_rule", "i", (n_columns,), low=0, high=1)
    if n_second[~by_values].any() or n_by_rule[~by_values].any():
        raise ValueError("its evidence has a second look at a column without a first")
    correction = stored(arrays, "correction", "f", (n_columns, 3))
    if ((correction[:, 2] < 0) | (correction[:, 2] > 0.5)).any():
        raise ValueError("its evidence is surer than sure")
    stored(arrays, "has_rule", "b", (n_columns,))
    rules = stored(arrays, "rule", "f", (n_columns, N_OF_RULE))
    if ((rules[:, 2:] < 0) | (rules[:, 2:] > 1)).any():
        raise ValueError("its evidence has rules with chances beyond 0 and 1")
    _check_missingness_part(arrays, n, n_trees[~by_values])
    _check_values_part(arrays, n, int(by_values.sum()))
    before = [*[0] * n_searched, *range(n_columns - n_searched)]
    in_all = n_trees + n_second + n_by_rule
    widths = [n + b for b, k in zip(before, in_all, strict=True) for _ in range(k)]
    check_trees(arrays, widths, n_levels, MOST_LEAVES)


def _check_missingness_part(arrays: Arrays, n: int, n_trees: NDArray[np.int64]) -> None:
    n_columns = len(n_trees)
    stored(arrays, "loss.bias", "f", (n_columns,))
    if (stored(arrays, "n_curves", "i", (n_columns,)) != n_trees).any():
        raise ValueError("its evidence has not a curve for each fold")
    n_curves = int(n_trees.sum())
    knots, rates = (stored_lengths(arrays, name, n_curves) for name in ("excess", "mm_rate"))
    drivers, weights = (
        stored_lengths(arrays, f"loss.{name}", n_columns) for name in ("drivers", "weights")
    )
    if (knots != rates).any() or not knots.all() or (drivers != weights).any():
        raise ValueError("its evidence has curves or weights of different lengths")
    stored(arrays, "excess", "f", (None,))
    stored(arrays, "mm_rate", "f", (None,), low=0.0, high=1.0)
    if len(arrays["loss.drivers"]):
        stored(arrays, "loss.drivers", "i", (None,), low=0, high=n - 1)
    stored(arrays, "loss.weights", "f", (None,))


def _check_values_part(arrays: Arrays, n: int, n_columns: int) -> None:
    stored(arrays, "view.loss", "f", (n_columns, 3))
    lengths = {}
    for name in ("score", "missing_logit", "lift"):
        lengths[name] = stored_lengths(arrays, f"view.{name}", n_columns)
        stored(arrays, f"view.{name}", "f", (None,))
    same = lengths["score"] == lengths["missing_logit"]
    if not (same & (lengths["score"] > 0) & (lengths["lift"] == n)).all():
        raise ValueError("its evidence has a view of values of another length")


def _columns(arrays: Arrays) -> Iterator[LearntColumn]:
    """Columns in the order in which they were packed."""
    trees, by_missingness, by_values = (
        iter(unpack_trees(arrays)),
        _by_missingness(arrays),
        _by_values(arrays),
    )
    counts = zip(
        *(arrays[name].tolist() for name in ("n_trees", "n_second", "n_by_rule")), strict=True
    )
    of_rules = (arrays["has_rule"], arrays["rule"])
    parts_of = zip(arrays["is_by_values"], counts, arrays["correction"], *of_rules, strict=True)
    for is_by_values, numbers, correction, has_rule, of_rule in parts_of:
        own, second, by_rule = (tuple(islice(trees, number)) for number in numbers)
        slope, shift, nearest = correction.tolist()
        parts: dict[str, Any] = {"trees": own, "slope": slope, "shift": shift, "nearest": nearest}
        parts["rule"] = _rule_from(of_rule, by_rule) if has_rule else None
        if is_by_values:
            yield replace(next(by_values), **parts, second=second)
        else:
            yield replace(next(by_missingness), **parts)


def _second(column: LearntColumn) -> tuple[Trees, ...]:
    return column.second if isinstance(column, ValuesEvidence) else ()


def _by_rule(column: LearntColumn) -> tuple[Trees, ...]:
    return () if column.rule is None else column.rule.undecided


def _pack_by_missingness(columns: Sequence[ColumnEvidence]) -> Arrays:
    arrays: Arrays = {"loss.bias": np.array([column.loss.bias for column in columns])}
    arrays["n_curves"] = np.array([len(column.excess) for column in columns], dtype=np.int64)
    for name in ("excess", "mm_rate"):
        arrays |= join_arrays(
            name, [knots for column in columns for knots in getattr(column, name)]
        )
    for name in ("drivers", "weights"):
        arrays |= join_arrays(f"loss.{name}", [getattr(column.loss, name) for column in columns])
    return arrays


def _by_missingness(arrays: Arrays) -> Iterator[ColumnEvidence]:
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
        ).reshape(-1, 3),
    }
    for name in ("score", "missing_logit", "lift"):
        arrays |= join_arrays(f"view.{name}", [getattr(column, name) for column in columns])
    return arrays


def _numbers_of(rule: RuleEvidence | None) -> list[float]:
    if rule is None:
        return [0.0] * N_OF_RULE
    return [rule.missing_logit, rule.shift, *rule.nearest.tolist(), *rule.fails.tolist()]


def _by_values(arrays: Arrays) -> Iterator[ValuesEvidence]:
    names = ("score", "missing_logit", "lift")
    arrays_of_each = (split_arrays(arrays, f"view.{name}") for name in names)
    parts = zip(*arrays_of_each, arrays["view.loss"], strict=True)
    for score, missing_logit, lift, losses in parts:
        loss_logit, lift_bias, second_shift = losses.tolist()
        learnt = ValuesEvidence((), score, missing_logit, loss_logit, lift, lift_bias)
        yield replace(learnt, second_shift=second_shift)


def _rule_from(numbers: Values, undecided: tuple[Trees, ...]) -> RuleEvidence:
    missing_logit, shift = numbers[:2].tolist()
    return RuleEvidence(numbers[5:], missing_logit, numbers[2:5], undecided, shift)
