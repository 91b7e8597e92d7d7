"""``diffjoint impute``."""

from diffjoint.cli import parsing
from diffjoint.cli.options.files import DecisionsIn, In, ModelOut, Out, Outputs, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import Filled, Known, Method, Searched
from diffjoint.cli.options.running import Running, Saving, Seed

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint impute survey.csv completed.csv --report report.html[/bold]\n\n"
    "[bold]diffjoint impute survey.csv completed.csv -m spouse_age,commute[/bold]\n\n"
    "[bold]diffjoint impute lab.parquet out.parquet -m tsh --proba-out p.csv[/bold]\n\n"
    "[bold]cat s.csv | diffjoint impute - - -m spouse_age > out.csv[/bold]"
)


@by_groups
def impute(
    source: In,
    out: Out,
    searched: Searched,
    known: Known,
    outputs: Outputs,
    filled: Filled,
    reading: Reading,
    method: Method,
    running: Running,
    saving: Saving,
    decisions: DecisionsIn = None,
    model_out: ModelOut = None,
    seed: Seed = 0,
) -> None:
    """Learn a table and complete it; write a report if asked for."""
    parsing.check_method(method)
    if outputs.self_check:
        parsing.check_checkable(method)
    from diffjoint.cli.run import completing, learning, writing
    from diffjoint.cli.run.clashes import check_outputs
    from diffjoint.cli.run.reading import bound, decided, goes_in_blocks, key_in, read
    from diffjoint.storage.atomic import staged_outputs

    key_in(saving.key_file)
    inputs = {
        "IN": source,
        "--decisions": decisions,
        "--rules": known.rule_file,
        "--key-file": saving.key_file,
    }
    check_outputs(inputs, {"OUT": out, "--model-out": model_out}, outputs)
    file = read(source, reading, reason_codes=parsing.parse_codes(known.codes))
    in_blocks = (
        goes_in_blocks(file, out, outputs)
        and not (decisions or model_out)
        and parsing.needs_no_draws(method)
    )
    threads = bound(file, running, seed) if in_blocks else running.threads
    cells = decided(decisions, file)
    imputer = learning.learn(
        file,
        cells,
        (searched, known, filled, method, running),
        reading,
        source,
        in_blocks=in_blocks,
        random_state=seed,
        n_threads=threads,
    )
    if in_blocks:
        completing.complete_blocks(imputer, file, out, outputs, running.quiet)
        return
    result = imputer.impute()
    with staged_outputs():
        if model_out is not None:
            writing.save_model(imputer, model_out, saving, draws=False, quiet=running.quiet)
        completing.write_all(imputer, source, file, out, result, outputs, cells, running.quiet)
    completing.check_unreported(imputer, file, result, outputs, cells)
