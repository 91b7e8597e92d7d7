"""Whether a rule that was found can be trusted, and whether it is the whole rule.

A table shows tendencies as well as rules: a blood value is ordered more often for the old, an
income is refused more often by the rich. A rule has an edge. Where it fails no cell is observed,
and so many cells are missing there that this is no accident of the search; right beside the edge
cells are missing about as often as elsewhere.
"""

from collections.abc import Mapping

import numpy as np
from scipy.special import logit

from diffjoint._types import Mask
from diffjoint.evidence.loss_rates import BEYOND, Prior, is_far_beyond
from diffjoint.skip_rules.atoms import Atom, Choice, Tally, best_atoms, count_slots, tally
from diffjoint.skip_rules.search import MARGIN, NONE, Candidate, Target
from diffjoint.state.rules import FALSE, TRUE

MOST_BROKEN = 0.1
"""Share of cells that might be observed where a rule fails, at most: an upper bound of it."""
ERROR = 0.01
"""Probability that the bound is too low, all formulas that were searched counted."""
FEWEST_BESIDE = 10
"""Rows beside an edge, or of a level, that are looked at on their own."""
STEEP, LEVEL = 0.6, 0.2
"""How far missing cells beside an edge rise from what is usual to all of them, at most: the rest is
a tendency; and where few rows show the edge."""
FRAYED, FEWEST_FRAYED = 0.1, 3
"""Share of the rows where a rule fails that is looked at for mistakes beside the edge, and how many
show that they are none."""
TINY = 1e-9
MOST_LOST = 0.5
"""Share of cells missing where a rule holds, above which more than losses must be among them.

Unless other columns lose as much: see :func:`diffjoint.evidence.loss_rates.is_far_beyond`.
"""
FEWEST_RATES, LEAST_APART = 8, 0.1
"""Columns that show what is usual to lose, and the least standard deviation that is believed, on
the scale of the arcsine of the square root."""
TO_SD = 1.4826
"""Standard deviations in a median of distances from the median."""
HIDDEN = 0.7
"""Missing share of some rows where a rule holds that shows a further rule, which is not found."""


def most_broken(one: Candidate) -> float:
    """Return an upper bound of the share of cells that are observed where a rule fails.

    The bound holds for all formulas that were searched together: a share so high would have left
    the rule without more observed cells than it has with probability ``ERROR`` at most.
    """
    n, seen = float(one.fails.n), float(one.fails.observed)
    room = one.formula.cost - np.log(ERROR)
    return float(min(1.0, 1.0 - np.exp(-room / n) + 2 * seen / n)) if n else 1.0


def is_rule(one: Candidate, target: Target) -> bool:
    """Return whether a sharp formula is a rule rather than the end of a tendency.

    Where cells right beside all of its edges are missing hardly more often than elsewhere, it is
    enough that it is no accident. Else it takes so many rows that hardly a cell can be observed,
    and (nearly) none that is.
    """
    if one.score <= MARGIN or not one.holds.observed:
        return False
    usual = float(one.holds.missing / one.holds.n)
    rates = [_beside(one, atom, target) for atom in one.formula.atoms]
    rise = (max(rates) - usual) / max(1.0 - usual, TINY)
    if not one.fails.is_sharp and any(_is_frayed(one, atom, target) for atom in one.formula.atoms):
        return False
    is_sure = bool(one.fails.is_sharp) and most_broken(one) <= MOST_BROKEN
    return rise <= (STEEP if is_sure else LEVEL)


def _is_frayed(one: Candidate, atom: Atom, target: Target) -> bool:
    """Return whether most exceptions lie right beyond a condition's edge: mistakes lie anywhere."""
    first, n = int(target.gates.starts[atom.column]), len(target.gates.numbers[atom.column])
    values = atom.holds[:n]
    own = target.slots[:, atom.column] - first
    beyond = (one.answers == FALSE) & (own < n)
    beyond[beyond] = ~values[own[beyond]]
    seen, gone = (
        np.bincount(own[beyond & cells], minlength=n)[:n]
        for cells in (~target.is_missing, target.is_missing)
    )
    if atom.by_order:
        outwards = slice(None, None, -1) if values[-1] else slice(None)
        seen, gone = seen[outwards], gone[outwards]
    else:
        by_share = np.argsort(-seen / np.maximum(seen + gone, 1), kind="stable")
        seen, gone = seen[by_share], gone[by_share]
    rows = np.cumsum(seen + gone)
    near = rows <= FRAYED * rows[-1]
    n_near = float(seen[near].sum())
    return n_near >= FEWEST_FRAYED and n_near > seen.sum() / 2


