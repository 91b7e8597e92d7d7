"""Show an inspection on the screen, with the command to run next."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.evidence.candidates import UNTOLD
from diffjoint.fitting.auto_columns import AUTO
from diffjoint.inspection.inspect import ColumnFound, Inspection
from diffjoint.io.files import STANDARD_STREAM, TableFile
from diffjoint.io.places import beside, shown
from diffjoint.knowledge.reason_codes import reason_in_words
from diffjoint.settings import NA_VALUES
from diffjoint.table import Kind

MOST_SHOWN = 20
"""Largest number of findings of a kind to show; --json has all."""
INSPECT_AGAIN = (
    "If those values stand for missing cells, inspect again (write lost or meaningful in place of "
    "missing where you know why)"
)
MOST_COLUMNS = 30
"""Largest number of columns to list; of wider tables, those that miss the most."""
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
    kinds = [column.kind for column in found.columns]
    missing = [column.missing_rate for column in found.columns]
    chosen = most_missing(missing)
    yield _columns([found.columns[i] for i in chosen])
    if len(chosen) < len(kinds):
        yield Text(f"{left_out(kinds, len(chosen))}; --json lists all.")
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


def most_missing(rates: Sequence[float]) -> list[int]:
    """Return the places of the columns to list, in order: of many, those that miss the most.

    Examples
    --------
    >>> most_missing([0.0, 0.2, 0.1])
    [0, 1, 2]
    >>> most_missing([0.0] * 99 + [0.5])[-1]
    99
    """
    return sorted(sorted(range(len(rates)), key=lambda i: -rates[i])[:MOST_COLUMNS])


def left_out(kinds: Sequence[str], n_shown: int) -> str:
    """Say how many columns are not listed, and what kinds there are in all.

    Examples
    --------
    >>> left_out(["integer"] * 90 + ["categorical"] * 10, 30)
    'Those that miss the most; 70 more are not shown (in all 90 integer, 10 categorical)'
    """
    counts = ", ".join(f"{n:,} {kind}" for kind, n in Counter(kinds).most_common())
    return (
        f"Those that miss the most; {len(kinds) - n_shown:,} more are not shown (in all {counts})"
    )


def _columns(listed: Sequence[ColumnFound]) -> RichTable:
    shown = _table("column", "kind", "values", "missing")
    for column in listed:
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
    ranked = sorted(listed, key=lambda c: not c.is_candidate)
    for column in ranked[:MOST_COLUMNS]:
        numbers = (column.missing_rate, column.excess, column.auc, column.p_value)
        marks = ("{:.1%}", "{:+.1%}", "{:.2f}", "{:.1g}")
        cells = [
            "" if x is None else mark.format(x) for x, mark in zip(numbers, marks, strict=True)
        ]
        style = "bold" if column.is_candidate else ""
        shown.add_row(_text(column.name), *cells, column.reason, style=style)
    yield shown
    if len(listed) > MOST_COLUMNS:
        yield Text(f"... and {len(listed) - MOST_COLUMNS:,} more; --json lists all.")
    yield Text(
        "excess: share missing beyond what other columns lose. AUC: how well the rest of the row "
        "predicts which cells are missing (0.5: not at all). p: probability of such evidence if "
        "cells were only lost.",
        style="dim",
    )
    yield _text(f"Candidates: {_candidates(found, listed)}.", 2_000)
    if found.n_rows_judged < found.n_rows:
        yield Text(f"Based on {found.n_rows_judged:,} of the {found.n_rows:,} rows.")


def _candidates(found: Inspection, listed: Sequence[ColumnFound]) -> str:
    """Name the candidates, or say what is known of the columns if there are none."""
    names = ", ".join(_quoted(str(label)) for label in found.mm_columns)
    unjudged = [column.name for column in listed if column.label in found.unjudged]
    untold = [column.name for column in listed if column.reason == UNTOLD]
    if names or not (unjudged or untold):
        return names or "none: losses explain every missing cell"
    if untold:
        return (
            "none: losses explain the missing cells of most columns. Of "
            f"{', '.join(map(_quoted, untold))} the table cannot tell: each {UNTOLD}"
        )
    if not any(column.auc is not None for column in listed):
        return "none, as there are too few missing or observed cells to tell of any column"
    return (
        "none: losses explain the missing cells of columns that could be judged. There is too "
        f"little to tell of {', '.join(map(_quoted, unjudged))}"
    )


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
        Options with which the file was read and looked at, except ``--na-values``.
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
    added = _suspected_codes(found, file, na_values)
    if added:
        tokens = [] if "--na-values" in added else own
        look = ["diffjoint", "inspect", source, *tokens, *given, *added]
        commands.insert(0, (INSPECT_AGAIN, look))
    return [(words, shlex.join(parts)) for words, parts in commands]


def _searched(found: Inspection) -> list[str]:
    """Return the option that names the candidates; one by one where a name has a comma.

    Where there are none, but too little to tell, it is left open; so it is for very many.
    """
    names = [column.name for column in found.columns if column.is_candidate]
    if (not names and found.unjudged) or len(names) > MOST_COLUMNS:
        return []
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
        codes += [_code(one.column, text, "lost") for text in sorted(spelt)]
    return codes


def _code(column: str, value: str, reason: str) -> str:
    """Write a code for --code; a name with a colon is put in backticks."""
    name = f"`{column}`" if ":" in column else column
    return f"{name}: {value}={reason}"


def _suspected_codes(found: Inspection, file: TableFile, na_values: Sequence[str]) -> list[str]:
    """Return options that read suspected values as missing, in their own columns alone.

    Of very many, a value that is suspected wherever it stands is named once, without a column.
    Those that --code cannot name, such as blanks, are read as missing wherever they stand.
    """
    kinds = {column.name: column.kind for column in found.columns}
    codes, tokens = list[str](), list[str]()
    cells = None if file.text is None else file.text.cells
    for one in found.disguised:
        column = None if cells is None else cells[one.column]
        value = one.value if column is None else str(column.iloc[one.first_row])
        if value == value.strip():
            is_carried = kinds[one.column] == Kind.PASS_THROUGH
            reason = reason_in_words(value) or "missing"
            everywhere = len(found.disguised) > MOST_SHOWN and value in found.suspected_everywhere
            code = _code(one.column, value, "missing" if is_carried else reason)
            code = f"{value}={reason}" if everywhere and ":" not in value else code
            codes += [] if code in codes else ["--code", code]
        elif cells is not None and "," not in value:
            tokens.append(value)
    named = ["--na-values", ",".join([*na_values, *dict.fromkeys(tokens)])] if tokens else []
    return [*named, *codes]
