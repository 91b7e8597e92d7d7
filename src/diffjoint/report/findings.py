"""Input of a report: a completed table and its results, as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diffjoint._types import Mask, Values
from diffjoint.parameters.choices import Band
from diffjoint.report.drawn import Drawn
from diffjoint.results.explain import CellExplainer
from diffjoint.skip_rules.find import FoundRule
from diffjoint.table import Schema, Table


@dataclass(frozen=True)
class Findings:
    """A completed table and its results.

    Attributes
    ----------
    table : Table
        The table before it was completed, with reason codes read as missing.
    schema : Schema
    searched : tuple of int
        Searched columns, as positions among the modelled columns.
    values : array of shape (n_rows, n_modelled)
        Coded values, with missing cells imputed.
    is_missing, called : bool arrays of the same shape
        Missing cells, and those of them that are called meaningful.
    probability : array of the same shape
        P(meaningful), or a score.
    judged : bool array of the same shape
        Missing cells whose call depends on the probability alone. Other calls are settled, for
        example by a rule.
    review : bool array of the same shape
        Doubtful cells, which a person should look at.
    threshold : float
    band : pair of float or None
        Range of probabilities in which a cell is doubtful.
    explainer : CellExplainer or None
        Explains the calls. None if the detector cannot: the probability is then a score.
    doubts : sequence of str
    history : sequence of dict
    settings : mapping
        All settings of the method as text or numbers, and the parameters that were chosen.
    check : mapping or None
        Self-check as plain data, if there was one.
    rules : sequence of FoundRule
        Rules that the table of ``fit`` follows.
    drawn : Drawn or None
        Draws of filled-in cells, if there were any.
    meanings : mapping
        What the user says that meaningful cells of columns mean, by position among the modelled
        columns.
    """

    table: Table
    schema: Schema
    searched: tuple[int, ...]
    values: Values
    is_missing: Mask
    called: Mask
    probability: Values
    judged: Mask
    review: Mask
    threshold: float
    band: Band | None
    explainer: CellExplainer | None
    doubts: Sequence[str]
    history: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any]
    check: Mapping[str, Any] | None = None
    rules: Sequence[FoundRule] = ()
    drawn: Drawn | None = None
    meanings: Mapping[int, str] = field(default_factory=dict)
