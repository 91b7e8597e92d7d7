"""Explain why a missing cell is called meaningful or lost, in numbers and in words."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import exp, log
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.detectors import Belief
from diffjoint.errors import InputError, option
from diffjoint.parameters.checks import check
from diffjoint.parameters.choices import Band
from diffjoint.state import JointSpace, Observation
from diffjoint.state.rules import FALSE, TRUE, UNDECIDED
from diffjoint.table import UNTICKED, Schema, Table, cells_of, open_table

REVIEW_BAND: Band = (0.2, 0.8)
"""Default range of P(meaningful) in which a cell is doubtful and should be reviewed."""
MOST_NAMED = 3
"""Largest number of pushes to name for each side."""
WEAKEST_NAMED = log(1.1)
"""Smallest log-odds that are worth naming."""
LONGEST_VALUE = 30
NO_REASON = (
    "Called by how much drawn values disagree. This is a score of the paper's detector, no "
    "probability."
)
"""Stands for a reason where the detector cannot explain its calls."""
LARGEST_ODDS = 1_000
FAILS, HOLDS, OPEN = "fails", "holds", "open"
"""What a rule that is evidence says of a row."""
SAID = {FALSE: FAILS, TRUE: HOLDS, UNDECIDED: OPEN}


@dataclass(frozen=True)
class Push:
    """Contribution of one other cell of the row to the call on a missing cell.

    Attributes
    ----------
    column : label
        Column of the other cell.
    value : object
        Value of the other cell; None if it is missing too.
    log_odds : float
        Amount that the cell adds to the log-odds of being missing, less what it adds to those of
        being lost. Positive values speak for meaningful.
    is_known : bool
        False if the cell holds a level that ``fit`` did not see, which is treated as missing.
    """

    column: Hashable
    value: Any
    log_odds: float
    is_known: bool = True

    @property
    def cell(self) -> str:
        """The other cell in words."""
        if self.value is None:
            return f"{self.column} missing"
        note = "" if self.is_known else ", not seen in fit"
        return f"{self.column} = {_shown(self.value)}{note}"

    def __str__(self) -> str:
        """Return the cell and the factor by which it multiplies the odds."""
        return f"{self.cell} (odds x {_factor(self.log_odds)})"


@dataclass(frozen=True)
class Explanation:
    """Explanation of the call on one missing cell; ``print`` shows it in words.

    Attributes
    ----------
    row : int
        Position of the row.
    column : label
    missing_rate, loss_rate, mm_rate : float
        Probabilities for a cell of such a row: of being missing (q), of being lost if it has a
        value (rho), and of being meaningful (phi); q = rho + (1 - rho) phi.
    probability : float
        P(meaningful | missing) = phi / q.
    meaningful : bool
        The call: True if the cell is kept as NA.
    base : float
        Log-odds of being missing less those of being lost, on average over all rows.
    pushes : tuple of Push
        Contributions of the other cells of the row, the strongest first.
    rule : str or None
        Rule that decides the call through a gate that was missing and has been filled, or, if
        ``is_settled``, by itself.
    by_values : float or None
        P(meaningful | missing) given the values of the row alone. Given only for tables whose
        cells get lost together, where other losses in the row count as evidence of a loss and
        q = rho + (1 - rho) phi holds only approximately.
    is_settled : bool
        Whether a rule that was found in the table decides, all its gates being there. The rates
        are then what would be said without it.
    rule_says : str or None
        "fails", "holds" or "open" (a cell that it asks is missing, too) where a rule that the table
        follows is the evidence, and not kept to in any case; ``rule`` is that rule, then.
    """

    row: int
    column: Hashable
    missing_rate: float
    loss_rate: float
    mm_rate: float
    probability: float
    meaningful: bool
    base: float
    pushes: tuple[Push, ...]
    rule: str | None = None
    by_values: float | None = None
    is_settled: bool = False
    rule_says: str | None = None

    @property
    def call(self) -> str:
        """The call in a word: meaningful or lost."""
        return "meaningful" if self.meaningful else "lost"

    @property
    def towards_meaningful(self) -> str:
        """The strongest pushes towards meaningful."""
        return self._towards(1)

    @property
    def towards_lost(self) -> str:
        """The strongest pushes towards lost."""
        return self._towards(-1)

    def _towards(self, sign: int) -> str:
        named = [(f"{self.column} on average", self.base)]
        strong = [push for push in self.pushes if sign * push.log_odds >= WEAKEST_NAMED]
        named += [(push.cell, push.log_odds) for push in strong[:MOST_NAMED]]
        odds = [f"{words} (x {_factor(x)})" for words, x in named if sign * x >= WEAKEST_NAMED]
        return ", ".join(odds).replace("(x", "(odds x", 1)

    @property
    def reason(self) -> str:
        """The rates and the strongest pushes in one line; of settled cells, the rule."""
        if self.is_settled:
            return f"the rule {self.rule!r} {'fails' if self.meaningful else 'holds'} in this row."
        rates = (
            f"missing in {percent(self.missing_rate)} of rows like this one; losses alone would "
            f"explain {percent(self.loss_rate)}."
        )
        if self.rule_says in (FAILS, HOLDS):
            views = self._both_views() if self.rule_says == HOLDS else ""
            return f"{rates} {self._by_rule()}{views}"
        sides = {
            "Towards meaningful": self.towards_meaningful,
            "Towards lost": self.towards_lost,
        }
        named = " ".join(f"{side}: {pushes}." for side, pushes in sides.items() if pushes)
        rule = f" The rule {self.rule!r} decides, with its missing gate filled in."
        decided = rule if self.rule and self.rule_says is None else ""
        named = named or "Nothing in the row speaks for either."
        if self.rule_says == OPEN:
            return f"{rates} {self._by_rule()} {named}"
        return f"{rates}{self._both_views()} {named}{decided}"

    def _by_rule(self) -> str:
        """Say what the rule that the table follows says of this row."""
        follows = f"The rule {self.rule!r}, which the table follows,"
        if self.rule_says == FAILS:
            return f"{follows} fails in this row: there is nothing to record."
        if self.rule_says == HOLDS:
            return f"{follows} holds in this row: there was something to record."
        return f"{follows} cannot be told in this row, since a cell that it asks is missing, too."

    def _both_views(self) -> str:
        """Say what values and other missing cells suggest, if cells get lost together."""
        if self.by_values is None:
            return ""
        lost_too = [
            str(push.column)
            for push in self.pushes
            if push.value is None and push.log_odds <= -WEAKEST_NAMED
        ]
        others = " No other missing cell of the row speaks for a loss."
        if lost_too:
            named = " and ".join(lost_too[:MOST_NAMED])
            others = f" Also missing: {named}, which speaks for a common loss."
        return f" By the row's values alone: {percent(self.by_values)} meaningful.{others}"

    def __str__(self) -> str:
        """Return the explanation in sentences."""
        rates, _, pushes = self.reason.partition(". ")
        outcome = "kept as NA" if self.meaningful else "called lost"
        if self.is_settled:
            return f"{self.column} in row {self.row} is {outcome}: {self.reason}"
        return (
            f"{self.column} in row {self.row} is {rates}. So it is meaningful with probability "
            f"{self.probability:.2f}: {outcome}. {pushes}"
        )


@dataclass(frozen=True)
class CellExplainer:
    """Explains the calls on a table's missing cells.

    Attributes
    ----------
    table : Table
    observation : Observation
    schema : Schema
    belief : Belief
        Fitted detector.
    called : bool array of shape (n_rows, n_modelled)
        Calls in the completed table.
    gate_rules : mapping
        For columns with a rule: the cells that a filled gate decides, and the rule's text.
    found_rules : mapping
        For columns with a rule that was found: the cells that it decides by itself, and its text.
    rules : mapping
        The text of each column's rule that is evidence.
    """

    table: Table
    observation: Observation
    schema: Schema
    belief: Belief
    called: Mask
    gate_rules: Mapping[int, tuple[Mask, str]]
    found_rules: Mapping[int, tuple[Mask, str]] = field(default_factory=dict)
    rules: Mapping[int, str] = field(default_factory=dict)

    @property
    def explained(self) -> Mask:
        """The cells that can be explained."""
        cells = self.observation.candidates.copy()
        for column, (settled, _) in self.found_rules.items():
            cells[:, column] |= settled
        return cells

    def explain(self, cells: Sequence[tuple[int, int]]) -> list[Explanation]:
        """Explain missing cells, given as (row, modelled column), in the order given."""
        found: dict[tuple[int, int], Explanation] = {}
        for column in sorted({j for _, j in cells}):
            rows = np.array([i for i, j in cells if j == column], dtype=np.intp)
            made = self._explain_column(rows, column)
            for row, explanation in zip(rows.tolist(), made, strict=True):
                found[row, column] = explanation
        return [found[cell] for cell in cells]

    def _explain_column(self, rows: NDArray[np.intp], column: int) -> Iterator[Explanation]:
        reasons = self.belief.explain_cells(self.observation, rows, column)
        rates, likely = reasons.judged, reasons.judged.probability
        shown = [self._cells(k, rows) for k in self.schema.modelled_positions]
        labels = [self.table.labels[k] for k in self.schema.modelled_positions]
        known = self.observation.observed[rows]
        nowhere = np.zeros(self.table.n_rows, dtype=bool)
        by_gate, rule = self.gate_rules.get(column, (nowhere, ""))
        by_itself, found_rule = self.found_rules.get(column, (nowhere, ""))
        by_strength = np.argsort(-np.abs(reasons.pushes), axis=1, kind="stable")
        for n, row in enumerate(rows.tolist()):
            pushes = (
                Push(labels[k], shown[k][n], float(reasons.pushes[n, k]), bool(known[n, k]))
                for k in by_strength[n]
                if reasons.pushes[n, k] != 0.0
            )
            is_settled, meaningful = bool(by_itself[row]), bool(self.called[row, column])
            decided = rule if by_gate[row] else None
            says = None if reasons.by_rule is None else SAID.get(int(reasons.by_rule[n]))
            if says is not None and decided is None:
                decided = self.rules[column]
            yield Explanation(
                row,
                labels[column],
                float(rates.missing_rate[n]),
                float(rates.loss_rate[n]),
                float(rates.mm_rate[n]),
                float(meaningful) if is_settled else float(likely[n]),
                meaningful,
                float(reasons.base[n]),
                tuple(pushes),
                found_rule if is_settled else decided,
                None if reasons.by_values is None else float(reasons.by_values[n]),
                is_settled,
                None if is_settled or by_gate[row] else says,
            )

    def _cells(self, position: int, rows: NDArray[np.intp]) -> list[Any]:
        """Return a column's cells in some rows, None where missing; checkboxes as words."""
        cells = cells_of(self.table.column(position), rows)
        if not self.schema.columns[position].is_checkbox:
            return cells
        return [UNTICKED if cell is None else cell for cell in cells]


