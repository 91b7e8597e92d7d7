"""Write the model, the report and the list to review; check a table by itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from diffjoint.cli.console import by_options, say, say_warning
from diffjoint.cli.options.files import Outputs
from diffjoint.cli.options.running import Saving
from diffjoint.cli.run.reading import key_in
from diffjoint.imputer import SelectiveImputer
from diffjoint.io.files import STANDARD_STREAM, TableFile, is_text, write_file
from diffjoint.io.formulas import guarded
from diffjoint.results.imputation import Imputation
from diffjoint.results.self_check import SelfCheck
from diffjoint.storage.atomic import when_in_place


def save_model(
    imputer: SelectiveImputer,
    path: Path,
    saving: Saving,
    *,
    draws: bool,
    quiet: bool,
) -> None:
    """Save a model, and say what it can do."""
    key = key_in(saving.key_file)
    imputer.save(path, draws=draws, key=key, row_marks=saving.row_marks)
    draws_too = draws or not imputer._is_by_row
    more = ", and draw them." if draws_too else "; fit --draws saves one that can draw them, too."
    said = f"Saved the model to {path}. It can complete, explain and review tables{more}"
    when_in_place(lambda: say(said, quiet))


def write_report(
    imputer: SelectiveImputer,
    source: str,
    file: TableFile,
    path: Path,
    result: Imputation,
    check: SelfCheck | None,
    cells: Mapping[str, Any],
    quiet: bool,
) -> None:
    """Write the report, from what was inferred and checked already."""
    title = "Standard input" if source == STANDARD_STREAM else Path(source).name
    checked = False if check is None else check
    imputer.report(file.table, result, title=title, self_check=checked, **cells).save(path)
    say_report(path, quiet)


def say_report(path: Path, quiet: bool) -> None:
    """Say where a report is, once it is in its place."""
    said = f"Wrote the report to {path}: open it in a browser."
    when_in_place(lambda: say(said, quiet))


def check_itself(
    imputer: SelectiveImputer,
    file: TableFile,
    result: Imputation,
    cells: Mapping[str, Any],
    quiet: bool,
) -> SelfCheck:
    """Say what to trust; the report, if there is one, says it, too."""
    check = imputer.self_check(file.table, result, **cells)
    say_check(check, quiet)
    return check


def say_check(check: SelfCheck, quiet: bool) -> None:
    """Say what a self-check found."""
    alarm = by_options(check.alarm)
    warning = f"Warning: {alarm}" if alarm else ""
    say(f"{warning}{by_options(check).removeprefix(alarm)}", quiet)
    if quiet and warning:  # a report that nobody has opened warns of nothing
        say_warning(warning)


def write_review(
    imputer: SelectiveImputer,
    result: Imputation,
    file: TableFile,
    outputs: Outputs,
    cells: Mapping[str, Any],
) -> None:
    """Write the cells to review, without the index of a frame: it says no more than the row."""
    path = outputs.review
    if path is None:
        return
    table = imputer.review(file.table, result, **cells)
    if isinstance(table, pd.DataFrame):
        table = table.drop(columns="index")
    if outputs.guard and is_text(path):
        table = guarded(table)
    write_file(path, table)
