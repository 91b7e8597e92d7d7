"""Whether completed tables agree with themselves: rules, sums and what one column says of another.

    python -m benchmarks.contradictions                # every table, two kinds of losses
    python -m benchmarks.contradictions --quick        # the household survey alone
    python -m benchmarks.contradictions --as before    # name the lines after another version

Each table is completed as a user would, with nothing named. What its columns must hold is written
here, not found: when a column has something to record, and sums, orders and columns that another
one decides. Counted are cells that hold a value where their rule fails (*against*), cells that are
kept missing where it holds (*missing*), and rows in which a relation fails (*relations*), if a cell
that is part of it was filled in or kept. Of the first two as many are counted in the true table.
One line per table, kind of loss and way; results that are there are kept.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from benchmarks.calls import FOLDER
from benchmarks.found_rules import WRITTEN, where_fails
from benchmarks.kept import measure_missing, read_kept
from benchmarks.pages import Blocks, result_page, show
from benchmarks.universes import ACS
from diffjoint import SelectiveImputer
from diffjoint.simulate import World, make_world

RESULTS = FOLDER / "contradictions.csv"
KEYS = ["world", "mechanism", "ratio", "version"]
LOSSES = (("mcar", 20), ("survey", 20))
NOW = "now"
Relation = tuple[tuple[str, ...], Callable[[pd.DataFrame], "pd.Series[bool]"]]
"""The columns of a relation, and what says in which rows it fails."""


def _sum_of(of: str, *parts: str) -> Relation:
    return (of, *parts), lambda t: (t[of] - t[[*parts]].sum(axis=1, skipna=False)).abs() > 0.5


def _never_above(low: str, high: str) -> Relation:
    return (low, high), lambda t: t[low] > t[high]


_GARAGE = ("Garage Type", "Garage Yr Blt", "Garage Finish", "Garage Qual", "Garage Cond")
_BASEMENT = ("Bsmt Qual", "Bsmt Cond", "BsmtFin Type 1")
AMES = {
    **dict.fromkeys(_GARAGE, "`Garage Area` > 0"),
    **dict.fromkeys(_BASEMENT, "`Total Bsmt SF` > 0"),
    "Fireplace Qu": "Fireplaces > 0",
}
RULES: Mapping[str, Mapping[str, str]] = {
    **WRITTEN,
    "ames-housing": AMES,
    "acs-2018-wyoming": ACS,
    "acs-2018-delaware": ACS,
}
RELATIONS: Mapping[str, tuple[Relation, ...]] = {
    "ames-housing": (
        _sum_of("Gr Liv Area", "1st Flr SF", "2nd Flr SF", "Low Qual Fin SF"),
        _sum_of("Total Bsmt SF", "BsmtFin SF 1", "BsmtFin SF 2", "Bsmt Unf SF"),
        _never_above("Year Built", "Year Remod/Add"),
    ),
    "telco-churn": (_never_above("MonthlyCharges", "TotalCharges"),),
}


def places(quick: bool, version: str) -> Iterator[tuple[str, str, int, str]]:
    """Yield tables, losses and ways."""
    for name in ["household-survey"] if quick else RULES:
        for mechanism, ratio in LOSSES:
            yield name, mechanism, ratio, version


def measure(name: str, mechanism: Any, ratio: int, version: str) -> list[dict[str, Any]]:
    """Count the contradictions of one completed table, and those of the table in truth."""
    world = make_world(name, mechanism=mechanism, loss_rate=ratio / 100, seed=0)
    observed = world.observed_table
    imputer = SelectiveImputer(column_kinds=world.column_kinds, random_state=0)
    completed = imputer.fit_transform(observed)
    truth = world.truth.mask(world.meaningful)
    counted, true = count(completed, world), count(truth, world)
    return [{**counted, **{f"{name}_in_truth": n for name, n in true.items()}}]


def count(table: pd.DataFrame, world: World) -> dict[str, int]:
    """Count cells against their rules, and rows against relations, where something was missing."""
    rules, missing = dict(RULES[world.name]), world.observed_table.isna()
    against = left = 0
    for column, rule in rules.items():
        says = where_fails(table, rules, rule, world.column_kinds)
        asked = (
            missing[[name for name in missing if str(name) in rule]].any(axis=1) | missing[column]
        )
        against += int(((says == 1) & table[column].notna() & asked).sum())
        left += int(((says == 0) & table[column].isna() & asked).sum())
    broken = sum(
        int((fails(table) & missing[[*names]].any(axis=1)).sum())
        for names, fails in RELATIONS.get(world.name, ())
    )
    return {"against": against, "missing": left, "relations": broken}


def section() -> str:
    """Return the table, from the result file."""
    results = read_kept(RESULTS, KEYS)
    lines = [
        "| table | losses | completed | cells against their rule | missing against it | "
        "rows against a sum or an order |\n|---|---|---|---|---|---|\n"
    ]
    counts = ["against", "missing", "relations"]
    for (world, mechanism, ratio), part in results.groupby(KEYS[:3], sort=False):
        about = f"| {world} | {mechanism} {ratio}%"
        for line in part.to_dict("records"):
            shown = " | ".join(f"{line[name]:,.0f}" for name in counts)
            lines.append(f"{about} | {line['version']} | {shown} |\n")
        shown = " | ".join(f"{part[f'{name}_in_truth'].iloc[0]:,.0f}" for name in counts)
        lines.append(f"{about} | in truth | {shown} |\n")
    return "".join(lines)


def _block() -> str:
    return section() if RESULTS.exists() else "Not run yet.\n"


BLOCKS: Blocks = {(result_page("found-rules"), "contradictions"): _block}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the household survey alone")
    parser.add_argument("--as", dest="version", default=NOW, help="what to call this version")
    options = parser.parse_args(arguments)
    path = RESULTS.with_stem(f"{RESULTS.stem}-quick") if options.quick else RESULTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        measure_missing(places(options.quick, options.version), KEYS, path, measure)
    if not options.quick:
        show(BLOCKS)


if __name__ == "__main__":
    main()
