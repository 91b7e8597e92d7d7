"""What a self-check comes to, in sentences."""

from collections.abc import Sequence

import pandas as pd

from diffjoint.errors import option

ALL = "all"
"""Stands for all searched columns together."""
FEWEST_CELLS = 10
"""Cells of a column below which nothing is said of its values, or of its calls."""
OFF = 0.03
"""How far P(missing) may be off, beyond what chance explains, to be called calibrated."""
STEADY = 0.05
"""Share of the calls that may change for calls to be called steady."""
MOST_FALSE, MOST_WRONG = 0.25, 0.2
"""Share of a column's lost cells that are kept, and of its calls that are wrong by their own
probabilities, beyond which calls are not to be trusted."""
MOST_NAMED = 5
NEAR_FACTORS, FAR_FACTORS = (0.75, 1.25), (0.5, 1.5)
"""Loss rates to try. At half the rate, cells that seem lost by the rate alone become even odds."""
LOSS_RATE, SEED, THRESHOLD = "loss rate", "another seed", "threshold"
"""What the names of changes begin with."""
ADVICE = {
    LOSS_RATE: f"Find out how often cells get lost, and say so ({option('loss_rate')}).",
    SEED: "Look at the cells to review: their calls are near chance.",
    THRESHOLD: "Look at the cells to review, and choose the threshold with care.",
}


def alarm(wrong_calls: pd.DataFrame) -> str:
    """Which columns' calls are too often wrong to be trusted; empty if none are."""
    missing = wrong_calls[wrong_calls["n_missing"] > 0]
    is_false = (missing["n_shown"] >= FEWEST_CELLS) & (missing["false_calls"] > MOST_FALSE)
    is_wrong = (missing["n_missing"] >= FEWEST_CELLS) & (missing["expected_wrong"] > MOST_WRONG)
    named = missing.loc[is_false | is_wrong, "column"].tolist()
    if not named:
        return ""
    return (
        f"Do not trust the calls of {_named(named)}: too many would be wrong. Look at the cells to "
        f"review, set {option('loss_rate')} if you know how often cells get lost, or label some "
        "cells."
    )


def on_wrong_calls(wrong_calls: pd.DataFrame) -> str:
    """How many lost cells would be kept by mistake, and how many calls the probabilities doubt."""
    missing = wrong_calls[wrong_calls["n_missing"] > 0]
    if not len(missing):
        return "No cell may be meaningful, so that no call can be wrong."
    return f"{_on_false_calls(missing)} {_on_expected(missing)}"


def _on_false_calls(missing: pd.DataFrame) -> str:
    told = missing[missing["n_shown"] >= FEWEST_CELLS]
    untold = missing.loc[missing["n_shown"] < FEWEST_CELLS, "column"].tolist()
    if not len(told):
        return "Of lost cells that would be kept as NA by mistake: too few observed cells to tell."
    share = float((told["false_calls"] * told["n_lost"]).sum() / told["n_lost"].sum())
    words = f"Of 100 lost cells {_about(share)} would be kept as NA by mistake"
    column, most = max(_pairs(told, "false_calls"), key=_second)
    if len(told) > 1 and most > 0:
        words += f" (worst: {_quoted(column)}, {_of_hundred(most)} of 100)"
    few = f" Too few observed cells to tell in {_named(untold)}." if untold else ""
    return f"{words}.{few}"


def _on_expected(missing: pd.DataFrame) -> str:
    n_missing = int(missing["n_missing"].sum())
    if n_missing < FEWEST_CELLS:
        return "Too few missing cells to tell how many calls are wrong by their own probabilities."
    share = float((missing["expected_wrong"] * missing["n_missing"]).sum() / n_missing)
    verb = "are" if round(100 * share) > 1 else "is"
    return (
        f"By their own probabilities, {_of_hundred(share)} of 100 calls on missing cells {verb} "
        "wrong."
    )


