"""What a self-check found, as the page shows it: lines of numbers, ready to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from diffjoint.results.verdict import FEWEST_CELLS, MOST_FALSE, MOST_WRONG

ACCURACY = "accuracy"


@dataclass(frozen=True)
class ValueLine:
    """Hidden cells of one column, filled again.

    Attributes
    ----------
    name : str
    n_cells : int
        Cells that were hidden.
    score, usual : str
        How near they came, and how near the mean or mode comes, in words.
    error_left : float or None
        What is left of the mean's or mode's error; 1: all of it. None: that had none.
    is_better : bool
        By more than chance explains.
    is_told : bool
        Whether enough cells were hidden to tell.
    is_filled : bool
        Whether a cell of the column was filled in at all.
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
    """P(missing) of one searched column against who is missing.

    Attributes
    ----------
    name : str
    said, found, error, by_chance : float
        Mean of P(missing), share of missing cells, and how far they are apart by tenths; what
        that would be by chance alone.
    points : tuple of (float, float, int)
        Said, found and cells, in each tenth.
    """

    name: str
    said: float
    found: float
    error: float
    by_chance: float
    points: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class WrongLine:
    """Calls of one searched column that would be wrong.

    Attributes
    ----------
    name : str
    n_missing, n_shown : int
        Missing cells that were called, and observed cells that were shown as if lost.
    false_calls, expected_wrong : float or None
        Share of the lost cells that would be kept, and of the calls that are wrong by their own
        probabilities; None: too few cells to tell.
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
class CallLine:
    """Calls under one other assumption.

    Attributes
    ----------
    change : str
    kept, flipped : float or None
        Share called meaningful, and called otherwise than now; None: there is no such cell.
    column : str
        Where most calls change; empty if none does.
    column_flipped : float
    """

    change: str
    kept: float | None
    flipped: float | None
    column: str = ""
    column_flipped: float = 0.0


@dataclass(frozen=True)
class CheckSummary:
    """What to trust, in words and numbers.

    Attributes
    ----------
    alarm : str
        Which calls are not to be trusted; empty: none.
    verdicts, notes : tuple of str
        The alarm is the first verdict, if there is one.
    wrong_calls : tuple of WrongLine
    values : tuple of ValueLine
        The worst first.
    missing : tuple of MissingLine
    calls : tuple of CallLine
    """

    alarm: str
    verdicts: tuple[str, ...]
    notes: tuple[str, ...]
    wrong_calls: tuple[WrongLine, ...]
    values: tuple[ValueLine, ...]
    missing: tuple[MissingLine, ...]
    calls: tuple[CallLine, ...]


def summarize_check(check: Mapping[str, Any], filled: set[str]) -> CheckSummary:
    """The lines of a self-check.

    Parameters
    ----------
    check : mapping
        A self-check as plain data.
    filled : set of str
        Columns in which cells were filled in.
    """
    values = [_value(record, record["column"] in filled) for record in check["values"]]
    return CheckSummary(
        check["alarm"],
        tuple(check["verdicts"]),
        tuple(check["notes"]),
        tuple(_wrong(record) for record in check["wrong_calls"]),
        tuple(sorted(values, key=_badness, reverse=True)),
        tuple(_missing(record, check["bins"]) for record in check["missing"]),
        tuple(_calls(check["calls"])),
    )


def _badness(line: ValueLine) -> float:
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
    """A line for each change: all columns together, and where most calls change."""
    lines = []
    for change in dict.fromkeys(record["change"] for record in records):
        # The first of a change stands for all columns; one of them may have the same name.
        together, *by_column = [record for record in records if record["change"] == change]
        moved = [(_number(one["flipped"]) or 0.0, one["column"]) for one in by_column]
        most, column = max(moved, key=lambda pair: pair[0], default=(0.0, ""))
        kept, flipped = _number(together["kept"]), _number(together["flipped"])
        where = (column, most) if most > 0 and len(by_column) > 1 else ("", 0.0)
        lines.append(CallLine(change, kept, flipped, *where))
    return lines


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
