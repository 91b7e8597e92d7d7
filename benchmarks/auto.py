"""Which columns `mm_columns="auto"` names, where it is known which can be meaningful.

    python -m benchmarks.auto                  # every table, mechanism and ratio
    python -m benchmarks.auto --only losses    # network, losses, life, tables or surveys alone
    python -m benchmarks.auto --quick          # few rows, one seed

*network*: the paper's network, C1, D2 and D3 to be named. *losses*: complete columns of several
tables, from which cells are then lost: nothing to be named. *life*: the same, lost as in life, many
in one row. *tables*: a survey with skip logic and real tables with labels. *surveys*: tables whose
cells got lost in life; columns of which 2% or more is meaningful are to be named. One line per
table; results that are there are kept.
"""

import argparse
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bayes_limit import MECHANISMS, RATIOS
from benchmarks.kept import measure_missing
from benchmarks.pages import (
    README,
    RESULTS_PAGE,
    Blocks,
    from_csv,
    result_page,
    show,
)
from diffjoint import find_mm_columns
from diffjoint.simulate import World, make_mechanism, make_world

FOLDER = Path(__file__).parent / "results"
RESULTS = FOLDER / "auto.csv"
SEEDS = range(20)
NETWORK = "bayesian-network"
LOSS_ONLY = (NETWORK, "correlated", "telco-churn", "thyroid-disease", "acs-2018-wyoming")
"""Tables whose complete columns lose cells: a seed takes one after the other."""
TABLES = (
    "household-survey",
    "telco-churn",
    "telco-churn-no-gates",
    "ames-housing",
    "ames-housing-no-gates",
    "thyroid-disease",
    "acs-2018-wyoming",
)
SURVEYS = (
    "acs-2018-wyoming-allocated",
    "acs-2018-delaware-allocated",
    "nhanes-diabetes",
    "nhanes-women",
)
LIFE = ("own-rates", "break-off", "blocks", "propensity", "survey")
LIFE_RATIOS = (10, 30)
FEW_MEANINGFUL = 0.02
"""Share of meaningful cells below which a column of a survey may be named or not."""
PARTS = {
    "network": "the network",
    "losses": "only lost cells: nothing to name",
    "life": "only lost cells, lost as in life: nothing to name",
    "tables": "tables with known labels",
    "surveys": "surveys whose cells got lost in life",
}
"""By name, and what the short table calls them."""
KEYS = ["part", "world", "mechanism", "ratio", "seed"]
Cell = tuple[str, str, str, int, int]


