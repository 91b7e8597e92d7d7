"""Show an inspection on the screen, with the command to run next."""

import shlex
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.fitting.auto_columns import AUTO
from diffjoint.inspection.inspect import Inspection
from diffjoint.io.files import STANDARD_STREAM, TableFile
from diffjoint.io.places import beside, shown
from diffjoint.settings import NA_VALUES
from diffjoint.table import Kind

MOST_SHOWN = 20
"""Largest number of findings of a kind to show; --json has all."""
MOST_NAMES = 6
"""Largest number of columns of a block to name."""


def show_inspection(
    found: Inspection, console: Console, by_options: Callable[[str], str] = str
) -> None:
    """Print an inspection as tables with headings.

    Parameters
    ----------
    by_options : callable
        Rewrites a doubt so that it names options instead of parameters.
    """
    console.print(Group(*_parts(found, by_options)), highlight=False)


def _parts(found: Inspection, by_options: Callable[[str], str]) -> Iterator[RenderableType]:
    n_cells = found.n_rows * found.n_columns
    yield Text(
        f"{found.n_rows:,} rows, {found.n_columns:,} columns; {found.n_missing:,} of {n_cells:,} "
        f"cells are missing ({found.n_missing / max(1, n_cells):.1%})."
    )
    yield _heading("Columns and their kinds")
    yield _columns(found)
    if found.disguised:
        title = "Values that may stand for a missing cell (a suspicion: you decide)"
        yield from _section(title, _suspicions(found), len(found.disguised))
    if found.infinite:
        title = "Infinite numbers, which impute refuses (counted as missing here)"
        yield from _section(title, _infinite(found), len(found.infinite))
        yield Text(
            "The command below reads them as lost. If they stand for a bound, write the bound into "
            "the file instead."
        )
    if found.variants:
        title = "Levels that differ only in capitals or spaces"
        yield from _section(title, _variants(found), len(found.variants))
        yield Text(
            "Each is a separate level. If they mean the same, write the first in all of their "
            "cells in the file."
        )
    if found.text_dates:
        title = "Text that looks like dates, but is not read as dates"
        yield from _section(title, _text_dates(found), len(found.text_dates))
    if found.blocks:
        title = "Columns that are missing in the same rows"
        yield from _section(title, _blocks(found), len(found.blocks))
    if found.doubts:
        yield _heading("Columns whose missing cells are kept without being judged")
        for doubt in found.doubts:
            yield _text(by_options(doubt), 3_000)
    yield _heading("Columns in which a missing cell can be meaningful")
    yield from _evidence(found)


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _section(title: str, shown: RenderableType, n_found: int) -> Iterator[RenderableType]:
    """Yield the findings of one kind under a heading, and how many more there are."""
    yield _heading(title)
    yield shown
    if n_found > MOST_SHOWN:
        yield Text(f"... and {n_found - MOST_SHOWN:,} more; --json lists all.")


def _table(*headings: str) -> RichTable:
    return RichTable(*headings, box=None, pad_edge=False)


def _columns(found: Inspection) -> RichTable:
    shown = _table("column", "kind", "values", "missing")
    for column in found.columns:
        rate = f"{column.missing_rate:.1%}" if column.n_missing else "-"
        shown.add_row(_text(column.name), column.kind, _text(column.values), rate)
    return shown


def _suspicions(found: Inspection) -> RichTable:
    shown = _table("column", "value", "cells", "share", "why")
    for one in found.disguised[:MOST_SHOWN]:
        value = _text(one.value) if one.value.strip() else Text(repr(one.value))
        shown.add_row(_text(one.column), value, f"{one.n_cells:,}", f"{one.share:.1%}", one.why)
    return shown


def _infinite(found: Inspection) -> RichTable:
    shown = _table("column", "value", "cells", "first in row")
    for one in found.infinite[:MOST_SHOWN]:
        shown.add_row(_text(one.column), one.value, f"{one.n_cells:,}", str(one.first_row))
    return shown


def _variants(found: Inspection) -> RichTable:
    shown = _table("column", "spellings (and cells)")
    for one in found.variants[:MOST_SHOWN]:
        pairs = zip(one.spellings, one.n_cells, strict=True)
        spellings = ", ".join(f'"{text}" ({n_cells:,})' for text, n_cells in pairs)
        shown.add_row(_text(one.column), _text(spellings, 200))
    return shown


def _text_dates(found: Inspection) -> RichTable:
    shown = _table("column", "format", "example", "cells", "what to do")
    for one in found.text_dates[:MOST_SHOWN]:
        cells = (one.form, _text(one.example), f"{one.n_cells:,}", _text(one.advice, 300))
        shown.add_row(_text(one.column), *cells)
    return shown


def _blocks(found: Inspection) -> RichTable:
    shown = _table("columns", "all missing", "any missing")
    for block in found.blocks[:MOST_SHOWN]:
        more = len(block.columns) - MOST_NAMES
        names = ", ".join(map(_quoted, block.columns[:MOST_NAMES])) + (
            f", and {more} more" if more > 0 else ""
        )
        shown.add_row(_text(names, 200), f"{block.n_rows:,} rows", f"{block.n_any:,} rows")
    return shown


