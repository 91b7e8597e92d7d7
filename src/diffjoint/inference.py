"""What a fitted imputer infers about tables: the methods that answer questions."""

from collections.abc import Callable, Hashable
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from diffjoint._progress import Progress
from diffjoint.errors import InputError, in_python, option, warn_user
from diffjoint.fitting.auto_columns import found_in_words, not_judged
from diffjoint.fitting.fitted import Fitted
from diffjoint.fitting.loss_rates import place_loss_rates
from diffjoint.fitting.options import Options, read_options
from diffjoint.fitting.prepare import (
    CodedTable,
    Given,
    prepare,
)
from diffjoint.fitting.running import running
from diffjoint.parameters.checks import check, check_count, check_draws
from diffjoint.parameters.choices import DrawsName
from diffjoint.report import Report, summarize
from diffjoint.report.collect import collect_findings
from diffjoint.report.head import HEAD_ROWS
from diffjoint.results.complete import check_output
from diffjoint.results.constants import read_meanings
from diffjoint.results.explain import (
    REVIEW_BAND,
    Explanation,
    candidate_cells,
    explanations_table,
    find_cell,
    review_table,
)
from diffjoint.results.explainer import explainer_of, make_explainer, require_belief
from diffjoint.results.imputation import (
    Imputation,
    complete_table,
    inferred_of,
    make_imputation,
)
from diffjoint.results.self_check import SelfCheck, check_table
from diffjoint.settings import Diffusion, Settings
from diffjoint.skip_rules.find import FoundRule
from diffjoint.table import Schema, open_table


