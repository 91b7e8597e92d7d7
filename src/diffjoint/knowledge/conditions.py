"""Evaluate the conditions of rules on coded values.

An answer is true, false, or undecided where a column that the condition refers to is missing.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffjoint._types import Mask, Values
from diffjoint.errors import InputError, option
from diffjoint.state.rules import FALSE, TRUE, UNDECIDED, Answers
from diffjoint.table import Column, Schema, Table, how_to_model, why_passed_through

UNSEEN_LEVEL = -1.0
"""Code of a level that fit did not see: it equals no level that a rule can name."""

Condition = Callable[[Values, Mask], Answers]
"""Evaluates all rows, given coded values and the mask of meaningful cells."""


@dataclass(frozen=True)
class Rule:
    """One column's rule.

    Attributes
    ----------
    target : int
        The position, among the modelled columns, of the column that the rule is about.
    text : str
        The rule as the user wrote it.
    gates : frozenset of int
        Positions of the columns that it refers to.
    condition : callable
    only_if : bool
        Whether the rule says nothing about the cells where it holds: some of them may be
        meaningful for another reason.
    is_found : bool
        Whether it was found in a table, rather than given.
    settles : bool
        Whether cells are lost where it holds. If not, that is said only of cells behind gates that
        were filled in, which are to agree with each other.
    trials : tuple of (int, float)
        For gates that are numbers: the position, and a value on either side of where the rule's
        answer may change.
    """

    target: int
    text: str
    gates: frozenset[int]
    condition: Condition
    only_if: bool = False
    is_found: bool = False
    settles: bool = True
    trials: tuple[tuple[int, float], ...] = ()

    def answers(self, values: Values, meaningful: Mask) -> Answers:
        """Return TRUE, FALSE or UNDECIDED for every row.

        Parameters
        ----------
        values : array of shape (n_rows, n_columns)
            Coded cells, NaN where not known, ``UNSEEN_LEVEL`` for unseen levels.
        meaningful : bool array of the same shape
            Cells that have no value: comparisons with them are false.
        """
        return self.condition(values, meaningful)


def modelled_position(
    table: Table, schema: Schema, label: Hashable, parameter: str, where: str | None = None
) -> int:
    """Return the position of a column among the modelled ones; raise if it is not modelled."""
    position = table.require(label, parameter)
    if not schema.columns[position].is_modelled:
        column = table.column(position)
        raise InputError(
            f"{where or option(parameter)} names {label!r}, which is passed through unmodelled "
            f"({why_passed_through(column)}). Leave it out, or {how_to_model(column, label)}.",
            parameter=parameter,
        )
    return int(schema.modelled_positions.tolist().index(position))


def has_labels(column: Column) -> bool:
    """Return whether a column has levels in text, which have no order."""
    return column.is_categorical and any(isinstance(level, str) for level in column.levels)


def words_of(column: Column) -> list[Any]:
    """Return what the codes of a column of text stand for; None for a box not ticked."""
    return [*column.levels, *([None] if column.is_checkbox else [])]


def numbers_of(column: Column) -> Callable[[Values], Values]:
    """Return a function from a column's codes to the numbers that they are compared as."""
    if column.is_categorical and not has_labels(column):
        unticked = [-np.inf] * column.is_checkbox  # no number that a rule can name
        return code_lookup([*(float(level) for level in column.levels), *unticked])
    return lambda codes: codes


def code_lookup(numbers: list[float]) -> Callable[[Values], Values]:
    """Return a function that looks up the number of each code; NaN for other codes."""
    by_code = np.array([*numbers, np.nan])

    def coded(codes: Values) -> Values:
        is_level = ~np.isnan(codes) & (codes != UNSEEN_LEVEL)
        return by_code[np.where(is_level, codes, len(numbers)).astype(np.int64)]

    return coded


def compare_column(
    place: int,
    numbers: Callable[[Values], Values],
    compare: Callable[[Any, Any], Any],
    with_what: Any,
) -> Condition:
    """Return a condition that compares the numbers of one column with something.

    Parameters
    ----------
    place : int
        Position of the column among the modelled ones.
    numbers : callable
        Converts its codes to the numbers to compare, see :func:`numbers_of`.
    compare : callable
        Compares these with ``with_what``.
    """

    def answers(values: Values, na: Mask) -> Answers:
        x = numbers(values[:, place])
        return answers_of(compare(x, with_what), np.isnan(x), na[:, place])

    return answers


def answers_of(holds: Mask, unknown: Mask, nothing_there: Mask) -> Answers:
    """Return FALSE at meaningful cells, UNDECIDED at unknown ones, else whether it holds."""
    answers = np.where(holds, TRUE, FALSE)
    answers = np.where(unknown, UNDECIDED, answers)
    return np.where(nothing_there, FALSE, answers).astype(np.int8)
