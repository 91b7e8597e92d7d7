"""What was inferred about a table, as the report takes it: arrays, no frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diffjoint._choices import Band
from diffjoint._types import Mask, Values
from diffjoint.results.explain import Asked
from diffjoint.table import Schema, Table


@dataclass(frozen=True)
class Findings:
    """A completed table and all that was inferred.

    Attributes
    ----------
    table : Table
        The table as it was, reason codes read as missing.
    schema : Schema
    searched : tuple of int
        The searched columns, as positions among the modelled ones.
    values : array of shape (n_rows, n_modelled)
        Coded values, filled where they were missing.
    gaps, called : bool arrays of the same shape
        Missing cells, and those of them that are kept as NA.
    probability : array of the same shape
        P(meaningful), or a score.
    judged : bool array of the same shape
        Missing cells that the probability alone decides; other missing cells are settled by
        something else.
    review : bool array of the same shape
        Cells that a person should look at.
    threshold : float
    band : pair of float or None
        Between which a cell is to be reviewed.
    asked : Asked or None
        Who can say why; None: nobody, and the probability is a score.
    doubts : sequence of str
    history : sequence of dict
    settings : mapping
        Every number of the method, and the choices made, as text or numbers.
    check : mapping or None
        A self-check as plain data; None: there was none.
    """

    table: Table
    schema: Schema
    searched: tuple[int, ...]
    values: Values
    gaps: Mask
    called: Mask
    probability: Values
    judged: Mask
    review: Mask
    threshold: float
    band: Band | None
    asked: Asked | None
    doubts: Sequence[str]
    history: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any]
    check: Mapping[str, Any] | None = None
