"""An inspection on the screen, and the command to run next."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.fitting.auto_columns import AUTO
from diffjoint.inspection.inspect import Inspection
from diffjoint.io.files import STANDARD_STREAM, TableFile
from diffjoint.settings import NA_VALUES
from diffjoint.table import Kind

MOST_SHOWN = 20
"""Suspicions and blocks shown; --json has all."""
MOST_NAMES = 6


def show_inspection(
    found: Inspection, console: Console, by_options: Callable[[str], str] = str
) -> None:
    """Print what was found, as tables with a heading each.

    Parameters
    ----------
    by_options : callable
        What makes options of the parameters in a doubt.
    """
    console.print(Group(*_parts(found, by_options)), highlight=False)


def _parts(found: Inspection, by_options: Callable[[str], str]) -> Iterator[RenderableType]:
    n_cells = found.n_rows * found.n_columns
    yield Text(
        f"{found.n_rows:,} rows, {found.n_columns:,} columns; {found.n_missing:,} of {n_cells:,} "
        f"cells are empty ({found.n_missing / max(1, n_cells):.1%})."
    )
    yield _heading("Columns as understood")
    yield _columns(found)
    if found.disguised:
        title = "Values that may stand for an empty cell (a suspicion: you decide)"
        yield from _section(title, _suspicions(found), len(found.disguised))
    if found.infinite:
        title = "Infinite numbers, which impute refuses (counted as empty here)"
        yield from _section(title, _infinite(found), len(found.infinite))
        yield Text(
            "The command below reads them as lost. If they stand for a bound, put that in their "
            "place in the file instead."
        )
    if found.variants:
        title = "Levels that differ in capitals or spaces alone"
        yield from _section(title, _variants(found), len(found.variants))
        yield Text(
            "Each is a level of its own. If they mean the same, write the first in all of their "
            "cells in the file."
        )
    if found.text_dates:
        title = "Text that looks like dates, and is not understood as such"
        yield from _section(title, _text_dates(found), len(found.text_dates))
    if found.blocks:
        title = "Columns that are empty in the same rows"
        yield from _section(title, _blocks(found), len(found.blocks))
    if found.doubts:
        yield _heading("Columns whose empty cells are kept without being judged")
        for doubt in found.doubts:
            yield _text(by_options(doubt), 3_000)
    yield _heading("Where an empty cell may be meaningful")
    yield from _evidence(found)


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _section(title: str, shown: RenderableType, n_found: int) -> Iterator[RenderableType]:
    """What was found of one kind, and how much more of it there is."""
    yield _heading(title)
    yield shown
    if n_found > MOST_SHOWN:
        yield Text(f"... and {n_found - MOST_SHOWN:,} more; --json lists all.")


def _table(*headings: str) -> RichTable:
    return RichTable(*headings, box=None, pad_edge=False)


def _columns(found: Inspection) -> RichTable:
    shown = _table("column", "kind", "values", "empty")
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
    shown = _table("column", "spellings and their cells")
    for one in found.variants[:MOST_SHOWN]:
        pairs = zip(one.spellings, one.n_cells, strict=True)
        told = ", ".join(f'"{text}" ({n_cells:,})' for text, n_cells in pairs)
        shown.add_row(_text(one.column), _text(told, 200))
    return shown


def _text_dates(found: Inspection) -> RichTable:
    shown = _table("column", "written", "such as", "cells", "what to do")
    for one in found.text_dates[:MOST_SHOWN]:
        cells = (one.form, _text(one.example), f"{one.n_cells:,}", _text(one.advice, 300))
        shown.add_row(_text(one.column), *cells)
    return shown


def _blocks(found: Inspection) -> RichTable:
    shown = _table("columns", "all empty", "any empty")
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
    shown = _table("column", "empty", "excess", "AUC", "p", "why")
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
        "excess: empty beyond what other columns lose. AUC: how well the rest of the row tells who "
        "is empty (0.5: not at all). p: how likely losses alone look like this.",
        style="dim",
    )
    names = (
        ", ".join(_quoted(str(label)) for label in found.mm_columns)
        or "none: losses explain every empty cell"
    )
    yield _text(f"Candidates: {names}.", 2_000)
    if found.n_rows_judged < found.n_rows:
        yield Text(f"Judged on {found.n_rows_judged:,} of the {found.n_rows:,} rows.")


def _quoted(name: str) -> str:
    """A name, in quotes if it has a comma and would look like two."""
    return f'"{name}"' if "," in name else name


def _text(text: str, most: int = 40) -> Text:
    """Text from the data on one line, without what would steer the terminal."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    plain = " ".join(plain.split())
    return Text(plain if len(plain) <= most else f"{plain[: most - 3]}...")


