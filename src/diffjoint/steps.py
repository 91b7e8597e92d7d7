"""The steps of fit and impute one by one, for whoever shows or writes something between them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from diffjoint._memory import release_freed_memory
from diffjoint.fitting.fit import learn_value_model
from diffjoint.fitting.fitted import Fitted
from diffjoint.fitting.prepare import Given, Understood
from diffjoint.fitting.running import running
from diffjoint.imputer import SelectiveImputer
from diffjoint.report.collect import collect_findings
from diffjoint.report.sketch import TableSketch, sketch
from diffjoint.results.imputation import Imputation, make_imputation
from diffjoint.results.self_check import SelfCheck
from diffjoint.state import Keys, content_keys, number_repeats
from diffjoint.table import Table


def understand(
    imputer: SelectiveImputer,
    X: Any,
    known_meaningful: Any = None,
    known_lost: Any = None,
    opened: Table | None = None,
) -> Understood:
    """Open a table, and find what ``fit`` takes its columns for; :func:`fit_understood` goes on.

    Parameters
    ----------
    X, known_meaningful, known_lost : as in ``fit``
    opened : Table, optional
        X, if it is open already.
    """
    return imputer._understand(Given(X, known_meaningful, known_lost), opened)


def fit_understood(imputer: SelectiveImputer, understood: Understood) -> SelectiveImputer:
    """Fit on a table that is understood already."""
    imputer._fit(understood)
    return imputer


def learn_only(imputer: SelectiveImputer, read: Callable[[], Any]) -> None:
    """Fit on a table that is let go as soon as it is coded; nothing is inferred about its rows.

    :func:`impute_blocks` then infers it, block by block, and finds what ``fit`` and ``impute``
    find.

    Parameters
    ----------
    imputer : SelectiveImputer
        One that makes no draws to fit: ``sampler="amortised"``, ``detector="evidence"``.
    read : callable
        Returns the table, and does not hold it.
    """
    understood = understand(imputer, read())
    task, options, seed = imputer._prepare_fit(understood), understood.options, imputer._draw_seed()
    del understood
    observation, plan = task.observe(seed), task.plan
    del task
    release_freed_memory()
    with running(options.n_threads, verbose=options.verbose) as progress:
        device = options.diffusion.device
        imputer._fitted = Fitted(learn_value_model(observation, plan, seed, device, progress))
    imputer.history_ = []
    del observation
    release_freed_memory()


def impute_blocks(
    imputer: SelectiveImputer, blocks: Callable[[], Iterable[Any]]
) -> Iterator[Imputation]:
    """Complete a table some rows at a time; yield what ``impute`` returns for the whole, in parts.

    Parameters
    ----------
    imputer : SelectiveImputer
        Fitted, and of the kind that :func:`learn_only` fits.
    blocks : callable
        Returns the rows of a table, in blocks, each time that it is called: which repeat of others
        a row is counts in the whole table, so that it is looked through first.
    """
    fitted, options = imputer._fitted, imputer._options
    model = fitted.model
    parts = (imputer._prepare(Given(X)).values for X in blocks())
    content = np.concatenate([content_keys(values, seed=0) for values in parts])
    folds = None if model.belief is None else model.belief.judging_folds(number_repeats(content))
    first = 0
    with running(options.n_threads, verbose=False) as progress:
        for X in blocks():
            coded = imputer._prepare(Given(X))
            last = first + coded.table.n_rows
            own = None if folds is None else folds[first:last]
            observation = coded.observe(model.space, model.seed)
            inferred = model.infer(observation, options.memory_bytes, progress, own)
            yield make_imputation(coded, inferred, fitted, options)
            first = last


def depends_on_repeats(imputer: SelectiveImputer, *, draws: bool) -> bool:
    """Whether the answer for a row depends on how often it occurred before in its table.

    Rows that fit learnt from are judged by models that have not seen them, each repeat by its own;
    and repeats are drawn independently of each other.
    """
    model = imputer._fitted.model
    return draws or model.belief is not None or not imputer._is_by_row


def keys_of_rows(imputer: SelectiveImputer, X: Any) -> Keys:
    """Return the keys by which repeats of rows are told: those of calls, then those of draws."""
    coded, seed = imputer._prepare(Given(X)), imputer._fitted.model.seed
    of_calls = content_keys(coded.values, 0)
    of_draws = content_keys(coded.known.mark_known(coded.values), seed)
    return np.concatenate([of_calls, of_draws[of_draws != of_calls]])


def sketch_rows(imputer: SelectiveImputer, result: Imputation) -> tuple[TableSketch, Keys]:
    """Sum up what ``impute`` just found in some rows; also return a key for each row.

    Keys are numbers at random that depend on what a row holds; repeats have different ones.
    """
    coded, model = result._coded, imputer._fitted.model
    if coded is None:
        raise TypeError("what impute returned holds its table until it is sent elsewhere")
    nothing: dict[str, Any] = {}
    findings = collect_findings(
        coded,
        imputer._fitted,
        result._inferred,
        imputer._options,
        doubts=(),
        history=(),
        settings=nothing,
        check=None,
    )
    candidates = coded.observe(model.space, model.seed).candidates
    keys = number_repeats(content_keys(coded.values, 0)).view(np.uint64)
    return sketch(findings, candidates, result._inferred.meaningful_score), keys


def check_rows(imputer: SelectiveImputer, X: Any, n_all: int) -> SelfCheck:
    """Check a dataset of ``n_all`` rows by some of them, as ``self_check`` does a table."""
    return imputer._check(imputer._open(Given(X)), 0, n_all)
