"""SelectiveImputer: Diff-Joint behind scikit-learn's contract."""

import hashlib
import os
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self, get_args
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from diffjoint._atomic import Arrays, check_writable, read_bundle, write_bundle
from diffjoint._effort import evidence_units, fit_units, value_units
from diffjoint._memory import give_back
from diffjoint._progress import Progress, Scaled, Silence, progress_bar
from diffjoint._types import Mask, Values
from diffjoint.detectors import DETECTORS, Belief, LossRate
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.errors import DataWarning, InputError, ModelFileError
from diffjoint.fitting.auto_columns import AUTO, not_judged, search
from diffjoint.fitting.model import (
    Model,
    check_device,
    find_gaps,
    joint_space,
    model_from,
    observe,
)
from diffjoint.fitting.params import label_from, params_from, plain_params
from diffjoint.fitting.stored import check_stored
from diffjoint.knowledge.labels import Labels, open_labels
from diffjoint.knowledge.reason_codes import idle_codes, read_reasons, searched_by_codes
from diffjoint.knowledge.resolve import Knowledge, check_labels, know, open_boxes
from diffjoint.knowledge.rules import Rule, read_rules
from diffjoint.report import Findings, Report, summarize
from diffjoint.results.complete import MMOutput, check_output, complete, indicator_names, spread
from diffjoint.results.constants import read_constants
from diffjoint.results.explain import (
    REVIEW_BAND,
    Asked,
    Band,
    Explanation,
    candidate_cells,
    check_band,
    explanations_table,
    find_cell,
    review_table,
    within,
)
from diffjoint.results.self_check import SelfCheck, check_table
from diffjoint.settings import (
    DEFAULT_DETECTOR,
    DEFAULT_MEMORY_LIMIT,
    DEFAULT_PRESET,
    DETECTOR_NAMES,
    Fusion,
    IntegerSummary,
    Sampler,
    Settings,
    check_choice,
    check_whole,
    fitted_to,
    idle_settings,
    parse_bytes,
    settings_for,
    settings_types,
)
from diffjoint.state import JointSpace, JointState, Observation
from diffjoint.state.row_keys import canonical_order, content_keys, told_apart
from diffjoint.table import (
    Checkboxes,
    Schema,
    Table,
    check_observed,
    check_unticked,
    code_table,
    doubts_on_carried,
    doubts_on_kept,
    infer_schema,
    open_table,
    with_bounds,
)
from diffjoint.values.boosted import Expectation, learn_values
from diffjoint.values.wrapped import Wrapped, check_imputer, learn_wrapped

UNSEEN = ("error", "missing", "keep")
MIN_ROWS, MOST_COLUMNS = 2, 2_000
"""Rows that can be learnt from at least; columns that can be in minutes, at most."""
TOO_FAR = 3.0
"""Standard errors beyond which a rate is not what was said."""


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
        that are empty in columns carried along.
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
    _learnt: str = field(repr=False, compare=False)


