"""Fit an imputer to a file, as ``fit`` and ``impute`` do, or load one."""

from pathlib import Path
from typing import Any

from diffjoint.cli.console import by_options, say_warning
from diffjoint.cli.options.files import Reading
from diffjoint.cli.options.learning import Filled, Known, Method, Searched
from diffjoint.cli.options.running import Running
from diffjoint.cli.parsing import (
    parse_bounds,
    parse_codes,
    parse_kinds,
    parse_settings,
    rules_of,
)
from diffjoint.cli.run.by_file import (
    parse_columns,
    parse_loss_rate,
    parse_mm_fill,
    parse_mm_label,
    with_codes_of,
)
from diffjoint.cli.run.showing import (
    show_evidence,
    show_reading,
    show_schema,
    show_suspicions,
)
from diffjoint.errors import InputError
from diffjoint.imputer import SelectiveImputer, load
from diffjoint.io.files import TableFile
from diffjoint.settings import DEFAULT_MEMORY_LIMIT, estimator_params
from diffjoint.steps import fit_understood, learn_only, understand
from diffjoint.storage.placing import tidy

Groups = tuple[Searched, Known, Filled, Method, Running]
"""What a model is learnt by."""


def learn(
    file: TableFile,
    cells: dict[str, Any],
    groups: Groups,
    reading: Reading,
    source: str,
    *,
    in_blocks: bool = False,
    **params: Any,
) -> SelectiveImputer:
    """Return an imputer that has learnt a file; show what it made of the columns.

    Parameters
    ----------
    cells : dict
        What is known of single cells.
    reading : Reading
        How the file was read.
    source : str
        Where the file is.
    in_blocks : bool
        Whether the file will be completed in blocks, so that its table need not be held.
    **params
        Parameters of the imputer that are not in the groups.
    """
    quiet = groups[-1].quiet
    imputer = SelectiveImputer(**estimator_params(**_params(file, *groups), **params))
    understood = understand(imputer, file.table, **cells, opened=file.opened)
    show_schema(imputer, understood, quiet)
    show_reading(file, reading, quiet)
    show_suspicions(understood, source, quiet)
    if in_blocks:
        del understood
        learn_only(imputer, file.take)
    else:
        fit_understood(imputer, understood)
    show_evidence(imputer, quiet)
    return imputer


def _params(
    file: TableFile,
    searched: Searched,
    known: Known,
    filled: Filled,
    method: Method,
    running: Running,
) -> dict[str, Any]:
    """Return the options as the imputer's parameters."""
    return {
        "mm_columns": parse_columns(file, searched.mm_columns),
        "loss_rate": parse_loss_rate(file, searched.loss_rate),
        "rules": rules_of(known),
        "use_found_rules": searched.found_rules,
        "reason_codes": with_codes_of(file, parse_codes(known.codes)),
        "column_kinds": {
            **dict.fromkeys(file.passed_through, "pass-through"),
            **file.kinds,
            **parse_kinds(known.kinds),
        },
        "checkboxes": known.checkboxes,
        "mm_output": filled.mm_output,
        "mm_label": parse_mm_label(filled.mm_label),
        "mm_fill": parse_mm_fill(file, filled.mm_fill),
        "bounds": parse_bounds(filled.bounds),
        "preset": method.preset,
        "detector": method.detector,
        **parse_settings(method),
        "checkpoint": method.checkpoint,
        "device": running.device,
        "memory_limit": running.memory_limit or DEFAULT_MEMORY_LIMIT,
        "verbose": not running.quiet,
    }


def loaded(
    model: Path,
    key: bytes | None,
    unseen: str | None,
    running: Running,
    *,
    self_check: bool,
) -> SelectiveImputer:
    """Return a saved imputer, set to run as asked."""
    tidy(model)
    imputer = load(model, device=running.device, key=key)
    if self_check and not imputer._is_by_row:
        raise InputError(
            f"--self-check is for values that need no draws; {model} was fitted with "
            "sampler=inpaint, which draws them. Leave --self-check out."
        )
    imputer.set_params(
        memory_limit=running.memory_limit or DEFAULT_MEMORY_LIMIT,
        n_threads=running.threads,
        verbose=not running.quiet,
    )
    if unseen is not None:
        imputer.set_params(unseen=unseen)
    return imputer


def check_signed(model: Path, key: bytes | None) -> None:
    """Raise, before work that loads a model several times, unless it is signed with a key."""
    if key is not None:
        load(model, key=key)


def say_doubts(imputer: SelectiveImputer, quiet: bool) -> None:
    """Say again what the table of ``fit`` could not tell."""
    for doubt in () if quiet else imputer.doubts_:
        say_warning(f"Doubt that fit had: {by_options(doubt)}")
