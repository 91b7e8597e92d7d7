"""SelectiveImputer, a scikit-learn transformer."""

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from diffjoint.errors import InputError
from diffjoint.fitting.fit import Learned, fit_passes, fit_values
from diffjoint.fitting.fitted import Fitted, fitted_from
from diffjoint.fitting.model import check_device
from diffjoint.fitting.options import choose_settings
from diffjoint.fitting.prepare import (
    CodedTable,
    Given,
    Task,
    Understood,
    prepare_fit,
    understand,
)
from diffjoint.fitting.running import running
from diffjoint.fitting.saving import Saved, read_model, write_model
from diffjoint.fitting.stored import laid_out_otherwise
from diffjoint.inference import InferenceMixin
from diffjoint.parameters.checks import AUTO, check_draws
from diffjoint.parameters.choices import Band, Checkboxes, DrawsName, MMOutput
from diffjoint.results.complete import USUAL_LABEL, check_output, in_table_shape, indicator_names
from diffjoint.results.constants import read_constants, read_meanings
from diffjoint.results.explain import (
    REVIEW_BAND,
)
from diffjoint.settings import DEFAULT_DETECTOR, DEFAULT_MEMORY_LIMIT, DEFAULT_PRESET, Diffusion
from diffjoint.storage.atomic import check_writable
from diffjoint.storage.bundles import Key, check_key
from diffjoint.table import Table, open_table


