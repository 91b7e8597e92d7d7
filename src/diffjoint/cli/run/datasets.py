"""Learn from a dataset of many files, complete one, and check one that was completed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffjoint.cli.console import say
from diffjoint.cli.options.files import Outputs, Reading
from diffjoint.cli.options.running import Running
from diffjoint.cli.options.scaling import Sampling, Scaling
from diffjoint.cli.run.learning import loaded
from diffjoint.cli.run.reading import tokens_of
from diffjoint.cli.run.showing import say_counts
from diffjoint.cli.run.writing import say_check, say_report
from diffjoint.engines import (
    check_dataset,
    is_dataset,
    report_dataset,
    sample_dataset,
    start_engine,
    transform_dataset,
    verify,
)
from diffjoint.engines.learn import DEFAULT_FIT_ROWS
from diffjoint.errors import InputError
from diffjoint.io.files import TableFile
from diffjoint.results.self_check import SelfCheck
from diffjoint.storage.atomic import check_writable


def is_sampled(source: str, sampling: Sampling) -> bool:
    """Whether some rows of a dataset are learnt from: it is one, or that is asked for."""
    return is_dataset(source) or sampling != Sampling()


def read_sample(
    source: str,
    reading: Reading,
    codes: Mapping[str, Any] | None,
    sampling: Sampling,
    running: Running,
    *,
    decisions: str | None,
) -> TableFile:
    """Look through a dataset; return rows that stand for all."""
    if decisions is not None:
        raise InputError(
            "--decisions names cells by their rows, and cannot be used with a folder of files. "
            "Pass a single file for it."
        )
    if reading.decimal is not None:
        raise InputError(
            "--decimal cannot be used with a folder of files. Leave it out: a comma is told from a "
            "point where cells are not separated by commas."
        )
    threads = running.threads or 1
    engine = start_engine(
        sampling.engine, sampling.workers, sampling.scheduler, running.memory_limit, threads
    )
    n_rows = DEFAULT_FIT_ROWS if sampling.fit_rows is None else sampling.fit_rows
    found = sample_dataset(
        source,
        n_rows,
        engine,
        na_values=tokens_of(reading),
        encoding=reading.encoding,
        reason_codes=codes,
    )
    table, n_all = found.table, found.survey.n_rows
    say(
        f"Learning from {table.num_rows:,} of {n_all:,} rows; {found.n_examples:,} of them hold a "
        "rare level or the end of a range that the others lack.",
        running.quiet or table.num_rows == n_all,
    )
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return TableFile(table, passed_through=tuple(n for n in index if n in table.column_names))


def goes_to_a_folder(source: str, out: str, scaling: Scaling) -> bool:
    """Whether a table is completed as a dataset: it is one, or goes to a folder."""
    of_dataset = scaling != Scaling()
    return is_dataset(source) or Path(out).is_dir() or out.endswith("/") or of_dataset


def complete_dataset(
    model: Path,
    source: str,
    out: str,
    outputs: Outputs,
    reading: Reading,
    running: Running,
    scaling: Scaling,
    *,
    unseen: str | None,
    decisions: str | None,
) -> None:
    """Complete a dataset, and say how many cells became what."""
    single = {
        "--decisions": decisions,
        "--review": outputs.review,
        "--decimal": reading.decimal,
    }
    given = [option for option, value in single.items() if value is not None]
    if given:
        raise InputError(
            f"{', '.join(given)} cannot be used with a folder of files, an engine or draws. Pass a "
            "single file for it, such as one of the folder, and a file to write to."
        )
    _check_can_be_told(model, outputs, running)
    threads = running.threads or 1
    engine = start_engine(
        scaling.engine, scaling.workers, scaling.scheduler, running.memory_limit, threads
    )
    done = transform_dataset(
        model,
        source,
        out,
        engine=engine,
        piece_rows=scaling.piece_rows,
        memory_limit=running.memory_limit,
        mask_out=outputs.mask_out,
        proba_out=outputs.proba_out,
        uncertainty_out=outputs.uncertainty_out,
        n_draws=scaling.draws,
        unseen=unseen,
        na_values=tokens_of(reading),
        encoding=reading.encoding,
        n_threads=threads,
        verbose=not running.quiet,
    )
    say(f"{done.n_rows:,} rows in {len(done.pieces):,} pieces.", running.quiet)
    say_counts(done.tally["cells"], out, "--proba-out", running.quiet)
    _tell(model, source, out, outputs, running)


def _check_can_be_told(model: Path, outputs: Outputs, running: Running) -> None:
    """Find out now, not after the work, that a dataset cannot be checked or reported on."""
    if outputs.self_check:
        loaded(model, None, None, running, self_check=True)
    if outputs.report is not None:
        check_writable(outputs.report)


def _tell(model: Path, source: str, out: str, outputs: Outputs, running: Running) -> None:
    """Check a completed dataset and report on it, as far as is asked for; it is not read again."""
    check: SelfCheck | None = None
    if outputs.self_check:
        check = check_dataset(model, out)
        say_check(check, running.quiet and outputs.report is not None)
    if outputs.report is not None:
        title = Path(source).name
        report_dataset(model, out, title=title, self_check=check or False).save(outputs.report)
        say_report(outputs.report, running.quiet)


def verify_dataset(out: Path, *, quiet: bool) -> None:
    """Check that a completed dataset is whole, and say what it holds."""
    done = verify(out)
    n_files = len(done.pieces) * len(done.folders)
    say(f"{out} is whole: {done.n_rows:,} rows, {n_files:,} files as they were written.", quiet)
