"""``diffjoint fit``."""

from diffjoint.cli import parsing
from diffjoint.cli.options.files import DecisionsIn, ForceOption, In, NewModel, Reading
from diffjoint.cli.options.groups import by_groups
from diffjoint.cli.options.learning import Filled, Known, Method, Searched
from diffjoint.cli.options.running import DrawsOption, Running, Seed, Unseen

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
    decisions: DecisionsIn = None,
    draws: DrawsOption = False,
    force: ForceOption = False,
    unseen: Unseen = "error",
    seed: Seed = 0,
) -> None:
    """Learn a table and save the model, to complete other tables later."""
    parsing.check_method(method)
    from diffjoint.cli.run import learning, writing
    from diffjoint.cli.run.clashes import check_model
    from diffjoint.cli.run.reading import decided, read

    check_model({"IN": source, "--decisions": decisions}, model, force=force)
    file = read(source, reading, reason_codes=parsing.parse_codes(known.codes))
    imputer = learning.learn(
        file,
        decided(decisions, file),
        (searched, known, filled, method, running),
        unseen=unseen,
        random_state=seed,
        n_threads=running.threads,
    )
    writing.save_model(imputer, model, draws=draws, quiet=running.quiet)