class SelectiveImputer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Impute the cells that were lost; keep those that are missing for a reason.

    Missing cells of ``mm_columns`` that are called meaningful stay NA, all other missing cells are
    filled with what is expected there. A diffusion model of values and missingness mask together
    gives draws of both; with ``sampler="inpaint"`` and ``detector="paper"`` it decides everything,
    as in the paper: training it and drawing from it alternate.

    Parameters
    ----------
    mm_columns : list of labels or "auto", optional
        Columns in which a missing cell may be meaningful. "auto": those whose missing cells
        losses alone cannot explain, see ``mm_evidence_``. None: no column, every missing cell is
        imputed. Columns with a rule, or with a code that means "meaningful", are searched as
        well.
    imputer : scikit-learn imputer, optional
        Another imputer for the values, such as ``IterativeImputer()``: a copy of it is fitted, and
        no diffusion model is trained. Which cells are filled is decided as ever. It sees numbers
        in standard deviations from their mean and categories as 0/1 coordinates; levels are taken
        back to the nearest, whole numbers rounded, numbers kept within what was observed or
        ``bounds``. Such an imputer can neither :meth:`sample` nor be saved.
    preset : {"fast", "balanced", "paper"}
        Where settings that are left at None come from. ``n_boosters`` and ``width`` are then fitted
        to the table; ``settings_`` has them all.
    detector : {"evidence", "paper"}
        How meaningful cells are told from lost ones: by who is missing beside whom, or by how
        much drawn values disagree, as in the paper.
    loss_rate : float or dict, optional
        How likely a regular cell is lost, in all of ``mm_columns`` or by column label. None:
        read off the columns that cannot be meaningful, and off each column's own lowest rate.
    threshold : float, optional
        P(meaningful) above which a missing cell is kept as NA; one half if not given.
    reason_codes : dict, optional
        Codes in X that say why a cell is empty: column labels to mappings of codes to
        "meaningful" or "lost", such as ``{"income": {"refused": "lost"}}``. A code beside the
        labels, ``{-9: "lost"}``, holds in all columns. Cells with a code are read as missing.
    rules : dict, optional
        When a column has something to record, such as ``{"spouse_age": 'married == "yes"'}``: a
        missing cell is meaningful exactly where its rule fails. Where the rule asks for a
        missing cell, that cell's filled value decides.
    review_band : pair of float, or None
        P(meaningful) between which a person should look at a cell, see :meth:`review`. It changes
        no call. With ``detector="paper"`` it is a band of scores, not of probabilities. None: no
        cell is named.
    column_kinds : dict, optional
        Kind by column label, where the inferred one (see ``schema_``) is wrong: "continuous",
        "integer", "categorical", "checkbox", "datetime" or "pass-through".
    checkboxes : {"keep", "fill"}
        What becomes of columns that hold one value or nothing. "keep": an empty cell means that a
        box is not ticked. It stays NA, is used to judge and fill other cells as what it is, and
        counts as no loss. "fill": they are categories, and their cells may be lost like others.
        A kind in ``column_kinds`` says it for one column; columns in ``mm_columns``, with a rule
        or with a code that means "meaningful" are no checkboxes.
    unseen : {"error", "missing", "keep"}
        A level in ``transform`` that ``fit`` did not see: refuse it, treat the cell as missing
        (it is imputed or called meaningful), or leave it as it is and out of the model.
    mm_output : {"na", "category", "indicator"}
        Meaningful cells in the output: NA; a level of their own (``mm_label``) in text columns
        and an indicator for other columns; or filled like lost ones, with a column
        ``<name>_meaningful`` that says which they are.
    mm_label : str
        The level for ``mm_output="category"``.
    mm_fill : dict, optional
        What meaningful cells of a column get in the output, such as ``{"pack_years": 0}``, in
        place of what ``mm_output`` says. They are meaningful still, see :meth:`predict_mm`.
    bounds : dict, optional
        Lowest and highest value to fill in, by column label, such as ``{"age": (0, 120)}``; None
        leaves a side open. They hold for imputed values and draws, in place of the observed range.
    sampler : {"amortised", "inpaint"}, optional
        A denoiser that is told what is observed, beside boosted trees for the values to fill in;
        or the paper's, whose draws say what to fill in. If not given: as ``preset`` has it, or the
        paper's for ``detector="paper"``, which decides by it.
    n_boosters : int, optional
        Boosted models of each column whose mean is filled in; for ``sampler="amortised"``. If not
        given: three for tables of fewer than 5,000 rows, otherwise as ``preset`` has it.
    n_steps : int, optional
        Noise levels.
    n_iterations, n_draws, n_inpaint_repeats : int, optional
        Passes, draws per row, and walks per noise level; for ``sampler="inpaint"``.
    width, batch_size, learning_rate, max_epochs, patience : optional
        The denoiser and its training. The default's width is fitted to the table, see
        ``settings_``.
    scheduler_patience, warm_start : optional
        Learning rate cuts, and whether a pass goes on from the last one's denoiser; for
        ``sampler="inpaint"``.
    log_sigma_mean, log_sigma_std, sigma_data, sigma_min, sigma_max, rho : float, optional
        The noise.
    fusion : {"or", "and", "uncertainty", "vote"}, optional
        How the two signs of a meaningful cell decide together; for ``detector="paper"``.
    joint : bool, optional
        False: model the values alone and impute everything (DiffPuter).
    integer_summary : {"mean", "mode"}, optional
        How draws of integer columns become one value; for ``sampler="inpaint"``.
    device : str
        "auto" (CUDA where there is one), "cpu", "cuda" or any name torch knows.
    n_threads : int, optional
        Threads that torch and the boosted trees may use; None leaves what is set. Tables of 12
        columns and more and fewer than 30,000 rows are learnt by as many processes instead.
    memory_limit : int or str
        Memory for draws, such as "500MB". The result does not depend on it.
    checkpoint : path, optional
        A folder to save each pass in, and to go on from after an interruption. For
        ``sampler="inpaint"``; the default makes no passes.
    callback : callable, optional
        Called with the imputer after each pass, or once if there are none; it can already
        transform.
    verbose : bool
        Show progress and time left.
    random_state : int, RandomState or None
        Same state, same table, same settings: same result.

    Attributes
    ----------
    schema_ : Schema
        The columns as understood; print it. Columns of fewer than 20 observed cells, with more
        missing ones, are passed through unless an option speaks of them.
    mm_columns_ : list
        The searched columns.
    mm_evidence_ : list of dict
        With ``mm_columns="auto"``, what speaks for and against each column, as
        :func:`diffjoint.find_mm_columns` says it; empty otherwise.
    meaningful_ : bool array of shape (n_rows, n_columns)
        The calls on the rows of ``fit``.
    history_ : list of dict
        Per pass of the diffusion model: loss, epochs, share of candidate cells called meaningful,
        share of calls changed since the last pass, change of the imputed values in standard
        deviations. The default trains it when draws are first asked for, in ``sample`` or
        ``save(path, draws=True)``.
    settings_ : Settings
        The numbers used.
    can_sample_ : bool
        Whether :meth:`sample` works. An imputer that was loaded draws if it was saved with
        ``draws=True`` or after it had drawn; everything else works in any case.
    doubts_ : tuple of str
        What the calls rest on and the table cannot confirm; also warned of in ``fit``.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from diffjoint import SelectiveImputer
    >>> rng = np.random.default_rng(0)
    >>> married = rng.random(200) < 0.6
    >>> survey = pd.DataFrame({
    ...     "age": rng.integers(20, 80, 200),
    ...     "married": np.where(married, "yes", "no"),
    ...     "spouse_age": np.where(married, rng.integers(20, 80, 200), np.nan),
    ... })
    >>> survey.loc[:29, "age"] = np.nan
    >>> imputer = SelectiveImputer(["spouse_age"], max_epochs=2, random_state=0)
    >>> completed = imputer.fit_transform(survey)
    >>> int(completed["age"].isna().sum()), completed.shape
    (0, (200, 3))
    """

    _model: Model
    _on_fit_rows: Aggregated
    _learnt: str
    _kept_unjudged: tuple[str, ...]

    def __init__(
        self,
        mm_columns: Sequence[Hashable] | str | None = None,
        *,
        imputer: Any = None,
        preset: str = DEFAULT_PRESET,
        detector: str = DEFAULT_DETECTOR,
        loss_rate: float | Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reason_codes: Mapping[Any, Any] | None = None,
        rules: Mapping[Any, str] | None = None,
        review_band: Band | None = REVIEW_BAND,
        column_kinds: Mapping[Any, str] | None = None,
        checkboxes: Checkboxes = "keep",
        unseen: str = "error",
        mm_output: MMOutput = "na",
        mm_label: str = "not applicable",
        mm_fill: Mapping[Any, Any] | None = None,
        bounds: Mapping[Any, Any] | None = None,
        sampler: Sampler | None = None,
        n_boosters: int | None = None,
        n_iterations: int | None = None,
        n_draws: int | None = None,
        n_steps: int | None = None,
        n_inpaint_repeats: int | None = None,
        width: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        scheduler_patience: int | None = None,
        warm_start: bool | None = None,
        log_sigma_mean: float | None = None,
        log_sigma_std: float | None = None,
        sigma_data: float | None = None,
        sigma_min: float | None = None,
        sigma_max: float | None = None,
        rho: float | None = None,
        fusion: Fusion | None = None,
        joint: bool | None = None,
        integer_summary: IntegerSummary | None = None,
        device: str = "auto",
        n_threads: int | None = None,
        memory_limit: int | str = DEFAULT_MEMORY_LIMIT,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[["SelectiveImputer"], object] | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.mm_columns = mm_columns
        self.imputer = imputer
        self.preset = preset
        self.detector = detector
        self.loss_rate = loss_rate
        self.threshold = threshold
        self.reason_codes = reason_codes
        self.rules = rules
        self.review_band = review_band
        self.column_kinds = column_kinds
        self.checkboxes = checkboxes
        self.unseen = unseen
        self.mm_output = mm_output
        self.mm_label = mm_label
        self.mm_fill = mm_fill
        self.bounds = bounds
        self.sampler = sampler
        self.n_boosters = n_boosters
        self.n_iterations = n_iterations
        self.n_draws = n_draws
        self.n_steps = n_steps
        self.n_inpaint_repeats = n_inpaint_repeats
        self.width = width
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.scheduler_patience = scheduler_patience
        self.warm_start = warm_start
        self.log_sigma_mean = log_sigma_mean
        self.log_sigma_std = log_sigma_std
        self.sigma_data = sigma_data
        self.sigma_min = sigma_min
        self.sigma_max = sigma_max
        self.rho = rho
        self.fusion = fusion
        self.joint = joint
        self.integer_summary = integer_summary
        self.device = device
        self.n_threads = n_threads
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Self:
        """Learn values and missingness of a table.

        Parameters
        ----------
        X : pandas or polars DataFrame, or array of shape (n_rows, n_columns)
        y : ignored
        known_meaningful, known_lost : bool table or array, optional
            True at missing cells whose kind is known: of X's shape, or a DataFrame with some of
            its columns. They hold for this table; give them again where it is asked about.

        Returns
        -------
        self
        """
        self._fit(X, known_meaningful, known_lost)
        return self

    def transform(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Any:
        """Complete a table: meaningful cells as ``mm_output`` says, lost cells filled.

        Parameters
        ----------
        X : table with the columns of ``fit``; other rows are welcome
        known_meaningful, known_lost : as in ``fit``, of this table

        Returns
        -------
        table
            Of X's container, dtypes, index and column order; observed cells are untouched.
        """
        question = self._open(X, known_meaningful, known_lost)
        return self._complete(question, question.known.settle(self._infer(question).state))

    def fit_transform(
        self, X: Any, y: Any = None, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Any:
        """Fit and complete the same table: ``fit(X).transform(X)`` without drawing twice."""
        question = self._fit(X, known_meaningful, known_lost)
        return self._complete(question, question.known.settle(self._infer(question).state))

    def predict_mm(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Any:
        """Which cells are meaningful: a bool table of X's shape. True: keep NA."""
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).meaningful

    def predict_mm_proba(
        self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Any:
        """How likely each cell is meaningful: a float table of X's shape, 0.0 where observed.

        Notes
        -----
        With ``detector="evidence"`` this is a calibrated probability, as far as losses are as
        they seem. The paper's detector decides by a cluster and a vote; there it is the stronger
        of the two (for ``fusion="or"``) on a scale where one half is the decision: it orders
        cells. Cells of known kind have 1.0 or 0.0. Where a rule waits for a missing gate, what the
        gate is filled with decides the call, whatever this says.
        """
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).probability

    def uncertainty(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Any:
        """How uncertain a filled value is: a float table of X's shape, 0.0 where observed.

        Numbers: standard deviation in the column's unit (dates: days). Categories: entropy in
        nats.
        """
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).uncertainty

    def impute(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Imputation:
        """The completed table and all that was inferred, at once."""
        return self._imputation(self._open(X, known_meaningful, known_lost))

    def review(
        self,
        X: Any,
        result: Imputation | None = None,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Any:
        """The cells that a person should look at, the most doubtful first.

        Parameters
        ----------
        X : table with the columns of ``fit``
        result : Imputation, optional
            What :meth:`impute` of this imputer said of X, if it is at hand; otherwise it is asked.

        Returns
        -------
        table
            In X's container (pandas for an array), one row per cell whose probability lies within
            ``review_band``: ``row`` (position), ``index`` (label, pandas only), ``column``,
            ``probability``, ``call``, ``imputed`` (what a cell called lost was filled with, as
            text), ``reason``, and ``decision``: empty, to be filled in with "meaningful" or "lost"
            for :func:`diffjoint.read_decisions`.
        """
        if check_band(self.review_band) is None:
            raise InputError(
                "review_band is None, so that no cell is to be reviewed. Set it, such as "
                f"set_params(review_band={REVIEW_BAND})."
            )
        question = self._open(X, known_meaningful, known_lost)
        result = self._imputation(question) if result is None else result
        called = question.known.settle(self._said(question, result).state).meaningful
        return review_table(
            question.table,
            result,
            self.schema_,
            self._asked(question, called) if self._model.belief else None,
        )

    def report(
        self,
        X: Any = None,
        result: Imputation | None = None,
        *,
        title: str = "Imputation report",
        self_check: bool | SelfCheck = False,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Report:
        """What became of a table, as a page to look at.

        Parameters
        ----------
        X : table with the columns of ``fit``, optional
            The table of ``fit`` if not given; an imputer that was loaded does not have it.
        result : Imputation, optional
            What :meth:`impute` of this imputer said of X, if it is at hand; otherwise it is asked.
        title : str
            The page's heading.
        self_check : bool or SelfCheck
            True: the page also says what to trust, by :meth:`self_check`, which takes no
            longer than fitting. One that is at hand is shown as it is.
        known_meaningful, known_lost : as in ``fit``, of this table

        Returns
        -------
        Report
            ``save(path)`` writes one HTML file; a notebook shows it.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"a": [1.5, None, 2.5, 2.0], "b": ["x", "y", None, "x"]})
        >>> imputer = SelectiveImputer([], max_epochs=1, random_state=0).fit(table)
        >>> imputer.report(table)
        Report('Imputation report': 0 cells kept as NA, 2 imputed, 0 to review; save it with \
.save('report.html'))
        """
        check_is_fitted(self)
        if X is None and not hasattr(self, "_fitted_on"):
            raise InputError("This imputer was loaded and has no table of its own. Pass X.")
        question = self._fitted_on if X is None else self._open(X, known_meaningful, known_lost)
        inferred = self._said(question, result)
        check = self._checked(question, 0) if self_check is True else self_check or None
        return Report(summarize(self._findings(question, inferred, check), title))

    def explain(
        self,
        X: Any,
        cell: tuple[int, Hashable] | None = None,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Any:
        """Why missing cells are called meaningful or lost.

        Parameters
        ----------
        X : table with the columns of ``fit``
        cell : (row, column), optional
            A row's position and a column's label; all missing cells of ``mm_columns`` if None.

        Returns
        -------
        Explanation or table
            For one cell an object to print. Otherwise a table in X's container (pandas for an
            array) with one row per cell: ``row``, ``index`` (pandas only), ``column``,
            ``missing_rate`` (q), ``loss_rate`` (rho), ``mm_rate`` (phi), ``probability``,
            ``call``, ``towards_meaningful`` and ``towards_lost``: the strongest pushes in words.

        Notes
        -----
        A push is what another cell of the row multiplies the odds of being missing by, beyond
        those of being lost: its Shapley value, against rows that hold there what others do.

        Examples
        --------
        >>> from diffjoint.simulate import household_survey
        >>> world = household_survey(600)
        >>> imputer = SelectiveImputer(world.mm_columns, max_epochs=1)
        >>> survey = world.observed_table
        >>> imputer = imputer.fit(survey)
        >>> unmarried = (survey["married"] == "no") & survey["spouse_age"].isna()
        >>> why = imputer.explain(survey, (int(unmarried.to_numpy().argmax()), "spouse_age"))
        >>> why.call, why.pushes[0].column, why.pushes[0].value
        ('meaningful', 'married', 'no')
        """
        question = self._open(X, known_meaningful, known_lost)
        asked = self._asked(question)
        if cell is None:
            cells = candidate_cells(asked.observation.candidates)
            return explanations_table(question.table, asked.explain(cells))
        place = find_cell(cell, question.table, self._model.space, asked.observation)
        found: Explanation = asked.explain([place])[0]
        return found

    def self_check(
        self,
        X: Any,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> SelfCheck:
        """What to trust on a table whose truth nobody knows.

        How many calls would be wrong is told first, by observed cells that are judged as if they
        had been lost. Then observed cells are hidden and filled again, P(missing) is held against
        who is missing, and calls are made again under other thresholds, another seed and other
        loss rates.

        Parameters
        ----------
        X : table with the columns of ``fit``
            Above 10,000 rows, or fewer in wide tables, a sample of them is checked.
        known_meaningful, known_lost : as in ``fit``, of this table
        random_state : int, RandomState or None
            Which cells are hidden.

        Returns
        -------
        SelfCheck
            Tables of numbers; print it.

        Examples
        --------
        >>> from diffjoint.simulate import household_survey
        >>> survey = household_survey(300).observed_table
        >>> imputer = SelectiveImputer([], max_epochs=1, random_state=0).fit(survey)
        >>> check = imputer.self_check(survey)
        >>> check.values.columns.tolist()[:5]
        ['column', 'kind', 'n_cells', 'measure', 'score']
        """
        return self._checked(self._open(X, known_meaningful, known_lost), random_state)

    @property
    def doubts_(self) -> tuple[str, ...]:
        """What the calls rest on and the table cannot confirm."""
        check_is_fitted(self)
        return (*self._kept_unjudged, *(self._model.belief.doubts if self._model.belief else ()))

    @property
    def can_sample_(self) -> bool:
        """Whether a diffusion model is there to draw from, or the table to train it on."""
        check_is_fitted(self)
        is_trained = self._model.denoiser is not None
        return is_trained or (self._is_amortised() and hasattr(self, "_fitted_on"))

    def sample(
        self,
        X: Any,
        n_draws: int = 5,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> list[Any]:
        """Completed tables, each with values and mask drawn from the joint model.

        The first call trains the diffusion model that draws, unless that was done before. An
        imputer that was loaded cannot: ``can_sample_`` says whether it holds one.

        Parameters
        ----------
        X : table with the columns of ``fit``
        n_draws : int
            How many tables.
        known_meaningful, known_lost : as in ``fit``, of this table
        """
        check_whole("n_draws", n_draws, 1)
        self._check_can_sample()
        question = self._open(X, known_meaningful, known_lost)
        observation = self._observe(question)
        limit = parse_bytes(self.memory_limit)
        with self._running(draws=True) as progress:
            self._learn_to_draw(progress)
            states = self._model.states(observation, n_draws, limit, progress)
            return [self._complete(question, question.known.settle(state)) for state in states]

    def save(self, path: str | os.PathLike[str], *, draws: bool = False) -> None:
        """Save the fitted imputer to one file, without pickle; :func:`load` reads it back.

        Parameters
        ----------
        path : path
        draws : bool
            True: what is loaded can :meth:`sample`. The diffusion model is trained first if it was
            not yet, which takes longer than a fit. False: nothing is trained; what was trained
            already is saved, see ``can_sample_``.
        """
        check_is_fitted(self)
        if draws:
            self._check_can_sample()
            check_writable(path)
            with self._running(draws=True) as progress:
                self._learn_to_draw(progress)
        facts = {
            "params": plain_params(self.get_params(deep=False)),
            "schema": self.schema_.to_json(),
            "mm": self._model.space.mm,
            "mm_columns": self.mm_columns_,
            "mm_evidence": self.mm_evidence_,
            "kept_unjudged": self._kept_unjudged,
            "settings": asdict(self.settings_),
            "seed": self._model.seed,
            "history": self.history_,
            "learnt": self._learnt,
            "n_features_in": self.n_features_in_,
            "feature_names_in": list(getattr(self, "feature_names_in_", [])),
        }
        write_bundle(path, "model", self._model.arrays(), facts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the output's columns."""
        check_is_fitted(self)
        names = [column.name for column in self.schema_.columns]
        if input_features is not None and list(input_features) != names:
            raise InputError(
                f"input_features must be the columns of fit ({', '.join(names)}); got "
                f"{', '.join(map(str, input_features))}. Leave it out."
            )
        names += indicator_names(self._model.space, self.mm_output)
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __getstate__(self) -> dict[str, Any]:
        """The imputer without the table it was fitted on."""
        state: dict[str, Any] = super().__getstate__()
        return {name: part for name, part in state.items() if name != "_fitted_on"}

    def _fit(self, X: Any, known_meaningful: Any, known_lost: Any) -> "_Question":
        """Forget any earlier fit, check everything, then learn."""
        self._forget()
        task = self._prepare(X, known_meaningful, known_lost)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if task.settings.is_amortised or self.imputer is not None:
            self._fit_values(task, seed)
        else:
            self._fit_passes(task, seed)
        return self._fitted_on

    def _fit_values(self, task: "_Task", seed: int) -> None:
        """Learn the mask, and what lost cells are expected to hold; no draw is needed for it."""
        observation = task.observation(seed)
        with self._running() as progress:
            self._begin(observation, task, 0, progress)
            belief = self._believe(observation, task, seed, progress)
            model = self._value_model(observation, task, seed, belief, progress)
            limit = parse_bytes(self.memory_limit)
            self._fitted_on = task.question
            self._become(model, model.infer(observation, limit, progress), task)
            if self.callback is not None:
                self.callback(self)

    def _value_model(
        self,
        observation: Observation,
        plan: "_Plan",
        seed: int,
        belief: Belief | None,
        progress: Progress,
    ) -> Model:
        """Learn what lost cells are expected to hold; a model of it and of the mask."""
        self.history_: list[dict[str, Any]] = []
        values = self._learn_values(observation, plan, seed, progress)
        none = np.full((0, 2), np.nan)
        return Model(
            plan.space, plan.settings, seed, None, none, belief, values, device=self.device
        )

    def _fit_passes(self, task: "_Task", given_seed: int) -> None:
        """Run Algorithm 1 pass by pass, from a checkpoint if there is one."""
        from diffjoint.diffusion.engine import Passes

        passes = Passes(
            self.checkpoint,
            task.identity,
            task.known.marked(task.values)[task.order],
            task.space,
            task.settings,
            seed=given_seed,
            is_seeded=self.random_state is not None,
            device=self.device,
        )
        seed = passes.seed
        observation = task.observation(seed)
        self.history_ = passes.history
        with self._running(draws=True) as progress, passes.explained_interrupts():
            self._begin(observation, task, passes.n_left, progress)
            belief = self._believe(observation, task, seed, progress)
            if passes.resumed is not None:
                self._take(*passes.resumed, task, seed, belief)
            limit = parse_bytes(self.memory_limit)
            for denoiser, aggregated in passes.run(observation, belief, limit, progress):
                self._take(denoiser, aggregated, task, seed, belief)
                if self.callback is not None:
                    self.callback(self)
        self._fitted_on = task.question

    def _forget(self) -> None:
        for name in ("_model", "_fitted_on", "_fit_rows_digest"):
            self.__dict__.pop(name, None)

    def _prepare(self, X: Any, known_meaningful: Any, known_lost: Any) -> "_Task":
        """Everything that can be wrong is found here, before any long work."""
        settings = self._checked_settings()
        check_device(self.device)
        table = open_table(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        _check_enough_rows(table)
        for doubt in idle_codes(table, self.reason_codes):
            warn(doubt, DataWarning, stacklevel=4)
        without_codes, schema = understand(self, table, known_meaningful, known_lost)
        _check_not_too_wide(schema)
        check_observed(without_codes, self._named_columns())
        check_unticked(without_codes, schema, self._named_columns())
        kept_unjudged = doubts_on_kept(without_codes, schema, self.column_kinds)
        carried = doubts_on_carried(without_codes, schema, self.column_kinds)
        for doubt in (*carried, *kept_unjudged):
            warn(doubt, DataWarning, stacklevel=4)
        schema = with_bounds(schema, without_codes, self.bounds)
        table, coded = read_reasons(table, self.reason_codes, schema)
        labels = open_labels(table, coded, known_meaningful, known_lost)
        rules = read_rules(self.rules, table, schema)
        settled = self._settled_columns(table, schema, coded, rules, settings)
        searched = self._searched(table, schema, settings)
        space = joint_space(table, schema, searched, settings, settled)
        settings = fitted_to(
            settings,
            n_rows=table.n_rows,
            n_coordinates=space.n_coordinates,
            by_hand=[name for name in settings_types() if getattr(self, name) is not None],
        )
        check_labels(labels, coded, table, schema, space)
        check_output(space, self.mm_output, self.mm_label)
        self._constants(table, space)
        values = open_boxes(code_table(table, schema, "error"), labels, schema)
        gaps = find_gaps(table, values, schema, "error")
        known = know(values, gaps, schema, labels, coded, rules)
        loss_rate = self._loss_rate_by_position(table, schema, space)
        for doubt in (*known.doubts, *_doubts_on_rates(loss_rate, gaps, space)):
            warn(doubt, DataWarning, stacklevel=4)
        self.settings_, self.schema_ = settings, schema
        self._kept_unjudged = kept_unjudged
        self.mm_columns_ = [table.labels[schema.modelled_positions[j]] for j in space.mm]
        return _Task(
            space,
            settings,
            self.detector,
            loss_rate,
            table,
            values,
            gaps,
            known,
            canonical_order(known.marked(values)),
        )

    def _named_columns(self) -> dict[str, list[Hashable]]:
        """Columns that something is asked of, by the option that names them."""
        named = {
            option: list(given)
            for option in ("mm_columns", "rules", "bounds")
            if isinstance(given := getattr(self, option), Collection) and not isinstance(given, str)
        }
        codes = self.reason_codes if isinstance(self.reason_codes, Mapping) else {}
        own = [label for label, meanings in codes.items() if isinstance(meanings, Mapping)]
        return {**named, "reason_codes": own}

    def _checked_settings(self) -> Settings:
        check_choice("detector", self.detector, DETECTOR_NAMES)
        check_choice("unseen", self.unseen, UNSEEN)
        check_choice("checkboxes", self.checkboxes, get_args(Checkboxes))
        check_choice("mm_output", self.mm_output, get_args(MMOutput))
        check_band(self.review_band)
        parse_bytes(self.memory_limit)
        if self.n_threads is not None:
            check_whole("n_threads", self.n_threads, 1)
        is_name = isinstance(self.mm_columns, str) and self.mm_columns != AUTO
        if is_name or not (self.mm_columns is None or np.iterable(self.mm_columns)):
            raise InputError(
                f"mm_columns must be a list of columns; got {self.mm_columns!r}. "
                f"Pass [{self.mm_columns!r}], or {AUTO!r} to have them found."
            )
        if not isinstance(self.mm_label, str):
            raise InputError(f"mm_label must be text; got {self.mm_label!r}.")
        if self.imputer is not None:
            self._check_wrapping()
        chosen = {name: getattr(self, name) for name in settings_types()}
        if self.detector == "paper":
            if self.sampler == "amortised":
                raise InputError(
                    "detector='paper' decides by the draws of sampler='inpaint'; got "
                    "sampler='amortised'. Leave sampler out, or use detector='evidence'."
                )
            chosen["sampler"] = "inpaint"
        settings = settings_for(self.preset, **chosen)
        self._say_what_is_idle(settings)
        return settings

    def _check_wrapping(self) -> None:
        """What another imputer's values cannot go with."""
        check_imputer(self.imputer)
        for name, is_used in (
            ("detector", self.detector != DEFAULT_DETECTOR),
            ("checkpoint", self.checkpoint is not None),
        ):
            if is_used:
                raise InputError(
                    f"imputer=... gives the values, so that no diffusion model is trained; "
                    f"{name}={getattr(self, name)!r} needs one. Leave out one or the other."
                )

    def _say_what_is_idle(self, settings: Settings) -> None:
        if self.imputer is not None:
            usual = asdict(settings_for(self.preset))
            set_for_it = [
                f"{name}={getattr(self, name)!r}"
                for name in usual.keys() - {"threshold", "joint"}
                if getattr(self, name) not in (None, usual[name])
            ]
            if set_for_it:
                warn(
                    f"{', '.join(sorted(set_for_it))}: set for diffjoint's own models, which are "
                    "not learnt where imputer=... gives the values. Leave it out.",
                    DataWarning,
                    stacklevel=6,
                )
            return
        idle = [f"{name}={value!r}" for name, value in idle_settings(self.preset, settings).items()]
        if self.checkpoint is not None and settings.is_amortised:
            idle.append(f"checkpoint={str(self.checkpoint)!r}")
        if idle:
            other = "inpaint" if settings.is_amortised else "amortised"
            or_else = "" if self.detector == "paper" else f", or set sampler={other!r}"
            warn(
                f"{', '.join(idle)}: set, but sampler={settings.sampler!r} does not use it, so "
                f"that it changes nothing. Leave it out{or_else}.",
                DataWarning,
                stacklevel=6,
            )

    def _loss_rate_by_position(self, table: Table, schema: Schema, space: JointSpace) -> LossRate:
        """The loss rate asked for, by position among the modelled columns."""
        if self.loss_rate is None:
            return None
        rates = self.loss_rate if isinstance(self.loss_rate, Mapping) else {None: self.loss_rate}
        for label, rate in rates.items():
            if not isinstance(rate, Real) or not 0.0 <= float(rate) < 1.0:
                where = "" if label is None else f" for {label!r}"
                raise InputError(
                    f"loss_rate must be at least 0 and below 1{where}; got {rate!r}. It is the "
                    "share of cells that were lost where there was something to record."
                )
        if self.detector != DEFAULT_DETECTOR:
            raise InputError(
                f"loss_rate is for detector={DEFAULT_DETECTOR!r}; got detector={self.detector!r}, "
                "which does not use it. Leave it out."
            )
        if not isinstance(self.loss_rate, Mapping):
            return float(self.loss_rate)
        modelled = schema.modelled_positions.tolist()
        places = {}
        for label, rate in rates.items():
            place = table.require(label, "loss_rate")
            is_searched = place in schema.modelled_positions[list(space.mm)]
            if not is_searched and isinstance(self.mm_columns, str):
                continue
            if not is_searched:
                searched = [schema.modelled[j].name for j in space.mm]
                raise InputError(
                    f"loss_rate names {label!r}, which is not among mm_columns ({searched}). Rates "
                    "are for those; the others are counted."
                )
            places[modelled.index(place)] = float(rate)
        return places

    def _settled_columns(
        self,
        table: Table,
        schema: Schema,
        coded: Labels,
        rules: tuple[Rule, ...],
        settings: Settings,
    ) -> list[int]:
        """Places of the columns that rules and reason codes make searched."""
        ruled = [int(schema.modelled_positions[rule.target]) for rule in rules]
        by_codes = searched_by_codes(table, self.reason_codes, coded)
        to_judge = [i for i in by_codes if not schema.columns[i].is_checkbox]
        positions = sorted({*ruled, *to_judge})
        if positions and not settings.joint:
            raise InputError(
                "joint=False imputes every missing cell; rules and codes that mean 'meaningful' "
                "keep some. Leave out one or the other."
            )
        for position in positions:
            if not schema.columns[position].is_modelled:
                raise InputError(
                    f"'{table.names[position]}' has codes that mean 'meaningful', but is passed "
                    "through unmodelled (an id or free text). Set its kind in column_kinds."
                )
        return positions

    def _searched(self, table: Table, schema: Schema, settings: Settings) -> list[Hashable]:
        self.mm_evidence_: list[dict[str, Any]] = []
        if isinstance(self.mm_columns, str):
            if settings.joint:
                with self._running() as progress:
                    self.mm_evidence_ = search(table, schema, progress)
            self._say_what_was_not_judged()
            return [found["column"] for found in self.mm_evidence_ if found["is_named"]]
        if self.mm_columns is not None:
            return list(self.mm_columns)
        if self.rules or self.reason_codes:
            return []
        to_fill = schema.modelled_positions[~schema.checkboxes]
        if self.joint is not False and any(table.missing(i).any() for i in to_fill):
            warn(
                "mm_columns is not given: every missing cell is taken for lost and will be "
                "imputed. Name the columns in which a missing cell may be meaningful, or pass "
                "mm_columns='auto' to have them found, or [] if there are none.",
                DataWarning,
                stacklevel=5,
            )
        return []

    def _say_what_was_not_judged(self) -> None:
        for doubt in not_judged(self.mm_evidence_):
            warn(doubt, DataWarning, stacklevel=6)

    def _begin(
        self, observation: Observation, task: "_Plan", n_passes: int, progress: Progress
    ) -> None:
        """Tell how much there is to do in all phases together."""
        progress.begin(
            fit_units(
                observation,
                task.space,
                task.settings,
                by_evidence=self.detector == DEFAULT_DETECTOR,
                n_passes=n_passes,
            )
        )

    def _believe(
        self, observation: Observation, task: "_Plan", seed: int, progress: Progress
    ) -> Belief | None:
        """What the detector thinks of the mask before anything is drawn; doubts are told."""
        step = Scaled(progress, evidence_units(observation, task.settings))
        belief = DETECTORS[self.detector](observation, task.space, task.loss_rate, seed, step)
        for doubt in belief.doubts if belief else ():
            warn(doubt, DataWarning, stacklevel=5)
        if task.settings.is_amortised or belief is None:
            return belief
        return belief.ready_to_draw(observation, seed, step)

    def _take(
        self,
        denoiser: Arrays,
        aggregated: Aggregated,
        task: "_Task",
        seed: int,
        belief: Belief | None,
    ) -> None:
        """Become the imputer that a pass has made."""
        model = Model(
            task.space,
            task.settings,
            seed,
            denoiser,
            aggregated.clusters,
            belief,
            device=self.device,
        )
        self._become(model, aggregated, task)

    def _learn_values(
        self, observation: Observation, task: "_Plan", seed: int, progress: Progress
    ) -> Expectation | Wrapped:
        """What lost cells are expected to hold, by another imputer or by ours."""
        if self.imputer is not None:
            progress.begin(1)
            return learn_wrapped(self.imputer, observation, task.space, seed, progress)
        step = Scaled(progress, value_units(observation, task.space, task.settings))
        n_boosters = task.settings.n_boosters
        return learn_values(observation, task.space, n_boosters, seed, step)

    def _is_amortised(self) -> bool:
        """Whether draws come from a denoiser of its own, beside the values filled in."""
        return isinstance(self._model.expectation, Expectation)

    def _check_can_sample(self) -> None:
        """Raise, with what to do, if there is nothing to draw from."""
        if self.can_sample_:
            return
        if isinstance(self._model.expectation, Wrapped):
            raise InputError(
                "Draws need diffjoint's own model of the values; this imputer was fitted with "
                "imputer=..., whose values do not vary. Fit with imputer=None to sample."
            )
        if not hasattr(self, "meaningful_"):
            raise InputError(
                "Draws need a model that was saved with them; this one was saved without. Where it "
                "was fitted, save it with save(path, draws=True) or diffjoint fit --draws; or fit "
                "again here. Everything but sample works without."
            )
        raise InputError(
            "Drawing is learnt from the table of fit when draws are first asked for; this is a "
            "copy of an imputer, which does not hold that table. Call sample, or "
            "save(path, draws=True), before copying, or fit again."
        )

    def _learn_to_draw(self, progress: Progress) -> None:
        """Train the denoiser when draws are first asked for: nothing else needs it."""
        from diffjoint.diffusion.engine import train_drawer

        model = self._model
        if model.denoiser is not None:
            return
        question = self._fitted_on
        order = canonical_order(question.known.marked(question.values))
        drawer = train_drawer(
            self._observe(question).take(order),
            model.space,
            model.settings,
            model.belief,
            self._on_fit_rows.take(order),
            seed=model.seed,
            device=self.device,
            memory_limit=parse_bytes(self.memory_limit),
            progress=progress,
        )
        self._model = replace(
            model,
            denoiser=drawer.denoiser,
            shares=drawer.shares,
            belief=drawer.belief,
            device=self.device,
        )
        self.history_ = drawer.history

    def _become(self, model: Model, aggregated: Aggregated, task: "_Task") -> None:
        """What was learnt, and what it says of the rows of fit in their own order."""
        self._model = model
        self._on_fit_rows = aggregated.take(np.argsort(task.order))
        self._fit_rows_digest = _digest(task.values, task.gaps, task.known)
        self._learnt = _learnt(model, self._on_fit_rows, self._fit_rows_digest)
        settled = task.known.settle(self._on_fit_rows.state)
        self.meaningful_ = spread(settled.meaningful, task.table, self.schema_)

    def _open(
        self, X: Any, known_meaningful: Any, known_lost: Any, *, is_part: bool = False
    ) -> "_Question":
        """A table to work on, if it has the columns of ``fit``; of a part, doubts are not told."""
        check_is_fitted(self)
        table = open_table(X)
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            names = ", ".join(column.name for column in self.schema_.columns)
            raise InputError(
                f"{str(error).rstrip()} Pass the columns that fit saw, in their order: {names}."
            ) from error
        space = self._model.space
        check_output(space, self.mm_output, self.mm_label)
        table, coded = read_reasons(table, self.reason_codes, self.schema_)
        labels = open_labels(table, coded, known_meaningful, known_lost)
        check_labels(labels, coded, table, self.schema_, space)
        values = open_boxes(code_table(table, self.schema_, self.unseen), labels, self.schema_)
        gaps = find_gaps(table, values, self.schema_, self.unseen)
        rules = read_rules(self.rules, table, self.schema_)
        known = know(values, gaps, self.schema_, labels, coded, rules)
        question = _Question(table, values, gaps, known)
        for doubt in () if is_part or self._is_of_fit(question) else question.known.doubts:
            warn(doubt, DataWarning, stacklevel=4)
        return question

    def _is_of_fit(self, question: "_Question") -> bool:
        return bool(question.digest == getattr(self, "_fit_rows_digest", None))

    def _observe(self, question: "_Question") -> Observation:
        space, seed = self._model.space, self._model.seed
        return observe(question.values, question.gaps, space, seed, question.known)

    def _asked(self, question: "_Question", called: Mask | None = None) -> Asked:
        """Who can explain the cells of a table, if anyone can."""
        belief = self._model.belief
        if belief is None and not self._model.space.mm:
            raise InputError(
                "There is nothing to explain: no column was searched in fit, so that every missing "
                "cell is taken for lost. Fit with mm_columns."
            )
        if belief is None:
            raise InputError(
                f"explain is for detector={DEFAULT_DETECTOR!r}; this imputer was fitted with "
                f"detector={self.detector!r}, which decides by how much drawn values disagree. "
                "Look at uncertainty(X), or fit with the other detector."
            )
        if called is None:
            called = question.known.settle(self._infer(question).state).meaningful
        waiting = {
            rule.target: (question.known.undecided[:, rule.target], rule.text)
            for rule in question.known.rules
        }
        observation = self._observe(question)
        return Asked(question.table, observation, self.schema_, belief, called, waiting)

    def _checked(
        self, question: "_Question", random_state: int | np.random.RandomState | None
    ) -> SelfCheck:
        """A table checked by itself."""
        loss_rate = self._loss_rate_by_position(question.table, self.schema_, self._model.space)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        with self._running() as progress:
            return check_table(self._observe(question), self._model, loss_rate, seed, progress)

    def _findings(
        self, question: "_Question", inferred: Aggregated, check: SelfCheck | None
    ) -> Findings:
        """All that the report is made from."""
        state = question.known.settle(inferred.state)
        candidates = self._observe(question).candidates
        band = check_band(self.review_band)
        given = self.get_params(deep=False)
        usual = SelectiveImputer().get_params(deep=False)
        chosen = {name: value for name, value in given.items() if repr(value) != repr(usual[name])}
        return Findings(
            question.table,
            self.schema_,
            self._model.space.mm,
            state.values,
            question.gaps,
            state.meaningful,
            question.known.certain(inferred.meaningful_score),
            candidates & ~question.known.undecided,
            within(band, inferred.meaningful_score, candidates),
            inferred.threshold,
            band,
            self._asked(question, state.meaningful) if self._model.belief else None,
            (*self.doubts_, *question.known.doubts, *not_judged(self.mm_evidence_)),
            self.history_,
            {"detector": self.detector, **asdict(self.settings_), **chosen},
            None if check is None else check.to_dict(),
        )

    def _infer(self, question: "_Question") -> Aggregated:
        """What the model says of a table; what it said in ``fit`` if this is that table."""
        if self._is_of_fit(question):
            return self._on_fit_rows
        with self._running(draws=self._model.expectation is None) as progress:
            limit = parse_bytes(self.memory_limit)
            return self._model.infer(self._observe(question), limit, progress)

    def _said(self, question: "_Question", result: Imputation | None) -> Aggregated:
        """What was inferred of a table already, if ``result`` is of it; otherwise it is now."""
        if result is None:
            return self._infer(question)
        if not isinstance(result, Imputation):
            raise InputError(
                f"result must be what impute(X) returned, an Imputation; got "
                f"{type(result).__name__}. Pass that, or leave it out."
            )
        if result._learnt != self._learnt:
            raise InputError(
                "result must be what impute(X) of this imputer said, as it is fitted now; it comes "
                "from another imputer or an earlier fit. Call impute(X) again, or leave it out."
            )
        if result._digest != question.digest:
            raise InputError(
                "result must be what impute(X) said of this X, with the same known cells; it is of "
                "another table. Pass this table's, or leave it out."
            )
        return result._inferred

    def _imputation(self, question: "_Question", inferred: Aggregated | None = None) -> Imputation:
        band = check_band(self.review_band)
        table, gaps = question.table, question.gaps
        inferred = self._infer(question) if inferred is None else inferred
        state = question.known.settle(inferred.state)
        meaningful = state.meaningful
        review = within(band, inferred.meaningful_score, self._observe(question).candidates)
        is_missing = np.column_stack([table.missing(i) for i in range(table.n_columns)])
        n_left = int(is_missing.sum()) - int(is_missing[:, self.schema_.modelled_positions].sum())
        units = np.array([column.unit for column in self.schema_.modelled])
        uncertainty = np.where(gaps, inferred.uncertainty / units, 0.0)
        likely = question.known.certain(inferred.meaningful_score)
        cells = (meaningful, likely, uncertainty, review)
        frames = [table.like(spread(part, table, self.schema_)) for part in cells]
        return Imputation(
            table=self._complete(question, state),
            meaningful=frames[0],
            probability=frames[1],
            uncertainty=frames[2],
            review=frames[3],
            n_observed=is_missing.size - int(gaps.sum()) - n_left,
            n_kept=int(meaningful.sum()),
            n_imputed=int(gaps.sum()) - int(meaningful.sum()),
            n_left=n_left,
            n_review=int(review.sum()),
            n_unticked=int((meaningful & question.known.checkboxes).sum()),
            _inferred=inferred,
            _digest=question.digest,
            _learnt=self._learnt,
        )

    def _complete(self, question: "_Question", state: JointState) -> Any:
        return complete(
            question.table,
            self._model.space,
            state.values,
            state.meaningful,
            question.gaps,
            self.mm_output,
            self.mm_label,
            self._constants(question.table, self._model.space),
        )

    def _constants(self, table: Table, space: JointSpace) -> dict[int, Any]:
        """What meaningful cells of some columns get."""
        were_found = isinstance(self.mm_columns, str)
        return read_constants(self.mm_fill, table, space, were_found=were_found)

    @contextmanager
    def _running(self, *, draws: bool = False, is_shown: bool = True) -> Iterator[Progress]:
        """Show progress as asked for and keep to the threads set; both as before afterwards.

        Parameters
        ----------
        draws : bool
            Whether the diffusion model is used, so that torch is loaded and kept to them as well.
        is_shown : bool
            False: progress is not shown, whatever ``verbose`` says.
        """
        _keep_freed_memory()
        n_threads = None if self.n_threads is None else int(self.n_threads)
        with _torch_threads(n_threads) if draws else nullcontext(), threadpool_limits(n_threads):
            if self.verbose and is_shown:
                with progress_bar() as progress:
                    yield progress
            else:
                yield Silence()


def load(path: str | os.PathLike[str], *, device: str = "auto") -> SelectiveImputer:
    """Read an imputer that :meth:`SelectiveImputer.save` wrote.

    Parameters
    ----------
    path : path
    device : str
        Where to run it; it need not be where it was fitted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer, load
    >>> from diffjoint.simulate import household_survey
    >>> world = household_survey(300)
    >>> survey = world.observed_table
    >>> imputer = SelectiveImputer(world.mm_columns, max_epochs=1, random_state=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.diffjoint"
    >>> imputer.fit(survey).save(path)
    >>> load(path).transform(survey).equals(imputer.transform(survey))
    True
    """
    arrays, facts = read_bundle(path, "model")
    check_stored(path, arrays, facts)
    try:
        return _imputer_from(arrays, facts, device)
    except (KeyError, TypeError, IndexError) as error:
        raise ModelFileError(
            f"{path} is laid out in another way than this diffjoint reads ({error!r}). Use the "
            "diffjoint release that wrote it, or fit and save again."
        ) from error


def _imputer_from(arrays: Arrays, facts: dict[str, Any], device: str) -> SelectiveImputer:
    """The imputer whose arrays and facts :meth:`SelectiveImputer.save` wrote."""
    check_device(device)
    imputer = SelectiveImputer(**params_from(facts["params"]), device=device)
    imputer.settings_ = Settings(**facts["settings"])
    imputer.schema_ = Schema.from_json(facts["schema"])
    imputer.mm_columns_ = [label_from(label) for label in facts["mm_columns"]]
    imputer.mm_evidence_ = [
        {**found, "column": label_from(found["column"])} for found in facts["mm_evidence"]
    ]
    imputer._kept_unjudged = tuple(facts["kept_unjudged"])
    imputer.history_ = facts["history"]
    imputer._learnt = facts["learnt"]
    imputer.n_features_in_ = facts["n_features_in"]
    if facts["feature_names_in"]:
        imputer.feature_names_in_ = np.asarray(facts["feature_names_in"], dtype=object)
    settings = imputer.settings_
    space = JointSpace(
        imputer.schema_, tuple(facts["mm"]), settings.sigma_data, settings.is_amortised
    )
    imputer._model = model_from(arrays, space, imputer.settings_, facts["seed"], device)
    return imputer


def understand(
    imputer: SelectiveImputer, table: Table, known_meaningful: Any = None, known_lost: Any = None
) -> tuple[Table, Schema]:
    """Return a table without its reason codes, and what ``fit`` takes its columns for.

    Parameters
    ----------
    known_meaningful, known_lost : as in ``fit``
    """
    without_codes, coded = read_reasons(table, imputer.reason_codes)
    said = open_labels(without_codes, coded, known_meaningful, known_lost)
    by_hand = (said.meaningful & ~coded.meaningful) | (said.lost & ~coded.lost)
    options = imputer._named_columns()
    codes = imputer.reason_codes or {}
    options["codes"] = [c for c in options["reason_codes"] if "meaningful" in codes[c].values()]
    places = {
        option: {table.position(label) for label in labels} for option, labels in options.items()
    }
    named = {j for option in ("mm_columns", "rules", "codes") for j in places.get(option, ())}
    labelled = {j for part in places.values() for j in part if j is not None}
    labelled |= set(np.flatnonzero(by_hand.any(axis=0)).tolist())
    if imputer.joint is False:  # everything is to be imputed
        named |= set(range(table.n_columns))
    schema = infer_schema(
        without_codes,
        imputer.column_kinds,
        checkboxes=imputer.checkboxes,
        named={j for j in named if j is not None},
        labelled=labelled,
    )
    return without_codes, schema


def learn_only(imputer: SelectiveImputer, read: Callable[[], Any]) -> None:
    """Fit on a table that is let go as soon as it is coded; nothing is said of its rows.

    :func:`impute_blocks` then says it, block by block, and says the same as ``fit`` and ``impute``.

    Parameters
    ----------
    imputer : SelectiveImputer
        One that makes no draws to fit: ``sampler="amortised"``, ``detector="evidence"``.
    read : callable
        Gives the table, and does not hold it.
    """
    imputer._forget()
    task = imputer._prepare(read(), None, None)
    seed = int(check_random_state(imputer.random_state).randint(2**31 - 1))
    observation, plan = task.observation(seed), task.plan
    del task
    give_back()
    with imputer._running() as progress:
        imputer._begin(observation, plan, 0, progress)
        belief = imputer._believe(observation, plan, seed, progress)
        imputer._model = imputer._value_model(observation, plan, seed, belief, progress)
    imputer._learnt = ""
    del observation
    give_back()


def impute_blocks(
    imputer: SelectiveImputer, blocks: Callable[[], Iterable[Any]]
) -> Iterator[Imputation]:
    """Complete a table some rows at a time: what ``impute`` says of the whole, in parts.

    Parameters
    ----------
    imputer : SelectiveImputer
        Fitted, and of the kind that :func:`learn_only` fits.
    blocks : callable
        Gives the rows of a table, in blocks, each time that it is called: which repeat of others a
        row is counts in the whole table, so that it is looked through first.
    """
    model, limit = imputer._model, parse_bytes(imputer.memory_limit)
    parts = (imputer._open(X, None, None, is_part=True).values for X in blocks())
    content = np.concatenate([content_keys(values, seed=0) for values in parts])
    folds = None if model.belief is None else model.belief.judges(told_apart(content))
    first = 0
    with imputer._running(is_shown=False) as progress:
        for X in blocks():
            question = imputer._open(X, None, None, is_part=True)
            last = first + question.table.n_rows
            own = None if folds is None else folds[first:last]
            inferred = model.infer(imputer._observe(question), limit, progress, own)
            yield imputer._imputation(question, inferred)
            first = last


@dataclass(frozen=True)
class _Plan:
    """How a table is to be learnt."""

    space: JointSpace
    settings: Settings
    detector: str
    loss_rate: LossRate


@dataclass(frozen=True)
class _Task(_Plan):
    """A table, checked and coded, and how it is to be learnt."""

    table: Table
    values: Values
    gaps: Mask
    known: Knowledge
    order: NDArray[np.intp]

    @property
    def plan(self) -> _Plan:
        """The plan without the table."""
        return _Plan(self.space, self.settings, self.detector, self.loss_rate)

    def observation(self, seed: int) -> Observation:
        """What is known of the table, in its canonical order."""
        return observe(self.values, self.gaps, self.space, seed, self.known).take(self.order)

    @property
    def question(self) -> "_Question":
        """The table as one that something is asked about."""
        return _Question(self.table, self.values, self.gaps, self.known)

    @property
    def identity(self) -> list[Any]:
        """What tells a run from others on the same table with the same settings."""
        rules = [(rule.target, rule.text) for rule in self.known.rules]
        labelled = np.packbits(self.known.labelled[self.order]).tobytes()
        return [self.detector, self.loss_rate, rules, hashlib.sha256(labelled).hexdigest()]


@dataclass(frozen=True)
class _Question:
    """A table that something is asked about: coded, with the cells to be filled or kept."""

    table: Table
    values: Values
    gaps: Mask
    known: Knowledge

    @cached_property
    def digest(self) -> str:
        """What tells this table from others."""
        return _digest(self.values, self.gaps, self.known)


def _torch_threads(n_threads: int | None) -> AbstractContextManager[None]:
    """Load torch, and let it use so many threads."""
    from diffjoint.diffusion.engine import limited_threads

    return limited_threads(n_threads)


def _keep_freed_memory() -> None:
    """Free one large block, after which the C library keeps what is freed for what comes next.

    Otherwise glibc hands each layer's output back to the system and takes it anew for the next
    batch, which costs a fifth of the run time. Its limit for this grows with the largest block
    freed, up to 32 MiB.
    """
    np.empty(31 * 2**20, dtype=np.uint8)


def _check_not_too_wide(schema: Schema) -> None:
    n_columns = len(schema.modelled)
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"X must have at most {MOST_COLUMNS:,} columns to model; it has {n_columns:,}. Leave "
            "out columns that say nothing about others, or carry them along as they are: "
            "column_kinds={name: 'pass-through'}."
        )


def _check_enough_rows(table: Table) -> None:
    if table.n_rows < MIN_ROWS:
        raise InputError(
            f"fit needs at least {MIN_ROWS} rows; X has n_samples = {table.n_rows}. Pass more rows."
        )


def _doubts_on_rates(loss_rate: LossRate, gaps: Mask, space: JointSpace) -> tuple[str, ...]:
    """Columns said to lose more cells than they miss, by more than chance explains."""
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(space.mm, loss_rate)
    above = []
    for j, rate in given.items():
        missing = gaps[:, j].mean()
        error = np.sqrt((rate or 0.0) * (1 - (rate or 0.0)) / len(gaps))
        if rate is not None and missing > 0 and rate > missing + TOO_FAR * error:
            name = space.schema.modelled[j].name
            above.append(f"'{name}' (given {rate:.1%}, missing {missing:.1%})")
    if not above:
        return ()
    return (
        f"loss_rate is above the share of missing cells in {', '.join(above)}. No column loses "
        "more cells than it misses. Lower it, or leave it out to have it estimated.",
    )


def _digest(values: Values, gaps: Mask, known: Knowledge) -> str:
    """What tells a table from others: its cells, its gaps, and what is known of them."""
    digest = hashlib.sha256(np.ascontiguousarray(known.marked(values)).tobytes())
    digest.update(np.packbits(gaps).tobytes())
    return digest.hexdigest()


def _learnt(model: Model, said: Aggregated, fit_rows: str) -> str:
    """What tells what was learnt from what others learnt; a copy or a saved one has the same.

    Parameters
    ----------
    said : Aggregated
        What is said of the rows of ``fit``: values of another model differ, whoever gives them.
    fit_rows : str
        What tells those rows from others.
    """
    facts = (fit_rows, model.seed, model.space.mm, model.settings, model.space.schema)
    digest = hashlib.sha256(repr(facts).encode())
    for part in (said.values, said.uncertainty, said.meaningful_score):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