def candidate_cells(cells: Mask) -> list[tuple[int, int]]:
    """Return the positions of the True cells, row by row."""
    return [(int(i), int(j)) for i, j in np.argwhere(cells)]


def explanations_table(table: Table, explanations: Sequence[Explanation]) -> Any:
    """Return a table with one row per explanation, in the table's container."""
    return cells_table(
        table,
        [e.row for e in explanations],
        {
            "column": [e.column for e in explanations],
            "missing_rate": [e.missing_rate for e in explanations],
            "loss_rate": [e.loss_rate for e in explanations],
            "mm_rate": [e.mm_rate for e in explanations],
            "probability": [e.probability for e in explanations],
            "call": [e.call for e in explanations],
            "towards_meaningful": [e.towards_meaningful for e in explanations],
            "towards_lost": [e.towards_lost for e in explanations],
        },
    )


def review_table(table: Table, result: Any, schema: Schema, explainer: CellExplainer | None) -> Any:
    """Return a table with one row per cell to review, the most doubtful first.

    Parameters
    ----------
    result : Imputation
        Result of ``impute`` on the table.
    explainer : CellExplainer or None
        Explains the calls. None if the detector cannot: the probability is then a score.
    """
    shown = (result.review, result.meaningful, result.probability)
    review, meaningful, likely = (_array(open_table(part)) for part in shown)
    cells = np.argwhere(review)
    cells = cells[np.argsort(np.abs(likely[*cells.T] - 0.5), kind="stable")]
    modelled = schema.modelled_positions.tolist()
    rows, places = cells.T.tolist()
    calls = meaningful[rows, places].astype(bool)
    reasons = [NO_REASON] * len(cells)
    if explainer is not None:
        asked = [(i, modelled.index(k)) for i, k in zip(rows, places, strict=True)]
        reasons = [explanation.reason for explanation in explainer.explain(asked)]
    return cells_table(
        table,
        rows,
        {
            "column": [table.labels[k] for k in places],
            "probability": likely[rows, places].tolist(),
            "call": ["meaningful" if call else "lost" for call in calls],
            "imputed": _imputed(open_table(result.table), rows, places, calls),
            "reason": reasons,
            "decision": [""] * len(cells),
        },
    )


