"""Whether it helps to keep to the rules that were found, and whether every cell then does.

    python -m benchmarks.rules_used                          # surveys, and worlds with rules
    python -m benchmarks.rules_used --only nhanes-diabetes
    python -m benchmarks.rules_used --quick                  # the household survey alone

One fit on the train rows each; the test rows are completed twice, with ``use_found_rules`` and
without. Contradictions are counted with it, in the completed table and in every draw: a cell that
is there where its rule fails, or missing where a rule that is the whole story holds. Cells that
break a rule in the table itself, before anything is filled in, do not count. Results that are there
are kept.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from benchmarks.calls import FOLDER, fit_on_train
from benchmarks.kept import measure_missing, read_kept
from benchmarks.lost import ITS_OWN, OWN_RATIO, Calls, score
from benchmarks.pages import Blocks, result_page, show
from diffjoint import apply_rules, check_rules
from diffjoint.simulate import World, make_world

RESULTS = FOLDER / "rules_used.csv"
KEYS = ["world", "mechanism", "ratio", "seed"]
SURVEYS = (
    *("acs-2018-wyoming-allocated", "acs-2018-delaware-allocated"),
    *("nhanes-diabetes", "nhanes-women"),
)
HOUSEHOLD, TELCO = "household-survey", "telco-churn"
N_DRAWS = 2
SHARES = {
    "lost_found": "lost found",
    "lost_precision": "precision of lost",
    "mean_column_auc": "AUC, mean of columns",
    "meaningful_recall": "meaningful recall",
}

Place = tuple[str, str, int, int]


def places(only: str | None, quick: bool) -> Iterator[Place]:
    """Yield the surveys with their own losses, and worlds with rules that lose cells as in life."""
    losing = [(name, "survey", ratio, 0) for name in (HOUSEHOLD, TELCO) for ratio in (10, 30)]
    everything = [*losing, *((name, ITS_OWN, OWN_RATIO, 0) for name in SURVEYS)]
    for place in everything:
        if (only or place[0]) == place[0] and (not quick or place[0] == HOUSEHOLD):
            yield place


def measure(name: str, mechanism: Any, ratio: int, seed: int) -> list[dict[str, Any]]:
    """Score the test rows with found rules and without."""
    losses = {} if mechanism == ITS_OWN else {"mechanism": mechanism, "loss_rate": ratio / 100}
    world = make_world(name, seed=seed, **losses)
    imputer, lines = fit_on_train(world), []
    test = judged_rows(world)
    observed = test.observed_table
    rules = {rule.column: rule.as_rule for rule in imputer.rules_}
    for used in (False, True):
        imputer.set_params(use_found_rules=used)
        result = imputer.impute(observed)
        said = Calls(result.meaningful, result.probability, result.table, 0.0)
        line = {"used": used, "n_rules": len(rules), **score(test, said)}
        del line["fit_seconds"]
        if used and rules:
            drawn = imputer.sample(observed, N_DRAWS)
            line["in_completed"] = n_contradictions(result.table, rules, world)
            line["in_draws"] = sum(n_contradictions(table, rules, world) for table in drawn)
        lines.append(line)
    return lines


def judged_rows(world: World) -> World:
    """Return the test rows; all of them if a world keeps none apart."""
    return world if world.is_train.all() else world.test


def n_contradictions(completed: pd.DataFrame, rules: Mapping[str, str], world: World) -> int:
    """Count the cells of a completed table that contradict a rule, by what was filled in."""
    learnt, kinds = world.train.observed_table, world.column_kinds
    before, after = (pd.concat([learnt, t]) for t in (judged_rows(world).observed_table, completed))
    broken = [
        {(cell["row"], cell["column"]) for cell in check_rules(table, rules, column_kinds=kinds)}
        for table in (before, after)
    ]
    missing = apply_rules(after, rules, column_kinds=kinds)["known_lost"].iloc[len(learnt) :]
    return len(broken[1] - broken[0]) + int(missing.to_numpy().sum())


def section() -> str:
    """Return the table, from the result file."""
    results = read_kept(RESULTS, KEYS)
    header = ["table", "losses", "ratio", "rules", "kept to", *SHARES.values()]
    header += ["accuracy of cells", "Brier", "contradictions, completed table", "in draws"]
    lines = [f"| {' | '.join(header)} |\n", f"|{' --- |' * len(header)}\n"]
    for line in results.to_dict("records"):
        shares = [f"{line[name]:.1f}" for name in (*SHARES, "acc")]
        ratio = f"{line['ratio']}%" if line["ratio"] else "its own"
        about = [line["world"], line["mechanism"], ratio, line["n_rules"]]
        counts = [_count(line.get(name)) for name in ("in_completed", "in_draws")]
        cells = [*about, "yes" if line["used"] else "no", *shares, f"{line['brier']:.4f}", *counts]
        lines.append(f"| {' | '.join(map(str, cells))} |\n")
    return "".join(lines)


def _count(number: Any) -> str:
    return "" if number is None or pd.isna(number) else f"{number:.0f}"


def _block() -> str:
    return section() if RESULTS.exists() else "Not run yet.\n"


BLOCKS: Blocks = {(result_page("found-rules"), "rules_used"): _block}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one table")
    parser.add_argument("--quick", action="store_true", help="the household survey alone")
    options = parser.parse_args(arguments)
    path = RESULTS.with_stem(f"{RESULTS.stem}-quick") if options.quick else RESULTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        measure_missing(places(options.only, options.quick), KEYS, path, measure)
    if not options.quick:
        show(BLOCKS)


if __name__ == "__main__":
    main()
