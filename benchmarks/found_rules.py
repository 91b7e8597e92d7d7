"""Whether the rules that a table follows are found, and no others.

    python -m benchmarks.found_rules            # worlds with rules, surveys, tables without rules
    python -m benchmarks.found_rules --quick    # the household survey alone

Rules are judged by the missing cells that they settle: meaningful where a rule fails, lost where it
holds. Recall: of the cells that the written rules settle, those that found rules settle in the same
way. Precision: of the cells that found rules settle, those that are so in truth. Surveys: whether
the rule that was found says the same of every cell, in the table without losses, as the universe
that the survey's own dictionary names. Results that are there are kept.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.calls import FOLDER
from benchmarks.kept import measure_missing, read_kept
from benchmarks.pages import Blocks, result_page, show
from benchmarks.questionnaire import draw_questionnaire
from benchmarks.universes import ACS, NHANES_DIABETES
from diffjoint import apply_rules, find_rules
from diffjoint.simulate import MECHANISM_NAMES, World, make_mechanism, make_world

SETTLED, UNIVERSES, LOST_ONLY = (
    FOLDER / f"found_rules_{name}.csv" for name in ("settled", "universes", "lost_only")
)
HOUSEHOLD = {
    "spouse_age": 'married == "yes"',
    "weekly_hours": 'employed == "yes"',
    "commute": 'employed == "yes"',
}
INTERNET = (
    *("OnlineSecurity", "OnlineBackup", "DeviceProtection"),
    *("TechSupport", "StreamingTV", "StreamingMovies"),
)
TELCO = {
    **dict.fromkeys(INTERNET, 'InternetService != "No"'),
    "MultipleLines": 'PhoneService == "Yes"',
    "TotalCharges": "tenure > 0",
}
WRITTEN = {"household-survey": HOUSEHOLD, "telco-churn": TELCO}
JUDGED = "rule to judge"
"""A column added to a table, to see where a rule holds."""
LOSSES = ("mcar", "own-rates", "break-off", "blocks", "propensity", "survey")
SEEDS, RATIOS, N_LOST_ONLY = (0, 1), (10, 30), 13
SURVEYS = {
    "acs-2018-wyoming": ACS,
    "acs-2018-wyoming-allocated": ACS,
    "acs-2018-delaware": ACS,
    "acs-2018-delaware-allocated": ACS,
    "nhanes-diabetes": NHANES_DIABETES,
}


def _world(name: str, mechanism: Any, ratio: int, seed: int) -> tuple[World, dict[str, str]]:
    """Return a world, and its written rules."""
    if name == "questionnaire":
        drawn = draw_questionnaire(seed)
        return drawn.world(mechanism, ratio / 100, seed), drawn.rules
    world = make_world(name, mechanism=mechanism, loss_rate=ratio / 100, seed=seed)
    return world, WRITTEN[name]


def _found(table: pd.DataFrame, world: World) -> dict[str, str]:
    rules = find_rules(table, world.mm_columns, column_kinds=world.column_kinds)
    return {rule.column: rule.as_rule for rule in rules}


def _said(table: pd.DataFrame, rules: dict[str, str], world: World) -> pd.DataFrame:
    """Return 1 where rules say meaningful, 0 where they say lost, NaN elsewhere."""
    known = apply_rules(table, rules, column_kinds=world.column_kinds)
    said = known["known_meaningful"].astype(float)
    told = known["known_meaningful"] | known["known_lost"]
    of_searched: pd.DataFrame = said.where(told)[world.mm_columns]
    return of_searched


def settle(name: str, mechanism: Any, ratio: int, seed: int) -> list[dict[str, Any]]:
    """Judge the rules found in a world by the cells that they settle; shares in percent."""
    world, written = _world(name, mechanism, ratio, seed)
    table = world.observed_table
    found = _found(table, world)
    by_found, by_written = (_said(table, rules, world) for rules in (found, written))
    truth = world.meaningful[world.mm_columns].astype(float)
    same = (by_found == by_written).to_numpy().sum()
    right = (by_found == truth).to_numpy().sum()
    return [
        {
            "n_written": len(written),
            "n_found": len(found),
            "recall": 100 * same / by_written.notna().to_numpy().sum(),
            "precision": 100 * right / max(by_found.notna().to_numpy().sum(), 1),
        }
    ]


def compare(name: str) -> list[dict[str, Any]]:
    """Compare the rule of each column with what the dictionary says; ``same`` is of all cells."""
    world = make_world(name, mechanism=None)
    table, written = world.observed_table, SURVEYS[name]
    found = _found(table, world)
    lines = []
    for column in world.mm_columns:
        both = (written.get(column, ""), found.get(column, ""))
        line: dict[str, Any] = {"column": column, "written": both[0], "found": both[1]}
        n_told = n_differ = n_against = 0
        if all(both):
            cells = [where_fails(table, found, rule, world.column_kinds) for rule in both]
            told = cells[0].notna() & cells[1].notna()
            n_told, n_differ = int(told.sum()), int((cells[0] != cells[1])[told].sum())
            n_against = int(((cells[0] == 1) & table[column].iloc[2:].notna()).sum())
        same = n_told > 0 and n_differ == 0
        counts = {"cells": n_told, "differ": n_differ, "against": n_against}
        lines.append(line | {"same": same} | counts)
    return lines


def where_fails(
    table: pd.DataFrame, rules: Mapping[str, str], rule: str, column_kinds: Mapping[str, Any]
) -> "pd.Series[float]":
    """Return 1 where a rule fails and 0 where it holds, in every row; NaN where that is open."""
    column = [1.0, 2.0] * (len(table) // 2) + [1.0] * (len(table) % 2)
    asked = table.assign(**{JUDGED: pd.Series(column, index=table.index)})
    asked.loc[asked.index[2:], JUDGED] = None
    kinds = {**column_kinds, JUDGED: "continuous"}
    text = rule.removeprefix("only if ")
    known = apply_rules(asked, {**rules, JUDGED: text}, column_kinds=kinds)
    fails, holds = (known[name][JUDGED] for name in ("known_meaningful", "known_lost"))
    said: pd.Series = fails.astype(float).where(fails | holds).iloc[2:]
    return said


def lost_only(table_seed: int, mechanism: Any) -> list[dict[str, Any]]:
    """Count the rules in a table whose cells are only lost."""
    rng = np.random.default_rng([table_seed, MECHANISM_NAMES.index(mechanism)])
    n_columns, loss_rate = int(rng.integers(6, 60)), float(rng.choice([0.05, 0.1, 0.2, 0.3, 0.4]))
    whole = draw_questionnaire(100 + table_seed, 3_000).truth.iloc[:, :n_columns]
    lost = make_mechanism(mechanism, whole, loss_rate, rng).lose(whole, rng)
    found = find_rules(whole.mask(lost))
    return [{"columns": n_columns, "loss_rate": loss_rate, "n_found": len(found)}]


def _places(quick: bool) -> Iterator[tuple[str, str, int, int]]:
    names = ["household-survey"] if quick else [*WRITTEN, "questionnaire"]
    yield from product(names, LOSSES, RATIOS, SEEDS)


def section() -> str:
    """Return the tables, from the result files."""
    return "\n".join(part for part in (_settled(), _universes(), _lost()) if part)


def _settled() -> str:
    results = read_kept(SETTLED, ["world", "mechanism", "ratio", "seed"])
    lines = [
        "| world | losses | ratio | rules found, of those written | recall | lowest | precision | "
        "lowest |\n|---|---|---|---|---|---|---|---|\n"
    ]
    places = results[["world", "mechanism", "ratio"]].drop_duplicates()
    for world, mechanism, ratio in places.itertuples(index=False, name=None):
        at = (results["world"] == world) & (results["mechanism"] == mechanism)
        here = results[at & (results["ratio"] == ratio)]
        counts = f"{here['n_found'].mean():.1f} of {here['n_written'].mean():.0f}"
        shares = " | ".join(
            f"{here[share].mean():.2f}% | {here[share].min():.2f}%"
            for share in ("recall", "precision")
        )
        lines.append(f"| {world} | {mechanism} | {ratio}% | {counts} | {shares} |\n")
    return "".join(lines)


def _universes() -> str:
    results = pd.read_csv(UNIVERSES, keep_default_na=False)
    lines = ["| survey | columns | same as written |\n|---|---|---|\n"]
    for name, here in results.groupby("survey", sort=False):
        lines.append(
            f"| {name} | {len(here)} | {int((here['same'].astype(str) == 'True').sum())} |\n"
        )
    lines.append(
        "\n| column | written | found | cells that differ | observed against what is written |\n"
        "|---|---|---|---|---|\n"
    )
    here = results[results["survey"].isin(["acs-2018-wyoming-allocated", "nhanes-diabetes"])]
    kept = here[["column", "written", "found", "differ", "against"]]
    for column, own, seen, differ, against in kept.itertuples(index=False, name=None):
        shown = " | ".join(f"`{text}`" if text else "none" for text in (own, seen))
        lines.append(f"| {column} | {shown} | {differ} | {against} |\n")
    return "".join(lines)


def _lost() -> str:
    results = pd.read_csv(LOST_ONLY)
    n = int((results["n_found"] > 0).sum())
    return f"Tables whose cells are only lost: {len(results)}; with a rule: {n}.\n"


def _block() -> str:
    there = all(path.exists() for path in (SETTLED, UNIVERSES, LOST_ONLY))
    return section() if there else "Not run yet.\n"


BLOCKS: Blocks = {(result_page("found-rules"), "found_rules"): _block}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the household survey alone")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        keys = ["world", "mechanism", "ratio", "seed"]
        if options.quick:
            beside = SETTLED.with_stem(f"{SETTLED.stem}-quick")
            print(measure_missing(_places(quick=True), keys, beside, settle, digits=3))
            return
        measure_missing([(name,) for name in SURVEYS], ["survey"], UNIVERSES, compare)
        tables = product(range(N_LOST_ONLY), MECHANISM_NAMES)
        measure_missing(tables, ["table", "mechanism"], LOST_ONLY, lost_only)
        measure_missing(_places(quick=False), keys, SETTLED, settle, digits=3)
    show(BLOCKS)
    print(section())


if __name__ == "__main__":
    main()
