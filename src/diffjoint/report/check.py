"""Summarise a self-check for the page: lines of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from diffjoint.results.verdict import FEWEST_CELLS, MOST_FALSE, MOST_WRONG

ACCURACY = "accuracy"


@dataclass(frozen=True)
class ValueLine:
    """Hidden cells of one column, imputed again.

    Attributes
    ----------
    name : str
    n_cells : int
        Number of hidden cells.
    score, usual : str
        Score of the imputed values, and that of the mean or mode, in words.
    error_left : float or None
        Error as a share of that of the mean or mode; None if that is zero.
    is_better : bool
        Whether the imputed values are better than the mean or mode by more than chance explains.
    is_told : bool
        Whether enough cells were hidden to tell.
    is_filled : bool
        Whether any cell of the column was imputed.
    """

    name: str
    n_cells: int
    score: str
    usual: str
    error_left: float | None
    is_better: bool
    is_told: bool
    is_filled: bool


@dataclass(frozen=True)
class MissingLine:
    """Calibration of P(missing) of one searched column.

    Attributes
    ----------
    name : str
    said, found : float
        Mean predicted probability, and share of missing cells.
    error, by_chance : float
        Calibration error, and the error to expect by chance alone.
    points : tuple of (float, float, int)
        ``said``, ``found`` and the number of cells in each tenth.
    """

    name: str
    said: float
    found: float
    error: float
    by_chance: float
    points: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class WrongLine:
    """Estimated share of wrong calls of one searched column.

    Attributes
    ----------
    name : str
    n_missing, n_shown : int
        Missing cells that were called, and observed cells that were judged as if lost.
    false_calls, expected_wrong : float or None
        Share of lost cells that would be kept, and of calls that are wrong by their own
        probabilities; None if there are too few cells to tell.
    is_alarming : bool
        Whether either is too high for the calls to be trusted.
    """

    name: str
    n_missing: int
    n_shown: int
    false_calls: float | None
    expected_wrong: float | None
    is_alarming: bool


@dataclass(frozen=True)
class WrongShares:
    """Estimated share of wrong calls of all searched columns together.

    Attributes
    ----------
    words : str
        The shares in a sentence.
    lost_kept : float or None
        Share of lost cells that would be kept; None if there are too few cells to tell.
    expected_wrong : float or None
        Share of calls that are wrong by their own probabilities; None likewise.
    """

    words: str
    lost_kept: float | None
    expected_wrong: float | None


@dataclass(frozen=True)
class CallLine:
    """Calls under one other assumption.

    Attributes
    ----------
    change : str
    kept, flipped : float or None
        Share called meaningful, and share called differently than now; None without such cells.
    column : str
        Column in which most calls change; empty if none do.
    column_flipped : float
        Share of calls that change in this column.
    """

    change: str
    kept: float | None
    flipped: float | None
    column: str = ""
    column_flipped: float = 0.0


@dataclass(frozen=True)
class CheckSummary:
    """Self-check in words and numbers.

    Attributes
    ----------
    alarm : str
        Warning that names columns whose calls are not to be trusted; empty if there are none.
    headline : WrongShares or None
        How many calls would be wrong; None if no calls were checked.
    verdicts, notes : tuple of str
        The alarm is the first verdict, if there is one; then the headline, if there is one.
    wrong_calls : tuple of WrongLine
    values : tuple of ValueLine
        Ordered by error, the largest first.
    missing : tuple of MissingLine
    calls : tuple of CallLine
    """

    alarm: str
    headline: WrongShares | None
    verdicts: tuple[str, ...]
    notes: tuple[str, ...]
    wrong_calls: tuple[WrongLine, ...]
    values: tuple[ValueLine, ...]
    missing: tuple[MissingLine, ...]
    calls: tuple[CallLine, ...]

    @property
    def other_verdicts(self) -> tuple[str, ...]:
        """The verdicts without the alarm and the headline."""
        first = (self.alarm, self.headline.words if self.headline else "")
        return tuple(words for words in self.verdicts if words not in first)


def summarize_check(check: Mapping[str, Any], filled: set[str]) -> CheckSummary:
    """Summarise a self-check.

    Parameters
    ----------
    check : mapping
        Self-check as plain data.
    filled : set of str
        Columns in which cells were imputed.
    """
    values = [_value(record, record["column"] in filled) for record in check["values"]]
    sentences = [words for words in check["verdicts"] if words != check["alarm"]]
    wrong = check["wrong_calls"]
    return CheckSummary(
        check["alarm"],
        _headline(sentences[0], wrong) if wrong else None,
        tuple(check["verdicts"]),
        tuple(check["notes"]),
        tuple(_wrong(record) for record in check["wrong_calls"]),
        tuple(sorted(values, key=_error, reverse=True)),
        tuple(_missing(record, check["bins"]) for record in check["missing"]),
        tuple(_calls(check["calls"])),
    )


def _error(line: ValueLine) -> float:
    return -1.0 if line.error_left is None else line.error_left


def _value(record: Mapping[str, Any], is_filled: bool) -> ValueLine:
    score, usual = record["score"], record["mean_or_mode"]
    if record["measure"] == ACCURACY:
        words, errors = "{:.0%} right", (1 - score, 1 - usual)
    else:
        words, errors = "off by {:.2f} SD", (score, usual)
    return ValueLine(
        record["column"],
        record["n_cells"],
        "" if isnan(score) else words.format(score),
        "" if isnan(usual) else words.format(usual),
        errors[0] / errors[1] if record["n_cells"] and errors[1] > 0 else None,
        record["is_better"],
        record["n_cells"] >= FEWEST_CELLS,
        is_filled,
    )


def _wrong(record: Mapping[str, Any]) -> WrongLine:
    n_missing, n_shown = record["n_missing"], record["n_shown"]
    is_told = n_missing > 0 and n_shown >= FEWEST_CELLS
    false_calls = _number(record["false_calls"]) if is_told else None
    expected = _number(record["expected_wrong"]) if n_missing >= FEWEST_CELLS else None
    is_alarming = (false_calls or 0.0) > MOST_FALSE or (expected or 0.0) > MOST_WRONG
    return WrongLine(record["column"], n_missing, n_shown, false_calls, expected, is_alarming)


def _headline(words: str, records: Sequence[Mapping[str, Any]]) -> WrongShares:
    """Return the shares of all columns together, each column with the weight of its cells."""
    missing = [record for record in records if record["n_missing"] > 0]
    shown = [record for record in missing if record["n_shown"] >= FEWEST_CELLS]
    n_missing = sum(record["n_missing"] for record in missing)
    return WrongShares(
        words,
        _weighted_mean(shown, "false_calls", "n_lost"),
        _weighted_mean(missing, "expected_wrong", "n_missing")
        if n_missing >= FEWEST_CELLS
        else None,
    )


def _weighted_mean(records: Sequence[Mapping[str, Any]], measure: str, weight: str) -> float | None:
    weights = sum(record[weight] for record in records)
    if not weights:
        return None
    return float(sum(record[measure] * record[weight] for record in records) / weights)


def _missing(record: Mapping[str, Any], bins: Sequence[Mapping[str, Any]]) -> MissingLine:
    return MissingLine(
        record["column"],
        record["said"],
        record["found"],
        record["calibration_error"],
        record["by_chance"],
        tuple(
            (tenth["said"], tenth["found"], tenth["n_cells"])
            for tenth in bins
            if tenth["column"] == record["column"]
        ),
    )


def _calls(records: Sequence[Mapping[str, Any]]) -> list[CallLine]:
    """Return a line for each change: all columns together, and where most calls change."""
    lines = []
    for change in dict.fromkeys(record["change"] for record in records):
        # The first record of a change is for all columns; a column may be called "all" as well.
        together, *by_column = [record for record in records if record["change"] == change]
        moved = [(_number(one["flipped"]) or 0.0, one["column"]) for one in by_column]
        most, column = max(moved, key=lambda pair: pair[0], default=(0.0, ""))
        kept, flipped = _number(together["kept"]), _number(together["flipped"])
        where = (column, most) if most > 0 and len(by_column) > 1 else ("", 0.0)
        lines.append(CallLine(change, kept, flipped, *where))
    return lines


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