class InferenceMixin:
    """Methods of a fitted imputer that say what became of tables."""

    get_params: Callable[..., dict[str, Any]]
    settings_: Settings
    schema_: Schema
    mm_evidence_: list[dict[str, Any]]
    history_: list[dict[str, Any]]
    rules_: tuple[FoundRule, ...]
    _fitted: Fitted
    _kept_unjudged: tuple[str, ...]

    def predict_mm(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Any:
        """Return which cells are meaningful: a bool table of X's shape. True: keep NA."""
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).meaningful

    def predict_mm_proba(
        self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Any:
        """Return P(meaningful) of each cell: a float table of X's shape, 0.0 where observed.

        Notes
        -----
        With ``detector="evidence"`` this is a calibrated probability, if losses are as they seem.
        The paper's detector decides by a cluster and a vote; there it is a score, the stronger of
        the two (for ``fusion="or"``), with the decision at one half: use it only to rank cells.
        Cells of known kind have 1.0 or 0.0. Where a rule depends on a missing gate, the value that
        the gate is filled with decides the call, whatever the probability.
        """
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).probability

    def uncertainty(self, X: Any, *, known_meaningful: Any = None, known_lost: Any = None) -> Any:
        """Return how uncertain filled values are: a float table of X's shape, 0.0 where observed.

        Numbers: standard deviation in the column's unit (dates: days). Categories: entropy in
        nats.
        """
        return self.impute(X, known_meaningful=known_meaningful, known_lost=known_lost).uncertainty

    def impute(
        self, X: Any = None, *, known_meaningful: Any = None, known_lost: Any = None
    ) -> Imputation:
        """Return the completed table and all that was inferred, at once.

        Parameters
        ----------
        X : table with the columns of ``fit``, optional
            The table of ``fit`` if not given; an imputer that was loaded does not have it.
        known_meaningful, known_lost : as in ``fit``, of this table
        """
        coded, options = self._open(Given(X, known_meaningful, known_lost)), self._options
        return make_imputation(coded, self._fitted.infer(coded, options), self._fitted, options)

    def review(
        self,
        X: Any = None,
        result: Imputation | None = None,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Any:
        """Return the cells that a person should look at, the most doubtful first.

        Parameters
        ----------
        X : table with the columns of ``fit``, optional
            As in :meth:`impute`.
        result : Imputation, optional
            What :meth:`impute` of this imputer returned for X, if it is at hand.

        Returns
        -------
        table
            In X's container (pandas for an array), one row per cell whose probability lies within
            ``review_band``: ``row`` (position), ``index`` (label, pandas only), ``column``,
            ``probability``, ``call``, ``imputed`` (what a cell called lost was filled with, as
            text), ``reason``, and ``decision``: empty, to be filled in with "meaningful" or "lost"
            for :func:`diffjoint.read_decisions`.
        """
        options = self._options
        if options.review_band is None:
            raise InputError(
                f"{option('review_band')} is None, so that no cell is to be reviewed. Set it, "
                f"such as set_params(review_band={REVIEW_BAND}).",
                parameter="review_band",
            )
        coded = self._open(Given(X, known_meaningful, known_lost), result)
        inferred = inferred_of(coded, result, self._fitted, options)
        if result is None:
            result = make_imputation(coded, inferred, self._fitted, options)
        called = coded.settle(inferred.state).meaningful
        model = self._fitted.model
        explainer = explainer_of(coded, model, called)
        return review_table(coded.table, result, self.schema_, explainer)

    def report(
        self,
        X: Any = None,
        result: Imputation | None = None,
        *,
        title: str = "Imputation report",
        self_check: bool | SelfCheck = False,
        n_draws: int | None = None,
        n_rows: int = HEAD_ROWS,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Report:
        """Report what became of a table, as a page to look at.

        Parameters
        ----------
        X : table with the columns of ``fit``, optional
            As in :meth:`impute`.
        result : Imputation, optional
            What :meth:`impute` of this imputer returned for X, if it is at hand.
        title : str
            The page's heading.
        self_check : bool or SelfCheck
            True: the page also says what to trust, by :meth:`self_check`, which takes no longer
            than fitting. One that is at hand is shown as it is.
        n_draws : int, optional
            How many draws of the filled-in cells to lay over the observed values. They are learnt
            from some rows of the table of ``fit``, which takes as long as fitting at most. If not
            given: 5, unless the table is wide or nothing can be drawn.
        n_rows : int
            How many rows of the table to show; 0 for none.
        known_meaningful, known_lost : as in ``fit``, of this table

        Returns
        -------
        Report
            ``save(path)`` writes one HTML file; a notebook shows it.

        Examples
        --------
        >>> import pandas as pd
        >>> from diffjoint import SelectiveImputer
        >>> table = pd.DataFrame({"a": [1.5, None, 2.5, 2.0], "b": ["x", "y", None, "x"]})
        >>> imputer = SelectiveImputer([], random_state=0).fit(table)
        >>> imputer.report(table)
        Report('Imputation report': 0 cells kept as NA, 2 imputed, 0 to review; save it with \
.save('report.html'))
        """
        check_count("n_rows", n_rows)
        check_count("n_draws", 0 if n_draws is None else n_draws)
        coded, options = self._open(Given(X, known_meaningful, known_lost), result), self._options
        inferred = inferred_of(coded, result, self._fitted, options)
        check = self._check(coded, 0) if self_check is True else self_check or None
        findings = collect_findings(
            coded,
            self._fitted,
            inferred,
            options,
            doubts=tuple(
                map(in_python, (*self.doubts_, *coded.known.doubts, *not_judged(self.mm_evidence_)))
            ),
            history=self.history_,
            settings={
                "detector": options.detector,
                **asdict(self.settings_),
                **self._changed(),
            },
            check=check,
            rules=self.rules_,
            n_draws=n_draws,
        )
        return Report(summarize(findings, title, n_rows))

    def explain(
        self,
        X: Any,
        cell: tuple[int, Hashable] | None = None,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> Any:
        """Explain why missing cells are called meaningful or lost.

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
        A push is the factor by which another cell of the row multiplies the odds of being missing,
        beyond those of being lost: its Shapley value, compared with rows that hold other values.

        Examples
        --------
        >>> from diffjoint import SelectiveImputer
        >>> from diffjoint.simulate import household_survey
        >>> world = household_survey(600)
        >>> imputer = SelectiveImputer(world.mm_columns, random_state=0)
        >>> survey = world.observed_table
        >>> imputer = imputer.fit(survey)
        >>> unmarried = (survey["married"] == "no") & survey["spouse_age"].isna()
        >>> why = imputer.explain(survey, (int(unmarried.to_numpy().argmax()), "spouse_age"))
        >>> why.call, why.pushes[0].column, why.pushes[0].value
        ('meaningful', 'married', 'no')
        """
        coded, options = self._open(Given(X, known_meaningful, known_lost)), self._options
        model = self._fitted.model
        belief = require_belief(model, options.detector)
        inferred = self._fitted.infer(coded, options)
        called = coded.settle(inferred.state).meaningful
        explainer = make_explainer(coded, model, belief, called)
        if cell is None:
            cells = candidate_cells(explainer.explained)
            return explanations_table(coded.table, explainer.explain(cells))
        place = find_cell(
            cell, coded.table, model.space, explainer.observation, explainer.explained
        )
        found: Explanation = explainer.explain([place])[0]
        return found

    def self_check(
        self,
        X: Any = None,
        result: Imputation | None = None,
        *,
        known_meaningful: Any = None,
        known_lost: Any = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> SelfCheck:
        """Check what to trust on a table whose truth nobody knows.

        The number of wrong calls is estimated first, from observed cells that are judged as if
        they had been lost. Then observed cells are hidden and filled again, P(missing) is compared
        with which cells are missing, and calls are made again under other thresholds, another seed
        and other loss rates.

        Parameters
        ----------
        X : table with the columns of ``fit``, optional
            As in :meth:`impute`. Above 10,000 rows, or fewer in wide tables, a sample of them is
            checked.
        result : Imputation, optional
            What :meth:`impute` returned for X: the table is then not opened again.
        known_meaningful, known_lost : as in ``fit``, of this table
        random_state : int, RandomState or None
            Which cells are hidden.

        Returns
        -------
        SelfCheck
            Tables of numbers; print it.

        Examples
        --------
        >>> from diffjoint import SelectiveImputer
        >>> from diffjoint.simulate import household_survey
        >>> survey = household_survey(300).observed_table
        >>> imputer = SelectiveImputer([], random_state=0).fit(survey)
        >>> check = imputer.self_check(survey)
        >>> check.values.columns.tolist()[:5]
        ['column', 'kind', 'n_cells', 'measure', 'score']
        """
        check("random_state", random_state)
        return self._check(self._open(Given(X, known_meaningful, known_lost), result), random_state)

    @property
    def doubts_(self) -> tuple[str, ...]:
        """What the calls rest on and the table cannot confirm."""
        check_is_fitted(self)
        belief = self._fitted.model.belief
        doubts = (*self._kept_unjudged, *(belief.doubts if belief else ()))
        return tuple(map(in_python, doubts))

    @property
    def found_(self) -> str:
        """Which columns were found to be searched, and why; empty if they were named."""
        check_is_fitted(self, "mm_evidence_")
        return in_python(found_in_words(self.mm_evidence_)) if self.mm_evidence_ else ""

    @property
    def can_sample_(self) -> bool:
        """Whether there is something to draw from, or the table of fit to learn it from."""
        check_is_fitted(self)
        return self._fitted.can_draw

    def sample(
        self,
        X: Any,
        n_draws: int = 5,
        *,
        draws: DrawsName | None = None,
        known_meaningful: Any = None,
        known_lost: Any = None,
    ) -> list[Any]:
        """Draw completed tables, each with values and mask of its own.

        The first call learns to draw from the table of fit. An imputer that was loaded cannot:
        ``can_sample_`` says whether it holds what draws need.

        Parameters
        ----------
        X : table with the columns of ``fit``
        n_draws : int
            How many tables. ``enough_draws`` of what :func:`diffjoint.pool` returns says how many
            an analysis needs.
        draws : {"trees", "diffusion"}, optional
            "trees": lost cells are drawn in turn, each given the rest of its row, by regressions
            and boosted trees learnt from a bootstrap for each draw; this needs no torch.
            "diffusion": by a diffusion model of values and mask, which takes a minute to train. If
            not given: trees, or diffusion with ``sampler="inpaint"``.
        known_meaningful, known_lost : as in ``fit``, of this table
        """
        check("n_draws", n_draws)
        check_draws(draws)
        check_is_fitted(self)
        by = self._fitted.choose_draws(draws)
        coded, options = self._open(Given(X, known_meaningful, known_lost)), self._options
        uses_torch = by == "diffusion"
        with running(options.n_threads, verbose=options.verbose, draws=uses_torch) as progress:
            self._learn_to_draw(by, n_draws, progress)
            model = self._fitted.model
            observation = coded.observe(model.space, model.seed)
            states = model.states(observation, n_draws, options.memory_bytes, progress, by)
            settled = (coded.settle(state) for state in states)
            return [complete_table(coded, model.space, state, options) for state in settled]

    @property
    def _options(self) -> Options:
        """The parameters, checked."""
        return read_options(self.get_params(deep=False))

    @property
    def _is_by_row(self) -> bool:
        """Whether values and calls are told of each row by itself, without draws."""
        return self.settings_.is_amortised

    def _open(self, given: Given, result: Any = None) -> CodedTable:
        """Return a table coded: that of ``result``, if this is the same, or that of ``fit``."""
        check_is_fitted(self)
        if isinstance(result, Imputation) and result._coded and result._coded.given.is_same(given):
            return result._coded
        if given.X is None:
            if self._fitted.coded is None:
                raise InputError("This imputer was loaded and has no table of its own. Pass X.")
            return self._fitted.coded
        coded = self._prepare(given)
        for doubt in () if self._fitted.is_of(coded) else coded.known.doubts:
            warn_user(doubt)
        return coded

    def _prepare(self, given: Given) -> CodedTable:
        """Check and code a table, if it has the columns of ``fit``."""
        table, space = open_table(given.X), self._fitted.model.space
        try:
            validate_data(self, given.X, reset=False, skip_check_array=True)
        except ValueError as error:
            names = ", ".join(column.name for column in self.schema_.columns)
            raise InputError(
                f"{str(error).rstrip()} Pass the columns that fit saw, in their order: {names}."
            ) from error
        options = self._options
        meanings = read_meanings(options.mm_label, table, space, were_found=options.were_found)
        check_output(space, options.mm_output, options.mm_label, meanings)
        return prepare(table, given, space, options, self.rules_)

    def _complete(self, coded: CodedTable) -> Any:
        """Return a table completed with what is expected."""
        options = self._options
        state = self._fitted.settle(coded, self._fitted.infer(coded, options))
        return complete_table(coded, self._fitted.model.space, state, options)

    def _check(
        self,
        coded: CodedTable,
        random_state: int | np.random.RandomState | None,
        n_all: int | None = None,
    ) -> SelfCheck:
        """Check a table by itself, or a dataset of ``n_all`` rows by some of them."""
        options, model = self._options, self._fitted.model
        loss_rate = place_loss_rates(options, coded.table, model.space)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        observation = coded.observe(model.space, model.seed)
        with running(options.n_threads, verbose=options.verbose) as progress:
            return check_table(observation, model, loss_rate, seed, progress, n_all)

    def _learn_to_draw(self, by: DrawsName, n_draws: int | None, progress: Progress) -> None:
        """Learn what draws need and was not learnt yet."""
        self._fitted, history = self._fitted.ready_to_draw(by, n_draws, self._options, progress)
        if history is not None:
            self.history_ = history

    def _changed(self) -> dict[str, Any]:
        """Return the parameters that are not as usual, those of the diffusion model beside them."""
        given, usual = (
            {**params, **(params["diffusion"] or Diffusion()).get_params()}
            for params in (self.get_params(deep=False), type(self)().get_params(deep=False))
        )
        del given["diffusion"]
        return {name: value for name, value in given.items() if repr(value) != repr(usual[name])}