def _array(table: Table) -> NDArray[Any]:
    return np.column_stack([table.column(k).to_numpy() for k in range(table.n_columns)])


def _imputed(
    completed: Table, rows: Sequence[int], places: Sequence[int], kept: Mask
) -> list[str | None]:
    """Return the imputed values of cells called lost as text; None for cells kept as NA."""
    cells = [
        cells_of(completed.column(k), np.array([i]))[0] for i, k in zip(rows, places, strict=True)
    ]
    return [
        None if is_kept else plain_text(cell) for cell, is_kept in zip(cells, kept, strict=True)
    ]


def cells_table(table: Table, rows: Sequence[int], columns: Mapping[str, Sequence[Any]]) -> Any:
    """Build a table about some cells in the container of ``table``; pandas for an array.

    The first column is ``row``, the position of the cell's row. A pandas table also gets a column
    ``index``, the label of that row.
    """
    numbers = {"missing_rate", "loss_rate", "mm_rate", "probability"}
    whole: dict[str, Any] = {"row": np.array(rows, dtype=np.int64)}
    if table.is_array or table.frame.implementation.is_pandas_like():
        if not table.is_array:
            whole["index"] = nw.to_native(table.frame).index[list(rows)]
        for name, cells in columns.items():
            whole[name] = pd.Series(list(cells), dtype=float if name in numbers else object)
        return pd.DataFrame(whole)
    schema = {"row": nw.Int64(), **{name: _dtype(name in numbers) for name in columns}}
    made = nw.from_dict({**whole, **columns}, schema, backend=table.frame.implementation)
    return made.to_native()


