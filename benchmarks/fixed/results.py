"""What a call gives, in pieces: tables and numbers, and no words, whose wording may change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

import diffjoint
from diffjoint import Diffusion, Imputation, SelectiveImputer, SelfCheck

Pieces = dict[str, Any]
"""What a call gives, by name: tables, arrays, files' bytes, numbers."""
Call = Callable[[Path], Pieces]
"""Gives its pieces, and may write to a folder of its own."""

WORDS = ("reason", "towards_meaningful", "towards_lost", "change", "decision")
"""Columns of prose, or of nothing."""
EVIDENCE = ("column", "is_named", "missing_rate", "excess", "auc", "gain", "p_value")
COUNTS = ("n_observed", "n_kept", "n_imputed", "n_left", "n_unticked", "n_review")


def new_imputer(
    mm_columns: Any = None, *, diffusion: Mapping[str, Any] | None = None, **params: Any
) -> SelectiveImputer:
    """Make an imputer of one thread and one seed.

    Parameters
    ----------
    mm_columns, **params
        As ``SelectiveImputer`` takes them.
    diffusion : mapping, optional
        Settings of the diffusion model, such as ``{"width": 16}``.
    """
    settings: dict[str, Any] = {"random_state": 0, "n_threads": 1, **params}
    if diffusion is not None:
        settings["diffusion"] = Diffusion(**diffusion)
    return SelectiveImputer(mm_columns, **settings)


def reloaded(imputer: SelectiveImputer, folder: Path, *, draws: bool = False) -> SelectiveImputer:
    """Save an imputer and read it back; how many threads it may use is not saved."""
    path = folder / "model.diffjoint"
    imputer.save(path, draws=draws)
    loaded = diffjoint.load(path, device="cpu")
    return loaded.set_params(n_threads=1)


def under(name: str, pieces: Pieces) -> Pieces:
    """Put the name of what was asked before the names of its pieces."""
    return {f"{name}: {piece}": result for piece, result in pieces.items()}


def learnt(imputer: SelectiveImputer) -> Pieces:
    """Return what an imputer has learnt: its public attributes."""
    return {
        "settings": dict(_leaves(asdict(imputer.settings_))),
        "searched columns": imputer.mm_columns_,
        "evidence": pd.DataFrame(imputer.mm_evidence_, columns=list(EVIDENCE)),
        "calls of fit": imputer.meaningful_,
        "history": pd.DataFrame(imputer.history_),
        "names out": imputer.get_feature_names_out(),
    }


def imputed(result: Imputation) -> Pieces:
    """Return everything inferred about a table."""
    return {
        "completed": result.table,
        "meaningful": result.meaningful,
        "probability": result.probability,
        "uncertainty": result.uncertainty,
        "review mask": result.review,
        "counts": {name: getattr(result, name) for name in COUNTS},
    }


def fitted(imputer: SelectiveImputer, X: Any, **known: Any) -> Pieces:
    """Fit an imputer; return what it has learnt, and what it infers about its own table."""
    imputer.fit(X, **known)
    return {**learnt(imputer), **under("fit rows", imputed(imputer.impute(X, **known)))}


def explained(imputer: SelectiveImputer, X: Any, **known: Any) -> Pieces:
    """Return the numbers that speak for the calls, and those of the first cell in full."""
    numbers = without_words(imputer.explain(X, **known))
    pieces = {"explain": numbers, "review": without_words(imputer.review(X, **known))}
    if len(numbers):
        cell = int(numbers["row"][0]), numbers["column"][0]
        pieces["explain one"] = asdict(imputer.explain(X, cell, **known))
    return pieces


def checked(check: SelfCheck) -> Pieces:
    """Return the numbers of a self-check."""
    names = ("wrong_calls", "values", "missing", "bins", "calls")
    return {f"self-check {name}": without_words(getattr(check, name)) for name in names}


def without_words(table: Any) -> Any:
    """Leave out the columns that say something in words, of a pandas or polars table.

    Examples
    --------
    >>> without_words(pd.DataFrame({"row": [0], "reason": ["by chance"]})).columns.tolist()
    ['row']
    """
    return table[[name for name in table.columns if name not in WORDS]]


def _leaves(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every setting by its own name, however settings are grouped."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield name, value