def _beside(one: Candidate, atom: Atom, target: Target) -> float:
    """Return the share of cells missing on the near side of a condition's edge.

    Levels have no order: of them, that where most are missing.
    """
    holds = one.answers == TRUE
    first, n = int(target.gates.starts[atom.column]), len(target.gates.numbers[atom.column])
    own = target.slots[holds, atom.column] - first
    missing = target.is_missing[holds]
    observed, gone = (np.bincount(own[m], minlength=n + 2)[:n] for m in (~missing, missing))
    values = atom.holds[:n]
    if not atom.by_order or values.all() or not values.any():
        n_rows = observed + gone
        return float(
            np.max(gone / np.maximum(n_rows, 1), initial=0.0, where=n_rows >= FEWEST_BESIDE)
        )
    inwards = slice(None) if values[-1] else slice(None, None, -1)
    observed, gone = observed[inwards], gone[inwards]
    enough = max(FEWEST_BESIDE, min(float(one.fails.n), float(one.holds.n)) / 10)
    rows = np.cumsum(observed + gone)
    edge = min(int(np.searchsorted(rows, enough)), n - 1)
    return float(np.cumsum(gone)[edge] / max(rows[edge], 1))


def is_whole(one: Candidate, target: Target, usable: Mask, losses: Prior | None) -> bool:
    """Return whether losses explain the cells that are missing where a rule holds.

    Parameters
    ----------
    usable : bool array of shape (n_columns,)
        Columns that may show a further rule.
    losses : Prior or None
        How much columns lose that are not searched.
    """
    share = float(one.holds.missing / one.holds.n)
    if share > MOST_LOST and (losses is None or is_far_beyond(float(logit(share)), losses)):
        return False
    return not shows_reason(target, one.answers == TRUE, usable)


def lose_too_much(rates: Mapping[int, float]) -> list[int]:
    """Return the columns that miss far more where their rules hold than others lose.

    Their rules are part of the story: something else closes them as well. The others are judged by
    their median, so that some such columns do not pass for what is usual.

    Parameters
    ----------
    rates : mapping
        By column: the share of cells missing where its rule holds, or anywhere if it has none.

    Examples
    --------
    >>> usual = dict(enumerate([0.01, 0.02, 0.03, 0.01, 0.02, 0.04, 0.02, 0.01]))
    >>> lose_too_much({**usual, 8: 0.35, 9: 0.06})
    [8]
    >>> lose_too_much({8: 0.35, 9: 0.06})
    []
    """
    if len(rates) < FEWEST_RATES:
        return []
    shares = np.arcsin(np.sqrt(np.array(list(rates.values()))))  # as uncertain at any rate
    usual = np.median(shares)
    spread = max(TO_SD * float(np.median(np.abs(shares - usual))), LEAST_APART)
    return [j for j, share in zip(rates, shares, strict=True) if share > usual + BEYOND * spread]


def shows_reason(target: Target, rows: Mask, usable: Mask) -> bool:
    """Return whether a value tells, of some rows, where nearly all of a column's cells are missing.

    Parameters
    ----------
    rows : bool array of shape (n_rows,)
    usable : bool array of shape (n_columns,)
        Columns that may tell it.
    """
    counts = count_slots(target.gates, target.slots[rows], target.is_missing[rows])
    for gain, atom in best_atoms(Choice(target.gates, usable), counts, NONE, NONE, 5):
        if gain < atom.cost + MARGIN:
            break
        apart = _apart(atom, target, rows)
        if apart.n >= FEWEST_BESIDE and apart.missing > HIDDEN * apart.n:
            return True
    return False


def _apart(atom: Atom, target: Target, rows: Mask) -> Tally:
    """Return the target's cells where a condition fails, of some rows."""
    fails = atom.answers(target.gates, target.slots[rows]) == 0
    return tally(target.is_missing[rows], fails)
