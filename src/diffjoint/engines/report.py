"""Report on a completed dataset and check it, from what its pieces told: it is not read again."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diffjoint.engines.engine import explaining_files
from diffjoint.engines.manifest import Manifest, digest_of, read_manifest, read_plan
from diffjoint.engines.shared import STATE, Shared
from diffjoint.engines.summary import n_kept, read_summaries
from diffjoint.engines.transform import model_bytes
from diffjoint.errors import InputError
from diffjoint.imputer import SelectiveImputer
from diffjoint.report import Report
from diffjoint.report.sketch import TableSketch
from diffjoint.results.self_check import SelfCheck
from diffjoint.results.whole_check import widen_check
from diffjoint.steps import check_rows

Model = SelectiveImputer | str | os.PathLike[str]


@dataclass(frozen=True)
class _Told:
    """What a completed dataset tells without being read again."""

    imputer: SelectiveImputer
    manifest: Manifest
    total: TableSketch
    rows: Any


@explaining_files()
def report_dataset(
    model: Model,
    out: str | os.PathLike[str],
    *,
    title: str = "Imputation report",
    self_check: bool | SelfCheck = False,
) -> Report:
    """Report what became of a dataset, as a page to look at; the dataset is not read again.

    Counts, distributions and P(meaningful) are of all rows: pieces summed them up while they were
    completed. Up to 20,000 rows, chosen by what they hold, say when cells are kept, and are shown
    as a map. Doubtful cells are counted, not listed.

    Parameters
    ----------
    model : SelectiveImputer or path
        What completed the dataset.
    out : path
        A folder that :func:`transform_dataset` has written.
    title : str
        The page's heading.
    self_check : bool or SelfCheck
        True: the page also says what to trust, by :func:`check_dataset`.

    Returns
    -------
    Report
        ``save(path)`` writes one HTML file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import report_dataset, transform_dataset
    >>> from diffjoint.simulate import household_survey
    >>> world, folder = household_survey(300), pathlib.Path(tempfile.mkdtemp())
    >>> world.observed_table.to_parquet(folder / "survey.parquet", index=False)
    >>> imputer = SelectiveImputer(world.mm_columns, random_state=0).fit(world.observed_table)
    >>> done = transform_dataset(imputer, folder / "survey.parquet", folder / "completed")
    >>> report = report_dataset(imputer, folder / "completed")
    >>> report.summary.n_kept == done.tally["cells"]["n_kept"]
    True
    """
    told = _told(model, out)
    check = _check(told) if self_check is True else self_check
    report = told.imputer.report(told.rows, title=title, self_check=check, n_draws=0, n_rows=0)
    summary = report.summary
    columns = tuple(
        own.summary(like, column)
        for own, like, column in zip(
            told.total.columns, summary.columns, told.imputer.schema_.columns, strict=True
        )
    )
    warned = (text for piece in told.manifest.pieces for text in piece.warned)
    counts = {
        name: sum(getattr(column, name) for column in columns)
        for name in ("n_kept", "n_imputed", "n_left", "n_review")
    }
    n_rows, n_cells = told.total.n_rows, told.total.n_rows * len(columns)
    n_missing = counts["n_kept"] + counts["n_imputed"] + counts["n_left"]
    return Report(
        replace(
            summary,
            n_rows=n_rows,
            n_observed=n_cells - n_missing,
            **counts,
            columns=columns,
            review=(),
            doubts=tuple(dict.fromkeys((*summary.doubts, *sorted({*warned})))),
            n_sampled=told.rows.num_rows if told.rows.num_rows < n_rows else None,
        )
    )


@explaining_files()
def check_dataset(model: Model, out: str | os.PathLike[str]) -> SelfCheck:
    """Check what to trust in a dataset whose truth nobody knows; it is not read again.

    As :meth:`SelectiveImputer.self_check`, of up to 10,000 rows chosen by what they hold. Missing
    cells, calls that are wrong by their own probabilities and calls under other thresholds are
    counted in all rows.

    Parameters
    ----------
    model : SelectiveImputer or path
        What completed the dataset.
    out : path
        A folder that :func:`transform_dataset` has written.

    Returns
    -------
    SelfCheck
        Tables of numbers; print it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from diffjoint import SelectiveImputer
    >>> from diffjoint.engines import check_dataset, transform_dataset
    >>> from diffjoint.simulate import household_survey
    >>> survey, folder = household_survey(300).observed_table, pathlib.Path(tempfile.mkdtemp())
    >>> survey.to_parquet(folder / "survey.parquet", index=False)
    >>> imputer = SelectiveImputer([], random_state=0).fit(survey)
    >>> done = transform_dataset(imputer, folder / "survey.parquet", folder / "completed")
    >>> check = check_dataset(imputer, folder / "completed")
    >>> check.values.columns.tolist()[:5]
    ['column', 'kind', 'n_cells', 'measure', 'score']
    """
    return _check(_told(model, out))


def _check(told: _Told) -> SelfCheck:
    check = check_rows(told.imputer, told.rows, told.total.n_rows)
    columns = list(zip(told.imputer.schema_.columns, told.total.columns, strict=True))
    calls = {column.name: own.calls for column, own in columns if own.calls is not None}
    n_missing = {column.name: own.n_missing for column, own in columns}
    return widen_check(check, calls, n_missing, told.imputer.settings_.threshold)


def _told(model: Model, out: str | os.PathLike[str]) -> _Told:
    """Return what a completed dataset tells, and the imputer that completed it."""
    manifest, state = read_manifest(out), Path(out) / STATE
    content = model_bytes(model)
    if digest_of(content) != manifest.model:
        raise InputError(
            f"{out} was completed by another model. Pass the one that completed it: a report says "
            "what became of its cells."
        )
    imputer = Shared(content, {}, unseen=read_plan(state)["unseen"]).imputer
    names = [piece.name for piece in manifest.pieces if piece.n_rows]
    total, rows = read_summaries(state, names, n_kept(len(imputer.schema_.columns)))
    return _Told(imputer, manifest, total, rows)
