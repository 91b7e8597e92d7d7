"""Find a file's rules, and check it against rules."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.table import Table as RichTable
from rich.text import Text

from diffjoint.cli.console import Screen, keep_clear, say
from diffjoint.cli.options.files import Reading
from diffjoint.cli.options.learning import Known
from diffjoint.cli.parsing import parse_codes, parse_kinds, rules_of
from diffjoint.cli.run.by_file import with_codes_of
from diffjoint.cli.run.reading import read
from diffjoint.cli.start import RUN_FAILED
from diffjoint.errors import InputError
from diffjoint.inspection.rules import check_rules, find_rules
from diffjoint.io.files import STANDARD_STREAM, TableFile, write_file
from diffjoint.io.formulas import guarded
from diffjoint.io.places import check_place, place_of
from diffjoint.io.rule_files import write_rules, write_text
from diffjoint.skip_rules.find import FoundRule
from diffjoint.skip_rules.picture import as_mermaid, as_svg
from diffjoint.skip_rules.words import literal as shown_code
from diffjoint.storage.atomic import staged_outputs

LEAST_RULE_WIDTH = 20
"""Characters of a line of a rule on the screen at least; what is longer goes on below."""
MOST_LISTED = 20
"""Cells that break a rule that are shown on the screen."""


def seek_rules(
    source: str,
    columns: str | None,
    known: Known,
    reading: Reading,
    files: Mapping[str, Path | None],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find a file's rules, show them, and write them where asked for.

    Parameters
    ----------
    files : mapping
        Where the rules go as TOML ("out"), as "mermaid" and as "svg".
    """
    file = read(source, reading, reason_codes=parse_codes(known.codes))
    named = None if columns is None else [name.strip() for name in columns.split(",")]
    given = rules_of(known)
    found = find_rules(file.table, named, rules=given, **_about(file, known))
    with staged_outputs():
        _write(found, files, _meanings(found, file))
    if as_json:
        typer.echo(json.dumps([asdict(rule) for rule in found], indent=2))
        return
    _show(found, _meanings(found, file), beside=bool(given))
    for name, path in files.items():
        if path is not None:
            say(f"Wrote {'the rules' if name == 'out' else 'the gates'} to {path}.", quiet)


def check_table(
    source: str, known: Known, reading: Reading, out: str | None, *, as_json: bool, quiet: bool
) -> None:
    """List the cells that break a rule; exit with a code that says whether there are any."""
    rules = rules_of(known)
    if not rules:
        raise InputError(
            "check needs rules: --rules FILE, or --rule 'COLUMN: CONDITION'. diffjoint rules finds "
            "those that a table follows.",
            parameter="rules",
        )
    place = None if out is None else place_of(out)
    if place is not None:
        check_place(place, force=False)
    keep_clear("-" if as_json else out)
    file = read(source, reading, reason_codes=parse_codes(known.codes))
    broken = check_rules(file.table, rules, **_about(file, known))
    listed = pd.DataFrame(
        broken, columns=["row", "column", "value", "rule", "gates", "likely_wrong"]
    ).astype({"value": str})
    if out is not None:
        write_file(out, guarded(listed))
    if as_json:
        typer.echo(json.dumps(listed.to_dict("records"), indent=2))
    elif out != STANDARD_STREAM:
        _show_broken(listed)
    cells = "1 cell breaks its rule." if len(listed) == 1 else f"{len(listed):,} cells break rules."
    say(cells if len(listed) else "No cell breaks its rule.", quiet)
    if len(listed):
        raise typer.Exit(RUN_FAILED)


def _about(file: TableFile, known: Known) -> dict[str, Any]:
    """Return what is known of a file's columns, as parameters."""
    carried = dict.fromkeys(file.passed_through, "pass-through")
    return {
        "reason_codes": with_codes_of(file, parse_codes(known.codes)),
        "column_kinds": {**carried, **file.kinds, **parse_kinds(known.kinds)},
        "checkboxes": known.checkboxes,
    }


def _meanings(found: Sequence[FoundRule], file: TableFile) -> dict[str, str]:
    """Return what the codes of gates mean, by gate, as the labels of a statistical file say."""
    options = {} if file.notes is None else file.notes.options
    labels = options.get("variable_value_labels", {})
    gates = sorted({gate for rule in found for gate in rule.gates if labels.get(gate)})
    return {
        gate: ", ".join(f"{shown_code(code)} {text}" for code, text in labels[gate].items())
        for gate in gates
    }


def _write(
    found: Sequence[FoundRule], files: Mapping[str, Path | None], meanings: Mapping[str, str]
) -> None:
    if (out := files["out"]) is not None:
        notes = {rule.column: _note(rule, meanings) for rule in found}
        write_rules(out, {rule.column: rule.as_rule for rule in found}, notes)
    for name, draw in {"mermaid": as_mermaid, "svg": as_svg}.items():
        if (path := files[name]) is not None:
            write_text(path, f"{draw(found)}\n")


def _note(rule: FoundRule, meanings: Mapping[str, str]) -> str:
    """Return what speaks for a rule, and what the codes of its gates mean, in a line."""
    codes = [f"; {gate}: {meanings[gate]}" for gate in rule.gates if gate in meanings]
    return (
        f"{rule.n_fails:,} missing where it fails, {rule.n_exceptions:,} observed there (at most "
        f"{rule.most_broken:.1%} of all such cells); {rule.n_missing:,} of "
        f"{rule.n_holds + rule.n_missing:,} missing where it holds{''.join(codes)}"
    )


def _show(found: Sequence[FoundRule], meanings: Mapping[str, str], *, beside: bool) -> None:
    screen = Screen()
    if not found:
        others = " beside those given" if beside else ""
        screen.print(
            f"No rule was found{others}: no column is missing sharply by another one's values."
        )
        return
    shown = RichTable(box=None, pad_edge=False)
    shown.add_column("column", no_wrap=True)
    shown.add_column("has something to record if", overflow="fold", min_width=LEAST_RULE_WIDTH)
    for heading in ("missing\nwhere not", "observed", "at most", "missing\nwhere it has"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for rule in found:
        rate = rule.n_missing / max(rule.n_missing + rule.n_holds, 1)
        counts = (f"{rule.n_fails:,}", f"{rule.n_exceptions:,}", f"{rule.most_broken:.1%}")
        shown.add_row(Text(rule.column), Text(rule.as_rule), *counts, f"{rate:.1%}")
    screen.print(shown)
    for gate, codes in meanings.items():
        screen.print(Text(f"{gate}: {codes}"), soft_wrap=True)


def _show_broken(listed: pd.DataFrame) -> None:
    if not len(listed):
        return
    shown = RichTable(*listed.columns, box=None, pad_edge=False)
    for cells in listed.head(MOST_LISTED).itertuples(index=False):
        shown.add_row(*(Text(str(cell)) for cell in cells))
    Screen().print(shown)