def cells(part: str, seeds: range) -> list[Cell]:
    """Return what there is to measure."""
    if part == "network":
        return [(part, NETWORK, m, r, s) for s, m, r in product(seeds, MECHANISMS, RATIOS)]
    if part == "losses":
        return [
            (part, LOSS_ONLY[s % len(LOSS_ONLY)], m, RATIOS[s // len(LOSS_ONLY) % len(RATIOS)], s)
            for s, m in product(seeds, MECHANISMS)
        ]
    if part == "life":
        return [
            (part, LOSS_ONLY[s % len(LOSS_ONLY)], m, LIFE_RATIOS[s // len(LOSS_ONLY) % 2], s)
            for s, m in product(seeds, LIFE)
        ]
    if part == "surveys":
        return [(part, w, "its own", 0, 0) for w in SURVEYS]
    return [(part, w, "none", 0, 0) for w in TABLES] + [
        (part, w, "mcar", r, 0) for w, r in product(TABLES, (10, 30))
    ]


def make(cell: Cell, rows: int | None) -> tuple[pd.DataFrame, dict[str, str], list[str], list[str]]:
    """Return a table, its columns' kinds, those that can be meaningful and those to be named."""
    part, name, mechanism, ratio, seed = cell
    if part in ("losses", "life"):
        table, kinds = complete_columns(name, seed, rows)
        rng = np.random.default_rng(seed)
        losses = make_mechanism(mechanism, table, ratio / 100, rng)  # type: ignore[arg-type]
        return table.mask(losses.lose(table, rng)), kinds, [], []
    if part == "surveys":
        world = make_world(name, seed=seed)
        shares = world.meaningful[world.mm_columns].mean()
        often = shares[shares >= FEW_MEANINGFUL].index.tolist()
        return world.observed_table, world.column_kinds, world.mm_columns, often
    chosen: Any = None if mechanism == "none" else mechanism
    drawn = rows if name in (NETWORK, "household-survey") else None
    world = make_world(name, rows=drawn, mechanism=chosen, loss_rate=ratio / 100, seed=seed)
    return world.observed_table, world.column_kinds, world.mm_columns, world.mm_columns


def complete_columns(name: str, seed: int, rows: int | None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table without a missing cell."""
    if name == "correlated":
        return _correlated(rows or 5_000, np.random.default_rng(seed)), {}
    if name == NETWORK:
        return _without_gaps(make_world(name, rows=rows, mechanism=None, seed=seed))
    world = make_world(name, mechanism=None)
    complete = [name for name in world.column_kinds if world.truth[name].notna().all()]
    return world.truth[complete], {name: world.column_kinds[name] for name in complete}


def _without_gaps(world: World) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the world with a value of another row wherever there was nothing to fill in."""
    rng, table = np.random.default_rng(world.seed), world.truth.copy()
    for column in world.mm_columns:
        missing = table[column].isna()
        table.loc[missing, column] = rng.choice(table.loc[~missing, column], missing.sum())
    return table, world.column_kinds


def _correlated(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Eight columns of three factors; one skewed, one of two levels, one of five."""
    factors = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, 8))
    table = pd.DataFrame(factors + rng.normal(size=(n_rows, 8)), columns=list("abcdefgh"))
    table["a"] = np.exp(table["a"] / 2)
    table["b"] = np.where(table["b"] > 1, "yes", "no")
    table["c"] = pd.cut(table["c"], 5, labels=["two", "one", "four", "three", "five"]).astype(str)
    return table


def measure(cell: Cell, rows: int | None) -> dict[str, Any]:
    """Columns named rightly, left out and named wrongly."""
    table, kinds, can_be, to_name = make(cell, rows)
    start = perf_counter()
    found = find_mm_columns(table, kinds)
    named = {record["column"] for record in found if record["is_named"]}
    missed, wrong = sorted({*to_name} - named), sorted(named - {*can_be})
    return {
        "n_mm": len(to_name),
        "n_columns": len(found),
        "n_named": len(named & {*to_name}),
        "missed": "; ".join(missed),
        "wrong": "; ".join(wrong),
        "seconds": round(perf_counter() - start, 1),
    }


def run(wanted: list[Cell], path: Path, rows: int | None) -> pd.DataFrame:
    """Measure every cell that is not in the file yet."""
    return measure_missing(
        wanted, KEYS, path, lambda *cell: [measure(cell, rows)], has_empty_texts=True
    )


def table_of(results: pd.DataFrame) -> str:
    """Network and losses by mechanism and ratio, then one line per table."""
    right = (results["missed"] == "") & (results["wrong"] == "")
    lines = [
        "| tables | mechanism | ratio | right in | columns left out in | named wrongly in |\n",
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    for part, mechanism, ratio in (
        *product(("network", "losses"), MECHANISMS, RATIOS),
        *product(("life",), LIFE, LIFE_RATIOS),
    ):
        at = results[
            (results[["part", "mechanism", "ratio"]] == [part, mechanism, ratio]).all(axis=1)
        ]
        lines.append(
            f"| {part} | {_shown(mechanism)} | {ratio} | {right[at.index].sum()} of {len(at)} | "
            f"{(at['missed'] != '').sum()} | {(at['wrong'] != '').sum()} |\n"
        )
    lines += [
        "\n| table | lost | named of those that can be meaningful | left out | named wrongly |\n",
        "| --- | --- | --- | --- | --- |\n",
    ]
    for _, row in results[results["part"].isin(["tables", "surveys"])].iterrows():
        lost = "in life" if row["part"] == "surveys" else f"{row['ratio']}%"
        lines.append(
            f"| {row['world']} | {lost} | {row['n_named']} of {row['n_mm']} | "
            f"{row['missed'] or '-'} | {row['wrong'] or '-'} |\n"
        )
    return "".join(lines)


def _shown(mechanism: str) -> str:
    return mechanism.upper() if mechanism in MECHANISMS else mechanism


def sentence(results: pd.DataFrame) -> str:
    """Return the network and the tables with losses alone, in a sentence."""
    right = (results["missed"] == "") & (results["wrong"] == "")
    (found, n), (none, n_lossy) = (
        (right[results["part"] == part].sum(), (results["part"] == part).sum())
        for part in ("network", "losses")
    )
    return (
        f'Columns need not be named: `mm_columns="auto"` found exactly the network\'s three in '
        f"{found} of {n} tables,\nand none in {none} of {n_lossy} tables whose cells were only "
        "lost.\n"
    )


def summary(results: pd.DataFrame) -> str:
    """Return how many tables of each part are right, in a line each."""
    right = (results["missed"] == "") & (results["wrong"] == "")
    lines = [
        "| tables | all right in | columns found | columns named wrongly |\n",
        "| --- | --- | --- | --- |\n",
    ]
    for part, about in PARTS.items():
        here = results[results["part"] == part]
        n_wrong = sum(len(names.split("; ")) for names in here["wrong"] if names)
        lines.append(
            f"| {about} | {right[here.index].sum()} of {len(here)} | {here['n_named'].sum()} of "
            f"{here['n_mm'].sum()} | {n_wrong} |\n"
        )
    return "".join(lines)


BLOCKS: Blocks = {
    (result_page("found-columns"), "auto"): from_csv(RESULTS, table_of, keep_default_na=False),
    (RESULTS_PAGE, "auto"): from_csv(RESULTS, summary, keep_default_na=False),
    (README, "auto"): from_csv(RESULTS, sentence, keep_default_na=False),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, few rows")
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the results")
    options = parser.parse_args(arguments)
    seeds = range(1) if options.quick else SEEDS
    wanted = [c for p in PARTS if options.only in (None, p) for c in cells(p, seeds)]
    results = run(wanted, options.results / "auto.csv", 1_000 if options.quick else None)
    if options.results == FOLDER:
        show(BLOCKS)
    print(table_of(results))


if __name__ == "__main__":
    main()
