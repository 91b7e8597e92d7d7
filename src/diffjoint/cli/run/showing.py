"""Say what a file is taken for, what was found in it, and what became of its cells."""

from collections.abc import Mapping

from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.cli.console import by_options, console, say
from diffjoint.fitting.auto_columns import AUTO, found_in_words
from diffjoint.fitting.prepare import Understood
from diffjoint.imputer import SelectiveImputer
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
    for i, (name, kind, values) in enumerate(schema.rows()):
        missing = f"{table.missing(i).mean():.0%}"
        shown.add_row(Text(name), kind, Text(values), missing, "yes" if name in searched else "")
    console.print(shown)


def show_codes(file: TableFile, quiet: bool) -> None:
    """Show what a statistical file's codes for missing cells were taken for."""
    told = [f"{n}: {c}={why}" for n, own in file.reason_codes.items() for c, why in own.items()]
    if told:
        say(f"By their labels: {', '.join(told)}. --code says otherwise.", quiet)
    silent = [f"{n} ({', '.join(map(str, own))})" for n, own in file.without_reason.items()]
    if silent:
        say(f"Codes read as missing, without reason: {', '.join(silent)}. --code gives one.", quiet)


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
