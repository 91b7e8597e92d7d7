"""Say why the cells of a column are kept: not applicable, or missing by structure."""

from collections.abc import Sequence
from dataclasses import dataclass

from diffjoint.report.drivers import Driver
from diffjoint.results.explain import percent
from diffjoint.skip_rules.find import FoundRule

CLEAR, MOSTLY = 0.6, 0.8
"""Correlation with being kept, and share kept, from which on a condition counts as the cause."""
AS_CLEAR = 0.9
"""Correlation from which on a condition is as good as a rule, and easier to read."""


@dataclass(frozen=True)
class KeptCells:
    """Why the cells of a column are kept as NA.

    Attributes
    ----------
    n_told : int
        Cells that a rule, a reason code or a label decides: not applicable, or not ticked.
    n_found : int
        Cells that are called meaningful. They are missing by structure: where something else in
        the table says so, or for a cause that it does not show.
    cause : str
        Condition on other columns that goes with these cells; empty if the table shows none.
    detail : str
        How far it goes with them.
    beside : tuple of str
        Other columns that are missing in the same rows.
    is_checkbox : bool
        Whether the cells are boxes that are not ticked.
    meaning : str
        What the user says that they mean; empty if nothing was said.
    """

    n_told: int
    n_found: int
    cause: str
    detail: str
    beside: tuple[str, ...]
    is_checkbox: bool = False
    meaning: str = ""


def say_why_kept(
    n_kept: int,
    n_told: int,
    drivers: Sequence[Driver],
    rule: FoundRule | None,
    beside: tuple[str, ...],
    *,
    is_checkbox: bool = False,
    meaning: str = "",
) -> KeptCells:
    """Say why cells are kept, and what of the table goes with it.

    The cause is the strongest condition on another column, if it tells the kept cells clearly from
    all others, or a rule that the table follows. A rule that asks columns which are missing in the
    same rows is none.

    Examples
    --------
    >>> married = Driver("married", "married = no", 1.0, 0.01, 0.4, 0.9, 0.94)
    >>> found = say_why_kept(620, 0, [married], None, ())
    >>> found.cause, found.detail
    ('married = no', '100% of these rows are kept, 1% of others; covers 90% of the cells')
    >>> say_why_kept(620, 0, [], None, ("trig",)).cause
    ''
    """
    n_found, cause, detail = n_kept - n_told, "", ""
    clear = [one for one in drivers if one.is_observed and one.kept_share >= MOSTLY]
    first = clear[0] if clear and clear[0].strength >= CLEAR else None
    has_rule = rule is not None and rule.is_whole and not {*rule.gates} & {*beside}
    if first and n_found and (not has_rule or first.strength >= AS_CLEAR):
        cause = first.condition
        inside, outside, covered = map(
            percent, (first.kept_share, first.other_share, first.coverage)
        )
        detail = (
            f"{inside} of these rows are kept, {outside} of others; covers {covered} of the cells"
        )
    elif rule and has_rule and n_found:
        cause, detail = f"not ({rule.text})", "by a rule that the table follows"
    return KeptCells(n_told, n_found, cause, detail, beside, is_checkbox, meaning)