class SelectiveImputer(InferenceMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Impute the cells that were lost; keep those that are missing for a reason.

    Missing cells of ``mm_columns`` that are called meaningful stay NA, all other missing cells are
    filled with what is expected there, by boosted trees. :meth:`sample` draws several tables, in
    which values and mask vary. With ``detector="paper"`` a diffusion model of values and mask
    decides everything, as in the paper: training it and drawing from it alternate.

    Parameters
    ----------
    mm_columns : "auto" or list of labels, default="auto"
        Columns in which a missing cell may be meaningful. "auto": those whose missing cells
        losses alone cannot explain; ``found_`` says which and why. [] or None: no column, every
        missing cell is imputed. Columns with a rule, or with a code that means "meaningful", are
        searched as well.
    imputer : scikit-learn imputer, optional
        Another imputer for the values, such as ``IterativeImputer()``, of which a copy is fitted.
        Which cells are filled is decided as without it. It sees
        numbers in standard deviations from their mean and categories as 0/1 coordinates; its
        answers are taken back to the nearest level, to whole numbers where a column holds those,
        and into the observed range or ``bounds``. Such an imputer can neither :meth:`sample` nor
        be saved.
    preset : {"fast", "balanced", "paper"}, default="fast"
        Where settings that are left at None come from. ``n_boosters`` and the denoiser's width
        are then fitted to the table. The numbers used are in ``settings_``.
    detector : {"evidence", "paper"}, default="evidence"
        How meaningful cells are told from lost ones: by which cells are missing together, or by
        how much drawn values disagree, as in the paper.
    loss_rate : float or dict, optional
        Share of cells that get lost where there was something to record, in all of
        ``mm_columns`` or by column label. None: estimated from the columns that cannot be
        meaningful, and from each column's own lowest rate.
    threshold : float, optional
        P(meaningful) above which a missing cell is kept as NA; one half if not given.
    reason_codes : dict, optional
        Codes in X that say why a cell is missing: column labels to mappings of codes to
        "meaningful" or "lost", or to "missing" if that is unknown, such as
        ``{"income": {"refused": "lost"}}``. A code beside the labels, ``{-9: "lost"}``, holds in
        all columns. Cells with a code are read as missing.
    rules : dict, optional
        When a column has something to record, such as ``{"spouse_age": 'married == "yes"'}``: a
        missing cell is meaningful exactly where its rule fails. Where the rule asks for a
        missing cell, that cell's filled value decides.
    use_found_rules : bool, default=False
        Whether rules that ``fit`` finds in the table (``rules_``) are kept to as those in
        ``rules``, which come first. Rules are sought with ``detector="evidence"``.
    review_band : pair of float or None, default=(0.2, 0.8)
        P(meaningful) between which a person should look at a cell, see :meth:`review`. It changes
        no call. With ``detector="paper"`` it is a band of scores, not of probabilities. None: no
        cell is named.
    column_kinds : dict, optional
        Kind by column label, where the inferred one (see ``schema_``) is wrong: "continuous",
        "integer", "categorical", "checkbox", "datetime" or "pass-through".
    checkboxes : {"keep", "fill"}, default="keep"
        What happens to columns that hold one value or nothing. "keep": a missing cell means that
        a box is not ticked. It stays NA, is used as such to judge and fill other cells, and does
        not count as a loss. "fill": they are categories, and their cells may be lost like others.
        ``column_kinds`` sets it for one column; columns in ``mm_columns``, with a rule or with a
        code that means "meaningful" are never checkboxes.
    unseen : {"warn", "keep", "missing", "error"}, default="warn"
        A level in ``transform`` that ``fit`` did not see: leave it as it is and out of the model,
        with or without a warning; treat the cell as missing (it is imputed or called meaningful);
        or refuse it.
    mm_output : {"na", "category", "indicator"}, default="na"
        Meaningful cells in the output: NA; a level of their own (``mm_label``) in text columns
        and an indicator for other columns; or filled like lost ones, with a column
        ``<name>_meaningful`` that says which they are.
    mm_label : str or dict, default="not applicable"
        What meaningful cells mean: the level for ``mm_output="category"``, in all columns or by
        column label, such as ``{"deck": "never recorded"}``. What is said of a column is said in
        the report, too.
    mm_fill : dict, optional
        What meaningful cells of a column get in the output, such as ``{"pack_years": 0}``, in
        place of what ``mm_output`` says. They are meaningful still, see :meth:`predict_mm`.
    bounds : dict, optional
        Lowest and highest value to fill in, by column label, such as ``{"age": (0, 120)}``; None
        leaves a side open. They hold for imputed values and draws, in place of the observed range.
    diffusion : Diffusion, optional
        Settings of the diffusion model, such as ``Diffusion(width=64)``; see
        :class:`diffjoint.Diffusion`.
    n_boosters : int, optional
        Boosted models of each column whose mean is filled in. If not given: three for tables of
        fewer than 5,000 rows, otherwise as ``preset`` has it.
    n_threads : int, optional
        Threads that torch and the boosted trees may use; None leaves what is set. Tables of 12
        columns and more and fewer than 30,000 rows are learnt by as many processes instead.
    memory_limit : int or str, default="1GB"
        Memory for draws, such as "500MB". The result does not depend on it.
    callback : callable, optional
        Called with the imputer after each pass, or once if there are none; it can already
        transform.
    verbose : bool, default=False
        Show progress and time left.
    random_state : int, RandomState or None, default=None
        Same state, same table, same settings: same result.

    Attributes
    ----------
    schema_ : Schema
        The columns as understood; print it. Columns of fewer than 20 observed cells, with more
        missing ones, are passed through unless an option speaks of them.
    mm_columns_ : list
        The searched columns.
    found_ : str
        With ``mm_columns="auto"``, which columns are searched and why, in a few lines to print.
        Empty otherwise.
    mm_evidence_ : list of dict
        With ``mm_columns="auto"``, what speaks for and against each column, as
        :func:`diffjoint.find_mm_columns` says it; empty otherwise.
    rules_ : tuple of FoundRule
        When searched columns have something to record, found in the table of ``fit``, gates
        first; print them. Columns in ``rules`` are left out.
    meaningful_ : bool array of shape (n_rows, n_columns)
        The calls on the rows of ``fit``.
    history_ : list of dict
        Per pass of the diffusion model: loss, epochs, share of candidate cells called meaningful,
        share of calls changed since the last pass, change of the imputed values in standard
        deviations. The default trains it when draws by diffusion are first asked for, in ``sample``
        or ``save(path, draws="diffusion")``.
    settings_ : Settings
        The numbers used.
    can_sample_ : bool
        Whether :meth:`sample` works. An imputer that was loaded draws if it was saved with
        ``draws=True`` or after it had drawn; everything else works in any case.
    doubts_ : tuple of str
        What the calls rest on and the table cannot confirm; ``fit`` warns of it, too.
    n_features_in_ : int
        Number of columns of ``fit``.
    feature_names_in_ : array of str
        Their names, if all are text.

    See Also
    --------
    diffjoint.inspect : A first look at a table, before anything is fitted.
    diffjoint.keep_na : Put meaningful cells back after any other tool.
    diffjoint.pool : Combine the estimates from several draws.

    References
    ----------
    Zhang, Ouyang, Li, Zhu, Cheng and Xie: Learning What Not to Impute: An Uncertainty-Aware
    Diffusion Framework for Meaningful Missingness.

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
    >>> imputer = SelectiveImputer(["spouse_age"], random_state=0)
    >>> completed = imputer.fit_transform(survey)
    >>> int(completed["age"].isna().sum()), completed.shape
    (0, (200, 3))
    """

    _fitted: Fitted
    _kept_unjudged: tuple[str, ...]

    def __init__(
        self,
        mm_columns: Sequence[Hashable] | str | None = AUTO,
        *,
        imputer: Any = None,
        preset: str = DEFAULT_PRESET,
        detector: str = DEFAULT_DETECTOR,
        loss_rate: float | Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reason_codes: Mapping[Any, Any] | None = None,
        rules: Mapping[Any, str] | None = None,
        use_found_rules: bool = False,
        review_band: Band | None = REVIEW_BAND,
        column_kinds: Mapping[Any, str] | None = None,
        checkboxes: Checkboxes = "keep",
        unseen: str = "warn",
        mm_output: MMOutput = "na",
        mm_label: str | Mapping[Any, str] = USUAL_LABEL,
        mm_fill: Mapping[Any, Any] | None = None,
        bounds: Mapping[Any, Any] | None = None,
        diffusion: Diffusion | None = None,
        n_boosters: int | None = None,
        n_threads: int | None = None,
        memory_limit: int | str = DEFAULT_MEMORY_LIMIT,
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
        self.use_found_rules = use_found_rules
        self.review_band = review_band
        self.column_kinds = column_kinds
        self.checkboxes = checkboxes
        self.unseen = unseen
        self.mm_output = mm_output
        self.mm_label = mm_label
        self.mm_fill = mm_fill
        self.bounds = bounds
        self.diffusion = diffusion
        self.n_boosters = n_boosters
        self.n_threads = n_threads
        self.memory_limit = memory_limit
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``diffusion__width=64`` sets one of the diffusion model's.

        Parameters
        ----------
        **params
            By name. Where ``diffusion`` is None, a ``Diffusion`` is made.

        Returns
        -------
        self
        """
        prefix = "diffusion__"
        inner = {n.removeprefix(prefix): v for n, v in params.items() if n.startswith(prefix)}
        super().set_params(**{n: v for n, v in params.items() if not n.startswith(prefix)})
        if inner:
            self.diffusion = (self.diffusion or Diffusion()).with_params(**inner)
        return self

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
        self._fit(self._understand(Given(X, known_meaningful, known_lost)))
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
        return self._complete(self._open(Given(X, known_meaningful, known_lost)))

    def fit_transform(
        self, X: Any, y: Any = None, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Any:
        """Fit to a table and complete it: ``fit(X).transform(X)`` without drawing twice."""
        understood = self._understand(Given(X, known_meaningful, known_lost))
        return self._complete(self._fit(understood))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        draws: bool | DrawsName = False,
        key: Key | None = None,
        row_marks: bool = True,
    ) -> None:
        """Save the fitted imputer to one file, without pickle; :func:`load` reads it back.

        Parameters
        ----------
        path : path
        draws : bool, "trees" or "diffusion"
            True or a name: what is loaded can :meth:`sample`, by what :meth:`sample` uses unless
            told otherwise, or by what is named. It is learnt first if it was not yet. False:
            nothing is learnt; what was learnt already is saved, see ``can_sample_``.
        key : str or bytes, optional
            A secret of at least 16 characters that signs the file: ``load(path, key=key)`` reads
            no file that somebody without it wrote or altered.
        row_marks : bool
            False: leave out the 32 bits by which each row of ``fit`` is known again, so that
            nobody can ask the file whether a row was there. Rows of ``fit`` are then judged as new
            ones are, and their P(meaningful) is a little too sure.
        """
        check_is_fitted(self)
        if key is not None:
            check_key(key)
        if draws is not False:
            asked = None if draws is True else draws
            check_draws(asked)
            by = self._fitted.choose_draws(asked)
            check_writable(path)
            options, uses_torch = self._options, by == "diffusion"
            with running(options.n_threads, verbose=options.verbose, draws=uses_torch) as progress:
                self._learn_to_draw(by, None, progress)
        saved = Saved(
            self.get_params(deep=False),
            self._fitted.model,
            self.mm_columns_,
            self.mm_evidence_,
            self._kept_unjudged,
            self.rules_,
            self.history_,
            self._fitted.identity,
            list(getattr(self, "feature_names_in_", [])),
            self.n_features_in_,
        )
        write_model(path, saved, key, row_marks=row_marks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output's columns."""
        check_is_fitted(self)
        names = [column.name for column in self.schema_.columns]
        if input_features is not None and list(input_features) != names:
            raise InputError(
                f"input_features must be the columns of fit ({', '.join(names)}); got "
                f"{', '.join(map(str, input_features))}. Leave it out."
            )
        names += indicator_names(self._fitted.model.space, self.mm_output)
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the table of ``fit``."""
        state: dict[str, Any] = super().__getstate__()
        if "_fitted" in state:
            state = {**state, "_fitted": replace(state["_fitted"], coded=None)}
        return state

    def _understand(self, given: Given, opened: Table | None = None) -> Understood:
        """Open the table of ``fit`` unless it is, and find what its columns are taken for."""
        self.__dict__.pop("_fitted", None)
        options = self._options
        settings = choose_settings(options)
        check_device(options.diffusion.device)
        table = open_table(given.X) if opened is None else opened
        validate_data(self, given.X, reset=True, skip_check_array=True)
        return understand(table, given, settings, options)

    def _prepare_fit(self, understood: Understood) -> Task:
        """Check and code the table of ``fit``, and set what is known before anything is learnt."""
        task, options = prepare_fit(understood), understood.options
        plan, table = task.plan, task.coded.table
        were_found = options.were_found
        meanings = read_meanings(options.mm_label, table, plan.space, were_found=were_found)
        check_output(plan.space, options.mm_output, options.mm_label, meanings)
        read_constants(options.mm_fill, table, plan.space, were_found=were_found)
        self.settings_, self.schema_ = plan.settings, plan.space.schema
        self.mm_columns_, self.mm_evidence_ = plan.mm_columns, plan.mm_evidence
        self._kept_unjudged, self.rules_ = plan.kept_unjudged, plan.found_rules
        return task

    def _draw_seed(self) -> int:
        """Draw the seed of a fit."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fit(self, understood: Understood) -> CodedTable:
        """Learn a table, in the way that its settings ask for."""
        task = self._prepare_fit(understood)
        seed, options = self._draw_seed(), understood.options

        def store(learned: Learned, *, is_new: bool = True) -> None:
            self._set_model(learned, task.coded)
            if is_new and self.callback is not None:
                self.callback(self)

        if task.plan.makes_passes:
            is_seeded = self.random_state is not None
            fit_passes(task, seed, options, store, is_seeded=is_seeded)
        else:
            fit_values(task, seed, options, store)
        return task.coded

    def _set_model(self, learned: Learned, coded: CodedTable) -> None:
        """Keep what was learnt, and set the attributes that tell of it."""
        self._fitted = fitted_from(learned, coded)
        self.history_ = learned.history
        settled = coded.settle(learned.inferred.state)
        self.meaningful_ = in_table_shape(settled.meaningful, coded.table, self.schema_)


def load(
    path: str | os.PathLike[str], *, device: str = "auto", key: Key | None = None
) -> SelectiveImputer:
    """Read an imputer that :meth:`SelectiveImputer.save` wrote.

    Parameters
    ----------
    path : path
    device : str
        Where to run it; it need not be where it was fitted.
    key : str or bytes, optional
        What the file must be signed with, see :meth:`SelectiveImputer.save`. Without one, any file
        is read that holds a whole model; no file can run code.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer, load
    >>> from diffjoint.simulate import household_survey
    >>> world = household_survey(300)
    >>> survey = world.observed_table
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.diffjoint"
    >>> imputer.fit(survey).save(path)
    >>> load(path).transform(survey).equals(imputer.transform(survey))
    True
    """
    saved = read_model(path, device, None if key is None else check_key(key))
    try:
        imputer = SelectiveImputer(**saved.params).set_params(diffusion__device=device)
    except TypeError as error:
        raise laid_out_otherwise(path, error) from error
    imputer._fitted = Fitted(saved.model, saved.identity)
    imputer.settings_, imputer.schema_ = saved.model.settings, saved.model.space.schema
    imputer.mm_columns_, imputer.mm_evidence_ = saved.mm_columns, saved.mm_evidence
    imputer._kept_unjudged, imputer.history_ = saved.kept_unjudged, saved.history
    imputer.rules_ = saved.found_rules
    imputer.n_features_in_ = saved.n_features
    if saved.feature_names:
        imputer.feature_names_in_ = np.asarray(saved.feature_names, dtype=object)
    return imputer