def _dtype(is_number: bool) -> nw.dtypes.DType:
    return nw.Float64() if is_number else nw.String()


def find_cell(
    cell: Any, table: Table, space: JointSpace, observation: Observation, explained: Mask
) -> tuple[int, int]:
    """Turn (row, column label) into (row, modelled column); raise if it cannot be explained.

    Parameters
    ----------
    explained : bool array of shape (n_rows, n_modelled)
        Cells that can be.
    """
    if not isinstance(cell, tuple) or len(cell) != 2 or not isinstance(cell[0], Integral):
        raise InputError(
            f"cell must be a row's position and a column's label, such as (0, "
            f"{table.labels[0]!r}); got {cell!r}.",
            parameter="cell",
        )
    row, label = int(cell[0]), cell[1]
    position = table.require(label, "cell")
    if not 0 <= row < table.n_rows:
        raise InputError(
            f"cell names row {row}; X has rows 0 to {table.n_rows - 1}, counted from its first, "
            "whatever their labels.",
            parameter="cell",
        )
    modelled = space.schema.modelled_positions.tolist()
    column = modelled.index(position) if position in modelled else None
    if column is not None and explained[row, column]:
        return row, column
    value = cells_of(table.column(position), np.array([row]))[0]
    if value is not None:
        raise InputError(
            f"cell names row {row} of {label!r}, which is observed ({_shown(value)}): only missing "
            "cells are explained.",
            parameter="cell",
        )
    if space.schema.columns[position].is_checkbox:
        raise InputError(
            f"cell names row {row} of {label!r}, which is a checkbox: a missing cell is taken for "
            f"{UNTICKED}, so that there is nothing to explain.",
            parameter="cell",
        )
    if column in space.mm:
        kind = "meaningful" if observation.known_meaningful[row, column] else "lost"
        raise InputError(
            f"cell names row {row} of {label!r}, which is known to be {kind}, by a rule, a reason "
            "code or a label: there is nothing to explain.",
            parameter="cell",
        )
    raise InputError(
        f"cell names {label!r}, which is not among {option('mm_columns')}: its missing cells are "
        f"all taken for lost. Fit with it in {option('mm_columns')} if they may be meaningful.",
        parameter="cell",
    )


def check_band(band: Any) -> Band | None:
    """Return the review band as two floats, or None; raise if it is not a band."""
    check("review_band", band)
    return None if band is None else (float(band[0]), float(band[1]))


def in_band(band: Band | None, probability: Values, candidates: Mask) -> Mask:
    """Return the candidates whose probability lies in the band."""
    if band is None:
        return np.zeros_like(candidates)
    return candidates & (probability >= band[0]) & (probability <= band[1])


def plain_text(value: Any) -> str:
    """Write a value as text."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.5g}"
    return str(value)


def _shown(value: Any) -> str:
    """Write a value for a sentence: text in quotes, shortened if it is long."""
    text = repr(value) if isinstance(value, str) else plain_text(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 4]}...{text[-1]}"


def _factor(log_odds: float) -> str:
    if abs(log_odds) > log(LARGEST_ODDS):
        return f"over {LARGEST_ODDS}" if log_odds > 0 else f"under 1/{LARGEST_ODDS}"
    odds = exp(abs(log_odds))
    size = f"{odds:.0f}" if odds >= 9.95 else f"{odds:.1f}"
    return size if log_odds > 0 else f"1/{size}"


def percent(rate: float) -> str:
    """Write a rate in percent, without rounding to 0% or 100% what is not."""
    if 0 < rate < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= rate < 1 else f"{rate:.0%}"
