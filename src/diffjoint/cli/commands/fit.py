"""``diffjoint fit``."""

from diffjoint.cli import parsing
from diffjoint.cli.options.files import DecisionsIn, ForceOption, In, NewModel, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import Filled, Known, Method, Searched
from diffjoint.cli.options.running import DrawsOption, Running, Saving, Seed, Unseen
from diffjoint.cli.options.scaling import Sampling

EXAMPLES = "Example: [bold]diffjoint fit survey.csv survey.diffjoint -m spouse_age[/bold]"


@by_groups
def fit(
    source: In,
    model: NewModel,
    searched: Searched,
    known: Known,
    filled: Filled,
    reading: Reading,
    method: Method,
    running: Running,
    sampling: Sampling,
    saving: Saving,
    decisions: DecisionsIn = None,
    draws: DrawsOption = False,
    force: ForceOption = False,
    unseen: Unseen = "warn",
    seed: Seed = 0,
) -> None:
    """Learn a table, or a folder of files, and save the model, to complete tables later."""
    parsing.check_method(method)
    from diffjoint.cli.run import datasets, learning, writing
    from diffjoint.cli.run.clashes import check_model
    from diffjoint.cli.run.reading import decided, key_in, read

    key_in(saving.key_file)
    inputs = {
        "IN": source,
        "--decisions": decisions,
        "--rules": known.rule_file,
        "--key-file": saving.key_file,
    }
    check_model(inputs, model, force=force)
    codes = parsing.parse_codes(known.codes)
    if datasets.is_sampled(source, sampling):
        how = (reading, codes, sampling, running)
        file = datasets.read_sample(source, *how, decisions=decisions)
    else:
        file = read(source, reading, reason_codes=codes)
    imputer = learning.learn(
        file,
        decided(decisions, file),
        (searched, known, filled, method, running),
        reading,
        source,
        unseen=unseen,
        random_state=seed,
        n_threads=running.threads,
    )
    writing.save_model(imputer, model, saving, draws=draws, quiet=running.quiet)