def next_commands(
    found: Inspection, file: TableFile, source: str, options: list[str], na_values: Sequence[str]
) -> list[tuple[str, str]]:
    """What to run next: words, and a command or what to add to it.

    Parameters
    ----------
    options : list of str
        How the file had to be read, as given, but for empty cells.
    na_values : sequence of str
        What was read as an empty cell.
    """
    own = ["--na-values", ",".join(na_values)] if tuple(na_values) != NA_VALUES else []
    for column in found.columns:
        if column.n_missing == found.n_rows:
            options = [*options, "--kind", f"{column.name}=pass-through"]
    given = options
    for code in _infinite_codes(found, file):
        options = [*options, "--code", code]
    stem = Path("table.csv" if source == STANDARD_STREAM else source)
    out = stem.with_name(f"{stem.stem}_completed{stem.suffix}")
    report = stem.with_name(f"{stem.stem}_report.html")
    run = ["diffjoint", "impute", source, str(out), *_searched(found), *own, *options]
    commands = []
    if found.n_missing:
        words = "Complete the table, with a report to look at"
        commands.append((words, [*run, "--report", str(report)]))
    tokens = _spelt(found, file)
    if tokens and file.text is not None:
        look = ["diffjoint", "inspect", source, "--na-values", ",".join([*na_values, *tokens])]
        commands.insert(0, ("If those values stand for empty cells, look again", look + given))
    elif found.disguised:
        codes = [_lost(one.column, one.value) for one in found.disguised]
        added = [part for code in codes for part in ("--code", code)]
        commands.append(("If those values stand for cells that were lost, add", added))
    return [(words, shlex.join(parts)) for words, parts in commands]


def _searched(found: Inspection) -> list[str]:
    """The option that names the candidates; one by one where a name has a comma."""
    names = [column.name for column in found.columns if column.is_candidate]
    if any("," in name or name != name.strip() for name in names):
        return [f"--mm-columns={name}" for name in names]
    is_ambiguous = names == [AUTO]
    return [f"--mm-columns={','.join(names)}" + "," * is_ambiguous]


def _infinite_codes(found: Inspection, file: TableFile) -> list[str]:
    """Infinite numbers as codes of lost cells, spelt as the file has them."""
    codes = []
    empty = {column.name for column in found.columns if column.n_missing == found.n_rows}
    for one in found.infinite:
        if one.column in empty:  # passed through, and so not read
            continue
        spelt = {one.value}
        if file.text is not None:
            column = file.table[one.column].to_numpy() == float(one.value)
            spelt = set(file.text.cells.loc[column, one.column])
        codes += [_lost(one.column, text) for text in sorted(spelt)]
    return codes


def _lost(column: str, value: str) -> str:
    """A code of lost cells, as --code takes it; a name with a colon is in backticks."""
    name = f"`{column}`" if ":" in column else column
    return f"{name}: {value}=lost"


def _spelt(found: Inspection, file: TableFile) -> list[str]:
    """The suspected values as a text file spells them, if they can be named to it."""
    if file.text is None:
        return []
    cells = file.text.cells
    spelt = [str(cells[one.column].iloc[one.first_row]) for one in found.disguised]
    return list(dict.fromkeys(text for text in spelt if text and "," not in text))
