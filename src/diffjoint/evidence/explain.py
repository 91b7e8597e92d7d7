"""Which other cells of a row speak for a missing cell's being meaningful, and which against.

P(meaningful) rises with logit q - logit rho: how much likelier the cell is missing than lost. Each
other cell's push is its Shapley value in that sum: what it adds if the cells of the row are put in
one by one, in any order, where those not yet in hold what other rows hold there, each on its own.
Pushes add up to how far the row lies from the average one. They are exact: trees are sums of
leaves, and a leaf asks of each cell on its path one thing, which the row's own cell meets or not,
and another row's with a known probability.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Values
from diffjoint.evidence.detector import Evidence, LearntColumn
from diffjoint.evidence.folds import Judged, rows_by_fold
from diffjoint.evidence.values_view import ValuesEvidence
from diffjoint.state import row_keys
from diffjoint.state.rules import FALSE, NO_RULE, UNDECIDED, Answers, is_false
from diffjoint.trees import Trees

Rows = NDArray[np.intp]

BLOCK = 2_000_000
"""Cells of the largest array at work."""
_Condition = tuple[float, float, bool]
"""What a leaf asks of a feature: to be above, to be up to; and whether it may be missing."""


@dataclass(frozen=True)
class CellReasons:
    """Why some cells of one column are called as they are.

    Attributes
    ----------
    judged : Judged
        Q, rho and phi of the cells.
    base : array of shape (n_cells,)
        Logit q - logit rho on average over rows: what there is before this one is looked at.
    pushes : array of shape (n_cells, n_columns)
        What each other cell of the row adds to that; 0 for the cell itself.
    by_values : array of shape (n_cells,) or None
        P(meaningful) by what the rows hold, where other losses of a row then speak for a loss.
    by_rule : int array of shape (n_cells,) or None
        What the column's rule answers where that decides, or where it cannot be told and pushes
        are towards its failing; ``NO_RULE`` elsewhere. None if the column has no rule.
    """

    judged: Judged
    base: Values
    pushes: Values
    by_values: Values | None = None
    by_rule: Answers | None = None


def explain_cells(
    evidence: Evidence,
    values: Values,
    rows: Rows,
    column: int,
    folds: NDArray[np.int64] | None = None,
    answers: Answers | None = None,
) -> CellReasons:
    """Explain the cells of one searched column in some rows by rates and pushes.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        The whole table: repeats of a row are told apart by where they stand in it.
    rows : array of shape (n_cells,)
    column : int
    folds : int array of shape (n_rows,), optional
        As :meth:`Evidence.judging_folds` gives them, if they are at hand.
    answers : int array of shape (n_rows, n_columns), optional
        What rules say of the table's cells.
    """
    learnt = evidence.columns[column]
    folds = evidence.judging_folds(row_keys(values, seed=0)) if folds is None else folds
    folds = folds[rows]
    context = evidence.context(values[rows], folds)
    asked = values[rows]
    pushes = _pushes_in_folds(learnt.trees, asked, folds, evidence.typical)
    excess = learnt.excess_of(asked, folds, context)
    said = None if answers is None else answers[rows, column]
    judged = learnt.judge(asked, folds, context, said)
    by_rule = _said_by_rule(learnt, said, judged.probability)
    if not isinstance(learnt, ValuesEvidence):
        pushes -= learnt.loss_pushes(context, evidence.scores.of(evidence.typical))
        return CellReasons(judged, excess - pushes.sum(axis=1), pushes, None, by_rule)
    pushes -= learnt.loss_pushes(context)
    if learnt.second:
        pushes += _pushes_in_folds(learnt.second, asked, folds, evidence.typical)
        pushes /= 2
    if learnt.rule is not None and learnt.rule.undecided and said is not None:
        waits = said == UNDECIDED
        (trees,) = learnt.rule.undecided
        pushes[waits] = tree_pushes(trees, asked[waits], evidence.typical)
        excess[waits] = trees.logit(asked[waits]) + learnt.rule.shift
    by_values = learnt.by_values(asked, folds) if evidence.leans_on_values else None
    return CellReasons(judged, excess - pushes.sum(axis=1), pushes, by_values, by_rule)


def _said_by_rule(learnt: LearntColumn, said: Answers | None, likely: Values) -> Answers | None:
    """Return what the rule says where it is the evidence; NO_RULE elsewhere.

    Beside other evidence of its own weight it is, where the cell is called as it says.
    """
    if learnt.rule is None or said is None:
        return None
    counts = learnt.rule.settles(said, learnt.loss_logit)
    if isinstance(learnt, ValuesEvidence):
        counts |= said == UNDECIDED
    else:
        counts &= is_false(said) == (likely > 0.5)
    plain = np.where(is_false(said), FALSE, said)
    return np.where(counts, plain, NO_RULE).astype(np.int8)


def _pushes_in_folds(
    trees: tuple[Trees, ...], rows: Values, folds: NDArray[np.int64], typical: Values
) -> Values:
    """Return Shapley values by the trees of each row's fold; the mean of all for a new row."""
    pushes = np.zeros(rows.shape)
    for fold, inside, weight in rows_by_fold(folds, len(trees)):
        pushes[inside] += weight[:, None] * tree_pushes(trees[fold], rows[inside], typical)
    return pushes


