"""Everything inferred about one table, in that table's own container."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.errors import InputError
from diffjoint.fitting.fitted import Fitted
from diffjoint.fitting.options import Options
from diffjoint.fitting.prepare import CodedTable
from diffjoint.results.complete import complete, in_table_shape, labels_for
from diffjoint.results.constants import read_constants, read_meanings
from diffjoint.results.explain import check_band, in_band
from diffjoint.state import JointSpace, JointState
from diffjoint.table import in_user_units


@dataclass(frozen=True)
class Imputation:
    """Everything inferred about one table, in that table's own container.

    Attributes
    ----------
    table : table
        The completed table.
    meaningful : bool table of X's shape
        True: the cell is kept as NA.
    probability : float table of X's shape
        How likely the cell is meaningful; 0.0 at observed cells.
    uncertainty : float table of X's shape
        How far the true value may be from the one filled in; 0.0 at observed cells, NaN where
        a wrapped imputer gave the value.
    review : bool table of X's shape
        True: the probability lies within ``review_band``, and a person should look at the cell.
    n_observed, n_kept, n_imputed, n_left : int
        Cells that were there, that are kept as NA (or as ``mm_fill`` says), that were filled, and
        that are missing in columns carried along.
    n_unticked : int
        Cells kept as NA that are boxes not ticked.
    n_review : int
        Cells that a person should look at.
    """

    table: Any
    meaningful: Any
    probability: Any
    uncertainty: Any
    review: Any
    n_observed: int
    n_kept: int
    n_imputed: int
    n_left: int
    n_review: int
    n_unticked: int
    _inferred: Aggregated = field(repr=False, compare=False)
    _digest: str = field(repr=False, compare=False)
    _identity: str = field(repr=False, compare=False)
    _coded: CodedTable | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the table that was completed."""
        return {**vars(self), "_coded": None}


def make_imputation(
    coded: CodedTable, inferred: Aggregated, fitted: Fitted, options: Options
) -> Imputation:
    """Build an ``Imputation`` in the container of the input."""
    space, seed = fitted.model.space, fitted.model.seed
    table, missing, schema = coded.table, coded.missing, space.schema
    state = fitted.settle(coded, inferred)
    candidates = coded.observe(space, seed).candidates
    score = coded.settle_score(inferred.meaningful_score, inferred.threshold, state.meaningful)
    review = in_band(check_band(options.review_band), score, candidates)
    is_empty = np.column_stack([table.missing(i) for i in range(table.n_columns)])
    n_left = int(is_empty.sum()) - int(is_empty[:, schema.modelled_positions].sum())
    n_missing, n_kept = int(missing.sum()), int(state.meaningful.sum())
    cells = (
        state.meaningful,
        coded.known.fill_certain(score),
        np.where(missing, in_user_units(inferred.uncertainty, schema), 0.0),
        review,
    )
    meaningful, probability, uncertainty, to_review = (
        table.wrap(in_table_shape(part, table, schema)) for part in cells
    )
    return Imputation(
        table=complete_table(coded, space, state, options),
        meaningful=meaningful,
        probability=probability,
        uncertainty=uncertainty,
        review=to_review,
        n_observed=is_empty.size - n_missing - n_left,
        n_kept=n_kept,
        n_imputed=n_missing - n_kept,
        n_left=n_left,
        n_review=int(review.sum()),
        n_unticked=int((state.meaningful & coded.known.checkboxes).sum()),
        _inferred=inferred,
        _digest=coded.digest,
        _identity=fitted.identity,
        _coded=coded,
    )


def complete_table(
    coded: CodedTable, space: JointSpace, state: JointState, options: Options
) -> Any:
    """Return a table with its missing cells filled, or kept as the options say."""
    table, were_found = coded.table, options.were_found
    meanings = read_meanings(options.mm_label, table, space, were_found=were_found)
    return complete(
        table,
        space,
        state.values,
        state.meaningful,
        coded.missing,
        options.mm_output,
        labels_for(space, options.mm_output, options.mm_label, meanings),
        read_constants(options.mm_fill, table, space, were_found=were_found),
    )


def inferred_of(
    coded: CodedTable, result: Imputation | None, fitted: Fitted, options: Options
) -> Aggregated:
    """Return what was inferred about a table: in ``result`` if that is of it, otherwise now."""
    if result is None:
        return fitted.infer(coded, options)
    if not isinstance(result, Imputation):
        raise InputError(
            f"result must be what impute(X) returned, an Imputation; got "
            f"{type(result).__name__}. Pass that, or leave it out."
        )
    if result._identity != fitted.identity:
        raise InputError(
            "result must be what impute(X) of this imputer said, as it is fitted now; it comes "
            "from another imputer or an earlier fit. Call impute(X) again, or leave it out."
        )
    if result._digest != coded.digest:
        raise InputError(
            "result must be what impute(X) said of this X, with the same known cells; it is of "
            "another table. Pass this table's, or leave it out."
        )
    return result._inferred
