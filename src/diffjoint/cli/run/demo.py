"""The built-in demonstration: a survey with skip logic, before and after."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint._types import Mask
from diffjoint.imputer import SelectiveImputer
from diffjoint.io.files import write_file
from diffjoint.simulate import World, household_survey
from diffjoint.storage.atomic import staged_outputs

N_SHOWN = 8


def run_demo(folder: Path, *, seed: int, verbose: bool) -> None:
    """Complete the survey, write it to ``folder``, and show some rows and all counts."""
    world = household_survey(seed=seed)
    survey = world.observed_table
    imputer = SelectiveImputer(
        world.mm_columns, column_kinds=world.column_kinds, verbose=verbose, random_state=0
    )
    result = imputer.fit(survey).impute()
    report = folder / "report.html"
    page = imputer.report(survey, title="A small household survey")
    folder.mkdir(parents=True, exist_ok=True)
    with staged_outputs():
        write_file(str(folder / "survey.csv"), survey)
        write_file(str(folder / "survey_completed.csv"), result.table)
        page.save(report)

    console = Console(soft_wrap=True, highlight=False)
    missing, kept = survey.isna().to_numpy(), result.meaningful.to_numpy()
    rows = telling_rows(missing, kept)
    console.print("Before: every missing cell looks the same", style="bold")
    console.print(_shown(survey.iloc[rows], missing[rows], missing[rows], "?"))
    console.print(
        "After: imputed (*), or kept as NA because there is nothing to fill in", style="bold"
    )
    console.print(_shown(result.table.iloc[rows], missing[rows], kept[rows], "NA"))
    console.print(
        f"{result.n_observed:,} cells observed, {result.n_kept:,} kept as NA, "
        f"{result.n_imputed:,} imputed."
    )
    console.print(_truth_told(world, result.meaningful))
    console.print(f"Wrote {folder / 'survey_completed.csv'} (from {folder / 'survey.csv'}).")
    console.print(f"Open the report in a browser: {report.resolve().as_uri()}", style="bold")


def telling_rows(missing: Mask, kept: Mask) -> NDArray[np.intp]:
    """Return the first rows with something filled, half of them with something kept as well."""
    filled = (missing & ~kept).any(axis=1)
    both = np.flatnonzero(filled & kept.any(axis=1))[: N_SHOWN // 2]
    only = np.flatnonzero(filled & ~kept.any(axis=1))[: N_SHOWN // 2]
    return np.sort(np.concatenate([both, only]))


def _shown(rows: pd.DataFrame, missing: Mask, unknown: Mask, sign: str) -> RichTable:
    """Show some rows; cells in ``unknown`` as a sign, other missing ones as imputed."""
    shown = RichTable(*rows.columns, box=None, pad_edge=False)
    for i, values in enumerate(rows.to_numpy(dtype=object)):
        cells = []
        for j, value in enumerate(values):
            if unknown[i, j]:
                cells.append(Text(sign, style="bold blue"))
            elif missing[i, j]:
                cells.append(Text(f"{value} *", style="bold green"))
            else:
                cells.append(Text(str(value)))
        shown.add_row(*cells)
    return shown


def _truth_told(world: World, meaningful: pd.DataFrame) -> str:
    """How many calls were right; known here because the survey is simulated."""
    columns = world.mm_columns
    missing = world.observed_table[columns].isna().to_numpy()
    called = meaningful[columns].to_numpy()[missing]
    truly = world.meaningful[columns].to_numpy()[missing]
    right = int((called == truly).sum())
    return (
        f"The survey is simulated, so the truth is known: {right:,} of {len(truly):,} missing "
        f"cells in {', '.join(columns)} were called rightly ({right / len(truly):.0%})."
    )
