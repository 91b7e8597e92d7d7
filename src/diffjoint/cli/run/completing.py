"""Write what ``impute`` and ``transform`` were asked for."""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from diffjoint.cli.options.files import Outputs
from diffjoint.cli.run.showing import COUNTED, say_counts
from diffjoint.cli.run.writing import check_itself, write_report, write_review
from diffjoint.imputer import SelectiveImputer
from diffjoint.io.files import TableFile, text_writer, write_file
from diffjoint.results.imputation import Imputation
from diffjoint.steps import impute_blocks
from diffjoint.storage.atomic import staged_outputs, when_in_place


def complete_blocks(
    imputer: SelectiveImputer, file: TableFile, out: str, outputs: Outputs, quiet: bool
) -> None:
    """Complete a text file and write what was asked for, some rows at a time."""
    if file.text is None:
        raise TypeError("blocks are read from text files")
    text, counts = file.text, Counter[str]()
    with staged_outputs(), ExitStack() as files:
        writer = files.enter_context(text_writer(out, file))
        beside = {
            part: files.enter_context(text_writer(path))
            for part, path in outputs.sides.items()
            if path is not None
        }
        results = impute_blocks(imputer, lambda: (block.table for block in text.blocks()))
        for block, result in zip(text.blocks(), results, strict=True):
            writer.write(result.table, block)
            for part, other in beside.items():
                other.write(getattr(result, part))
            counts.update({name: getattr(result, name) for name in COUNTED})
    say_counts(counts, out, None, quiet)


def check_unreported(
    imputer: SelectiveImputer,
    file: TableFile,
    result: Imputation,
    outputs: Outputs,
    cells: Mapping[str, Any],
) -> None:
    """Check a table by itself if that is asked for without a report: nothing waits for it."""
    if outputs.self_check and outputs.report is None:
        check_itself(imputer, file, result, cells, quiet=False)


def write_all(
    imputer: SelectiveImputer,
    source: str,
    file: TableFile,
    out: str,
    result: Imputation,
    outputs: Outputs,
    cells: Mapping[str, Any],
    quiet: bool,
) -> None:
    """Write a completed table and everything beside it; say how many cells became what.

    What a report is to say of trust is checked before; see :func:`check_unreported`.
    """
    write_review(imputer, result, file, outputs, cells)
    write_file(out, result.table, file)
    for part, path in outputs.sides.items():
        if path is not None:
            write_file(path, getattr(result, part))
    counts = {name: getattr(result, name) for name in COUNTED}
    when_in_place(lambda: say_counts(counts, out, outputs.review, quiet))
    if outputs.report is None:
        return
    check = check_itself(imputer, file, result, cells, quiet) if outputs.self_check else None
    write_report(imputer, source, file, outputs.report, result, check, cells, quiet)
