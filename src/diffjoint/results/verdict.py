"""Sum up a self-check in sentences."""

from collections.abc import Sequence

import pandas as pd

from diffjoint.errors import option

ALL = "all"
"""Name of the line for all searched columns together."""
FEWEST_CELLS = 10
"""Smallest number of cells of a column that allows a statement on its values or calls."""
FEWEST_HIDDEN_CELLS = 20
"""Smallest number of hidden cells of a column that allows a statement on its values."""
BETTER, NO_BETTER, NO_ERROR, NOT_SHOWN = "better", "no better", "no error", "not shown"
"""What hidden cells show of a column's values beside its mean or mode."""
OFF = 0.03
"""Largest calibration error, beyond chance, at which P(missing) counts as calibrated."""
STEADY = 0.05
"""Largest share of changed calls at which calls count as steady."""
MOST_FALSE, MOST_WRONG = 0.25, 0.2
"""Largest shares at which a column's calls are still trusted: of its lost cells that are kept, and
of its calls that are wrong by their own probabilities."""
MOST_NAMED = 5
"""Largest number of columns to name in a sentence."""
NEAR_FACTORS, FAR_FACTORS = (0.75, 1.25), (0.5, 1.5)
"""Factors for the loss rate. At half the rate, P(meaningful) of a lost cell is about one half."""
LOSS_RATE, SEED, THRESHOLD = "loss rate", "another seed", "threshold"
"""Beginnings of the names of changes."""
ADVICE = {
    LOSS_RATE: f"If you know how often cells get lost, set {option('loss_rate')}.",
    SEED: "Look at the cells to review: their calls are near chance.",
    THRESHOLD: "Look at the cells to review, and choose the threshold with care.",
}


def find_alarm(wrong_calls: pd.DataFrame) -> str:
    """Name the columns whose calls are wrong too often to be trusted; empty if there are none."""
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


def describe_wrong_calls(wrong_calls: pd.DataFrame) -> str:
    """Say how many lost cells would be kept by mistake, and how many calls are doubtful."""
    missing = wrong_calls[wrong_calls["n_missing"] > 0]
    if not len(missing):
        return "No missing cell can be meaningful, so no call can be wrong."
    return f"{_describe_false_calls(missing)} {_describe_expected(missing)}"


def _describe_false_calls(missing: pd.DataFrame) -> str:
    enough = missing[missing["n_shown"] >= FEWEST_CELLS]
    too_few = missing.loc[missing["n_shown"] < FEWEST_CELLS, "column"].tolist()
    if not len(enough):
        return "Too few observed cells to tell how many lost cells would be kept as NA by mistake."
    share = float((enough["false_calls"] * enough["n_lost"]).sum() / enough["n_lost"].sum())
    words = f"Of 100 lost cells {_about(share)} would be kept as NA by mistake"
    column, most = max(_pairs(enough, "false_calls"), key=_second)
    if len(enough) > 1 and most > 0:
        words += f" (worst: {_quoted(column)}, {_of_hundred(most)} of 100)"
    few = f" Too few observed cells to tell in {_named(too_few)}." if too_few else ""
    return f"{words}.{few}"


def _describe_expected(missing: pd.DataFrame) -> str:
    n_missing = int(missing["n_missing"].sum())
    if n_missing < FEWEST_CELLS:
        return "Too few missing cells to tell how many calls are wrong by their own probabilities."
    share = float((missing["expected_wrong"] * missing["n_missing"]).sum() / n_missing)
    verb = "are" if round(100 * share) > 1 else "is"
    return (
        f"By their own probabilities, {_of_hundred(share)} of 100 calls on missing cells {verb} "
        "wrong."
    )


def describe_values(values: pd.DataFrame) -> str:
    """Say where hidden cells were imputed better than by the mean or mode, and where not.

    Columns without a missing cell are left out: nothing was imputed there.
    """
    filled = values[values["n_missing"] > 0]
    if not len(filled):
        return "No cell is missing, so no value was filled in."
    is_enough = filled["n_cells"] >= FEWEST_HIDDEN_CELLS
    enough, too_few = filled[is_enough], filled.loc[~is_enough, "column"].tolist()
    if not len(enough):
        return "Too few observed cells could be hidden to tell how good the filled-in values are."
    worse, alike, unsure = (
        enough.loc[enough["verdict"] == verdict, "column"].tolist()
        for verdict in (NO_BETTER, NO_ERROR, NOT_SHOWN)
    )
    n_better = int((enough["verdict"] == BETTER).sum())
    which = "columns" if len(filled) == len(values) else "columns with missing cells"
    words = (
        "Observed cells that were hidden and filled in again came out better than the mean or mode "
        f"in {n_better} of {len(enough)} {which}"
    )
    if worse:
        whose = "its" if len(worse) == 1 else "their"
        words += f"; not in {_named(worse)}: do not trust {whose} values"
    words += "."
    if alike:
        words += f" Neither they nor the mean or mode were ever wrong in {_named(alike)}."
    if unsure:
        words += f" No difference was shown in {_named(unsure)}."
    if too_few:
        words += f" Too few cells could be hidden to tell in {_named(too_few)}."
    return words


def describe_calibration(missing: pd.DataFrame) -> str:
    """Say whether P(missing) is calibrated."""
    errors = missing["calibration_error"]
    off = missing[errors - missing["by_chance"] > OFF]
    if len(off):
        listed = [
            f"{column} ({_points(error)})" for column, error in _pairs(off, "calibration_error")
        ]
        return (
            "P(missing), on which calls are based, is off by more than chance explains in "
            f"{_named(listed)}: use probabilities there only to rank cells."
        )
    return (
        "P(missing), on which calls are based, is calibrated: off by at most "
        f"{_points(errors.max())}."
    )


def describe_stability(calls: pd.DataFrame) -> str:
    """Say whether calls change under other assumptions, and under which they change most."""
    together = all_columns(calls).dropna()
    if not len(together):
        return "No missing cell can be meaningful, so there is no call to change."
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
        f"{words} They depend on the loss rate: {_percent(most)} would change with {change}"
        f"{_where(calls, change)}. {ADVICE[LOSS_RATE]}"
    )


def _where(calls: pd.DataFrame, change: str) -> str:
    """Name the column in which most calls change, if there are several."""
    by_column = calls[calls["change"] == change].iloc[1:].dropna()
    if len(by_column) < 2:
        return ""
    column, share = max(_pairs(by_column, "flipped"), key=_second)
    return f", most in {_quoted(column)} ({_percent(share)})"


def all_columns(calls: pd.DataFrame) -> pd.DataFrame:
    """Return the line of each change that is about all columns together.

    It is the first of the change. Its name does not tell it apart: a column may be called "all".
    """
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
    """Put a name in quotes if it has a comma and would look like two."""
    return f'"{name}"' if "," in name else name


def _points(error: float) -> str:
    return f"{100 * error:.1f} points"


def _about(share: float) -> str:
    """Write an estimated share as a count out of a hundred."""
    return f"about {_of_hundred(share)}" if round(100 * share) else _of_hundred(share)


def _of_hundred(share: float) -> str:
    if not share:
        return "none"
    return str(round(100 * share) or "fewer than 1")


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"
