"""Say what a file is taken for, what was found in it, and what became of its cells."""

import shlex
from collections.abc import Mapping

from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.cli.console import by_options, say, say_warning, summaries
from diffjoint.cli.options.files import Reading
from diffjoint.fitting.auto_columns import AUTO, MOST_NAMED, found_in_words
from diffjoint.fitting.prepare import Understood
from diffjoint.imputer import SelectiveImputer
from diffjoint.inspection.disguised import find_disguised
from diffjoint.inspection.view import left_out, most_missing
from diffjoint.io.files import TableFile
from diffjoint.io.places import shown
from diffjoint.knowledge.reason_codes import columns_searched_by_codes

COUNTED = ("n_observed", "n_kept", "n_imputed", "n_left", "n_review", "n_unticked")
"""Numbers of cells that an imputation tells."""


def show_schema(imputer: SelectiveImputer, understood: Understood, quiet: bool) -> None:
    """Show the columns as understood: a wrong kind is cheap to correct before the work."""
    if quiet:
        return
    table, schema = understood.without_codes, understood.schema
    by_code = columns_searched_by_codes(table, imputer.reason_codes, understood.coded)
    searched = {
        *([] if imputer.mm_columns == AUTO else imputer.mm_columns or []),
        *(imputer.rules or {}),
        *(table.names[i] for i in by_code if not schema.columns[i].is_checkbox),
    }
    shown = RichTable("column", "kind", "values", "missing", "searched", box=None, pad_edge=False)
    rows = schema.rows()
    missing = [float(table.missing(i).mean()) for i in range(len(rows))]
    chosen = most_missing(missing)
    for i in chosen:
        name, kind, values = rows[i]
        is_searched = "yes" if name in searched else ""
        shown.add_row(Text(name), kind, Text(values), f"{missing[i]:.0%}", is_searched)
    summaries().print(shown)
    if len(chosen) < len(rows):
        say(f"{left_out([kind for _, kind, _ in rows], len(chosen))}.", quiet)


def show_reading(file: TableFile, reading: Reading, quiet: bool) -> None:
    """Show how a file was read, where that is not plain from the file."""
    for line in reading_in_words(file, reading):
        say(line, quiet)


def show_suspicions(understood: Understood, source: str, quiet: bool) -> None:
    """Name values that are taken as they are, but may stand for a missing cell."""
    found = [] if quiet else find_disguised(understood.without_codes)
    if not found:
        return
    listed = ", ".join(f"{one.value!r} in {one.column}" for one in found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    name = shlex.quote(shown(source))
    say_warning(
        f"These values are taken as they are, and may stand for missing cells: {listed}{more}. If "
        f"they do, what is filled in rests on them: diffjoint inspect {name} lists them, with the "
        "options that read them as missing."
    )


def reading_in_words(file: TableFile, reading: Reading) -> list[str]:
    """Say how names, numbers and codes of a file were read, in lines."""
    return [*names_in_words(file), *decimals_in_words(file, reading), *codes_in_words(file)]


def names_in_words(file: TableFile) -> list[str]:
    """Say in a line how columns of the same name are told apart, if there are any."""
    pairs = file.renamed
    if not pairs:
        return []
    more = f" and {len(pairs) - MOST_NAMED} more" if len(pairs) > MOST_NAMED else ""
    listed = ", ".join(list(pairs)[:MOST_NAMED]) + more
    return [f"Columns that share a name are told apart here: {listed}. They keep it in the output."]


def decimals_in_words(file: TableFile, reading: Reading) -> list[str]:
    """Say in a line which columns turned out to have a decimal comma, if any did."""
    names = () if file.text is None else file.text.with_commas
    if not names or reading.decimal is not None:
        return []
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    listed = ", ".join(names[:MOST_NAMED]) + more
    return [f"Numbers with a decimal comma: {listed}. --decimal . reads them as text."]


def codes_in_words(file: TableFile) -> list[str]:
    """Say what a statistical file's codes for missing cells were taken for, in lines."""
    lines = []
    told = [f"{n}: {c}={why}" for n, own in file.reason_codes.items() for c, why in own.items()]
    if told:
        lines.append(f"By their labels: {', '.join(told)}. --code says otherwise.")
    silent = [f"{n} ({', '.join(map(str, own))})" for n, own in file.without_reason.items()]
    if silent:
        lines.append(
            f"Codes read as missing, without reason: {', '.join(silent)}. --code gives one."
        )
    return lines


def show_evidence(imputer: SelectiveImputer, quiet: bool) -> None:
    """Where columns were to be found: which are searched, and why."""
    if imputer.mm_columns == AUTO:
        say(by_options(found_in_words(imputer.mm_evidence_)), quiet)


def say_counts(counts: Mapping[str, int], out: str, review: str | None, quiet: bool) -> None:
    """How many cells became what, and where they were written."""
    n_unticked, n_left, n_review = (counts[name] for name in ("n_unticked", "n_left", "n_review"))
    boxes = f" ({n_unticked:,} of these not ticked)" if n_unticked else ""
    left = f", {n_left:,} left in columns carried along" if n_left else ""
    where = "--review FILE lists them" if review is None else f"see {shown(review)}"
    doubtful = f" {n_review:,} of these are doubtful: {where}." if n_review else ""
    say(
        f"{counts['n_observed']:,} cells observed, {counts['n_kept']:,} kept as NA{boxes}, "
        f"{counts['n_imputed']:,} imputed{left}.{doubtful} Wrote {shown(out)}.",
        quiet,
    )
