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
LOSS_RATE, SEED, THRESHOLD = "loss rate", "another seed", "threshold"
"""What the names of changes begin with."""
ADVICE = {
    LOSS_RATE: "Find out how often cells get lost, and say so (loss_rate).",
    SEED: "Look at the cells to review: their calls are near chance.",
    THRESHOLD: "Look at the cells to review, and choose the threshold with care.",
}


def on_values(values: pd.DataFrame) -> str:
    """Whether hidden cells came back better than by the mean or mode, and where not."""
    told = values[values["n_cells"] >= FEWEST_CELLS]
    untold = values.loc[values["n_cells"] < FEWEST_CELLS, "column"].tolist()
    if not len(told):
        return (
            "Hidden cells, filled again: too few could be hidden to tell how well they come back."
        )
    worse = told.loc[~told["is_better"], "column"].tolist()
    n_better = len(told) - len(worse)
    words = (
        f"Hidden cells, filled again: better than mean or mode in {n_better} of {len(told)} columns"
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
        listed = [f"{column} ({_points(e)})" for column, e in _pairs(off, "calibration_error")]
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
        f"the observed cells of {column}, had they been lost, the most of all columns."
    )


def on_calls(calls: pd.DataFrame) -> str:
    """Whether calls stay under other assumptions, and what moves them most."""
    together = all_together(calls).dropna()
    if not len(together):
        return "No cell may be meaningful, so that there is no call to change."
    change, most = max(_pairs(together, "flipped", by="change"), key=_second)
    if most <= STEADY:
        return (
            f"Calls are steady: at most {_percent(most)} of them change with another threshold "
            "(0.3 to 0.7), another seed, or a loss rate half or one and a half times as high."
        )
    by_column = calls[calls["change"] == change].iloc[1:].dropna()
    column, share = max(_pairs(by_column, "flipped"), key=_second)
    where = f": most in {column} ({_percent(share)})" if len(by_column) > 1 else ""
    advice = next(words for start, words in ADVICE.items() if change.startswith(start))
    return f"Calls are not steady: {_percent(most)} of them change with {change}{where}. {advice}"


def all_together(calls: pd.DataFrame) -> pd.DataFrame:
    """The first line of each change: that of all columns, whatever a column is called."""
    return calls.groupby("change", sort=False).head(1)


def _pairs(frame: pd.DataFrame, measure: str, by: str = "column") -> list[tuple[str, float]]:
    return list(zip(frame[by].tolist(), frame[measure].tolist(), strict=True))


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _points(error: float) -> str:
    return f"{100 * error:.1f} points"


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"