def tree_pushes(trees: Trees, rows: Values, typical: Values) -> Values:
    """Return the Shapley values of a sum of trees, shape (n_rows, n_columns).

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    typical : array of shape (n_typical, n_columns)
        What other rows hold in each column, equally likely, independently of the others.
    """
    numbers = trees.numbers(rows[:, trees.inputs])
    usual = trees.numbers(typical[:, trees.inputs])
    pushes = np.zeros(rows.shape)
    for boxes in _boxes_by_size(trees):
        shares = boxes.shares(usual)
        size = max(1, BLOCK // shares[0, 0].size // len(shares))
        order = np.argsort(boxes.feature, axis=None, kind="stable")
        found, starts = np.unique(boxes.feature.ravel()[order], return_index=True)
        for start in range(0, len(numbers), size):
            block = slice(start, start + size)
            pattern = boxes.patterns(numbers[block])
            added = shares[np.arange(len(shares)), pattern].reshape(len(pattern), -1)
            pushes[block, trees.inputs[found]] += np.add.reduceat(added[:, order], starts, axis=1)
    return pushes


@dataclass(frozen=True)
class _Boxes:
    """Leaves that ask something of equally many features.

    Attributes
    ----------
    value : array of shape (n_leaves,)
    feature : array of shape (n_leaves, n_asked)
    above, up_to : arrays of the same shape
        What a number must be to reach the leaf.
    takes_missing : bool array of the same shape
        Whether a missing cell reaches it.
    """

    value: Values
    feature: NDArray[np.int64]
    above: Values
    up_to: Values
    takes_missing: NDArray[np.bool_]

    def met(self, numbers: Values) -> NDArray[np.bool_]:
        """Which cells meet what is asked of them, shape (n_rows, n_leaves, n_asked)."""
        x = numbers[:, self.feature]
        return np.where(np.isnan(x), self.takes_missing, (x > self.above) & (x <= self.up_to))

    def patterns(self, numbers: Values) -> NDArray[np.int64]:
        """Return the features that meet what is asked, as bits, shape (n_rows, n_leaves)."""
        bits: NDArray[np.int64] = self.met(numbers) @ (1 << np.arange(self.feature.shape[1]))
        return bits

    def shares(self, usual: Values) -> Values:
        """Return what each feature adds by pattern, shape (n_leaves, n_patterns, n_asked)."""
        n_leaves, n_asked = self.feature.shape
        n_rows = max(1, BLOCK // max(1, self.feature.size))
        blocks = (usual[start : start + n_rows] for start in range(0, len(usual), n_rows))
        chance = sum(self.met(block).sum(axis=0) for block in blocks) / len(usual)
        is_set = _is_set(n_asked)
        likely = np.where(is_set, chance[:, None, :], 1 - chance[:, None, :]).prod(axis=2)
        games = shapley_of_a_leaf(n_asked).reshape(len(is_set), -1)
        shares: Values = (likely @ games).reshape(n_leaves, len(is_set), n_asked)
        return self.value[:, None, None] * shares


@cache
def shapley_of_a_leaf(n_asked: int) -> Values:
    """Shapley values of a leaf worth 1, shape (patterns of others, patterns of the row, n_asked).

    The leaf is reached if features that only the row meets are the row's, and those that only
    the others meet are the others'. One that neither meets: it is never reached. One that both
    meet: it does not matter.
    """
    is_set = _is_set(n_asked)
    row, other = is_set[None, :, :], is_set[:, None, :]
    needed, harmful = row & ~other, other & ~row
    n_needed, n_harmful = needed.sum(axis=2), harmful.sum(axis=2)
    f = np.array([factorial(k) for k in range(n_asked + 1)], dtype=float)
    all_orders = f[n_needed + n_harmful]
    gain = f[np.maximum(n_needed - 1, 0)] * f[n_harmful] / all_orders
    harm = f[n_needed] * f[np.maximum(n_harmful - 1, 0)] / all_orders
    reached = np.asarray((row | other).all(axis=2))[:, :, None]
    values: Values = reached * (needed * gain[:, :, None] - harmful * harm[:, :, None])
    return values


def _is_set(n_bits: int) -> NDArray[np.bool_]:
    """Bits of every pattern, shape (2 ** n_bits, n_bits)."""
    bits: NDArray[np.bool_] = (np.arange(2**n_bits)[:, None] >> np.arange(n_bits)) & 1 == 1
    return bits


def _boxes_by_size(trees: Trees) -> Iterator[_Boxes]:
    """Go through all trees' leaves, those that ask of equally many features together."""
    by_size: dict[int, list[tuple[float, dict[int, _Condition]]]] = {}
    for value, asked in _leaves(trees):
        by_size.setdefault(len(asked), []).append((value, asked))
    by_size.pop(0, None)
    for leaves in by_size.values():
        limits = np.array([list(asked.values()) for _, asked in leaves])
        yield _Boxes(
            value=np.array([value for value, _ in leaves]),
            feature=np.array([list(asked) for _, asked in leaves]),
            above=limits[:, :, 0],
            up_to=limits[:, :, 1],
            takes_missing=limits[:, :, 2] == 1.0,
        )


def _leaves(trees: Trees) -> Iterator[tuple[float, dict[int, _Condition]]]:
    """Return the value of every leaf, and what it asks of which features."""
    parts = (trees.feature, trees.left, trees.right, trees.threshold, trees.missing_left)
    feature, left, right, threshold, missing_left = (part.tolist() for part in parts)
    ahead: list[tuple[int, dict[int, _Condition]]] = [(int(root), {}) for root in trees.roots]
    while ahead:
        node, asked = ahead.pop()
        if left[node] == node:
            yield float(trees.value[node]), asked
            continue
        above, up_to, takes_missing = asked.get(feature[node], (-np.inf, np.inf, True))
        limit, goes_left = threshold[node], missing_left[node]
        lower = (above, min(up_to, limit), takes_missing and goes_left)
        upper = (max(above, limit), up_to, takes_missing and not goes_left)
        ahead.append((left[node], {**asked, feature[node]: lower}))
        ahead.append((right[node], {**asked, feature[node]: upper}))
