"""Complete a dataset of many files, and check one that was completed."""

from pathlib import Path

from diffjoint.cli.console import say
from diffjoint.cli.options.files import Outputs, Reading
from diffjoint.cli.options.running import Running
from diffjoint.cli.options.scaling import Scaling
from diffjoint.cli.run.reading import tokens_of
from diffjoint.cli.run.showing import say_counts
from diffjoint.engines import is_dataset, start_engine, transform_dataset, verify
from diffjoint.errors import InputError


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
        "--report": outputs.report,
        "--self-check": outputs.self_check or None,
    }
    given = [option for option, value in single.items() if value is not None]
    if given:
        raise InputError(
            f"{', '.join(given)} cannot be used with a folder of files, an engine or draws. Pass a "
            "single file for it, such as one of the folder, and a file to write to."
        )
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


def verify_dataset(out: Path, *, quiet: bool) -> None:
    """Check that a completed dataset is whole, and say what it holds."""
    done = verify(out)
    n_files = len(done.pieces) * len(done.folders)
    say(f"{out} is whole: {done.n_rows:,} rows, {n_files:,} files as they were written.", quiet)