def on_values(values: pd.DataFrame) -> str:
    """Whether hidden cells came back better than by the mean or mode, and where not.

    Columns without a missing cell are left out: nothing was filled there.
    """
    filled = values[values["n_missing"] > 0]
    if not len(filled):
        return "No cell is missing, so that no value was filled in."
    told = filled[filled["n_cells"] >= FEWEST_CELLS]
    untold = filled.loc[filled["n_cells"] < FEWEST_CELLS, "column"].tolist()
    if not len(told):
        return (
            "Hidden cells, filled again: too few could be hidden to tell how well they come back."
        )
    worse = told.loc[~told["is_better"], "column"].tolist()
    n_better = len(told) - len(worse)
    which = "columns" if len(filled) == len(values) else "columns with missing cells"
    words = (
        f"Hidden cells, filled again: better than mean or mode in {n_better} of {len(told)} {which}"
    )
    if worse:
        whose = "its" if len(worse) == 1 else "their"
        words += f"; not in {_named(worse)}: do not trust {whose} values"
    few = f" Too few cells could be hidden to tell in {_named(untold)}." if untold else ""
    return f"{words}.{few}"


def on_missing(missing: pd.DataFrame) -> str:
    """Whether P(missing) holds."""
    errors = missing["calibration_error"]
    off = missing[errors - missing["by_chance"] > OFF]
    if len(off):
        listed = [
            f"{column} ({_points(error)})" for column, error in _pairs(off, "calibration_error")
        ]
        return (
            "P(missing), which calls rest on, is off by more than chance explains in "
            f"{_named(listed)}: take probabilities there for an order of the cells, not at their "
            "word."
        )
    return (
        f"P(missing), which calls rest on, is calibrated: off by {_points(errors.max())} at most."
    )


def on_calls(calls: pd.DataFrame) -> str:
    """Whether calls stay under other assumptions, and what moves them most."""
    together = all_together(calls).dropna()
    if not len(together):
        return "No cell may be meaningful, so that there is no call to change."
    changes = _pairs(together, "flipped", by="change")
    far_names = [f"{LOSS_RATE} x {factor:g}" for factor in FAR_FACTORS]
    change, most = max((pair for pair in changes if pair[0] not in far_names), key=_second)
    if most <= STEADY:
        tried = "another threshold (0.3 to 0.7)"
        if any(name == SEED for name, _ in changes):
            tried += ", another seed, or a loss rate a quarter lower or higher"
        words = f"Calls are steady: at most {_percent(most)} of them change with {tried}."
    else:
        advice = next(words for start, words in ADVICE.items() if change.startswith(start))
        where = _where(calls, change)
        words = f"Calls are not steady: {_percent(most)} change with {change}{where}. {advice}"
    far = [pair for pair in changes if pair[0] in far_names and pair[1] > STEADY]
    if not far:
        return words
    change, most = max(far, key=_second)
    return (
        f"{words} They rest on the loss rate: {_percent(most)} would change with {change}"
        f"{_where(calls, change)}. If you know how often cells get lost, say so "
        f"({option('loss_rate')})."
    )


def _where(calls: pd.DataFrame, change: str) -> str:
    """The column in which most calls change, if there are several."""
    by_column = calls[calls["change"] == change].iloc[1:].dropna()
    if len(by_column) < 2:
        return ""
    column, share = max(_pairs(by_column, "flipped"), key=_second)
    return f", most in {_quoted(column)} ({_percent(share)})"


def all_together(calls: pd.DataFrame) -> pd.DataFrame:
    """The first line of each change: that of all columns, whatever a column is called."""
    return calls.groupby("change", sort=False).head(1)


def _pairs(frame: pd.DataFrame, measure: str, by: str = "column") -> list[tuple[str, float]]:
    return list(zip(frame[by].tolist(), frame[measure].tolist(), strict=True))


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = [_quoted(name) for name in names[:MOST_NAMED]]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _quoted(name: str) -> str:
    """A name, in quotes if it has a comma and would look like two."""
    return f'"{name}"' if "," in name else name


def _points(error: float) -> str:
    return f"{100 * error:.1f} points"


def _about(share: float) -> str:
    """So many of a hundred, as an estimate."""
    return f"about {_of_hundred(share)}" if round(100 * share) else _of_hundred(share)


def _of_hundred(share: float) -> str:
    if not share:
        return "none"
    return str(round(100 * share) or "fewer than 1")


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"
