"""``diffjoint transform``."""

from diffjoint.cli.options.files import DecisionsIn, In, ModelPath, Out, Outputs, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.running import KeyFile, Running, UnseenLater
from diffjoint.cli.options.scaling import Scaling

EXAMPLES = (
    "Examples:\n\n"
    "[bold]diffjoint transform survey.diffjoint new.csv completed.csv[/bold]\n\n"
    "[bold]diffjoint transform visits.diffjoint visits/ completed/ --workers 2[/bold]"
)


@by_groups
def transform(
    model: ModelPath,
    source: In,
    out: Out,
    *,
    decisions: DecisionsIn = None,
    outputs: Outputs,
    reading: Reading,
    running: Running,
    scaling: Scaling,
    unseen: UnseenLater = None,
    key_file: KeyFile = None,
) -> None:
    """Complete a table, or a folder of files, with a model that fit saved."""
    from diffjoint.cli.run import completing, datasets, learning
    from diffjoint.cli.run.clashes import check_outputs
    from diffjoint.cli.run.reading import check_bound, decided, goes_in_blocks, key_in, read
    from diffjoint.storage.atomic import staged_outputs

    key = key_in(key_file)
    if datasets.goes_to_a_folder(source, out, scaling):
        learning.check_signed(model, key)
        asked = (outputs, reading, running, scaling)
        datasets.complete_dataset(model, source, out, *asked, unseen=unseen, decisions=decisions)
        return
    inputs = {"IN": source, "--decisions": decisions, "--key-file": key_file}
    check_outputs(inputs, {"OUT": out}, outputs, model=model)
    imputer = learning.loaded(model, key, unseen, running, self_check=outputs.self_check)
    file = read(source, reading, imputer.schema_, imputer.reason_codes)
    learning.say_doubts(imputer, running.quiet)
    asks_for_all = decisions or imputer.rules
    if imputer._is_by_row and not asks_for_all and goes_in_blocks(file, out, outputs):
        check_bound(file, running.memory_limit)
        completing.complete_blocks(imputer, file, out, outputs, running.quiet)
        return
    cells = decided(decisions, file)
    result = imputer.impute(file.table, **cells)
    with staged_outputs():
        completing.write_all(imputer, source, file, out, result, outputs, cells, running.quiet)
    completing.check_unreported(imputer, file, result, outputs, cells)
