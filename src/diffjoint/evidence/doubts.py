"""What an answer rests on that the table cannot confirm: a sentence each, with what to do."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from diffjoint._types import Mask, Values
from diffjoint.errors import option
from diffjoint.evidence.folds import Judged
from diffjoint.evidence.missing import FEWEST

SEARCHED, RATE, RULES = option("mm_columns"), option("loss_rate"), option("rules")
"""What doubts refer to, as each front end shows it."""
ALL_SEARCHED = (
    f"Every column is in {SEARCHED}, so that none tells how often cells are lost. Each column's "
    "lowest rate is taken for its losses: cells that are meaningful everywhere alike will be taken "
    f"for lost. Leave columns that cannot be meaningful out of {SEARCHED}, or set {RATE}."
)
LOST_TOGETHER_ELSEWHERE = f"columns outside {SEARCHED} lose their cells together"
"""How a table shows that its cells get lost together."""
FLAT, FLAT_SHARE, FLAT_QUANTILE, FLAT_ROWS = 0.05, 0.5, 0.25, 2_000
"""A column is in excess alike everywhere if even the lower quarter of its rows is, by this much."""
SURE, UNSURE_SHARE = 0.1, 0.1
"""A column is unsure if this share of its missing cells is farther than that from 0 and 1."""
MOSTLY = 0.5
"""Share of meaningful cells from which on losses are no likely explanation."""
TOGETHER = 0.3
"""Correlation of two columns' losses beyond which cells seem to get lost together."""


def of_table(
    is_missing: Mask,
    others: NDArray[np.int64],
    unjudged: Sequence[int],
    names: Sequence[str],
    reason: str,
) -> tuple[str, ...]:
    """Say what makes the evidence itself weak.

    Parameters
    ----------
    unjudged : sequence of int
        Searched columns with too few missing or observed cells.
    names : sequence of str
        Of all columns.
    reason : str
        What shows that cells get lost together, so that calls rest on values; empty otherwise.
    """
    found = []
    if reason:
        found.append(
            f"Cells get lost together in this table: {reason}. So calls rest on what rows hold, "
            "and a missing cell elsewhere in the row is taken as a sign of a loss. Cells that are "
            "meaningful together for a reason that the table does not hold will be taken for lost: "
            f"set {RATE} for their columns if you know it, or give {RULES} or labels for them."
        )
    strongest = _lost_together(is_missing[:, others])
    if not reason and strongest > TOGETHER:
        found.append(
            f"Columns outside {SEARCHED} lose their cells together (correlation up to "
            f"{strongest:.2f}), as when a row breaks off, or as if they were meaningful. Name them "
            f"in {SEARCHED} if they can be; otherwise cells of {SEARCHED} lost with them may be "
            "called meaningful."
        )
    few = [names[j] for j in unjudged if is_missing[:, j].any()]
    if few:
        found.append(
            f"{_listed(few)} {'has' if len(few) == 1 else 'have'} fewer than {FEWEST} missing or "
            f"fewer than {FEWEST} observed cells: cells there get one probability, from how often "
            f"the column is missing, and are listed for review. Set {RATE} for such a column if "
            f"you know it, or give {RULES} or labels for it."
        )
    return tuple(found)


def of_rates(uneven: Values | None, resting: Sequence[str]) -> tuple[str, ...]:
    """Warn of columns whose calls rest on a loss rate that other columns do not agree on.

    Parameters
    ----------
    uneven : array or None
        The rates of the columns outside mm_columns, if they disagree.
    resting : sequence of str
    """
    if uneven is None or not resting:
        return ()
    return (
        f"Columns outside {SEARCHED} have lost between {uneven.min():.1%} and {uneven.max():.1%} "
        f"of their cells, so that how often {_listed(resting)} may lose theirs is not known: the "
        "lowest share that is missing in any context is taken for losses, and cells that are "
        f"meaningful everywhere alike are taken for lost. Set {RATE} for what you know, such as "
        f"{option('loss_rate', {resting[0]: 0.05})}.",
    )


def is_unsure(judged: Judged, is_missing: Mask) -> bool:
    """Whether the rest of the row does not settle which missing cells of a column are lost."""
    probability = judged.probability[is_missing]
    unsure = (probability > SURE) & (probability < 1 - SURE)
    return bool(len(probability) and unsure.mean() > UNSURE_SHARE)


def of_own_rates(rates: Mapping[str, float]) -> tuple[str, ...]:
    """Warn of columns whose loss rate nothing but their own missing cells tells."""
    if not rates:
        return ()
    listed = _listed([f"{name} {rate:.0%}" for name, rate in rates.items()])
    first, rate = next(iter(rates.items()))
    return (
        f"No column outside {SEARCHED} loses cells, so that the loss rate is told by each column "
        f"alone: {listed}. This is what its fullest rows miss; were cells of them meaningful, too, "
        "they are filled in all the same. If you know a rate, set it: "
        f"{option('loss_rate', {first: round(rate, 2)})}.",
    )


def is_flat(mm_rate: Values) -> bool:
    """Whether a column is missing more than others lose, about alike in all rows."""
    flat = np.quantile(mm_rate, FLAT_QUANTILE) > max(FLAT, FLAT_SHARE * mm_rate.mean())
    return bool(flat and mm_rate.mean() < MOSTLY)


def of_flat(flat: Sequence[str]) -> tuple[str, ...]:
    """Warn of columns that are missing more than others, about alike in all rows."""
    if not flat:
        return ()
    return (
        f"Cells of {_listed(flat)} are missing more often than cells are lost elsewhere, and "
        "about equally often in all rows. Whether they are meaningful or this column loses more "
        f"cannot be told from the table: the loss rate of the other columns is taken. Set {RATE} "
        "for it if you know better.",
    )


def of_vague(vague: Sequence[str], *, are_rates_known: bool) -> tuple[str, ...]:
    """Warn of columns of which values do not tell who is skipped."""
    if not vague:
        return ()
    rate = (
        "Their loss rate is taken from the other columns, and the rest is said to be meaningful. "
        if are_rates_known
        else "Nothing tells their loss rate either, so that their probabilities stay in the middle "
        "and their cells are listed for review. "
    )
    return (
        f"What rows hold does not tell which missing cells of {_listed(vague)} are meaningful. "
        f"{rate}Set {RATE} for such a column if you know it, or give {RULES} or labels for it.",
    )


def of_unexplained(names: Sequence[str]) -> tuple[str, ...]:
    """Warn of columns that are missing together for no reason that the table holds."""
    if not names:
        return ()
    return (
        f"{_listed(names)} are missing in much the same rows, and nothing else in these rows tells "
        "why. Whether they are meaningful or were lost together cannot be told from the table: "
        "their probabilities stay in the middle, and their cells are kept and listed for review. "
        f"Set {RATE} for them if they were lost, or give {RULES} or labels for them.",
    )


def _lost_together(is_missing: Mask) -> float:
    """Return the strongest correlation of two columns' losses."""
    lossy = is_missing[:, is_missing.sum(axis=0) >= FEWEST].astype(float)
    if lossy.shape[1] < 2 or not lossy.std(axis=0).all():
        return 0.0
    return float(np.triu(np.corrcoef(lossy.T), 1).max())


def _listed(names: Sequence[str], most: int = 8) -> str:
    """Names with commas, the first few of many."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def contradicted(share: float) -> str:
    """Return how a table shows that cells get lost together."""
    return (
        f"of the cells of {SEARCHED} that are lost by what their rows hold, {share:.0%} "
        "would be called meaningful for what is missing beside them"
    )
