"""What a self-check comes to, in sentences."""

from collections.abc import Sequence

import pandas as pd

ALL = "all"
"""Stands for all searched columns together."""
FEWEST_CELLS = 10
"""Hidden cells of a column below which nothing is said of its values."""
OFF = 0.03
"""How far P(missing) may be off, beyond what chance explains, to be called calibrated."""
STEADY = 0.05
"""Share of the calls that may change for calls to be called steady."""
MOST_NAMED = 5
NEAR_FACTORS, FAR_FACTORS = (0.75, 1.25), (0.5, 1.5)
"""Loss rates to try. At half the rate, cells that seem lost by the rate alone become even odds."""
LOSS_RATE, SEED, THRESHOLD = "loss rate", "another seed", "threshold"
"""What the names of changes begin with."""
ADVICE = {
    LOSS_RATE: "Find out how often cells get lost, and say so (loss_rate).",
    SEED: "Look at the cells to review: their calls are near chance.",
    THRESHOLD: "Look at the cells to review, and choose the threshold with care.",
}


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
    """Whether P(missing) holds, and which column's losses are hardest to see."""
    errors = missing["calibration_error"]
    off = missing[errors - missing["by_chance"] > OFF]
    if len(off):
        listed = [
            f"{column} ({_points(error)})" for column, error in _pairs(off, "calibration_error")
        ]
        words = (
            "P(missing), which calls rest on, is off by more than chance explains in "
            f"{_named(listed)}: take probabilities there for an order of the cells, not at their "
            "word."
        )
    else:
        words = (
            "P(missing), which calls rest on, is calibrated: off by "
            f"{_points(errors.max())} at most."
        )
    column, share = max(_pairs(missing.dropna(), "false_calls"), key=_second, default=("", 0.0))
    if not share:
        return words
    return (
        f"{words} Lost cells that look meaningful are kept as NA: so would be {_percent(share)} of "
        f"the observed cells of {_quoted(column)}, had they been lost, the most of all columns."
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
        f"{_where(calls, change)}. If you know how often cells get lost, say so (loss_rate)."
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


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"