def _evidence(found: Inspection) -> Iterator[RenderableType]:
    if found.not_judged:
        yield Text(f"Nothing to judge: {found.not_judged}.")
        return
    shown = _table("column", "missing", "excess", "AUC", "p", "why")
    listed = [
        column
        for column in found.columns
        if column.n_missing and column.reason and column.kind != Kind.CHECKBOX
    ]
    for column in sorted(listed, key=lambda c: not c.is_candidate):
        numbers = (column.missing_rate, column.excess, column.auc, column.p_value)
        marks = ("{:.1%}", "{:+.1%}", "{:.2f}", "{:.1g}")
        cells = [
            "" if x is None else mark.format(x) for x, mark in zip(numbers, marks, strict=True)
        ]
        style = "bold" if column.is_candidate else ""
        shown.add_row(_text(column.name), *cells, column.reason, style=style)
    yield shown
    yield Text(
        "excess: share missing beyond what other columns lose. AUC: how well the rest of the row "
        "predicts which cells are missing (0.5: not at all). p: probability of such evidence if "
        "cells were only lost.",
        style="dim",
    )
    names = (
        ", ".join(_quoted(str(label)) for label in found.mm_columns)
        or "none: losses explain every missing cell"
    )
    yield _text(f"Candidates: {names}.", 2_000)
    if found.n_rows_judged < found.n_rows:
        yield Text(f"Based on {found.n_rows_judged:,} of the {found.n_rows:,} rows.")


def _quoted(name: str) -> str:
    """Put a name in quotes if it has a comma and would look like two."""
    return f'"{name}"' if "," in name else name


def _text(text: str, most: int = 40) -> Text:
    """Write text from the data on one line, without control characters."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    plain = " ".join(plain.split())
    return Text(plain if len(plain) <= most else f"{plain[: most - 3]}...")


def next_commands(
    found: Inspection, file: TableFile, source: str, options: list[str], na_values: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what to run next: words, and a command or options to add to it.

    Parameters
    ----------
    options : list of str
        Options with which the file was read, except ``--na-values``.
    na_values : sequence of str
        Values that were read as missing.
    """
    own = ["--na-values", ",".join(na_values)] if tuple(na_values) != NA_VALUES else []
    for column in found.columns:
        if column.n_missing == found.n_rows:
            options = [*options, "--kind", f"{column.name}=pass-through"]
    given = options
    for code in _infinite_codes(found, file):
        options = [*options, "--code", code]
    out, report = beside("table.csv" if source == STANDARD_STREAM else source)
    source = shown(source)
    run = ["diffjoint", "impute", source, out, *_searched(found), *own, *options]
    commands = []
    if found.n_missing:
        words = "Complete the table, with a report to look at"
        commands.append((words, [*run, "--report", report]))
    tokens = _spelt(found, file)
    if tokens and file.text is not None:
        look = ["diffjoint", "inspect", source, "--na-values", ",".join([*na_values, *tokens])]
        commands.insert(0, ("If those values stand for missing cells, inspect again", look + given))
    elif found.disguised:
        codes = [_lost(one.column, one.value) for one in found.disguised]
        added = [part for code in codes for part in ("--code", code)]
        commands.append(("If those values stand for cells that were lost, add", added))
    return [(words, shlex.join(parts)) for words, parts in commands]


def _searched(found: Inspection) -> list[str]:
    """Return the option that names the candidates; one by one where a name has a comma."""
    names = [column.name for column in found.columns if column.is_candidate]
    if any("," in name or name != name.strip() for name in names):
        return [f"--mm-columns={name}" for name in names]
    is_ambiguous = names == [AUTO]
    return [f"--mm-columns={','.join(names)}" + "," * is_ambiguous]


def _infinite_codes(found: Inspection, file: TableFile) -> list[str]:
    """Return infinite numbers as codes of lost cells, spelt as in the file."""
    codes = []
    all_missing = {column.name for column in found.columns if column.n_missing == found.n_rows}
    for one in found.infinite:
        if one.column in all_missing:  # passed through, so its values are not read
            continue
        spelt = {one.value}
        if file.text is not None:
            column = file.table[one.column].to_numpy() == float(one.value)
            spelt = set(file.text.cells.loc[column, one.column])
        codes += [_lost(one.column, text) for text in sorted(spelt)]
    return codes


def _lost(column: str, value: str) -> str:
    """Write a code of lost cells for --code; a name with a colon is put in backticks."""
    name = f"`{column}`" if ":" in column else column
    return f"{name}: {value}=lost"


def _spelt(found: Inspection, file: TableFile) -> list[str]:
    """Return the suspected values as a text file spells them, if --na-values can name them."""
    if file.text is None:
        return []
    cells = file.text.cells
    spelt = [str(cells[one.column].iloc[one.first_row]) for one in found.disguised]
    return list(dict.fromkeys(text for text in spelt if text and "," not in text))
